package imports

import (
	"fmt"
	"strings"
	"testing"
)

// spanText is a span of times in seconds, with attributes as key=value, where a value of digits is a number.
func spanText(id, parent, operation string, start, end float64, attributes ...string) string {
	list := []string{fmt.Sprintf(`{"key":"gen_ai.operation.name","value":{"stringValue":%q}}`, operation)}
	for _, a := range attributes {
		key, value, _ := strings.Cut(a, "=")
		kind := "stringValue"
		if strings.Trim(value, "0123456789") == "" {
			kind = "intValue"
		}
		list = append(list, fmt.Sprintf(`{"key":"gen_ai.%s","value":{%q:%q}}`, key, kind, value))
	}
	return fmt.Sprintf(`{"traceId":"t","spanId":%q,"parentSpanId":%q,"startTimeUnixNano":"%d","endTimeUnixNano":"%d",`+
		`"attributes":[%s]}`,
		id, parent, int64(start*1e9), int64(end*1e9), strings.Join(list, ","))
}

func call(id, parent string, start, end float64, in, out int, attributes ...string) string {
	return spanText(id, parent, "chat", start, end,
		append(attributes, fmt.Sprint("usage.input_tokens=", in), fmt.Sprint("usage.output_tokens=", out))...)
}

// exported are spans as a collector writes them.
func exported(spans ...string) string {
	return `{"resourceSpans":[{"scopeSpans":[{"spans":[` + strings.Join(spans, ",") + `]}]}]}`
}

func spansText() string {
	return exported(spanText("r", "", "invoke_agent", 0, 40), call("a", "r", 1, 2, 100, 5),
		spanText("x", "r", "execute_tool", 2.5, 3),
		spanText("s", "x", "invoke_agent", 3, 9, "agent.name=look"), call("b", "s", 4, 5, 100, 5),
		call("c", "s", 4.5, 6, 100, 5), call("d", "r", 10, 11, 200, 5))
}

func TestOTel(t *testing.T) {
	open := func(name string) string { return `{"session":"` + name + `","block_size":10,` }
	for _, c := range []struct{ name, text, want string }{
		{"a sub-agent inside a tool", spansText(), open("t") + `"requests":[{"in":100,"out":5,"blocks":[[0,10]]},` +
			`{"in":100,"out":5,"blocks":[[10,10]],"delay_ms":2000,"at_ms":3000,"agent":"look"},` +
			`{"in":100,"out":5,"blocks":[[10,10]],"after":[0],"delay_ms":2500,"at_ms":3500,"agent":"look"},` +
			`{"in":200,"out":5,"blocks":[[0,10],[20,10]],"after":[0,1,2],"delay_ms":4000,"at_ms":9000}]}`},
		{"tools in the gap",
			exported(call("a", "", 1, 2, 20, 5), spanText("x", "", "execute_tool", 1.5, 3), spanText("y", "",
				"execute_tool", 2.5, 4), spanText("z", "", "execute_tool", 5, 9), call("b", "", 6, 7, 10, 5)),
			open("t") + `"requests":[{"in":20,"out":5,"blocks":[[0,2]]},{"in":10,"out":5,"blocks":[[0,1]],` +
				`"delay_ms":4000,"tools_ms":3000,"at_ms":5000}]}`},
		{"calls side by side", exported(call("d", "", 5, 6, 10, 1), call("a", "", 0, 1, 10, 1),
			call("b", "", 2, 3, 10, 1), call("c", "", 2, 4, 10, 1)),
			open("t") + `"requests":[{"in":10,"out":1,"blocks":[[0,1]]},{"in":10,"out":1,"blocks":[[0,1]],` +
				`"delay_ms":1000,"at_ms":2000},` +
				`{"in":10,"out":1,"blocks":[[0,1]],"after":[0],"delay_ms":1000,"at_ms":2000},{"in":10,"out":1,` +
				`"blocks":[[0,1]],"after":[1,2],"delay_ms":1000,"at_ms":5000}]}`},
		{"conversations", exported(call("a", "", 0, 1, 5, 0, "conversation.id=two"),
			spanText("r", "", "invoke_agent", 0, 9, "conversation.id=one"), call("b", "r", 2, 3, 5, 1)),
			open("two") + `"requests":[{"in":5,"out":1}]}` + "\n" + open("one") +
				`"start_ms":2000,"requests":[{"in":5,"out":1}]}`},
		{"an agent that begins before its first call",
			exported(spanText("r", "", "invoke_agent", 0, 20, "conversation.id=one"), call("a", "r", 10, 11, 5, 1),
				call("b", "", 4, 5, 5, 1, "conversation.id=two")),
			open("two") + `"requests":[{"in":5,"out":1}]}` + "\n" + open("one") +
				`"start_ms":6000,"requests":[{"in":5,"out":1}]}`},
		{"its own parent", exported(call("a", "a", 0, 1, 5, 1), spanText("p", "q", "invoke_agent", 0, 1),
			spanText("q", "p", "invoke_agent", 0, 1), call("b", "p", 2, 3, 5, 1)),
			open("t") + `"requests":[{"in":5,"out":1},{"in":5,"out":1,"delay_ms":1000,"at_ms":2000,` +
				`"agent":"sub-agent"}]}`},
	} {
		same(t, c.name, c.text, c.want, Options{BlockSize: 10})
	}
}

// Spans of other exporters say the same in other words.
func TestOTelForms(t *testing.T) {
	want := `{"session":"t","block_size":64,"requests":[{"in":5,"out":1}]}`
	for name, text := range map[string]string{
		"an array of spans": "[" + call("a", "", 0, 1, 5, 1) + "]",
		"a span on a line":  call("a", "", 0, 1, 5, 1) + "\n",
		"plain attributes": `{"traceId":"t","spanId":"a","startTimeUnixNano":1,"endTimeUnixNano":2,` +
			`"attributes":{"gen_ai.operation.name":"chat","gen_ai.usage.prompt_tokens":5,` +
			`"gen_ai.usage.completion_tokens":1}}`,
		"the Python console": `{"name":"chat","context":{"trace_id":"t","span_id":"a"},"parent_id":null,` +
			`"start_time":"2024-05-10T00:00:00.5Z","end_time":"2024-05-10T00:00:01Z",` +
			`"attributes":{"gen_ai.request.model":"m","gen_ai.usage.input_tokens":5,"gen_ai.usage.output_tokens":1}}`,
	} {
		same(t, name, text, want, Options{})
	}
}

func TestOTelSkips(t *testing.T) {
	text := exported(call("a", "", 0, 9, 5, 1), call("b", "a", 1, 2, 5, 1), call("a", "", 0, 9, 5, 1),
		spanText("c", "", "chat", 0, 1), spanText("d", "", "embeddings", 0, 1), `{}`)
	_, s, err := imported(t, text, Options{})
	want := "model calls inside others (1), model calls without token counts (1), objects other than spans (1), " +
		"spans that were there twice (1)"
	if err != nil || s.skippedText() != want || s.Requests != 1 {
		t.Errorf("got %s, %v", s.skippedText(), err)
	}
	refused(t, [][3]string{
		{"a time", strings.Replace(call("a", "", 0, 1, 5, 1), `:"0"`, `:"soon"`, 1),
			`"startTimeUnixNano": expected nanoseconds since 1970: got "soon"`},
		{"tokens", strings.Replace(call("a", "", 0, 1, 5, 1), `"5"`, `"-5"`, 1),
			`"gen_ai.usage.input_tokens": expected a whole number from 0 to 16777216: got "-5"`},
		{"no list", `{"resourceSpans":5}`, `"resourceSpans": expected an array: got a number`},
	})
}

// Where texts were recorded, prompts share as many tokens as the part of the text that they have in common.
func TestOTelTexts(t *testing.T) {
	long := strings.Repeat("All work and no play makes Jack a dull boy. ", 40)
	user := func(texts ...string) string {
		var list []message
		for _, text := range texts {
			list = append(list, message{"user", text})
		}
		return "input.messages=" + string(chat(list))
	}
	text := exported(call("a", "", 0, 1, 500, 1, user(long)), call("b", "", 2, 3, 1000, 1,
		user(long, strings.Repeat("x", len(long)))), call("c", "", 4, 5, 500, 1, user("y"+long)))
	got, summary, err := imported(t, text, Options{BlockSize: 10})
	want := `{"session":"t","block_size":10,"shared":true,"requests":[{"in":500,"out":1,"blocks":[[0,50]]},` +
		`{"in":1000,"out":1,"blocks":[[0,100]],"delay_ms":1000,"at_ms":2000},{"in":500,"out":1,"blocks":[[100,50]],` +
		`"delay_ms":1000,"at_ms":4000}]}`
	if err != nil || got != want || len(summary.Estimates) != 1 {
		t.Errorf("got %s, %v, %v", got, summary.Estimates, err)
	}
	for name, attributes := range map[string][]string{
		"messages with parts": {`input.messages=[{"role":"user","parts":[{"type":"text","content":"hello"}]}]`},
		"a prompt":            {"prompt=hello"},
		"numbered":            {"prompt.0.role=user", "prompt.0.content=hello"},
	} {
		same(t, name, call("a", "", 0, 1, 5, 1, attributes...),
			`{"session":"t","block_size":64,"shared":true,"requests":[{"in":5,"out":1,"messages":[{"role":"user",`+
				`"content":"hello"}]}]}`, Options{KeepText: true})
	}
}
