package prompts

import (
	"errors"
	"math"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"benchtop/datasets/numpy"
	"benchtop/internal/cli/argv"
	"benchtop/internal/cli/server"
	"benchtop/internal/simulator"
	"benchtop/loadgen"
	"benchtop/loadgen/shape"
	"benchtop/metrics"
)

const vectors = "../../../datasets/testdata/"

// simulated is the address of a simulated server that is a hundred times as fast as one.
func simulated(t *testing.T) string {
	t.Helper()
	p := simulator.Defaults()
	p.StepBase, p.PrefillToken, p.DecodeSequence, p.ContextToken = p.StepBase/100, p.PrefillToken/100, p.DecodeSequence/100, 0
	s := simulator.New(p)
	web := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
		_ = s.Close()
	})
	return web.URL
}

// flagged are the options of a command line.
type flagged struct {
	options  Options
	requests RequestOptions
	server   server.Options
	given    argv.Flags
}

// flagsOf reads a command line, and checks it.
func flagsOf(t *testing.T, url, line string, load shape.Shape) (*flagged, error) {
	t.Helper()
	f := &flagged{}
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

// The prompts of a run: where they come from, what counts their tokens, what is said of them, and what a cold cache puts before.
func TestDraw(t *testing.T) {
	url := simulated(t)
	model := "../../../datasets/tokenizer/testdata/synthetic-spbpe.tokenizer.json.gz"
	bounds := shape.Bounds{Count: 4, Duration: time.Minute, Limit: 2}
	users := shape.Users{Bounds: bounds}
	rate := shape.Rate{Bounds: shape.Bounds{Count: 4}, PerSecond: metrics.Rate(math.Inf(1)), Burstiness: 1}
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
		{"text of the server", "--backend openai-chat", rate, 4, metrics.TokensFromServer, "", "the server's tokenizer", "cache_salt"},
		{"without end", "--vocab-size 300", users, math.MaxInt, metrics.TokensFromIDs, "", "", "token ids"},
		{"estimated", "--dataset-name sharegpt --dataset-path " + vectors + "sharegpt_small.json --tokenizer estimate", rate, 4,
			metrics.TokensFromEstimate, "", "lengths estimated", ""},
		{"repeated", "--dataset-name sharegpt --dataset-path " + vectors + "sharegpt_small.json", shape.NewTimedRamp(shape.Bounds{Count: 3}, metrics.Ramp{Strategy: "linear", From: 1, To: 2, Over: time.Second}, 1), 3,
			metrics.TokensFromServer, "", "", ""},
		{"a tokenizer here", "--backend openai-chat --tokenizer " + model, rate, 4, metrics.TokensFromTokenizer, "", "tokenizer ", ""},
		{"no tokenizer", "--skip-tokenizer-init --vocab-size 300", rate, 4, metrics.TokensFromIDs, "", "", ""},
		{"rendered", "--dataset-name custom --dataset-path " + vectors + "custom_small.jsonl", rate, 4, metrics.TokensFromServer, "", "the server's chat template", ""},
		{"embeddings", "--backend openai-embeddings --vocab-size 300", rate, 4, metrics.TokensFromIDs, "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := flagsOf(t, url, c.args+" --cache cold --temperature 0 --top-k 3", c.load)
			if err != nil {
				t.Fatal(err)
			}
			f.options.Prompts = max(1, c.load.Requests())
			client := f.server.Target.Client()
			defer client.CloseIdleConnections()
			m, err := f.server.Find(t.Context(), client, f.server.Patience(unheard{}))
			if err != nil {
				t.Fatal(err)
			}
			all := NewPrefetchers()
			defer all.Close()
			streams := numpy.NewStreams(7)
			d := Drawing{Options: &f.options, Server: &f.server, Client: client, Model: m, AskServer: true, Draws: streams, To: unheard{}}
			drawn, err := d.Draw(t.Context(), all, c.load, false, false)
			if err != nil {
				t.Fatal(err)
			}
			if drawn.N != c.n || drawn.Counted != c.counted {
				t.Errorf("%d prompts counted by %s, want %d by %s", drawn.N, drawn.Counted, c.n, c.counted)
			}
			if notes := strings.Join(drawn.Notes, "\n"); c.note == "" && notes != "" || !strings.Contains(notes, c.note) {
				t.Errorf("notes %q, want %q", notes, c.note)
			}
			if remarks := strings.Join(drawn.Tokenizing.Remarks(), "\n"); !strings.Contains(remarks, c.remark) {
				t.Errorf("remarks %q, want %q", remarks, c.remark)
			}
			_, cold, err := f.requests.Salt(m, drawn)
			if err != nil || !strings.Contains(cold, c.cold) {
				t.Errorf("%q, %v", cold, err)
			}
			for range min(drawn.N, 9) + 1 {
				if _, err = drawn.Source.Next(); err != nil {
					break
				}
			}
			load := loadgen.Defaults()
			f.server.Send(&load)
			f.requests.Send(&load, false, streams.Python)
			load.Model = m.ID
			warm := WarmUp{Load: load, First: drawn.First, Patience: f.server.Patience(unheard{}), Requests: 2, To: unheard{}}
			if notes, err := warm.Do(t.Context(), 2); len(notes) > 0 || err != nil {
				t.Errorf("%q, %v", notes, err)
			}
		})
	}
}
