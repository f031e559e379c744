package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/datasets"
	"benchtop/internal/assert"
	"benchtop/internal/hf/media"
	"benchtop/internal/simulator"
	"benchtop/internal/simulator/pipetest"
	"benchtop/loadgen"
	"benchtop/loadgen/protocol"
	"benchtop/loadgen/shape"
	"benchtop/loadgen/target"
	"benchtop/metrics"
)

// simulatedRun sends prompts to a simulated server, in virtual time. It returns what became of the requests in order of
// their end, and the server's log. It must be called inside a bubble.
func simulatedRun(t *testing.T, p simulator.Profile, flow datasets.Flow,
	change func(*loadgen.Options)) ([]metrics.Request, string) {
	t.Helper()
	server := simulator.New(p)
	var log bytes.Buffer
	server.LogTo(&log)
	listener, dial := pipetest.Pipe()
	web := server.HTTPServer()
	served := make(chan error, 1)
	go func() { served <- web.Serve(server.Listener(listener)) }()
	tgt := assert.Must(target.New(target.Options{BaseURL: "http://simulated",
		Dial: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }}))(t)
	o := loadgen.Defaults()
	o.Target, o.Model, o.Protocol, o.Pacer, o.Start = tgt, p.Model, protocol.Default(), "timer", time.Now()
	o.Extra = []protocol.Field{{Name: "ignore_eos", JSON: "true"}}
	change(&o)
	var all requestCollector
	engine := assert.Must(loadgen.New(o, &all))(t)
	assert.Fine(t, engine.Run(t.Context(), flow))
	assert.Fine(t, web.Close())
	<-served
	assert.Fine(t, server.Close())
	return all.requests, log.String()
}

// single are requests of one turn each.
func single(turns []datasets.Turn) datasets.Flow {
	var all []datasets.Conversation
	for i := range turns {
		all = append(all, datasets.Conversation{ID: fmt.Sprint("p", i), Turns: turns[i : i+1]})
	}
	return datasets.ListOf(all, "prompts")
}

// backendTurn is the prompt of the request with that number: what is particular about a backend, and otherwise words.
func backendTurn(backend string, number int) datasets.Turn {
	words := func(of int) datasets.Turn {
		return datasets.Turn{Text: fmt.Sprintf("%c%c: nine words that no other prompt begins with", 'a'+number, 'a'+of)}
	}
	turn := words(0)
	turn.MaxTokens = backendOutput
	switch backend {
	case "openai-embeddings-clip", "openai-embeddings-vlm2vec", "infinity-embeddings-clip":
		turn.Media = fmt.Appendf(nil, `{"type":"image_url","image_url":{"url":"data:image/png;base64,%d"}}`, number)
	case "openai-embeddings", "infinity-embeddings", "vllm-pooling": // as of --random-batch-size 4
		turn = datasets.Turn{Batch: []datasets.Turn{words(0), words(1), words(2), words(3)}}
	case "vllm-rerank": // as of random-rerank; the query is shorter than a block, so it is read for each document
		turn = datasets.Turn{Batch: []datasets.Turn{{Text: "a query"}, words(1), words(2), words(3), words(4)}}
	case "openai-audio":
		turn = datasets.Turn{Audio: media.Silence(time.Duration(number+2) * time.Second), MaxTokens: backendOutput}
	}
	return turn
}

const backendOutput = 4 // tokens

// Each backend loads the simulated server, with two adapters in turn: the figures are those of the server's profile, to
// the microsecond.
func TestBackendsOnTheSimulator(t *testing.T) {
	const n = 5
	adapters := []simulator.Adapter{{Name: "sql", Path: "sql"}, {Name: "law", Path: "law"}}
	p := simulator.Defaults()
	p.ContextToken = 2 * time.Microsecond // whole microseconds, as the clock of a run has them
	p.OutputMean = 1 << 20                // also for backends that do not ask for it, an answer has its full length
	p.Adapters = adapters
	for _, name := range protocol.List() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				to := protocol.Named(name)
				var turns []datasets.Turn
				var offsets []time.Duration
				for i := range n {
					turns, offsets = append(turns, backendTurn(name, i)), append(offsets, time.Duration(i)*time.Minute)
				}
				requests, log := simulatedRun(t, p, single(turns), func(o *loadgen.Options) {
					o.Protocol, o.Schedule, o.ModelFor = to, shape.At(offsets),
						loadgen.RoundRobinModels([]string{"sql", "law"}, nil)
				})
				assert.Need(t, len(requests), n, "requests ended")
				slices.SortFunc(requests, func(a, b metrics.Request) int { return cmp.Compare(a.Index, b.Index) })
				for i, line := range strings.Split(strings.TrimSuffix(log, "\n"), "\n") {
					checkBackend(t, p, to.Traits(), requests[i], line)
				}
			})
		})
	}
}

// checkBackend compares a request with the line of the server's log and with the times of its profile.
func checkBackend(t *testing.T, p simulator.Profile, to protocol.Traits, q metrics.Request, line string) {
	t.Helper()
	var served struct {
		Path   string
		Status int
		Body   string
		Prompt int `json:"prompt_tokens"`
		Output int `json:"output_tokens"`
	}
	var body struct{ Model string }
	assert.Fine(t, json.Unmarshal([]byte(line), &served))
	if err := json.Unmarshal([]byte(served.Body), &body); err != nil {
		t.Fatalf("%v in %s", err, served.Body)
	}
	adapter := p.Adapters[q.Index%len(p.Adapters)].Name
	if served.Path != to.Path || served.Status != 200 || body.Model != adapter || q.Model != adapter ||
		q.Failure != "" {
		t.Errorf("request %d: %q %s, model %s; the server has %s", q.Index, q.Failure, q.Error, q.Model, line)
		return
	}
	input, output, inputs := served.Prompt, served.Output, 0
	if to.Name == "openai-audio" {
		input = 0 // the frames of a recording are not tokens of a prompt
	}
	if turn := backendTurn(to.Name, q.Index); turn.Batch != nil {
		inputs = len(turn.Batch)
		if to.Name == "vllm-rerank" {
			inputs-- // the query
		}
	}
	if q.InputTokens != input || q.OutputTokens != output || q.Inputs != inputs ||
		(output == backendOutput) != to.Streams {
		t.Errorf("request %d: %d tokens in, %d out, %d prompts; want %d, %d, %d", q.Index, q.InputTokens,
			q.OutputTokens, q.Inputs, input, output, inputs)
	}
	ttft := p.StepBase + time.Duration(served.Prompt)*p.PrefillToken
	e2el := ttft
	for k := range max(0, output-1) {
		e2el += p.StepBase + p.DecodeSequence + time.Duration(served.Prompt+k)*p.ContextToken
	}
	// The server's clock ticks a nanosecond a step beside its profile.
	if late := time.Microsecond; (q.TTFT()-ttft).Abs() > late || (q.E2EL()-e2el).Abs() > late {
		t.Errorf("request %d: TTFT %v, E2EL %v, want %v, %v", q.Index, q.TTFT(), q.E2EL(), ttft, e2el)
	}
}
