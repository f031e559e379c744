package datasets

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/hf/numpy"
)

// customIn samples every row of a file in its order, counting bytes, without a template.
func customIn(t *testing.T, change func(*custom), lines ...string) ([]Conversation, error) {
	t.Helper()
	o := defaults[custom]("custom")
	o.Path = filepath.Join(t.TempDir(), "f.jsonl")
	o.Prompts, o.DisableShuffle, o.SkipChatTemplate = 0, true, true
	if change != nil {
		change(&o)
	}
	write(t, o.Path, strings.Join(lines, "\n"))
	list, err := made(t.Context(), o, Text{Counter: byBytes{}}, numpy.NewStreams(0))
	if err != nil {
		return nil, err
	}
	return drain(t, list), nil
}

func fromFile(o *custom) { o.customFlags = &customFlags{OutputFromFile} }

func TestCustomOutputTokens(t *testing.T) {
	good := map[string]int{"7": 7, "7.0": 7, `"7"`: 7, `" 12 "`: 12, `"3.00"`: 3, "2147483647": 2147483647}
	for raw, want := range good {
		got, err := customIn(t, fromFile, `{"prompt": "one", "output_tokens": `+raw+`}`)
		if err != nil {
			t.Errorf("%s: got error %v", raw, err)
			continue
		}
		same(t, raw, got[0].Turns[0].MaxTokens, want)
	}
	for _, raw := range []string{"0", "-1", "7.5", `"seven"`, `""`, "null", "true", "[7]", "NaN", "Infinity",
		"2147483648", "99999999999999999999", "1e400"} {
		complains(t, failure(customIn(t, fromFile, `{"prompt": "one", "output_tokens": 1}`,
			`{"prompt": "two", "output_tokens": `+raw+`}`)),
			"f.jsonl, line 2: expected \"output_tokens\" to be a whole number from 1 to 2147483647: got ")
		if _, err := customIn(t, nil, `{"prompt": "two", "output_tokens": `+raw+`}`); err != nil {
			t.Errorf("%s, not asked for: got error %v", raw, err)
		}
	}
	complains(t, failure(customIn(t, fromFile, `{"prompt": "one", "output_tokens": 1}`, `{"prompt": "two"}`)),
		`line 2: "output_tokens" is missing`, "--custom-output-len")
}

func TestCustomRows(t *testing.T) {
	for _, test := range []struct {
		name, want string
		lines      []string
	}{
		{"no prompts at all", `no line has a "prompt"; expected an object like`, []string{`{"text": "one"}`, `{}`}},
		{"a row without", `line 2: "prompt" is missing`, []string{`{"prompt": "one"}`, `{"text": "two"}`}},
		{"a list", `line 1: expected "prompt" to be a string: got an array`, []string{`{"prompt": ["a", "b"]}`}},
		{"null", `line 1: expected "prompt" to be a string: got null`, []string{`{"prompt": null}`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			complains(t, failure(customIn(t, nil, test.lines...)), "dataset custom: ", "f.jsonl", test.want)
		})
	}
	// A row that is not picked is not missed, digits stay text, and of a repeated name the last counts.
	got := must(customIn(t, func(o *custom) { o.Prompts = 3 }, `{"prompt": "007"}`,
		`{"prompt": "x", "prompt": "\u00fc"}`, "", `{"prompt": ""}`, `{}`))(t)
	for i, want := range []string{"007", "ü", ""} {
		same(t, "prompt", got[i].Turns[0].Text, want)
		same(t, "input tokens", got[i].Turns[0].InputTokens, len(want))
	}
}

func TestSpeedBenchOfOtherSubsets(t *testing.T) {
	for dir, want := range map[string]string{"testdata/speed_bench_small": "one of those it has: qualitative, " +
		"throughput_1k", t.TempDir(): "give the one that SPEED-Bench was prepared in"} {
		complains(t, failure(opened(t, "speed_bench", Common{Path: dir},
			given{"speed-bench-dataset-subset": "throughput_32k"}, wordTools())), "dataset speed_bench: "+dir,
			"no throughput_32k.jsonl", want)
	}
}

func TestCustomTemplate(t *testing.T) {
	o := defaults[custom]("custom")
	o.Path, o.Prompts, o.TemplateArgs = "testdata/custom_small.jsonl", 2, json.RawMessage(`{"think":true}`)
	draw := func(ctx context.Context, text Text) (Flow, error) {
		return made(ctx, o, text, numpy.NewStreams(0))
	}
	list := must(draw(t.Context(), Text{Counter: byBytes{}, Template: roleTags{}}))(t)
	for _, c := range drain(t, list) {
		if !strings.HasPrefix(c.Turns[0].Text, "<|user|>\nitem ") ||
			!strings.HasSuffix(c.Turns[0].Text, `{"think":true}`) {
			t.Errorf("got prompt %q", c.Turns[0].Text)
		}
	}
	same(t, "description", list.About, "custom: 2 prompts of 17 in testdata/custom_small.jsonl")
	complains(t, failure(draw(t.Context(), Text{Counter: byBytes{}, Template: noTags{}})), "custom_small.jsonl, line ",
		"rendering the chat template: no such filter")
	complains(t, failure(draw(t.Context(), Text{Counter: byBytes{}})),
		"dataset custom: needs the model's chat template", "--skip-chat-template")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.Is(t, failure(draw(ctx, Text{Counter: byBytes{}, Template: roleTags{}})), context.Canceled)
}

func TestBenchesNeedTokenizerAndTemplate(t *testing.T) {
	spec, speed := defaults[specBench]("spec_bench"), defaults[speedBench]("speed_bench")
	spec.Path, speed.Path = "testdata/spec_bench_small.jsonl", "testdata/speed_bench_small"
	for name, draw := range map[string]func(Text) (Flow, error){
		"spec_bench":  func(text Text) (Flow, error) { return made(t.Context(), spec, text, numpy.NewStreams(0)) },
		"speed_bench": func(text Text) (Flow, error) { return made(t.Context(), speed, text, numpy.NewStreams(0)) },
	} {
		complains(t, failure(draw(Text{Template: roleTags{}})), "dataset "+name+": needs a tokenizer")
		complains(t, failure(draw(Text{Counter: byBytes{}})), "dataset "+name+": needs the model's chat template")
	}
}

func TestBenchRows(t *testing.T) {
	tests := []struct{ name, category, lines, want string }{
		{"no turns", "", `{"prompt": "x"}`, `line 1: "turns" is missing; expected an object like`},
		{"turns no array", "", `{"turns": "x"}`, `line 1: expected "turns" to be an array: got a string`},
		{"no first turn", "", `{"turns": []}`, `line 1: "turns" is empty`},
		{"first turn no string", "", `{"turns": [7]}`,
			`line 1: expected the first of "turns" to hold a string: got a number`},
		{"unknown category", "art",
			"{\"category\": \"math\", \"turns\": [\"x\"]}\n{\"category\": \"law\"}\n{\"category\": 1}\n{}",
			`no question is of category "art"; give --spec-bench-category one of: law, math`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := specBench{Common: Common{Path: filepath.Join(t.TempDir(), "f.jsonl")}, OutputLen: 1,
				Category: test.category}
			write(t, o.Path, test.lines)
			complains(t, failure(made(t.Context(), o, Text{Counter: byWords{}, Template: roleTags{}},
				numpy.NewStreams(0))), "dataset spec_bench: ", test.want)
		})
	}
	o := defaults[speedBench]("speed_bench")
	o.Path = t.TempDir()
	for content, want := range map[string]string{
		`{"messages": ["hi"]}`:            `line 1: expected the first of "messages" to hold a string: got nothing`,
		`{"messages": [{"content": []}]}`: `line 1: expected the first of "messages" to hold a string: got an array`,
	} {
		write(t, filepath.Join(o.Path, "qualitative.jsonl"), content)
		complains(t, failure(made(t.Context(), o, Text{Counter: byWords{}, Template: roleTags{}}, numpy.NewStreams(0))),
			"dataset speed_bench: ", want)
	}
	same(t, "names", someOf(strings.Split(strings.Repeat("a", 41), "")), strings.Repeat("a, ", 40)+"…")
}

// Of a file that is too large for memory only the prompts that are picked are kept. One that has changed meanwhile is
// refused.
func TestCustomReadsLargeFilesTwice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.jsonl")
	write(t, path, strings.Join([]string{`{"prompt": "one"}`, ``, `{"prompt": "two"}`, `{"other": 3}`}, "\n"))
	file := must(os.Open(path))(t)
	defer file.Close()
	o := custom{customFlags: &customFlags{}}
	rows := must(o.read(file, func(int) bool { return false }))(t)
	assert.Need(t, len(rows), 3, "rows")
	for _, row := range rows {
		same(t, "a prompt that nobody asked for", row.prompt, "")
	}
	picked := []customRow{rows[2], rows[1]}
	fine(t, o.fill(file, picked))
	same(t, "the second row", picked[1].prompt, "two")
	complains(t, picked[0].bad, `"prompt" is missing`)
	write(t, path, `{"prompt": "one"}`)
	complains(t, o.fill(file, picked), "has changed")
	write(t, path, `{"prompt": "o`)
	complains(t, o.fill(file, picked), "the file ends before")
}
