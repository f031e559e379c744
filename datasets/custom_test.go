package datasets

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"benchtop/internal/hf/numpy"
	"benchtop/internal/hf/tokenizer"
)

// customCase is a case of the data sets that read prompts from JSON lines.
type customCase struct {
	Backend   string
	Name      string
	Dataset   string `json:"dataset_name"`
	Path      string
	Tokenizer *string
	Seed      int64
	Prompts   int `json:"num_prompts"`
	Flags     []string
	Requests  []struct {
		Prompt json.RawMessage
		ID     string          `json:"request_id"`
		Input  int             `json:"prompt_len"`
		Output int             `json:"expected_output_len"`
		Media  json.RawMessage `json:"multi_modal_data"`
	}
	NextRandom float64 `json:"next_python_random"`
}

// flags are the case's flags: a value for each, "" for switches.
func (c customCase) flags(t *testing.T) map[string]string {
	t.Helper()
	flags := map[string]string{}
	for i := 0; i < len(c.Flags); i++ {
		flag := c.Flags[i]
		flags[flag] = ""
		switch flag {
		case "--disable-shuffle", "--no-oversample", "--skip-chat-template", "--enable-multimodal-chat":
		case "--custom-output-len", "--output-len", "--spec-bench-category", "--spec-bench-output-len",
			"--speed-bench-dataset-subset", "--speed-bench-category":
			i++
			flags[flag] = c.Flags[i]
		default:
			t.Fatalf("unknown flag %s", flag)
		}
	}
	return flags
}

// build makes the data set of the case.
func (c customCase) build(t *testing.T, s *numpy.Streams) (Flow, error) {
	t.Helper()
	text := Text{Template: roleTags{}}
	if c.Tokenizer != nil {
		text.Counter = map[string]tokenizer.Counter{"whitespace": byWords{}, "bytes": byBytes{}}[*c.Tokenizer]
	}
	flags := c.flags(t)
	given := func(flag string) bool { _, ok := flags[flag]; return ok }
	number := func(into *int, names ...string) {
		for _, name := range names {
			if value, ok := flags[name]; ok {
				*into, _ = strconv.Atoi(value)
			}
		}
	}
	path := filepath.Join("testdata", filepath.Base(c.Path))
	keep, few, skip := given("--disable-shuffle"), given("--no-oversample"), given("--skip-chat-template")
	switch c.Dataset {
	case "custom":
		o := CustomDefaults()
		o.Path, o.Prompts, o.DisableShuffle, o.NoOversample, o.SkipChatTemplate = path, c.Prompts, keep, few, skip
		o.IDPrefix, o.Seed = "cu-", c.Seed
		number(&o.OutputLen, "--custom-output-len", "--output-len")
		list, err := NewCustom(t.Context(), o, text, s)
		if err == nil {
			again, err := newCustom(t.Context(), o, text, numpy.NewStreams(0), 0)
			all := drain(t, list)
			list.Next = ListOf(all, "").Next
			if err != nil || again.About != list.About || !reflect.DeepEqual(drain(t, again), all) {
				t.Errorf("a file that is read twice gives other requests: %v", err)
			}
		}
		return list, err
	case "custom_image":
		o := customImageDefaults()
		o.Path, o.Prompts, o.DisableShuffle, o.NoOversample, o.MultimodalChat = path, c.Prompts, keep, few, given("--enable-multimodal-chat")
		o.IDPrefix, o.Seed = "cu-", c.Seed
		number(&o.OutputLen, "--custom-output-len", "--output-len")
		return NewCustomImage(t.Context(), o, text, s)
	case "spec_bench":
		o := SpecBenchDefaults()
		o.Path, o.Prompts, o.DisableShuffle, o.NoOversample, o.Category = path, c.Prompts, keep, few, flags["--spec-bench-category"]
		o.IDPrefix = "cu-"
		number(&o.OutputLen, "--spec-bench-output-len", "--output-len")
		return NewSpecBench(t.Context(), o, text, s)
	case "speed_bench":
		o := SpeedBenchDefaults()
		o.Path, o.Prompts, o.DisableShuffle, o.NoOversample, o.SkipChatTemplate = path, c.Prompts, keep, few, skip
		o.Category, o.IDPrefix = flags["--speed-bench-category"], "cu-"
		if subset := flags["--speed-bench-dataset-subset"]; subset != "" {
			o.Subset = subset
		}
		return NewSpeedBench(t.Context(), o, text, s)
	}
	return Flow{}, fmt.Errorf("nobody reads %q", c.Dataset)
}

func TestCustomGolden(t *testing.T) {
	var file struct{ Cases []customCase }
	goldenCases(t, "custom_family.json", &file)
	for _, c := range file.Cases {
		t.Run(c.Name, func(t *testing.T) {
			streams := numpy.NewStreams(uint32(c.Seed))
			streams.Python.Random() // sampling starts the stream over, whatever was drawn before
			list, err := c.build(t, streams)
			if err != nil {
				t.Fatal(err)
			}
			same(t, "requests", list.Len, len(c.Requests))
			c.check(t, drain(t, list))
			same(t, "next double of Python", streams.Python.Random(), c.NextRandom)
			same(t, "next word of numpy", streams.Legacy.Uint32(), numpy.NewLegacy(uint32(c.Seed)).Uint32())
		})
	}
}

func (c customCase) check(t *testing.T, got []Conversation) {
	t.Helper()
	if len(got) != len(c.Requests) {
		t.Fatalf("got %d requests, want %d", len(got), len(c.Requests))
	}
	for i, want := range c.Requests {
		turn := got[i].Turns[0]
		same(t, "request id", got[i].ID, want.ID)
		same(t, want.ID+" input tokens", turn.InputTokens, want.Input)
		same(t, want.ID+" output tokens", turn.MaxTokens, want.Output)
		media := string(turn.Media)
		if string(want.Media[0]) == "[" {
			media = "[" + media + "]"
		}
		if turn.Media == nil {
			media = "null"
		}
		same(t, want.ID+" media", media, compact(want.Media))
		var text string
		if json.Unmarshal(want.Prompt, &text) == nil {
			same(t, want.ID+" text", turn.Text, text)
			same(t, want.ID+" messages", string(turn.Messages), "")
			continue
		}
		messages := compact(want.Prompt)
		if !strings.HasPrefix(messages, `[{"role":`) { // parts, of which a chat back end makes a message
			messages = `[{"role":"user","content":` + messages + `}]`
		}
		same(t, want.ID+" messages", string(turn.Messages), messages)
	}
}
