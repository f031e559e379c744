package run

import (
	"cmp"
	"sync"
	"testing"
	"time"

	"benchtop/datasets"
	"benchtop/internal/assert"
	"benchtop/internal/run/watch"
	"benchtop/internal/simulator"
	"benchtop/internal/simulator/simtest"
	"benchtop/internal/telemetry"
	"benchtop/loadgen"
	"benchtop/loadgen/conn"
	"benchtop/loadgen/protocol"
	"benchtop/loadgen/shape"
	"benchtop/loadgen/target"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/report"
)

// simulated prepares a run against a simulated server that is so many times as slow as usual, all in virtual time,
// without screen and files. An answer takes as long as 64 tokens, in 16 chunks: a test of minutes is cheaper. It must
// be called inside a bubble.
func simulated(t *testing.T, plan metrics.Plan, slow time.Duration) *Config {
	t.Helper()
	return chunked(t, plan, slow, 16)
}

// chunked is simulated with answers of so many chunks, and faults.
func chunked(t *testing.T, plan metrics.Plan, slow time.Duration, chunks int, faults ...simulator.Fault) *Config {
	t.Helper()
	p := simulator.Defaults()
	p.Faults = faults
	p.PrefillToken *= slow
	slow *= time.Duration(64 / chunks)
	p.StepBase, p.DecodeSequence, p.ContextToken = slow*p.StepBase, slow*p.DecodeSequence, slow*p.ContextToken
	dial, stop := simtest.Serve(t, p)
	tgt := assert.Must(target.New(target.Options{BaseURL: "http://simulated", Dial: dial}))(t)
	random := datasets.RandomDefaults()
	random.InputLen, random.OutputLen, random.IDPrefix, random.Vocabulary = 256, chunks, "s",
		datasets.AssumedVocabulary()
	flow := assert.Must(datasets.NewBlocks(random, nil))(t)
	c := bare()
	c.Unwatched = true
	c.Prompts, c.Load = flow, loadgen.Defaults()
	c.Load.Target, c.Load.Model, c.Load.Pacer, c.Load.Timestamps = tgt, p.Model, "timer", metrics.UserStamps
	c.Load.InputSource, c.Load.Extra = metrics.TokensFromIDs, []protocol.Field{{Name: "ignore_eos", JSON: "true"}}
	c.Load.Connections = conn.NewPools([]*target.Target{tgt}, c.Load.Timestamps)
	c.Load.Limit, c.Load.ClosedLoop = plan.MaxConcurrency, plan.MaxConcurrency > 0
	c.Load.Schedule = shape.At(nil)
	if c.Load.ClosedLoop {
		c.Load.Schedule, c.Load.Until = shape.Immediately(), plan.Duration
	}
	plan.Burstiness = cmp.Or(plan.Burstiness, 1)
	plan.Percentiles, plan.Metrics = []float64{50, 99}, []metrics.Latency{metrics.TTFT}
	c.Plan = plan
	t.Cleanup(func() {
		c.Load.Connections.Close()
		stop()
	})
	return c
}

// bare is a run with nothing around it.
func bare() *Config {
	return &Config{
		GPUs: watch.GPUs{Off: "a test has none"}, Terminal: &noTerminal{}, Drawn: func() {},
		Room:     func(n int) error { return telemetry.CheckSockets(n) },
		Pictures: func(metrics.Report, event.Events, string) (written, warnings []string) { return nil, nil },
	}
}

// noTerminal is no terminal, and keeps what happens to it.
type noTerminal struct {
	mu    sync.Mutex // guards said
	said  []string
	drawn bool
}

func (t *noTerminal) say(words string) { t.mu.Lock(); t.said = append(t.said, words); t.mu.Unlock() }

func (t *noTerminal) Drawn() bool          { return t.drawn }
func (t *noTerminal) Close()               { t.say("closed") }
func (t *noTerminal) Announce(line string) { t.say(line) }
func (t *noTerminal) Hasten()              { t.say("hastened") }
func (t *noTerminal) Leave()               { t.say("left") }

// begin builds a run and gives it its owner.
func begin(t *testing.T, c *Config) *Run {
	t.Helper()
	r := assert.Must(New(*c))(t)
	go r.own()
	t.Cleanup(r.Close)
	return r
}

// gathered is what the journal of a run says by now.
func gathered(t *testing.T, r *Run) metrics.Run {
	t.Helper()
	run, _, err := report.Gather(r.journal.Events())
	assert.Fine(t, err)
	return run
}

// measureAll runs the load to its end, and returns what the journal says of it.
func measureAll(t *testing.T, r *Run) metrics.Run {
	t.Helper()
	end := assert.Must(r.measure())(t)
	r.stream.Tell(end)
	return gathered(t, r)
}
