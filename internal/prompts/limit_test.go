package prompts

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"benchtop/datasets"
	"benchtop/internal/hf/tokenizer"
	"benchtop/internal/usage"
	"benchtop/loadgen/shape"
	"benchtop/metrics"
)

const sentencePieces = "../../internal/hf/tokenizer/testdata/synthetic-spbpe.tokenizer.json.gz"

// drawnOf draws the prompts of a command line.
func drawnOf(t *testing.T, url, line string, load shape.Shape) (*Supply, error) {
	t.Helper()
	f := must(flagsOf(t, url, line, load))(t)
	f.options.Prompts = load.Requests()
	return f.drawing(t).Draw(t.Context(), prefetchers(t), load, true, false)
}

func turnsOf(t *testing.T, d *Supply) (turns []datasets.Turn) {
	t.Helper()
	for range d.Len {
		c := must(d.Next())(t)
		turns = append(turns, c.Turns...)
	}
	return turns
}

func atOnce(n int) shape.Shape {
	return shape.Rate{Bounds: shape.Bounds{Count: n}, PerSecond: metrics.Rate(math.Inf(1)), Burstiness: 1}
}

// With --prompt-token-ids the prompts are the ids that the server would make of the same texts, special ones among
// them.
func TestPromptTokenIDs(t *testing.T) {
	url := simulated(t)
	files := must(tokenizer.Find(t.Context(), tokenizer.FindOptions{Tokenizer: sentencePieces}))(t)
	local := must(tokenizer.Read(files.Files))(t)
	if local.SpecialTokensToAdd() == 0 {
		t.Fatal("this tokenizer shows nothing about special tokens")
	}
	for _, line := range []string{
		"--dataset-name sharegpt --dataset-path " + vectors + "sharegpt_small.json",
		"--backend openai-embeddings --random-batch-size 2 --random-input-len 30",
	} {
		line += " --tokenizer " + sentencePieces
		texts := must(drawnOf(t, url, line, atOnce(4)))(t)
		ids := must(drawnOf(t, url, line+" --prompt-token-ids", atOnce(4)))(t)
		if ids.Tokenizing.Counted != metrics.TokensFromIDs || !strings.HasSuffix(ids.About, ", sent as token ids") {
			t.Errorf("%s: counted by %s, %s", line, ids.Tokenizing.Counted, ids.About)
		}
		want, got := turnsOf(t, texts), turnsOf(t, ids)
		if want[0].Batch != nil {
			want, got = want[0].Batch, got[0].Batch
		}
		for i := range want {
			encoded, err := local.EncodeSpecial(want[i].Text)
			if err != nil || want[i].Text == "" {
				t.Fatalf("%q: %v", want[i].Text, err)
			}
			if !slices.Equal(got[i].TokenIDs, encoded) || got[i].Text != "" || got[i].InputTokens != len(encoded) ||
				got[i].MaxTokens != want[i].MaxTokens {
				t.Errorf("%s: got %+v for %q", line, got[i], want[i].Text)
			}
		}
	}

	random := must(drawnOf(t, url,
		"--random-input-len 30 --prompt-token-ids --tokenizer "+sentencePieces, atOnce(4)))(t)
	for _, turn := range turnsOf(t, random) {
		if len(turn.TokenIDs) != 30 || turn.InputTokens != 30 || turn.TokenIDs[0] != 1 {
			t.Errorf("random: %+v, want 30 ids, the first of them special", turn)
		}
	}
	served, err := drawnOf(t, url, "--prompt-token-ids --random-input-len 9", atOnce(2))
	if err != nil || turnsOf(t, served)[0].TokenIDs == nil {
		t.Errorf("without a tokenizer random gives %+v, %v", served, err)
	}
	_, err = drawnOf(t, url, "--prompt-token-ids --dataset-name sharegpt --dataset-path "+vectors+"sharegpt_small.json",
		atOnce(2))
	if !errors.As(err, new(usage.Error)) ||
		!strings.Contains(err.Error(), "the prompts of sharegpt are texts, which need a tokenizer on this machine") {
		t.Errorf("without a tokenizer: %v", err)
	}
	for line, want := range map[string]string{
		"--backend openai-chat": "--prompt-token-ids: backend openai-chat takes no token ids; use --backend vllm, " +
			"openai, openai-embeddings, ",
		"--backend openai-embeddings --dataset-name random-rerank --no-reranker --random-batch-size 2": "",
		"--backend infinity-embeddings-clip --dataset-name " +
			"random-mm": "--prompt-token-ids: the prompts of random-mm are more than text",
		"--dataset-name prefix_repetition --random-cache-ratio 0.5 --random-cache-hit-fraction 0.5": "only random " +
			"has them; prefix_repetition does not",
	} {
		if _, err := flagsOf(t, url, line+" --prompt-token-ids", atOnce(1000)); want == "" && err != nil ||
			want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}

// Requests beyond --max-model-len are left out, which is told once with their number; the times of a trace go with
// them.
func TestMaxModelLen(t *testing.T) {
	url := simulated(t)
	trace := "--dataset-name timed_trace --dataset-path " + vectors + "trace_small.jsonl"
	for _, c := range []struct {
		line string
		load shape.Shape
		most string
		note string
	}{
		{"--vocab-size 300 --random-input-len 20 --random-output-len 8 --random-range-ratio 0.5", atOnce(40), "28",
			"--max-model-len 28: 24 of 40 requests are left out, whose prompt and answer together are longer"},
		{trace, shape.Trace{Bounds: shape.Bounds{Count: 6}}, "50", "--max-model-len 50: 1 of 6 requests are"},
		{"--backend openai-embeddings --vocab-size 300 --random-batch-size 2 --random-input-len 20 " +
			"--random-range-ratio 0.2", atOnce(40), "23", "--max-model-len 23: 6 of 20 requests"},
		{"--vocab-size 300 --random-input-len 20 --random-output-len 8", atOnce(40), "28", ""},
	} {
		whole := must(drawnOf(t, url, c.line, c.load))(t)
		some := must(drawnOf(t, url, c.line+" --max-model-len "+c.most, c.load))(t)
		if notes := strings.Join(some.Notes, "\n"); !strings.Contains(notes, c.note) || c.note == "" && notes != "" ||
			strings.Count(notes, "max-model-len") > 1 {
			t.Errorf("%s: notes %q, want %q", c.line, notes, c.note)
		}
		limit, _ := strconv.Atoi(c.most)
		var want []datasets.Turn
		var times []time.Duration
		for i, turn := range turnsOf(t, whole) {
			if longest([]datasets.Turn{turn}) > limit {
				continue
			}
			want = append(want, turn)
			if whole.Times != nil {
				times = append(times, whole.Times()[i])
			}
		}
		got := turnsOf(t, some)
		if len(want) == 0 || !slices.EqualFunc(got, want, func(a, b datasets.Turn) bool {
			return slices.Equal(a.TokenIDs, b.TokenIDs) && a.MaxTokens == b.MaxTokens && len(a.Batch) == len(b.Batch)
		}) {
			t.Errorf("%s: %d requests, want %d", c.line, len(got), len(want))
		}
		if some.Times != nil && !slices.Equal(some.Times(), times) || (some.Times == nil) != (times == nil) {
			t.Errorf("%s: want times %s", c.line, times)
		}
	}
	// the latter without end
	for _, load := range []shape.Shape{atOnce(3),
		shape.Users{Bounds: shape.Bounds{Count: 3, Duration: time.Minute, Limit: 2}}} {
		_, err := drawnOf(t, url, "--vocab-size 300 --random-input-len 20 --random-output-len 8 --max-model-len 27",
			load)
		if !errors.As(err, new(usage.Error)) ||
			!strings.Contains(err.Error(), "requests fits, the shortest takes 28 tokens with its answer") {
			t.Errorf("got %v", err)
		}
	}
}
