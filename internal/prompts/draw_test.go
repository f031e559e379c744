package prompts

import (
	"errors"
	"math"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"benchtop/datasets"
	"benchtop/internal/argv"
	"benchtop/internal/assert"
	"benchtop/internal/hf/numpy"
	"benchtop/internal/server"
	"benchtop/internal/simulator"
	"benchtop/internal/usage"
	"benchtop/loadgen"
	"benchtop/loadgen/shape"
	"benchtop/metrics"
)

const vectors = "../../datasets/testdata/"

// simulated is the address of a simulated server that is a hundred times as fast as one.
func simulated(t *testing.T) string {
	t.Helper()
	p := simulator.Defaults()
	p.StepBase, p.PrefillToken, p.DecodeSequence, p.ContextToken = p.StepBase/100, p.PrefillToken/100,
		p.DecodeSequence/100, 0
	s := simulator.New(p)
	web := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
		_ = s.Close()
	})
	return web.URL
}

// flagOptions are the options of a command line.
type flagOptions struct {
	options  Options
	requests RequestOptions
	server   server.Options
	given    argv.Flags
}

// flagsOf reads a command line, and checks it.
func flagsOf(t *testing.T, url, line string, load shape.Shape) (*flagOptions, error) {
	t.Helper()
	f := &flagOptions{}
	f.options.Define(&f.given)
	f.requests.Define(f.given.Group("Requests"))
	f.server.Define(f.given.Group("Server"))
	_, _, err := f.given.Parse(append(strings.Fields(line), "--base-url", url))
	all := f.given.All()
	problems := append([]error{err}, f.server.Check()...)
	problems = append(problems, f.options.Check(all, load, 7, false, f.server.Protocol)...)
	problems = append(problems, f.requests.Check(all, f.server.Protocol)...)
	return f, errors.Join(problems...)
}

// drawing draws from the data set of the flags, and asks the server.
func (f *flagOptions) drawing(t *testing.T) *Drawing {
	t.Helper()
	client := f.server.Target.Client()
	t.Cleanup(client.CloseIdleConnections)
	m := must(f.server.Find(t.Context(), client, f.server.Patience(unheard{})))(t)
	return &Drawing{Options: &f.options, Server: &f.server, Client: client, Model: m, AskServer: true,
		Draws: numpy.NewStreams(7), To: unheard{}}
}

// local is drawing without a server.
func (f *flagOptions) local() *Drawing {
	return &Drawing{Options: &f.options, Server: &f.server, Draws: numpy.NewStreams(7), To: unheard{}}
}

// prefetchers are those of a test, which end with it.
func prefetchers(t *testing.T) *Prefetchers {
	all := NewPrefetchers()
	t.Cleanup(all.Close)
	return all
}

// The prompts of a run: where they come from, what counts their tokens, what is said of them, and what a cold cache
// puts before.
func TestDraw(t *testing.T) {
	url := simulated(t)
	model := "../../internal/hf/tokenizer/testdata/synthetic-spbpe.tokenizer.json.gz"
	bounds := shape.Bounds{Count: 4, Duration: time.Minute, Limit: 2}
	users := shape.Users{Bounds: bounds}
	rate := atOnce(4)
	for _, c := range []struct {
		name, args string
		load       shape.Shape
		n          int
		counted    metrics.TokenSource
		note       string // in the notes, "" for none
		remark     string // in the remarks
		cold       string // with --cache cold
	}{
		{"ids", "--vocab-size 300", rate, 4, metrics.TokensFromIDs, "", "token ids", "token ids before each prompt"},
		{"text of the server", "--backend openai-chat", rate, 4, metrics.TokensFromServer, "", "the server's tokenizer",
			"tokens before each prompt"},
		{"without end", "--vocab-size 300", users, math.MaxInt, metrics.TokensFromIDs, "", "", "token ids"},
		{"estimated", "--dataset-name sharegpt --dataset-path " + vectors + "sharegpt_small.json --tokenizer estimate",
			rate, 4,
			metrics.TokensFromEstimate, "", "lengths estimated", ""},
		{"repeated", "--dataset-name sharegpt --dataset-path " + vectors + "sharegpt_small.json",
			shape.NewTimedRamp(shape.Bounds{Count: 3},
				metrics.Ramp{Strategy: "linear", From: 1, To: 2, Over: time.Second}, 1), 3,
			metrics.TokensFromServer, "", "", ""},
		{"a tokenizer here", "--backend openai-chat --tokenizer " + model, rate, 4, metrics.TokensFromTokenizer,
			"aligned 4 prompts", "tokenizer ", ""},
		{"no tokenizer", "--skip-tokenizer-init --vocab-size 300", rate, 4, metrics.TokensFromIDs, "", "", ""},
		{"rendered", "--dataset-name custom --dataset-path " + vectors + "custom_small.jsonl", rate, 4,
			metrics.TokensFromServer, "", "the server's chat template", ""},
		{"embeddings", "--backend openai-embeddings --vocab-size 300", rate, 4, metrics.TokensFromIDs, "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := must(flagsOf(t, url, c.args+" --cache cold --temperature 0 --top-k 3", c.load))(t)
			f.options.Prompts = max(1, c.load.Requests())
			d := f.drawing(t)
			drawn := must(d.Draw(t.Context(), prefetchers(t), c.load, false, false))(t)
			if drawn.Count() != c.n || drawn.Tokenizing.Counted != c.counted {
				t.Errorf("%d prompts counted by %s, want %d by %s", drawn.Count(), drawn.Tokenizing.Counted, c.n,
					c.counted)
			}
			if notes := strings.Join(drawn.Notes, "\n"); c.note == "" && notes != "" ||
				!strings.Contains(notes, c.note) {
				t.Errorf("notes %q, want %q", notes, c.note)
			}
			assert.Has(t, strings.Join(drawn.Tokenizing.Remarks(), "\n"), c.remark)
			_, cold, err := f.requests.Salt(d.Model, drawn)
			if err != nil || !strings.Contains(cold, c.cold) {
				t.Errorf("%q, %v", cold, err)
			}
			for range min(drawn.Count(), 9) + 1 {
				if _, err = drawn.Next(); err != nil {
					break
				}
			}
			load := loadgen.Defaults()
			f.server.Send(&load)
			f.requests.Send(&load, false, d.Draws.Python)
			load.Model = d.Model.ID
			warm := WarmUp{Load: load, First: drawn.First, Patience: f.server.Patience(unheard{}), Requests: 2,
				To: unheard{}}
			if notes, err := warm.Do(t.Context(), 2); len(notes) > 0 || err != nil {
				t.Errorf("%q, %v", notes, err)
			}
		})
	}
}

// Wrong flags are reported before anything is sent.
func TestCheck(t *testing.T) {
	rate := atOnce(4)
	endless := shape.Users{Bounds: shape.Bounds{Duration: time.Minute, Limit: 2}}
	for _, c := range []struct {
		args  string
		load  shape.Shape
		fails string
	}{
		{"", rate, ""},
		{"--dataset-name shargpt", rate, "--dataset-name shargpt: use one of "},
		{"--dataset-name sharegpt", rate, "--dataset-name sharegpt: needs a file"},
		{"--dataset-name sharegpt --dataset-path none", rate, "--dataset-path none: no such file"},
		{"--dataset-path x", rate, "--dataset-path x: the data set random takes no file"},
		{"--dataset-name sharegpt --dataset-path draw_test.go", endless,
			"closed loop: sharegpt needs a number of requests"},
		{"--dataset-name random-mm", rate, "--dataset-name random-mm: "},
		{"--dataset-name random-rerank", rate, "--dataset-name random-rerank: "},
		{"--input-len 0", rate, "--input-len 0: must be at least 1"},
		{"--self-timed --no-self-timed", rate, "--self-timed: needs a data set with time stamps"},
		{"--tokenizer x --skip-tokenizer-init", rate, "--tokenizer and --skip-tokenizer-init: choose one"},
		{"--logprobs -1", rate, "--logprobs -1: must be 0 or more"},
		{"--cache hot", rate, "--cache hot: use cold or none or as-is"},
		{"--cache cold --extra-body.cache_salt x", rate, "--cache cold and a cache_salt in --extra-body"},
		{"--lora-assignment x", rate, "--lora-assignment x: use random or round-robin"},
		{"--lora-modules a=0.7 b", rate, "--lora-modules a=0.7 b: some have a share; give one to each"},
		{"--lora-modules a=0 b=1", rate, "--lora-modules a=0: a share must be a number above 0"},
		{"--lora-modules a=inf b=1", rate, "--lora-modules a=inf: a share must be a number above 0"},
		{"--lora-modules a=NaN b=1", rate, "--lora-modules a=NaN: a share must be a number above 0"},
		{"--lora-modules a=1e400 b=1", rate, "--lora-modules a=1e400: a share must be a number above 0"},
		{"--lora-modules =0.5", rate, "--lora-modules =0.5: expected a name, or a name and its share, as a=0.7"},
		{"--lora-modules a=", rate, "--lora-modules a=: expected a name, or a name and its share, as a=0.7"},
		{"--lora-modules a=1 a=2", rate, "--lora-modules a=2: a is given twice"},
		{"--temperature NaN", rate, "--temperature: must be a finite number"},
		{"--request-id-prefix \u00e9", rate, "--request-id-prefix \"\u00e9\": it is sent in a header"},
	} {
		f, err := flagsOf(t, "http://127.0.0.1:1", c.args, c.load)
		if c.fails == "" && err != nil || c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)) {
			t.Errorf("%s: error %v, want %q", c.args, err, c.fails)
		}
		if f.options.kind() != nil && f.options.LengthNotes(f.given.All()) != nil && c.args != "--input-len 0" {
			t.Errorf("%s: %q", c.args, f.options.LengthNotes(f.given.All()))
		}
	}
	f, err := flagsOf(t, "http://127.0.0.1:1",
		"--backend openai-chat --logprobs 3 --output-len 5 --dataset-name sharegpt --dataset-path draw_test.go", rate)
	if err != nil || !strings.Contains(strings.Join(f.requests.Notes, ""), "--logprobs has no effect") ||
		f.options.LengthOver("sharegpt-output-len") != 5 {
		t.Errorf("%q, %v", f.requests.Notes, err)
	}
}

// A server that refuses the requests is waited for as long as the patience lasts, and no longer.
func TestWarmUpFails(t *testing.T) {
	url := simulated(t)
	rate := atOnce(4)
	f := must(flagsOf(t, url, "--ready-check-timeout-sec 1", rate))(t)
	load := loadgen.Defaults()
	f.server.Send(&load)
	load.Model = "none" // an unknown model
	warm := WarmUp{Load: load, First: oneTurn(datasets.Turn{Text: "a b c", MaxTokens: 1}),
		Patience: f.server.Patience(unheard{}), Requests: 2, To: unheard{}}
	complains(t, failure(warm.Do(t.Context(), 2)), "was not ready within 1s: ", "; are --model, --backend and")
	warm.Patience = (&server.Options{}).Patience(unheard{})
	if notes, err := warm.Do(t.Context(), 2); len(notes) != 1 ||
		!strings.HasPrefix(notes[0], "2 of 2 warm-ups failed, one with ") || err != nil {
		t.Errorf("%q, %v", notes, err)
	}
}

// Without a server the prompts are those that this machine can make.
func TestOpen(t *testing.T) {
	model := "../../internal/hf/tokenizer/testdata/synthetic-spbpe.tokenizer.json.gz" // without a template
	rate := atOnce(10)
	for _, c := range []struct{ args, note, fails string }{
		{"--vocab-size 300", "", ""},
		{"--backend openai-chat --tokenizer " + model + " --vocab-size 300",
			"--vocab-size has no effect: chat takes text", ""},
		{"--backend openai-chat", "prompts are common words, whose tokens are learned from the server's usage", ""},
		{"--dataset-name custom --dataset-path " + vectors + "custom_small.jsonl",
			"prompt lengths are estimated, because there is no tokenizer: ", ""},
		{"--dataset-name custom --dataset-path " + vectors + "custom_small.jsonl --tokenizer " + model, "",
			"and tokenizer "},
		{"--dataset-name prefix_repetition", "", ""},
		{"--tokenizer none/at/all", "", "none/at/all"},
	} {
		f := must(flagsOf(t, "http://127.0.0.1:1", c.args, rate))(t)
		f.options.Prompts = 10
		source, m, err := f.local().Open(t.Context())
		if c.fails == "" && err != nil || c.fails != "" &&
			(err == nil || !errors.As(err, new(usage.Error)) || !strings.Contains(err.Error(), c.fails)) {
			t.Errorf("%s: error %v, want %q", c.args, err, c.fails)
		}
		if err != nil {
			continue
		}
		if notes := strings.Join(m.Notes, "\n"); c.note == "" && notes != "" || !strings.Contains(notes, c.note) {
			t.Errorf("%s: notes %q, want %q", c.args, notes, c.note)
		}
		assert.Fails(t, c.args, failure(source.Next()), "")
	}
}

func TestOffLength(t *testing.T) {
	for miss, want := range map[int]string{0: "", 3: "+3 tokens", -2: "-2 tokens"} {
		if got := OffLength(datasets.Flow{Miss: func() int { return miss }}); !strings.Contains(got, want) ||
			(got == "") != (want == "") {
			t.Errorf("%d: %q", miss, got)
		}
	}
	if got := OffLength(datasets.Flow{}); got != "" {
		t.Errorf("a flow that does not know: %q", got)
	}
}

// The texts of answers are counted by one tokenizer: the one on this machine, else the server's.
func TestCountAnswers(t *testing.T) {
	url := simulated(t)
	rate := atOnce(4)
	for _, c := range []struct {
		args         string
		asks         bool
		here, server bool // which one counts
	}{
		{"--tokenizer ../../internal/hf/tokenizer/testdata/synthetic-spbpe.tokenizer.json.gz", true, true, false},
		{"", true, false, true},
		{"--vocab-size 300", false, false, false},
	} {
		f := must(flagsOf(t, url, c.args, rate))(t)
		f.options.Prompts = 1
		d := f.drawing(t)
		d.AskServer = c.asks
		_, counted, err := d.Open(t.Context())
		fine(t, err)
		var here, server int
		if count := counted.CountText(); count != nil {
			if here, err = count("the the the"); err != nil {
				t.Error(err)
			}
		}
		if count := counted.CountAnswer(); count != nil {
			if server, err = count(t.Context(), "the the the"); err != nil {
				t.Error(err)
			}
		}
		if (here > 0) != c.here || (server > 0) != c.server {
			t.Errorf("%q: %d tokens here, %d by the server", c.args, here, server)
		}
	}
}

// A search needs more prompts than a data set has: it repeats them and says what that may cost.
func TestSearchRepeats(t *testing.T) {
	rate := atOnce(3)
	f := must(flagsOf(t, "http://127.0.0.1:1",
		"--dataset-name sharegpt --tokenizer estimate --dataset-path "+vectors+"sharegpt_small.json", rate))(t)
	f.options.Prompts = 3
	d := f.local()
	drawn := must(d.Draw(t.Context(), prefetchers(t), rate, false, true))(t)
	if notes := strings.Join(drawn.Notes, "\n"); !strings.Contains(notes,
		"the search repeats the data set's 3 prompts; repeated ones may hit the server's prefix cache") {
		t.Errorf("notes %q", notes)
	}
	for i := range 4 {
		if _, err := drawn.Next(); err != nil {
			t.Errorf("prompt %d: %v", i, err)
		}
	}
}
