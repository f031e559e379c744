package tuitest

import (
	"math"
	"strings"
	"time"

	"benchtop/metrics"
)

// Monstrous is a snapshot with everything a chart could choke on.
func Monstrous() metrics.Snapshot {
	s := Mid()
	s.Plan = &metrics.Plan{
		BaseURL: "http://\x1b[31mevil\x07\u202e/", ModelID: strings.Repeat("模型🤖", 40), Load: "\x00\xff\xfe",
		Dataset: "👨‍👩‍👧‍👦 e\u0301\u0301\u0301\u0301",
		Rate:    metrics.Rate(math.NaN()), Duration: -5, Requests: math.MinInt, Warmup: math.MaxInt64 - 1,
		Goodput: metrics.SLO{
			{Metric: metrics.TTFT, LimitMS: math.NaN()}, {Metric: metrics.TPOT, LimitMS: math.Inf(1)},
			{Metric: metrics.E2EL, LimitMS: -1},
			{Metric: 255},
		},
		Gates: []metrics.Gate{
			{Metric: "goodput", Op: "<", Limit: math.NaN(), Percent: true},
			{Metric: "p99_ttft_ms", Op: ">", Limit: 1e300},
			{Metric: strings.Repeat("漢\x07", 200), Op: "\x1b[2J", Limit: math.Inf(-1), Percent: true},
		},
		Stages: []metrics.Stage{
			{Start: math.MinInt64, Length: math.MaxInt64, Load: metrics.Load{Value: math.Inf(1)}},
			{Start: math.MaxInt64, Load: metrics.Users.Of(math.MinInt)},
		},
	}
	s.Marks = []metrics.LogEntry{
		{At: math.MinInt64, Mark: "a"}, {At: math.MaxInt64, Mark: "b"},
		{At: 40 * time.Second, Mark: strings.Repeat("漢🤖\u202e", 100)},
		{At: 30 * time.Second, Mark: "\x1b[2J\n"}, {At: 50 * time.Second, Mark: "e\u0301\u0301\u0301"},
	}
	s.At = 70 * time.Second
	s.Windows = metrics.Each(s.Windows, (*metrics.Window).Clone)
	for i := range s.Windows {
		w := s.Windows[i]
		switch i % 4 {
		case 0:
			w.TokensOut, w.TokensIn, w.Held = math.MaxInt, math.MinInt, math.MaxInt
			w.Good, w.Met[metrics.TTFT], w.Met[metrics.TPOT], w.Failed = math.MaxInt, math.MinInt, -1, math.MinInt
		case 1:
			w.Running, w.Waiting, w.Completed = math.MinInt, -1, math.MaxInt
		}
		var h metrics.Histogram
		h.Add(0)
		h.Add(math.MaxInt64)
		w.Histograms[metrics.TTFT], w.Histograms[metrics.ITL] = h, h
		s.Histograms[metrics.TTFT], s.Histograms[metrics.ITL], s.Histograms[metrics.TPOT],
			s.Histograms[metrics.E2EL] = h, h, h, h
	}
	s.Totals = metrics.Counts{
		Completed: math.MaxInt, Failed: math.MinInt, Cancelled: -3, WarmedUp: math.MinInt,
		MetCount: metrics.MetCount{Good: math.MaxInt, Met: metrics.MetObjectives{metrics.E2EL: -7}},
	}
	s.Failures = []metrics.FailureCount{
		{Kind: "\x1b]0;x\x07", Status: -1, Count: math.MaxInt, Last: -time.Hour,
			Examples: []string{"\x9b31m\u2028\u202e漢字漢字漢字", ""}},
		{Kind: metrics.FailedStatus, Count: math.MinInt},
	}
	s.Log = []metrics.LogEntry{{At: math.MinInt64, Level: "?", Text: strings.Repeat("漢", 2000), Count: math.MaxInt},
		{At: math.MaxInt64, Text: "\n\r\t\x1b[2J"}}
	s.SaveError = strings.Repeat("🚫", 300)
	s.Report = &metrics.Report{
		Statistics: metrics.Statistics{metrics.TTFT: metrics.Statistic{N: 1, Mean: math.NaN(), Median: math.Inf(1),
			Max: 1e300}}, OutputThroughput: math.Inf(1), RequestThroughput: math.NaN()}
	for i, g := range s.Plan.Gates {
		value := []float64{math.NaN(), math.Inf(1), -1e300}[i]
		s.Report.Gates = append(s.Report.Gates,
			metrics.GateResult{Gate: g, Value: value, Known: i != 1, Missed: i == 0})
	}
	return s
}

// MonstrousPages adds the data of the other pages to the monstrous run.
func MonstrousPages() metrics.Snapshot {
	s := Monstrous()
	s.Report = nil
	var h metrics.Histogram
	h.Add(0)
	h.Add(math.MaxInt64)
	s.Histograms[metrics.FirstAnswer], s.Histograms[metrics.ScheduledLatency], s.Histograms[metrics.SlotWait] = h, h, h
	waits := [metrics.NumObjectives]metrics.Histogram{h, h, h}
	s.Answer = &metrics.Answer{
		TierAnswer: metrics.TierAnswer{
			Proven: math.Inf(1), ProvenLevel: math.MinInt, Confidence: math.NaN(), HeldLevel: math.MaxInt,
			Estimate: metrics.Range{Load: math.NaN(), Low: math.Inf(-1), High: math.Inf(1)}, Why: "\x1b[2J",
		},
		Saturates: true, From: math.Inf(1), To: math.NaN(), Before: -7, After: math.MaxInt,
		Capacity:    metrics.Range{Load: 1e300, High: math.NaN()},
		SaturatedAt: 40 * time.Second, Why: "\x1b[2J",
	}
	s.Client = []metrics.ClientSecond{
		{At: math.MinInt64, Took: math.MaxInt64, CPU: math.NaN(), CPUWait: math.Inf(1), Cores: math.Inf(-1),
			Chunks: math.MaxInt, Unstamped: math.MinInt},
	}
	s.Verdict.Why = []string{"", "\x1b[2J\x9b31m\u202e", strings.Repeat("漢字🤖", 400)}
	for i := range 50 {
		v := []float64{math.NaN(), math.Inf(1), 1e300, -1, 0, 7}[i%6]
		s.Levels = append(s.Levels, metrics.LoadLevel{
			From: time.Duration(i) * time.Second, To: time.Duration(i-i%3+1) * time.Second, Offered: v, Sent: v,
			Done: v, TTFTp99: v,
			Unit: []metrics.Unit{metrics.Users, metrics.RequestsPerSecond}[i%2], LevelVerdict: metrics.LevelVerdict{
				Requests: math.MaxInt, Good: math.MinInt, Confidence: v, Effective: v,
				Missing: time.Duration(math.MaxInt64), Why: "\x1b[2J",
				Standing: []metrics.Standing{metrics.LevelUnknown, metrics.LevelWithin, "\x1b[2J"}[i%3],
			},
		})
		s.Client = append(s.Client, metrics.ClientSecond{
			At: time.Duration(i) * time.Second, Took: time.Second, CPU: v, Cores: []float64{0, 1, math.NaN()}[i%3],
			Sent:    i % 4,
			LateP99: time.Duration(math.MaxInt64), LateMax: -1,
		})
		s.Endpoints = append(s.Endpoints, metrics.Group{Model: strings.Repeat("漢\x07", i),
			Slice: metrics.Slice{
				Counts: metrics.Counts{Sent: math.MinInt, OutputTokens: math.MaxInt}, Histograms: waits,
			}})
		group := metrics.Group{Class: strings.Repeat("漢\x1b[2J", i), First: i % 3, Last: math.MaxInt}
		group.Counts = metrics.Counts{
			Completed: math.MaxInt, Failed: i % 2, MetCount: metrics.MetCount{Good: -i},
			Cached: metrics.TokenShare{Tokens: math.MinInt, Of: i % 3},
			Ideal:  metrics.TokenShare{Tokens: math.MaxInt, Of: -1},
		}
		s.Classes = append(s.Classes, group)
		group.Histograms = waits
		s.Turns = append(s.Turns, group)
		s.Sessions = &metrics.LiveSessions{Active: math.MinInt, Thinking: math.MaxInt}
		s.Marks = append(s.Marks, metrics.LogEntry{At: time.Duration(i) * time.Second, Set: &metrics.LoadSetting{
			Load: metrics.Load{Value: v}, RampTo: v, RampOver: -time.Second, Paused: i%7 == 0,
		}})
	}
	s.Client = append(s.Client, metrics.ClientSecond{
		At: math.MaxInt64, Sched: -1, Stall: math.MaxInt64, Memory: math.MaxUint64, Chunks: math.MaxInt,
		Unstamped: math.MaxInt,
	})
	return s
}

// Crazy is a run with values that break careless drawing.
func Crazy() metrics.Snapshot {
	s := Listed(Watched(Monstrous(), 3))
	evil := strings.Repeat("漢\x1b[2J\x07\u202e🤖e\u0301\u0301\u0301\n", 12)
	numbers := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300, -1e300, 0, -1}
	times := []time.Duration{math.MinInt64, math.MaxInt64, 0, metrics.Never, 1, 1e18}
	for i := range s.Server {
		x, y, d := numbers[i%len(numbers)], numbers[(i/3)%len(numbers)], times[i%len(times)]
		l := metrics.ServerLatency{N: y, Mean: d}
		at, took := s.Server[i].At, s.Server[i].Took
		if i%5 == 0 {
			took = d
		}
		s.Server[i] = metrics.ServerSecond{
			At: at, Took: took, Running: x, Waiting: y, KVUsage: x, Preemptions: y, PrefixQueries: x, PrefixHits: y,
			HitRate:      x,
			PromptTokens: x, OutputTokens: y, DraftTokens: y, AcceptedTokens: x, TTFT: l, Queue: l, Prefill: l,
			SpecDecode: &metrics.SpecDecode{Drafts: []int{1, math.MinInt, math.MaxInt}[i%3], AcceptedTokens: i,
				AcceptedPerPosition: []int{math.MaxInt, math.MinInt, 3, 0, math.MaxInt, 1, 2, -3, 4, 5}[:i%11]},
		}
		s.GPUs[i].Took = took
		for k := range s.GPUs[i].GPUs {
			s.GPUs[i].GPUs[k] = metrics.GPU{
				Index: []int{math.MinInt, math.MaxInt, 3}[k], Name: evil, Use: x, MemoryUsed: y, MemoryTotal: x,
				Power: y, PowerLimit: x, Temperature: y, Clock: x,
			}
		}
	}
	s.ServerKind, s.ServerAbsent, s.GPUsAbsent = evil, evil, evil
	plan := *s.Plan
	plan.GPUPrice = math.Inf(1)
	s.Plan = &plan
	s.Report.Split = metrics.TTFTSplit{N: 1, SlotWait: math.MaxInt64, Connect: math.MinInt64, Queue: math.MaxInt64,
		Prefill: -7, Source: metrics.SplitSource(evil)}
	s.Report.GPUs = &metrics.GPUReport{Energy: math.Inf(1), JoulesPerToken: 1e300,
		CostPerMillion: metrics.TokenCost{Output: -1}}
	for i := range s.Requests {
		q := &s.Requests[i]
		q.ID, q.Model, q.Error = evil, evil, evil
		q.Due, q.Sent, q.Ended = times[i%6], times[i/2%6], times[i/3%6]
		q.SlotWait, q.TTFT, q.TPOT, q.E2EL = times[i/4%6], times[i/5%6], times[i/6%6], times[i/7%6]
		q.InputTokens, q.OutputTokens, q.Status = math.MinInt, math.MaxInt, math.MinInt
		if i%11 == 0 {
			q.State, q.Failure = metrics.RequestState(evil), metrics.Failure(evil)
		}
	}
	s.Requests[3].Index, s.Requests[4].Index, s.Requests[5].Index = math.MinInt, math.MaxInt-1, -1
	s.Opened = Detail(s.Requests[10])
	s.Opened.Text, s.Opened.Whole, s.Opened.Finish, s.Opened.Redials = evil, evil, evil, math.MaxInt
	for i := range s.Opened.Chunks {
		s.Opened.Chunks[i].At = times[i%6]
	}
	return s
}
