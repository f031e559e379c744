package datasets

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/ci"
	"benchtop/internal/hf/numpy"
)

const smallFile = "testdata/sharegpt_small.json"

type shareGPTCase struct {
	Name      string   `json:"name"`
	Tokenizer string   `json:"tokenizer"`
	Seed      int64    `json:"seed"`
	Prompts   int      `json:"num_prompts"`
	Flags     []string `json:"flags"`
	Requests  []struct {
		Entry    string          `json:"entry_id"`
		ID       string          `json:"request_id"`
		Input    int             `json:"prompt_len"`
		Output   int             `json:"expected_output_len"`
		Messages bool            `json:"prompt_is_chat_messages"`
		Media    json.RawMessage `json:"multi_modal_data"`
	} `json:"requests"`
	NextRandom float64 `json:"next_python_random"`
}

func TestShareGPTGolden(t *testing.T) {
	var file struct{ Cases []shareGPTCase }
	goldenCases(t, "sharegpt_sampling.json", &file)
	prompts := promptsByID(t)
	for _, c := range file.Cases {
		t.Run(c.Name, func(t *testing.T) {
			streams := numpy.NewStreams(0)
			streams.Python.Random() // sampling starts the stream over, whatever was drawn before
			common := Common{Path: smallFile, Prompts: c.Prompts, Seed: c.Seed, IDPrefix: "sg-"}
			flags := common.flagsOf(c.Flags)
			d := must(opened(t, "sharegpt", common, flags,
				testTools{toyTools{}, Text{Counter: counters[c.Tokenizer]}, streams}))(t)
			c.check(t, drain(t, d), prompts)
			same(t, "next double of Python", streams.Python.Random(), c.NextRandom)
			same(t, "next word of numpy", streams.Legacy.Uint32(), numpy.NewLegacy(0).Uint32())
		})
	}
}

func (c shareGPTCase) check(t *testing.T, got []Conversation, prompts map[string]string) {
	t.Helper()
	assert.Need(t, len(got), len(c.Requests), "requests")
	for i, want := range c.Requests {
		turn := got[i].Turns[0]
		same(t, "request id", got[i].ID, want.ID)
		same(t, want.ID+" text", turn.Text, prompts[want.Entry])
		same(t, want.ID+" input tokens", turn.InputTokens, want.Input)
		same(t, want.ID+" output tokens", turn.MaxTokens, want.Output)
		same(t, want.ID+" media", decoded(t, turn.Media), decoded(t, want.Media))
		same(t, want.ID+" is messages", turn.Messages != nil, want.Messages)
		if want.Messages {
			content := []any{map[string]any{"type": "text", "text": prompts[want.Entry]}}
			if media := decoded(t, want.Media); media != nil {
				content = append(content, media)
			}
			same(t, want.ID+" messages", decoded(t, turn.Messages),
				any([]any{map[string]any{"role": "user", "content": content}}))
		}
	}
}

// promptsByID maps the ids in the small file to first prompts.
func promptsByID(t *testing.T) map[string]string {
	var entries []struct {
		ID            string
		Conversations []struct{ Value string }
	}
	golden(t, "sharegpt_small.json", &entries)
	prompts := map[string]string{}
	for _, e := range entries {
		if len(e.Conversations) > 0 {
			prompts[e.ID] = e.Conversations[0].Value
		}
	}
	return prompts
}

func decoded(t *testing.T, raw json.RawMessage) any {
	t.Helper()
	if raw == nil {
		return nil
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Errorf("%s: %v", raw, err)
	}
	return v
}

// sample writes a file and samples prompts from it, counting bytes.
func sample(t *testing.T, content string, change func(*shareGPT)) ([]Conversation, error) {
	t.Helper()
	o := defaults[shareGPT]("sharegpt")
	o.Path = filepath.Join(t.TempDir(), "f.json")
	o.Prompts, o.NoOversample, o.DisableShuffle = 10, true, true
	if change != nil {
		change(&o)
	}
	write(t, o.Path, content)
	d, err := made(t.Context(), o, Text{Counter: byBytes{}}, numpy.NewStreams(0))
	if err != nil {
		return nil, err
	}
	return drain(t, d), nil
}

func TestShareGPTBadFiles(t *testing.T) {
	pair := `{"conversations":[{"value":"question"},{"value":"answer"}]}`
	tests := []struct {
		name, content string
		want          []string
	}{
		{"object", "\n\n" + pair, []string{"f.json, line 3: expected " + shareGPTForm + ": got an object"}},
		{"string", `"x"`, []string{"line 1: expected " + shareGPTForm + ": got a string"}},
		{"null", `null`, []string{shareGPTForm + ": got null"}},
		{"number", `12`, []string{shareGPTForm + ": got a number"}},
		{"boolean", `true`, []string{shareGPTForm + ": got true or false"}},
		{"not JSON", "hello", []string{"line 1: not JSON"}},
		{"string inside", "[\n" + pair + ",\n\n\"x\"]",
			[]string{"f.json, line 4: expected " + shareGPTForm + ": got a string"}},
		{"conversations no array", "[\n{\"conversations\":\n{}}]",
			[]string{"line 2:", `"conversations" to be an array: got an object`}},
		{"error inside an object", "[\n" + pair + ",\n{\"a\": 1,\n\"b\" 2}]",
			[]string{"line 4: not JSON", "after object key"}},
		{"missing comma", "[\n" + pair + "\n" + pair + "]", []string{"not JSON", "after array element"}},
		{"cut off before the bracket", "[\n" + pair, []string{"line 2: the file ends before"}},
		{"something behind", "[" + pair + "]\n\n{}", []string{"line 3: the file goes on behind"}},
		{"Latin-1", "[\n{\"conversations\":\n[{\"value\":\"caf\xe9 au lait\"}]}]",
			[]string{"f.json, line 3: the text is not UTF-8"}},
		{"ends in a character", "[\n\"\xe2\x82", []string{"line 2: the text is not UTF-8"}},
		{"nothing in it", "[]", []string{"no conversation has two turns"}},
		{"one turn", `[{"conversations":[{"value":"question"}]},{}]`, []string{"no conversation has two turns"}},
		{"all too short", `[{"conversations":[{"value":"q"},{"value":"a"}]}]`,
			[]string{"none of its 1 conversations", "4 to 1024"}},
		{"turn without text", "[\n\n{\"conversations\":[{\"value\":\"question\"},{\"value\":7}]}]",
			[]string{"line 3: expected turn 2", "got a number"}},
		{"turn no object", `[{"conversations":["question","answer"]}]`,
			[]string{"line 1: expected turn 1", "got a string"}},
		{"turn without value", `[{"conversations":[{},{}]}]`, []string{"line 1: expected turn 1", "got nothing"}},
		{"odd image", `[{"image":7,` + pair[1:] + `]`,
			[]string{`line 1: expected "image" to be a URL or a path: got a number`}},
		{"odd video", `[{"video":{"a":1},` + pair[1:] + `]`,
			[]string{`expected "video" to be a URL or a path: got an object`}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			complains(t, failure(sample(t, test.content, nil)), append(test.want, "dataset sharegpt: ")...)
		})
	}
}

func TestShareGPTOddButGoodFiles(t *testing.T) {
	tests := []struct {
		name, content string
		want          []string
	}{
		{"byte order mark", "\ufeff" + `[{"conversations":[{"value":"question"},{"value":"answer"}]}]`,
			[]string{"question"}},
		{"many turns", `[{"conversations":[{"value":"first"},{"value":"answer"},7,null]}]`, []string{"first"}},
		{"escapes", `[{"a":"\"}]\\","conversations":[{"from":"x","value":"tab\tünïcode \u00e9 ` +
			`\"q\""},{"value":"answer"}]}]`, []string{"tab\tünïcode é \"q\""}},
		{"nesting", `[{"a":{"b":[1,{"c":"]"}]},"conversations" : [ { "x" : [ ] , "value" : "question" } , ` +
			`{"value":"answer"} ] }]`, []string{"question"}},
		{"a repeated key",
			`[{"conversations":[],"conversations":[{"value":"xxxx","value":"question"},{"value":"answer"}]}]`,
			[]string{"question"}},
		{"an escaped key", `[{"conversations":[{"v\u0061lue":"question"},{"value":"answer"}]}]`, []string{"question"}},
		{"a bad entry past the last one wanted",
			`[{"conversations":[{"value":"question"},{"value":"answer"}]},{"conversations":[{},{}]}]`,
			[]string{"question"}},
		{"no image after all", `[{"image":[],"video":0,"conversations":[{"value":"question"},{"value":"answer"}]}]`,
			[]string{"question"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := must(sample(t, test.content, func(o *shareGPT) { o.Prompts = 1 }))(t)
			texts := []string{}
			for _, c := range got {
				texts = append(texts, c.Turns[0].Text)
			}
			same(t, "prompts", texts, test.want)
		})
	}
}

func TestShareGPTWithoutTokenizer(t *testing.T) {
	complains(t, failure(made(t.Context(), shareGPT{Common: Common{Path: smallFile, Prompts: 1}}, Text{},
		numpy.NewStreams(0))), "dataset sharegpt: needs a tokenizer", "--tokenizer")
}

func TestShareGPTDescription(t *testing.T) {
	o := shareGPT{Common: Common{Path: smallFile, Prompts: 60}}
	d := must(made(t.Context(), o, Text{Counter: byWords{}}, numpy.NewStreams(0)))(t)
	same(t, "description", d.About, "sharegpt: 40 prompts of 45 conversations in "+smallFile+", repeated to make 60")
}

// refusalCounter counts words until it has had enough.
type refusalCounter struct{ left atomic.Int64 }

func (r *refusalCounter) Count(text string) (int, error) {
	if r.left.Add(-1) < 0 {
		return 0, errors.New("too many questions")
	}
	return byWords{}.Count(text)
}

// The first prompts of the small file fit, so nothing past them may be counted.
func TestShareGPTCountsNothingInVain(t *testing.T) {
	o := shareGPT{Common: Common{Path: smallFile, Prompts: 2, DisableShuffle: true}}
	for questions, wantError := range map[int64]bool{4: false, 3: true} {
		c := &refusalCounter{}
		c.left.Store(questions)
		_, err := made(t.Context(), o, Text{Counter: c}, numpy.NewStreams(0))
		if wantError {
			complains(t, err, "dataset sharegpt: "+smallFile+": counting tokens: too many questions")
		} else if err != nil {
			t.Errorf("%d questions: got error %v", questions, err)
		}
	}
}

func TestOversampleWantsDistinctIDs(t *testing.T) {
	py := numpy.NewPython(1)
	rows := []Conversation{{ID: "r0"}, {ID: "r2"}}
	complains(t, failure(oversample(rows, 3, 1, "r", py)), `"r2" is used twice`)
	complains(t, failure(oversample(nil, 3, 1, "r", py)), "nothing to repeat")
	assert.Equal(t, len(must(oversample(rows, 2, 5, "r", py))(t)), 2, "oversample")
}

func TestChatMessagesKeepMarkup(t *testing.T) {
	same(t, "messages", string(chatMessages("<a> & \"b\"", nil)),
		`[{"role":"user","content":[{"text":"<a> & \"b\"","type":"text"}]}]`)
}

// conversations writes a file of n of them, one a line, on the fly.
func conversations(n int) io.Reader {
	line := `{"id":"x","conversations":[{"from":"human","value":"` + strings.Repeat("question \\\"é ", 40) +
		`"},{"from":"gpt","value":"` + strings.Repeat("answer ", 100) + `"},{"from":"human","value":"` + strings.Repeat(
		"more ", 300) + "\"}]}"
	parts := []io.Reader{strings.NewReader("[\n")}
	for i := range n {
		if i > 0 {
			parts = append(parts, strings.NewReader(",\n"))
		}
		parts = append(parts, strings.NewReader(line))
	}
	return io.MultiReader(append(parts, strings.NewReader("\n]\n"))...)
}

func TestReadShareGPTKnowsLines(t *testing.T) {
	ci.SkipUnderRace(t)
	entries := must(readShareGPT(conversations(5000), false))(t)
	for i, e := range entries {
		if e.line != i+2 || e.completion != "" {
			t.Fatalf("entry %d: got line %d and completion %q, want line %d and none", i, e.line, e.completion, i+2)
		}
	}
}

func BenchmarkReadShareGPT(b *testing.B) {
	data := must(io.ReadAll(conversations(2000)))(b)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := readShareGPT(strings.NewReader(string(data)), true); err != nil {
			b.Fatal(err)
		}
	}
}

// A backend that takes texts alone gets the text, since its content parts would be other ones.
func TestShareGPTMessagesForBackends(t *testing.T) {
	for form, want := range map[Forms]bool{0: true, AsText: false, AsText | AsTokenIDs: false,
		AsText | AsMessages: true, AsText | AsMedia: true} {
		o := shareGPT{
			Common: Common{Path: "testdata/sharegpt_small.json", Prompts: 3, MultimodalChat: true, Forms: form}}
		list := must(o.draw(t.Context(), Text{Counter: byWords{}}, numpy.NewPython(0)))(t)
		for _, c := range drain(t, list) {
			same(t, fmt.Sprintf("forms %d: %s is messages", form, c.ID), c.Turns[0].Messages != nil, want)
		}
	}
}
