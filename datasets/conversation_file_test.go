package datasets

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// What stands between two answers is a prompt; ShareGPT's names and OpenAI's mean the same.
func TestRecordedTurns(t *testing.T) {
	no := func(turn recordedTurn) recordedTurn { turn.delay, turn.at = -1, -1; return turn }
	user, answer := `{"role":"user","content":"a"}`, `{"role":"assistant","content":"A"}`
	for _, c := range []struct {
		name, object string
		want         []recordedTurn
	}{
		{"ShareGPT", `{"id":"1","conversations":[{"from":"human","value":"a"},{"from":"gpt","value":"A"},` +
			`{"from":"user","value":"b"},{"from":"bing","value":"B"}]}`, []recordedTurn{
			no(recordedTurn{messages: user, text: "a", reply: answer, answer: "A"}),
			no(recordedTurn{messages: `{"role":"user","content":"b"}`, text: "b",
				reply: `{"role":"assistant","content":"B"}`, answer: "B"})}},
		{"OpenAI, with other members",
			`{"messages":[{"role":"user","content":"a","name":"N"},{"role":"assistant","content":"A","x":{"y":[1]}}]}`,
			[]recordedTurn{
				no(recordedTurn{messages: `{"role":"user","content":"a","name":"N"}`, text: "a",
					reply: `{"role":"assistant","content":"A","x":{"y":[1]}}`, answer: "A"})}},
		{"odd roles get those of servers",
			`{"messages":[{"role":"human","content":"a"},{"role":"gpt","content":"A"},{"role":"function",` +
				`"content":"f"}]}`, []recordedTurn{
				no(recordedTurn{messages: user, text: "a", reply: answer, answer: "A"}),
				no(recordedTurn{messages: `{"role":"tool","content":"f"}`, text: "f", tools: true})}},
		{"an answer first, a prompt last",
			`{"messages":[{"role":"assistant","content":"0"},{"role":"user","content":"a"}]}`,
			[]recordedTurn{no(recordedTurn{messages: user, text: "a"})}},
		{"several messages to a prompt",
			`{"messages":[{"role":"system","content":"S"},{"role":"user","content":"a"},{"role":"user",` +
				`"content":"b"}]}`, []recordedTurn{
				no(recordedTurn{messages: `{"role":"system","content":"S"},` + user + `,{"role":"user","content":"b"}`,
					text: "S\na\nb"})}},
		{"several answers", `{"messages":[` + user + `,` + answer + `,{"role":"assistant","content":"B"}]}`,
			[]recordedTurn{
				no(recordedTurn{messages: user, text: "a", reply: answer + `,{"role":"assistant","content":"B"}`,
					answer: "A\nB", fixed: true})}},
		{"calls of tools",
			`{"messages":[` + user + `,{"role":"assistant","content":null,"tool_calls":[{"id":"1"}]},{"role":"tool",` +
				`"tool_call_id":"1","content":"r"}]}`, []recordedTurn{
				no(recordedTurn{messages: user, text: "a",
					reply: `{"role":"assistant","content":null,"tool_calls":[{"id":"1"}]}`, fixed: true, tools: true}),
				no(recordedTurn{messages: `{"role":"tool","tool_call_id":"1","content":"r"}`, text: "r",
					tools: true})}},
		{"times and lengths, which are not sent",
			`{"messages":[{"role":"system","content":"S","at_ms":5},{"delay_ms":1.5,"role":"user","content":"a",` +
				`"at_ms":2000},{"role":"assistant","output_tokens":9,"content":"A"}]}`, []recordedTurn{
				{messages: `{"role":"system","content":"S"},` + user, text: "S\na", reply: answer, answer: "A",
					output: 9,
					delay:  1500 * time.Microsecond, at: 2 * time.Second}}},
		{"parts", `{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url",` +
			`"image_url":{}},5,{"text":"b"}]}]}`, []recordedTurn{
			no(recordedTurn{messages: `{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url",` +
				`"image_url":{}},5,{"text":"b"}]}`, text: "a\nb"})}},
		{"nothing", `{"messages":[]}`, nil},
	} {
		got, err := recordedTurns([]byte(c.object))
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(recordedTurn{}), cmpopts.EquateEmpty()); diff != "" ||
			err != nil {
			t.Errorf("%s: %v %s", c.name, err, diff)
		}
	}
}

func TestConversationFilesRefused(t *testing.T) {
	one := func(message string) string { return `{"messages":[` + message + `]}` }
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", "the file is empty"},
		{"no prompt", "\n" + one(`{"role":"assistant","content":"a"}`),
			`no conversation has a prompt; expected an array, or lines, of objects with "messages"`},
		{"another member", "\n{\"x\":1}\n{}", `line 2: expected an array, or lines, of objects with "messages"`},
		{"a number in an array", "[\n5]", "line 2: expected an array, or lines, of objects with \"messages\" of " +
			"\"role\" and \"content\", or with \"conversations\" of \"from\" and \"value\": got a number"},
		{"an array that does not end", "[" + one(`{"role":"user","content":"a"}`), "the file ends"},
		{"a message of text", one(`"a"`), "line 1: message 1: expected an object: got a string"},
		{"no role", one(`{"content":"a"}`), `message 1: expected "role" or "from" to be a string`},
		{"an unknown role", one(`{"role":"user","content":"a"},{"role":"narrator","content":"a"}`),
			`message 2: unknown role "narrator"; use user, assistant, system or tool`},
		{"no content", one(`{"role":"user"}`),
			"message 1: expected the content to be a string or an array: got nothing"},
		{"content of a number", one(`{"role":"user","content":5}`),
			"expected the content to be a string or an array: got a number"},
		{"half a character", one(`{"role":"user","content":"\ud800"}`), "unpaired surrogate"},
		{"a delay", one(`{"role":"user","content":"a","delay_ms":-1}`),
			`"delay_ms": expected milliseconds from 0 to 31622400000, a year: got -1`},
		{"a late time", one(`{"role":"user","content":"a","at_ms":1e99}`), `"at_ms": expected milliseconds from 0 to`},
		{"no tokens", one(`{"role":"user","content":"a","output_tokens":0}`),
			`expected "output_tokens" to be a whole number from 1 to`},
		{"many turns",
			one(strings.Repeat(`{"role":"user","content":"a"},{"role":"assistant","content":"a"},`,
				mostTurns+1) + `{"role":"user","content":"a"}`), "more than 10000 turns"},
	} {
		complains(t, failure(readConversations(strings.NewReader(c.text))), c.want)
	}
}

// Numbers of Python and the marks of Windows mean nothing, in an array as on lines.
func TestConversationsOfPython(t *testing.T) {
	const one = `{"score": NaN, "least": [-Infinity], "messages": [{"role": "user", "content": "NaN"}]}`
	for _, text := range []string{one + "\r\n" + one, "[" + one + ",\r\n" + one + "]"} {
		f, err := readConversations(strings.NewReader("\ufeff" + text))
		if err != nil || len(f.all) != 2 || f.bad != 0 {
			t.Errorf("%d and %d, %v, of %s", len(f.all), f.bad, err, text)
		}
	}
}

// A conversation that cannot be read spoils no other.
func TestConversationsLeftOut(t *testing.T) {
	const fine = `{"messages":[{"role":"user","content":"a"}]}`
	f, err := readConversations(strings.NewReader(fine + "\n{\"x\":1}\n" + fine + "\n{}"))
	if err != nil || len(f.all) != 2 || f.bad != 2 || f.err == nil ||
		!strings.HasPrefix(f.err.Error(), "line 2: expected") {
		t.Errorf("%d and %d, %v, %v", len(f.all), f.bad, f.err, err)
	}
}

// FuzzRecordedTurns holds that the messages of what is read are JSON with known roles and contents, and end with a
// prompt in each turn.
func FuzzRecordedTurns(f *testing.F) {
	f.Add([]byte(`{"messages":[{"role":"system","content":"S","at_ms":5},{"delay_ms":1.5,"role":"user",` +
		`"content":"a"},{"role":"assistant","output_tokens":9,"content":"A"}]}`))
	f.Add([]byte(
		`[{"conversations":[{"from":"human","value":"a\n"},{"from":"gpt","value":"A"},{"from":"gpt","value":"B"}]}]`))
	f.Add([]byte(`{"messages":[{"role":"user","role":"human","content":[{"text":"a"}]},{"role":"assistant",` +
		`"content":null,"tool_calls":[{"id":"1"}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := readConversations(strings.NewReader(string(data)))
		if err == nil && len(file.all) == 0 {
			t.Fatal("nothing was read, and no error")
		}
		for _, r := range file.all {
			conversation := must(newConversationMaker(Common{MultiTurn: MultiTurn{Recorded: true}}).conversation("c",
				r.turns))(t)
			for _, turn := range sent(t, conversation, "") {
				var messages []struct {
					Role *string
					From any
				}
				if err := json.Unmarshal(turn.Messages, &messages); err != nil || len(messages) == 0 {
					t.Fatalf("%s: %v", turn.Messages, err)
				}
				for i, m := range messages {
					if m.Role == nil || roles[*m.Role] != *m.Role {
						t.Fatalf("message %d of %s", i, turn.Messages)
					}
				}
				if *messages[len(messages)-1].Role == "assistant" {
					t.Fatalf("%s ends with an answer", turn.Messages)
				}
			}
		}
	})
}
