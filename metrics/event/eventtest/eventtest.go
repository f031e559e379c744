// Package eventtest makes the events of made-up runs for tests.
package eventtest

import (
	"iter"
	"math"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/event"
)

// Facts are the events of a run without its requests and its end: the plan first, the rest by kind, each at its moment.
// The sources of server and accelerators come with their last samples.
func Facts(run metrics.Run) (all []event.Event) {
	tell := func(at time.Duration, fact any) {
		all = append(all, event.Event{At: at, Kind: event.Fact, Value: fact})
	}
	tell(0, run.Plan)
	tell(0, metrics.Source{Name: metrics.ServerCounters, Kind: run.ServerKind})
	changes := 0
	for _, e := range run.Events {
		if e.Set != nil {
			changes++
			tell(e.At, metrics.Steering{LoadSetting: *e.Set, Changes: changes})
		}
		tell(e.At, e)
	}
	for _, s := range run.Client {
		tell(s.At, s)
	}
	last := time.Duration(0)
	for _, s := range run.Server {
		last = max(last, s.At)
		tell(s.At, s)
	}
	tell(last, metrics.Source{Name: metrics.ServerCounters, Kind: run.ServerKind, Absent: run.ServerAbsent})
	last = 0
	for _, s := range run.GPUs {
		last = max(last, s.At)
		tell(s.At, s)
	}
	tell(last, metrics.Source{Name: metrics.Accelerators, Absent: run.GPUsAbsent})
	return all
}

// Of are all events of a run, as in a journal. The events of a run without a known end stop after its requests.
func Of(run metrics.Run, requests iter.Seq2[metrics.Request, error]) event.Events {
	return func(yield func(event.Event, error) bool) {
		for _, e := range Facts(run) {
			if !yield(e, nil) {
				return
			}
		}
		for q, err := range requests {
			if err != nil {
				yield(event.Event{}, err)
				return
			}
			if !yield(event.Event{At: q.Done, Kind: event.Done, Request: &q}, nil) {
				return
			}
		}
		if run.Ended != metrics.Never {
			yield(event.Event{At: run.Ended, Kind: event.Fact, Value: run.End}, nil)
		}
	}
}

// Tell passes facts to a sink.
func Tell(sink event.Sink, facts ...any) {
	for _, fact := range facts {
		sink.Take(&event.Event{Kind: event.Fact, Value: fact})
	}
}

// Step passes an event of a request to a sink.
func Step(sink event.Sink, kind event.Kind, q *metrics.Request) {
	sink.Take(&event.Event{Kind: kind, Request: q})
}

const (
	ms = time.Millisecond
	us = time.Microsecond
)

// Sample is the worked example of vLLM's report: four requests, one slot, four requests per second. A took part in
// three gaps between chunks, B got several tokens per chunk, C got one token late and D was refused. Beside them went
// three probes, and the server drafted tokens. The client watched itself, the server's metrics page and two
// accelerators.
func Sample() (metrics.Run, []metrics.Request) {
	gold := metrics.SLO{{Metric: metrics.TTFT, LimitMS: 500}, {Metric: metrics.TPOT, LimitMS: 50},
		{Metric: metrics.E2EL, LimitMS: 1000}}
	plan := metrics.Plan{
		Version: "1.2.3", Command: []string{"benchtop", "serve", "--model", "org/M", "--header", "***"},
		Started: time.Date(2026, 10, 6, 10, 15, 0, 0, time.Local),
		BaseURL: "http://localhost:8000", Backend: "openai", ModelID: "org/M", Tokenizer: "org/M",
		Dataset: "random, 10 in, 4 out", InputSource: metrics.TokensFromServer, Seed: 0,
		NumPrompts: 4, Requests: 4, Rate: 4, Burstiness: 1, MaxConcurrency: 1, Load: "4 req/s, at most 1 in flight",
		Metrics: []metrics.Latency{metrics.E2EL, metrics.TTFT, metrics.TPOT, metrics.ITL, metrics.E2ELQueued,
			metrics.SlotWait},
		// In the order of the command line.
		Percentiles: []float64{50, 99.9},
		Goodput:     gold,
		Tiers: []metrics.Tier{{Name: "gold", SLO: gold},
			{Name: "bronze", SLO: metrics.SLO{{Metric: metrics.TTFT, LimitMS: math.Inf(1)}}}},
		Metadata:    []metrics.Pair{{Key: "tp", Value: "1"}},
		Detailed:    true,
		Timestamps:  metrics.KernelStamps,
		GPUPrice:    3.6,
		Definitions: map[string]string{"success": "finish seen", "clock": "monotonic"},
	}
	run := metrics.Run{
		Plan: plan, End: metrics.End{Ended: 1750 * ms,
			Probes: &metrics.Probes{Completed: 3, Latencies: []time.Duration{70 * ms, 50 * ms, 300 * ms}},
			SpecDecode: &metrics.SpecDecode{
				Drafts: 4, DraftTokens: 12, AcceptedTokens: 6, AcceptedPerPosition: []int{3, 2, 1},
			}, Stamps: &metrics.Stamps{Chunks: 8, DelayP50: 21 * us, DelayP99: 310_499, DelayP999: 400 * us,
				DelayMax: 412 * us}},
		Events: []metrics.LogEntry{{At: 1750 * ms, Level: metrics.Error, Text: "request 3: HTTP 400"}},
		Telemetry: metrics.Telemetry{Server: Server(), ServerKind: "vLLM", GPUs: GPUs(),
			GPUsAbsent: "nvidia-smi ended: exit status 9"},
		Client: Client(),
	}
	qs := []metrics.Request{
		Request(0, 10, 4, 100*ms, 100*ms, 200*ms, 50*ms, 50*ms, 60*ms),
		Request(1, 12, 5, 300*ms, 460*ms, 300*ms, 40*ms, 40*ms),
		Request(2, 8, 1, 700*ms, 840*ms, 900*ms),
		Refused(3, 9, 1000*ms, 1740*ms, "Bad Request"),
	}
	for i := range qs[:3] {
		qs[i].ServerQueue, qs[i].ServerPrefill = time.Duration(i)*50*ms, 150*ms
	}
	return run, qs
}

// Server are three samples of a server that does not report preemptions; the second tells its engines apart.
func Server() []metrics.ServerSecond {
	silent := metrics.Unsaid()
	first := metrics.ServerSecond{
		At: 1 * ms, Waiting: 1, KVUsage: 0.25,
		Preemptions: silent, PrefixQueries: silent, PrefixHits: silent, HitRate: silent,
		PromptTokens: silent, OutputTokens: silent, DraftTokens: silent, AcceptedTokens: silent,
	}
	second := first
	second.At, second.Took, second.Running, second.Waiting, second.KVUsage = 1001*ms, 1000*ms, 1, 0, 0.75
	second.PrefixQueries, second.PrefixHits, second.HitRate = 22, 11, 0.5
	second.PromptTokens, second.OutputTokens = 11, 9
	second.SpecDecode = &metrics.SpecDecode{Drafts: 3, DraftTokens: 9, AcceptedTokens: 3,
		AcceptedPerPosition: []int{2, 1, 0}}
	second.TTFT = metrics.ServerLatency{N: 2, Mean: 190 * ms}
	second.Queue, second.Prefill = metrics.ServerLatency{N: 2, Mean: 25 * ms},
		metrics.ServerLatency{N: 2, Mean: 150 * ms}
	second.Engines = []metrics.Engine{
		{Name: "0", Running: 1, Waiting: 0, KVUsage: 0.5, OutputTokens: 9, TTFT: second.TTFT},
		{Server: 1, Name: "rank \"1\"", Running: 0, Waiting: 0, KVUsage: 1, OutputTokens: silent},
	}
	third := second
	third.Engines, third.SpecDecode = nil, nil
	third.At, third.Took, third.Running, third.KVUsage = 1750*ms, 749*ms, 0, 0.5
	third.PrefixQueries, third.PrefixHits, third.HitRate, third.PromptTokens, third.OutputTokens = 8, 0, 0, 8, 1
	third.TTFT, third.Queue, third.Prefill = metrics.ServerLatency{N: 1, Mean: 800 * ms}, metrics.ServerLatency{},
		metrics.ServerLatency{}
	return []metrics.ServerSecond{first, second, third}
}

// GPUs are two samples of two accelerators, one of them without a power limit.
func GPUs() []metrics.GPUSecond {
	gpu := metrics.GPU{
		Name: "NVIDIA H200", Use: 0.5, MemoryUsed: 120 << 30, MemoryTotal: 141 << 30, Power: 400, PowerLimit: 700,
		Temperature: 61, Clock: 1980,
	}
	other := gpu
	other.Index, other.Use, other.Power, other.PowerLimit = 1, 1, 600, metrics.Unsaid()
	hotter := other
	hotter.Temperature, hotter.Clock = 64, metrics.Unsaid()
	return []metrics.GPUSecond{
		{At: 900 * ms, Took: 900 * ms, GPUs: []metrics.GPU{gpu, other}},
		{At: 1700 * ms, Took: 800 * ms, GPUs: []metrics.GPU{gpu, hotter}},
	}
}

// Client are two samples: a second with all figures, and the rest of the run, without a chunk that the kernel stamped.
func Client() []metrics.ClientSecond {
	return []metrics.ClientSecond{
		{
			At: 1000_004 * us, Took: 1000_003 * us, CPU: 0.25, CPUWait: 0.125, Cores: 2, Sched: 40 * us,
			Stall: 1500 * us,
			GCs:   2, GCPause: 85 * us, Memory: 24 << 20, Sockets: 2, Dialled: 2, Sent: 3, LateP99: 100_500,
			LateMax: 120 * us,
			Chunks:  7, DelayP50: 20 * us, DelayP99: 300 * us, DelayMax: 412 * us,
		},
		{
			At: 1750_009 * us, Took: 750_005 * us, CPU: 0.5, Cores: 2, Sched: 60 * us, Memory: 23 << 20, Sockets: 1,
			Sent: 1, Chunks: 1,
			DelayP50: metrics.Never, DelayP99: metrics.Never, DelayMax: metrics.Never,
		},
	}
}

// Request is a success: due when scheduled, sent when it got its slot, then chunks after each of the gaps.
func Request(index, input, output int, due, sent time.Duration, gaps ...time.Duration) metrics.Request {
	q := metrics.NewRequest(index)
	q.Conversation = index
	q.ID = "sample-" + string(rune('A'+index))
	q.Scheduled, q.Due, q.Admitted, q.Sent = due, due, sent, sent
	at := sent
	for _, gap := range gaps {
		at += gap
		q.Add(metrics.Chunk{At: at, Tokens: 1, Answer: true})
	}
	q.Done = at
	q.InputTokens, q.OutputTokens, q.MaxTokens = input, output, output
	q.InputSource, q.OutputSource = metrics.TokensFromUsage, metrics.TokensFromUsage
	q.Finish, q.Status, q.Text = "length", 200, "text "+q.ID
	return q
}

// Refused is a request that the server refused with an error text.
func Refused(index, input int, due, sent time.Duration, words string) metrics.Request {
	q := Request(index, input, 0, due, sent)
	q.Done = sent + 10*ms
	q.Failure, q.Status, q.Error, q.Finish, q.Text = metrics.FailedStatus, 400, words, "", ""
	return q
}
