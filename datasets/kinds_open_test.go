package datasets

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"benchtop/internal/assert"
)

// Each kind is checked and opened with the flags as they are, and its source says which data set it is.
func TestKindsOpen(t *testing.T) {
	for _, test := range []struct {
		name, path, head string
		forms            Forms
		flags            given
		ids, note        bool // prompts are token ids; the user is told something
	}{
		{name: "random", head: "random: 1024 input tokens", forms: AsText},
		{name: "random",
			head: "random: normal mean=50 std=9 (drawn: mean 43.7, P50 44, P99 53) input tokens, 128 output tokens, " +
				"as text", forms: AsText,
			flags: given{"random-isl-dist": "normal mean=50 std=9"}},
		{name: "random",
			head: "random: mix of 1: 5/6; 2: normal mean=3 std=5/9; drawn: mean 3.7, P50 5, P99 5 input tokens, mean " +
				"7.0, P50 6, P99 9 output tokens, as text", forms: AsText,
			flags: given{"random-mix": "1:5/6;2:normal mean=3 std=5/9"}, note: true},
		{name: "random-mm",
			head:  "random-mm: 1024 input tokens, uniform min=3 max=5 (drawn: mean 4.3, P50 4, P99 5) output tokens",
			forms: AsMessages,
			flags: given{"random-mm-bucket-config": "{(8, 8, 1): 1}", "random-osl-dist": "uniform min=3 max=5"}},
		{name: "random-mm", head: "random-mm: 1024 input tokens", forms: AsMessages,
			flags: given{"random-mm-bucket-config": "{(8, 8, 1): 1}"}},
		{name: "random-rerank", head: "random-rerank: 3 requests", forms: AsDocuments},
		{name: "prefix_repetition", head: "prefix_repetition: 10 prompts", forms: AsText},
		{name: "sharegpt", path: "sharegpt_small.json", head: "sharegpt: 3 prompts", forms: AsText},
		{name: "sonnet", head: "sonnet: 3 prompts", forms: AsText, note: true},
		{name: "burstgpt", path: "burstgpt_small.csv", head: "burstgpt: 3 prompts", forms: AsText},
		{name: "custom", path: "custom_small.jsonl", head: "custom: 3 prompts", forms: AsText},
		{name: "custom_image", path: "custom_image_small.jsonl", head: "custom_image: 3 prompts", forms: AsMessages},
		{name: "custom_audio", path: "custom_audio_small.jsonl",
			head: "custom_audio: 3 prompts of 3 with recordings of 0.3 s on average", forms: AsAudio},
		{name: "spec_bench", path: "spec_bench_small.jsonl", head: "spec_bench: 3 prompts", forms: AsText},
		{name: "speed_bench", path: "speed_bench_small", head: "speed_bench: 3 prompts", forms: AsText},
		{name: "timed_trace", path: "trace_small.jsonl", head: "timed_trace: 3 prompts", forms: AsTokenIDs, ids: true},
		{name: "trace", path: "burstgpt_small.csv", head: "trace: 3 prompts", forms: AsText},
		{name: "trace", path: "trace_small.jsonl", head: "trace: 3 prompts", forms: AsText,
			flags: given{"trace-unit": "s"}},
		{name: "hf", path: ".", head: "bfcl: 3 prompts", forms: AsMessages,
			flags: given{"hf-name": BFCLRepository, "bfcl-categories": "simple"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := Common{Prompts: 3, Forms: test.forms}
			if test.name == "prefix_repetition" {
				c.Prompts = 10 // one for each prefix
			}
			if test.path != "" {
				c.Path = filepath.Join("testdata", test.path)
			}
			var notes []string
			source := must(opened(t, test.name, c, test.flags, toyTools{newToy(t, "identity", 997, nil, 0), &notes}))(t)
			if about := source.About; !strings.HasPrefix(about, test.head) {
				t.Errorf("described as %q, want %q", about, test.head)
			}
			assert.Equal(t, strings.Join(notes, "") != "", test.note, "told: %q", notes)
			assert.Equal(t, must(source.Next())(t).Turns[0].TokenIDs != nil, test.ids, "has token ids")
		})
	}
}

// What counts the tokens of its prompts stops with its context.
func TestKindsStopWithTheirContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, path := range map[string]string{"sharegpt": "testdata/sharegpt_small.json", "sonnet": ""} {
		c := Common{Prompts: 3, Path: path, Forms: AsText}
		if _, err := Named(Kinds(&Common{}), name).Open(ctx, c, wordTools()); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got error %v, want that of the context", name, err)
		}
	}
}

func TestKindsOpenWithoutTokenizer(t *testing.T) {
	for _, test := range []struct {
		name, head, err string
		forms           Forms
		endless         bool
	}{
		{name: "random", head: "random: 7 input tokens, 5 output tokens, as token ids 1000 to 31999",
			forms: AsTokenIDs},
		{name: "random", head: "random: 7 input tokens, 5 output tokens, as token ids 1000 to 31999", forms: AsTokenIDs,
			endless: true},
		{name: "burstgpt", head: "burstgpt: 3 prompts as long as those of", forms: AsTokenIDs},
		{name: "burstgpt", head: "burstgpt: 3 prompts as long as those of", forms: AsText},
		{name: "random-rerank", err: "no tokenizer", forms: AsDocuments},
		{name: "random-mm", err: "needs a tokenizer, since chat takes text", forms: AsMessages},
	} {
		c := Common{Prompts: 3, Path: "testdata/burstgpt_small.csv", SharedInputLen: 7, SharedOutputLen: 5,
			Endless: test.endless, Forms: test.forms}
		source, err := opened(t, test.name, c, nil, wordTools())
		if test.err != "" {
			complains(t, err, test.err)
			continue
		}
		if err != nil || !strings.HasPrefix(source.About, test.head) {
			t.Errorf("%s: %v, %v", test.name, source, err)
			continue
		}
		assert.Equal(t, source.Len == 0, test.endless, "%s: %d requests", test.name, source.Len)
	}
}

// A run of random prompts that is steered beyond them goes on with other prompts, without end.
func TestRandomGoesOn(t *testing.T) {
	o := RandomDefaults()
	o.Prompts, o.IDPrefix = 2, "r-"
	r := must(NewRandom(o, nil))(t)
	more := must(r.More())(t)
	all := drain(t, r)
	for i := range blockPrompts + 2 {
		c, err := more.Next()
		if errors.Is(err, io.EOF) || err != nil {
			t.Fatal(err)
		}
		if i == 0 && (c.ID != "r-more-0" || c.Turns[0].TokenIDs[0] == all[0].Turns[0].TokenIDs[0]) {
			t.Errorf("first prompt %s begins as that of the run", c.ID)
		}
	}
}

// Flags that cannot be read are named with what they hold.
func TestKindsRefuseFlags(t *testing.T) {
	for _, test := range []struct {
		name, path string
		flags      given
		want       string
	}{
		{"random", "", given{"random-range-ratio": "x y"}, `--random-range-ratio "x y": range ratio`},
		{"random", "", given{"random-isl-dist": "poisson mean=5"},
			`--random-isl-dist: "poisson mean=5": unknown distribution "poisson"`},
		{"random", "", given{"random-osl-dist": "0"},
			`--random-osl-dist: "0": expected a whole number from 1 to 16777216`},
		{"random-mm", "", given{"random-mix": "60: 5"}, `--random-mix: "60: 5": expected WEIGHT: INPUT/OUTPUT`},
		{"random-mm", "", given{"random-mm-bucket-config": "x"}, "--random-mm-bucket-config: bucket config"},
		{"random-mm", "", given{"random-mm-limit-mm-per-prompt": "x"}, "--random-mm-limit-mm-per-prompt: media limits"},
		{"hf", "", nil, "--dataset-name hf: needs the data set's name"},
		{"hf", "a/b", given{"hf-datasets-version": "new"}, "--hf-datasets-version new: expected a version"},
		{"hf", "a/b", given{"hf-text-column": "a[b"}, "--hf-text-column a[b: expected a column or a path"},
		{"custom", "a.txt", nil, "a.txt does not end in .jsonl"},
	} {
		c := Common{Prompts: 3, Path: test.path}
		kinds := Kinds(&c)
		Define(kinds, func(string) Flags { return test.flags })
		k := Named(kinds, test.name)
		complains(t, k.Validate(c), test.want)
		if _, err := k.Open(t.Context(), c, wordTools()); err == nil {
			t.Errorf("%s was opened", test.name)
		}
	}
}
