package panels

import (
	"bytes"
	"container/heap"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"benchtop/export"
	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/metrics/event/eventtest"
	liveview "benchtop/metrics/live"
	"benchtop/metrics/report"
	"benchtop/tui/tuitest"
)

// madeUp is a run made up by chance: its plan, facts and requests, all of them over.
type madeUp struct {
	run      metrics.Run
	requests []metrics.Request
}

// makeUp makes up a run: of any load, with or without warm-up, failures, objectives, gates, samples of server,
// accelerators and client.
func makeUp(seed uint64) *madeUp {
	r := rand.New(rand.NewPCG(seed, 11))
	chance := func(percent int) bool { return r.IntN(100) < percent }
	length := time.Duration(4+r.IntN(70)) * time.Second
	p := metrics.Plan{
		BaseURL: "http://127.0.0.1:8000", Backend: "openai-chat", ModelID: "org/M", Dataset: "random", Load: "made up",
		Pooling: chance(12),
		Rate:    metrics.Rate(2 + r.IntN(12)), Percentiles: []float64{75, 90, 95, 99, 99.9},
		Metrics:    []metrics.Latency{metrics.TTFT, metrics.TPOT, metrics.ITL, metrics.E2EL},
		Timestamps: metrics.UserStamps,
	}
	if chance(40) {
		p.Warmup = time.Duration(1+r.IntN(6)) * time.Second
	}
	if chance(40) {
		p.MaxConcurrency = 4 + r.IntN(40)
	}
	if chance(60) {
		p.Duration = length
	}
	slots := 1 << 20 // at once at the server
	if chance(40) {
		length += time.Minute
		slots = 2 + r.IntN(8)
		for i := range 5 {
			p.Stages = append(p.Stages, metrics.Stage{Start: time.Duration(i) * length / 5, Length: length / 5,
				Load: metrics.Load{Value: float64(p.Rate) * float64(i+1) / 2}})
		}
		p.Duration = length
	}
	if chance(60) {
		p.Goodput = metrics.SLO{{Metric: metrics.E2EL, LimitMS: float64(200 + r.IntN(3000))}}
		if !p.Pooling {
			p.Goodput = append(metrics.SLO{{Metric: metrics.TTFT, LimitMS: float64(20 + r.IntN(800))}}, p.Goodput...)
		}
		p.Gates = []metrics.Gate{{Metric: "p99_e2el_ms", Op: ">", Limit: float64(100 + r.IntN(5000))},
			{Metric: "goodput", Op: "<", Limit: 0.9, Percent: true}}
	}
	if chance(50) {
		p.GPUPrice = 2.5
	}
	m := &madeUp{run: metrics.Run{Plan: p, End: metrics.End{Ended: length}}}
	m.makeRequests(r, length, slots)
	m.makeGroups(seed)
	if p.Duration == 0 && len(m.requests) > 0 {
		m.run.Plan.Requests = len(m.requests)
	}
	m.run.Events = []metrics.LogEntry{
		{At: length / 5, Level: metrics.Info, Text: "something of note", Mark: "note"},
		{At: length / 2, Level: metrics.Warn, Text: "something odd", Count: 1 + r.IntN(3)},
	}
	m.makeSamples(r, length, chance(60), chance(40), chance(70))
	if seed%3 == 0 {
		m.run.Plan.Part.N = 2
		for i := range m.run.Client {
			m.run.Client[i].Part = 1 + i%2
		}
	}
	return m
}

// makeRequests makes up requests that are over by the end of the run.
func (m *madeUp) makeRequests(r *rand.Rand, length time.Duration, slots int) {
	p := &m.run.Plan
	var busy tuitest.Times
	slow, failing, told := math.Exp(2*r.Float64()), r.IntN(25)*r.IntN(2), r.IntN(3) == 0
	aside := rand.New(rand.NewPCG(uint64(length), 13))
	// the server tells the tokens of chunks, and those of prompts in its cache
	counted, cached := !p.Pooling && aside.IntN(2) == 0, aside.IntN(2) == 0
	us := func(most float64) time.Duration { return time.Duration(most*r.Float64()*1e6) * time.Microsecond }
	models := []string{"", "", "org/A", "org/B"}[r.IntN(2)*2:][:2]
	for at := time.Duration(0); ; {
		at += time.Duration(r.ExpFloat64() / p.Target(at) * float64(time.Second)).Round(time.Microsecond)
		q := metrics.NewRequest(len(m.requests))
		q.ID, q.Model = fmt.Sprintf("id-%d", q.Index), models[r.IntN(2)]
		q.Scheduled, q.Due = at, at+us(0.0003)
		q.Admitted = q.Due
		if p.MaxConcurrency > 0 {
			q.Admitted += us(0.4)
		}
		q.Sent, q.Connect = q.Admitted+us(0.0005), us(0.0004)
		q.InputTokens, q.InputSource = 1+r.IntN(900), metrics.TokensFromUsage
		t := busy.Free(q.Sent, slots) + us(0.2*slow)
		chunks := 1
		if !p.Pooling {
			chunks += r.IntN(40)
		}
		for k := range chunks {
			tokens := int32(1)
			if p.Pooling {
				tokens = 0
			}
			if counted {
				tokens = int32(1 + aside.IntN(4))
				q.CountedChunks++
			}
			q.Add(metrics.Chunk{At: t, Tokens: tokens, Answer: !p.Pooling})
			if k < chunks-1 {
				t += us(0.02 * slow)
			}
		}
		q.Done = q.LastChunk
		heap.Push(&busy, q.Done)
		if !p.Pooling {
			q.OutputSource = metrics.TokensFromUsage
			q.Finish = []string{"stop", "length", "tool_calls", "abort", ""}[aside.IntN(5)]
			for _, c := range q.Chunks {
				q.OutputTokens += int(c.Tokens)
			}
		}
		if cached && aside.IntN(4) > 0 {
			q.CachedTokens, q.CachedKnown = aside.IntN(q.InputTokens), true
		}
		if told {
			q.ServerQueue, q.ServerPrefill = q.TTFT()/3, q.TTFT()/2
		}
		if r.IntN(100) < failing {
			q.Failure, q.Error, q.Done = metrics.FailedTruncated, "cut short", q.LastChunk+us(0.1)
			q.ServerQueue, q.ServerPrefill = metrics.Never, metrics.Never
			if r.IntN(2) == 0 {
				q.Failure, q.Status, q.Error, q.Done = metrics.FailedStatus, 503, "busy", q.Sent+us(0.05)
				q.Chunks, q.FirstChunk, q.FirstToken, q.FirstAnswer, q.LastChunk = nil, metrics.Never, metrics.Never,
					metrics.Never, metrics.Never
			}
		}
		if at >= length {
			return
		}
		if q.Done >= length {
			continue
		}
		m.requests = append(m.requests, q)
	}
}

// makeSamples makes up a sample a second of the server, two accelerators and the client.
func (m *madeUp) makeSamples(r *rand.Rand, length time.Duration, server, gpus, client bool) {
	aside := rand.New(rand.NewPCG(uint64(length), 15))
	drafts := rand.New(rand.NewPCG(uint64(length), 16))
	engines := []int{0, 2, 3}[aside.IntN(3)]
	for at := time.Second; at <= length; at += time.Second {
		x := func(most int) float64 { return float64(r.IntN(most)) }
		if server {
			s := metrics.ServerSecond{At: at, Took: time.Second, Running: x(90), Waiting: x(40), KVUsage: x(100) / 100,
				Preemptions:   x(3),
				PrefixQueries: 100 + x(900), PrefixHits: x(100), PromptTokens: x(9000), OutputTokens: x(4000),
				DraftTokens: 50 + x(200), AcceptedTokens: x(50),
				TTFT:  metrics.ServerLatency{N: 1 + x(9), Mean: time.Duration(1+x(500)) * time.Millisecond},
				Queue: metrics.ServerLatency{N: 1 + x(9), Mean: time.Duration(x(100)) * time.Millisecond}}
			s.HitRate = s.PrefixHits / s.PrefixQueries
			if positions := int(length/time.Second) % 4; positions > 0 && drafts.IntN(5) > 0 {
				s.SpecDecode = &metrics.SpecDecode{Drafts: 10 + drafts.IntN(40), AcceptedTokens: drafts.IntN(40)}
				for range positions {
					s.SpecDecode.AcceptedPerPosition = append(s.SpecDecode.AcceptedPerPosition, drafts.IntN(10))
				}
			}
			for i := range engines {
				n := float64(aside.IntN(5))
				e := metrics.Engine{Name: fmt.Sprint("engine-", i), Running: float64(aside.IntN(90)),
					Waiting: float64(aside.IntN(40)), KVUsage: float64(aside.IntN(100)) / 100,
					PromptTokens: float64(aside.IntN(9000)), OutputTokens: float64(aside.IntN(4000))}
				if n > 0 {
					e.TTFT = metrics.ServerLatency{N: n, Mean: time.Duration(1+aside.IntN(500)) * time.Millisecond}
				}
				s.Engines = append(s.Engines, e)
			}
			m.run.Server = append(m.run.Server, s)
		}
		if gpus {
			all := make([]metrics.GPU, 2)
			for i := range all {
				all[i] = metrics.GPU{Index: i, Name: "NVIDIA H200", Use: x(100) / 100, MemoryUsed: 1e9 * (1 + x(140)),
					MemoryTotal: 141e9, Power: 100 + x(600),
					PowerLimit: 700, Temperature: 30 + x(50), Clock: 1000 + x(900)}
			}
			m.run.GPUs = append(m.run.GPUs, metrics.GPUSecond{At: at, Took: time.Second, GPUs: all})
		}
		if client {
			m.run.Client = append(m.run.Client,
				metrics.ClientSecond{At: at, Took: time.Second, CPU: x(400) / 100, Cores: 4, Sent: 1 + r.IntN(20),
					LateP99: time.Duration(1+r.IntN(3e6)) * time.Nanosecond, LateMax: time.Duration(3e6 + r.IntN(3e6)),
					Chunks: 10})
		}
	}
	if server {
		m.run.ServerKind = "vLLM"
	}
}

// at is the live view at a moment, which was told all events before it.
func (m *madeUp) at(by time.Duration) *liveview.View {
	v := liveview.NewView(time.Now().Add(-by), &m.run.Plan)
	for _, e := range eventtest.Facts(m.run)[1:] {
		if e.At <= by {
			v.Take(&e)
		}
	}
	eventtest.Again(v, m.requests, by)
	return v
}

// during is the run while it is on.
func (m *madeUp) during(by time.Duration) *metrics.Snapshot {
	v := m.at(by)
	v.Inspect(metrics.Inspection{Rows: true})
	v.Judge()
	s := v.SnapshotAt(by)
	return &s
}

// over is the run when it is over, with its result as it is saved.
func (m *madeUp) over(t *testing.T) (*metrics.Snapshot, map[string]any) {
	t.Helper()
	r := assert.Must(report.Of(eventtest.Of(m.run, eventtest.Each(m.requests))))(t)
	var b bytes.Buffer
	assert.Fine(t, export.JSON(&b, r))
	var result map[string]any
	assert.Fine(t, json.Unmarshal(b.Bytes(), &result))
	v := m.at(m.run.Ended)
	v.Inspect(metrics.Inspection{Rows: true})
	v.Finish(&r)
	s := v.Snapshot()
	return &s, result
}
