package datasets

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"benchtop/internal/assert"
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

// counters are those of vectors, by their names.
var counters = map[string]tokenizer.Counter{"whitespace": byWords{}, "bytes": byBytes{}}

// build makes the data set of the case.
func (c customCase) build(t *testing.T, s *numpy.Streams) (Flow, error) {
	t.Helper()
	text := Text{Template: roleTags{}}
	if c.Tokenizer != nil {
		text.Counter = counters[*c.Tokenizer]
	}
	common := Common{Path: filepath.Join("testdata", filepath.Base(c.Path)), Prompts: c.Prompts, Seed: c.Seed,
		IDPrefix: "cu-"}
	flags := common.flagsOf(c.Flags)
	list, err := opened(t, c.Dataset, common, flags, testTools{toyTools{notes: new([]string)}, text, s})
	if err == nil && c.Dataset == "custom" {
		o := defaults[custom]("custom")
		o.Common = common
		o.Define(func(string) Flags { return flags })
		again, err := o.make(t.Context(), text, numpy.NewStreams(0), 0)
		all := drain(t, list)
		list.Next = ListOf(all, "").Next
		if err != nil || again.About != list.About || !reflect.DeepEqual(drain(t, again), all) {
			t.Errorf("a file that is read twice gives other requests: %v", err)
		}
	}
	return list, err
}

func TestCustomGolden(t *testing.T) {
	var file struct{ Cases []customCase }
	goldenCases(t, "custom_family.json", &file)
	for _, c := range file.Cases {
		t.Run(c.Name, func(t *testing.T) {
			streams := numpy.NewStreams(uint32(c.Seed))
			streams.Python.Random() // sampling starts the stream over, whatever was drawn before
			list := must(c.build(t, streams))(t)
			same(t, "requests", list.Len, len(c.Requests))
			c.check(t, drain(t, list))
			same(t, "next double of Python", streams.Python.Random(), c.NextRandom)
			same(t, "next word of numpy", streams.Legacy.Uint32(), numpy.NewLegacy(uint32(c.Seed)).Uint32())
		})
	}
}

func (c customCase) check(t *testing.T, got []Conversation) {
	t.Helper()
	assert.Need(t, len(got), len(c.Requests), "requests")
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
