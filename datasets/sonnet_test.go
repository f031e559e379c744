package datasets

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"benchtop/datasets/textfile"
	"benchtop/internal/ci"
	"benchtop/internal/hf/numpy"
)

func TestSonnetGolden(t *testing.T) {
	var file struct {
		Cases []struct {
			Name      string   `json:"name"`
			File      string   `json:"file"`
			Tokenizer string   `json:"tokenizer"`
			Seed      uint32   `json:"seed"`
			Prompts   int      `json:"num_prompts"`
			InputLen  int      `json:"sonnet_input_len"`
			PrefixLen int      `json:"sonnet_prefix_len"`
			OutputLen int      `json:"sonnet_output_len"`
			Backend   string   `json:"backend"`
			Flags     []string `json:"flags"`
			Requests  []struct {
				ID       string `json:"request_id"`
				Lines    []int  `json:"line_indices"`
				Input    int    `json:"prompt_len"`
				Output   int    `json:"expected_output_len"`
				Rendered bool   `json:"formatted_with_chat_template"`
			} `json:"requests"`
			NextRandom float64 `json:"next_python_random"`
		}
	}
	goldenCases(t, "sonnet.json", &file)
	for _, c := range file.Cases {
		t.Run(c.Name, func(t *testing.T) {
			path := filepath.Join("testdata", filepath.Base(c.File))
			poem := must(os.ReadFile(path))(t)
			lines := strings.SplitAfter(string(poem), "\n")
			o := sonnet{Common: Common{Path: path, Prompts: c.Prompts, IDPrefix: "so-"}, InputLen: c.InputLen,
				OutputLen: c.OutputLen, PrefixLen: c.PrefixLen}
			if o.flagsOf(c.Flags); c.Backend == "openai-chat" {
				o.Forms = AsMessages
			}
			streams := numpy.NewStreams(c.Seed)
			d := must(made(t.Context(), o, Text{Counter: counters[c.Tokenizer], Template: roleTags{}}, streams))(t)
			same(t, "length", d.Len, len(c.Requests))
			got := drain(t, d)
			for i, want := range c.Requests {
				text := sonnetBase
				for _, line := range want.Lines {
					text += lines[line]
				}
				if want.Rendered {
					text = "<|user|>\n" + text + "\n<|assistant|>\n"
				}
				same(t, want.ID, got[i], Conversation{ID: want.ID,
					Turns: []Turn{{Text: text, InputTokens: want.Input, MaxTokens: want.Output}}})
			}
			same(t, "next double of Python", streams.Python.Random(), c.NextRandom)
			same(t, "next word of numpy", streams.Legacy.Uint32(), numpy.NewLegacy(c.Seed).Uint32())
		})
	}
}

// sonnetDefaults are sent to a back end that renders chats.
func sonnetDefaults() sonnet {
	o := defaults[sonnet]("sonnet")
	o.Forms = AsMessages
	return o
}

func words() Text { return Text{Counter: byWords{}, Template: roleTags{}} }

func TestSonnetBuiltIn(t *testing.T) {
	lines := must(openPoem(""))(t)
	if len(lines) < 500 || len(lines)%14 != 0 {
		t.Errorf("got %d lines", len(lines))
	}
	for i, line := range lines {
		if n, _ := (byWords{}).Count(line); n < 3 || n > 12 || !strings.HasSuffix(line, "\n") {
			t.Errorf("line %d: %q", i+1, line)
		}
	}
	o := sonnetDefaults()
	o.Prompts = 20
	d := must(made(t.Context(), o, words(), numpy.NewStreams(0)))(t)
	same(t, "description", d.About,
		"sonnet: 20 prompts of up to 550 tokens, 23 lines of the sonnets built in for all and 43 drawn for each")
	first := strings.Join(lines[:23], "")
	texts := map[string]bool{}
	for _, c := range drain(t, d) {
		turn := c.Turns[0]
		if !strings.HasPrefix(turn.Text, sonnetBase+first) || turn.InputTokens > 550 || turn.InputTokens < 450 {
			t.Errorf("got %d tokens: %q", turn.InputTokens, turn.Text[:100])
		}
		texts[turn.Text] = true
	}
	same(t, "different prompts", len(texts), 20)
}

func poemFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f.txt")
	fine(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func TestSonnetRefuses(t *testing.T) {
	ci.SkipUnderRace(t)
	long := strings.Repeat("one two three four five six seven\n", 5)
	tests := []struct {
		name, content string
		change        func(*sonnet, *Text)
		want          []string
	}{
		{"no tokenizer", long, func(_ *sonnet, x *Text) { x.Counter = nil }, []string{"needs a tokenizer"}},
		{"no template", long, func(_ *sonnet, x *Text) { x.Template = nil },
			[]string{"needs the model's chat template; give --tokenizer"}},
		{"options", long, func(o *sonnet, _ *Text) { *o = sonnet{PrefixLen: -1} },
			[]string{"number of prompts 0", "input length 0", "output length 0", "prefix length -1"}},
		{"no tokens", long, func(_ *sonnet, x *Text) { x.Counter = noTokens{} },
			[]string{"f.txt: its lines hold no tokens"}},
		{"input too short", long, func(o *sonnet, _ *Text) { o.InputLen = 13 },
			[]string{"input length 13 must be above 13, the tokens of the words in front"}},
		{"prefix too long", long, func(o *sonnet, _ *Text) { o.InputLen, o.PrefixLen = 20, 100 },
			[]string{"all prompts begin with make 48 tokens, more than the input length 20"}},
		{"never fits", long, func(o *sonnet, x *Text) { o.InputLen, o.PrefixLen, x.Counter = 30, 0, squareLines{} },
			[]string{"10000 prompts in a row came out longer than the input length 30, the last of 324 tokens"}},
		{"hardly a token", strings.Repeat("\n", 1<<16) + "a\n", func(o *sonnet, _ *Text) { o.InputLen = 1000 },
			[]string{"takes 64685019 of them", "without empty lines"}},
		{"failing counter", long, func(_ *sonnet, x *Text) { x.Counter = &refusalCounter{} },
			[]string{"f.txt: counting tokens: too many questions"}},
		{"failing template", long, func(_ *sonnet, x *Text) { x.Template = noTags{} },
			[]string{"f.txt: rendering a prompt: no such filter"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o, text := sonnetDefaults(), words()
			o.Path = poemFile(t, test.content)
			if test.change != nil {
				test.change(&o, &text)
			}
			complains(t, failure(made(t.Context(), o, text, numpy.NewStreams(0))),
				append(test.want, "dataset sonnet: ")...)
		})
	}
}

// noTokens counts nothing.
type noTokens struct{}

func (noTokens) Count(string) (int, error) { return 0, nil }

// countedBytes counts what it was asked about.
type countedBytes struct{ asked atomic.Int64 }

func (c *countedBytes) Count(text string) (int, error) {
	c.asked.Add(int64(len(text)))
	return byWords{}.Count(text)
}

// A line that is longer than a prompt may be is counted for the plan and once for all prompts that draw it, however
// often.
func TestSonnetOfLongLines(t *testing.T) {
	long := strings.Repeat("the winds do shake ", 1<<14)
	for _, c := range []struct {
		name, poem string
		want       string // of the error, "" for none
	}{
		{"one line", long,
			"10000 prompts in a row came out longer than the input length 550, the last of 65549 tokens"},
		{"a short line and a long one", "rough winds\n" + long, ""},
		{"one word", strings.Repeat("a", 1<<20), "its 1048576 bytes are only 1 tokens to this tokenizer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, text, counter := sonnetDefaults(), words(), new(countedBytes)
			o.Path, o.PrefixLen, text.Counter = poemFile(t, c.poem), 0, counter
			d, err := made(t.Context(), o, text, numpy.NewStreams(0))
			if c.want != "" {
				complains(t, err, c.want)
			} else if err != nil || d.Len != o.Prompts {
				t.Errorf("%v prompts, error %v", d, err)
			}
			if asked, most := counter.asked.Load(), int64(3*len(c.poem)); asked > most {
				t.Errorf("%d bytes were counted, want at most %d", asked, most)
			}
		})
	}
}

// squareLines finds texts longer than their lines together.
type squareLines struct{}

func (squareLines) Count(text string) (int, error) {
	n := strings.Count(text, "\n")
	return n * n, nil
}

func TestReadPoem(t *testing.T) {
	for text, want := range map[string][]string{
		"a":                {"a"},
		"a\n":              {"a\n"},
		"a\r\nb\rc\n\r\nd": {"a\n", "b\n", "c\n", "\n", "d"},
		"\ufeffa\r":        {"a\n"},
		"\n.":              {"\n", "."},
		"\r\r\n.":          {"\n", "\n", "."},
		"ü\u2028\v\f\x00":  {"ü\u2028\v\f\x00"},
	} {
		got, err := readPoem(strings.NewReader(text))
		if err != nil {
			t.Error(err)
		}
		same(t, text, got, want)
	}
	complains(t, failure(textfile.ReadAll(sameByte('a'), 1)), "larger than 1 MiB")
}

// sameByte is a file without end of one and the same byte.
type sameByte byte

func (b sameByte) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(b)
	}
	return len(p), nil
}

// FuzzReadPoem holds the reader to a plainer way of parting lines, however the bytes are cut up.
func FuzzReadPoem(f *testing.F) {
	for _, text := range []string{"", "\n", "a\r\nb\rc", "\ufeff\r", "\xff\xfe", "ü\xc3"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := readPoem(strings.NewReader(text))
		slow, slowErr := readPoem(iotest.OneByteReader(strings.NewReader(text)))
		if (err == nil) != (slowErr == nil) || !slices.Equal(got, slow) {
			t.Fatalf("at once %q, %v; byte by byte %q, %v", got, err, slow, slowErr)
		}
		if err != nil {
			return
		}
		plain := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(text, "\ufeff"))
		if joined := strings.Join(got, ""); joined != plain {
			t.Errorf("got %q, want %q", joined, plain)
		}
		for i, line := range got {
			if n := strings.Count(line, "\n"); n > 1 || n == 0 && i < len(got)-1 ||
				n == 1 && line[len(line)-1] != '\n' || line == "" {
				t.Errorf("line %d: %q", i, line)
			}
		}
	})
}
