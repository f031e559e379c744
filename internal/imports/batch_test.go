package imports

import (
	"fmt"
	"strings"
	"testing"

	"benchtop/internal/assert"
)

func line(id, body string) string {
	return fmt.Sprintf(`{"custom_id":%q,"method":"POST","url":"/v1/chat/completions","body":%s}`, id, body)
}

// A system prompt that lines have in common is a beginning of equal length.
func TestBatch(t *testing.T) {
	words := func(text string) (int, error) { return len(strings.Fields(text)), nil }
	system := strings.Repeat("one two three four five six seven eight nine ten ", 10)
	var text, want []string
	next := 10 // what the first line has besides is its own
	for i, user := range []string{"a b c d e f g h i j",
		"something quite different that is much longer than the one before it is", "k"} {
		text = append(text,
			line(fmt.Sprint(i),
				fmt.Sprintf(`{"messages":[{"role":"system","content":%q},{"role":"user","content":%q}],"max_tokens":7}`,
					system, user)))
		n, _ := words(system + user)
		blocks, own := "[[0,11]]", n/10-10
		if i > 0 && own > 0 {
			blocks = fmt.Sprintf("[[0,10],[%d,%d]]", next, own)
		} else if i > 0 {
			blocks = "[[0,10]]"
		}
		next += own
		want = append(want,
			fmt.Sprintf(`{"session":"%d","block_size":10,"shared":true,"requests":[{"in":%d,"out":7,"blocks":%s}]}`, i,
				n, blocks))
	}
	got, summary, err := imported(t, strings.Join(text, "\n"), Options{BlockSize: 10, Count: words})
	if err != nil || got != strings.Join(want, "\n") {
		t.Errorf("got\n%s, %v, want\n%s", got, err, strings.Join(want, "\n"))
	}
	assert.Equal(t, summary.IdealTokens, 200, "tokens are shared")
}

func TestBatchForms(t *testing.T) {
	one := func(in, out int) string {
		return fmt.Sprintf(`{"session":"a","block_size":64,"shared":true,"requests":[{"in":%d,"out":%d}]}`, in, out)
	}
	for _, c := range []struct{ name, body, want string }{
		{"a prompt", `{"prompt":"12345678","max_tokens":3}`, one(2, 3)},
		{"parts", `{"messages":[{"role":"user","content":[{"type":"text","text":"12345"}]}],` +
			`"max_completion_tokens":9,"max_tokens":3}`, one(2, 9)},
		{"messages in an object", `{"messages":{"messages":["12345"]},"max_tokens":3}`, one(2, 3)},
		{"responses", `{"instructions":"1234","input":"1234","max_output_tokens":0}`, one(2, 1)},
		{"no bound", `{"prompt":"1"}`, one(1, defaultOutput)},
		{"ids of tokens", `{"prompt":[1,2,3],"max_tokens":1}`, one(3, 1)},
		{"two prompts", `{"prompt":["1","12345"],"max_tokens":1}`,
			`{"session":"a","block_size":64,"shared":true,"requests":[{"in":1,"out":1},{"in":2,"out":1,"after":[]}]}`},
	} {
		same(t, c.name, strings.Replace(line("a", c.body), "/chat/completions", "/completions", 1), c.want, Options{})
	}
	body := `{"messages":[{"role":"user","content":"hi"}],"max_tokens":1}`
	same(t, "text", line("a", body),
		`{"session":"a","block_size":64,"shared":true,"requests":[{"in":1,"out":1,"messages":[{"role":"user",`+
			`"content":"hi"}]}]}`, Options{KeepText: true})
}

func TestBatchErrors(t *testing.T) {
	refused(t, [][3]string{
		{"no body", `{"custom_id":"a"}`, `line 1: "body": expected an object: got nothing`},
		{"a bound", line("a", `{"prompt":"a","max_tokens":-1}`),
			`request "a": the bound of the answer: expected a whole number`},
		{"a prompt", line("a", `{"prompt":5}`), `request "a": "prompt": expected a text: got a number`},
		{"a prompt among others", line("a", `{"prompt":["a",5]}`), `"prompt": expected a text: got a number`},
		{"no prompt", line("a", `{}`), "no sessions were found; skipped: lines without a prompt (1)"},
		{"another endpoint", strings.Replace(line("a", `{}`), "chat/completions", "embeddings", 1),
			"skipped: lines of other endpoints (1)"},
	})
}
