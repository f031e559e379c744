package export

import (
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/metrics"
)

// at99 is a statistic with a 99th percentile only.
func at99(ms float64) metrics.Statistic {
	return metrics.Statistic{N: 100, Shown: []metrics.Percentile{{P: 99, Value: ms}}}
}

func rampReport() metrics.Report {
	return metrics.Report{
		Plan: metrics.Plan{
			Rate: metrics.Rate(inf), Ramp: &metrics.Ramp{Strategy: "linear", From: 1, To: 64},
			Goodput: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 500}},
		},
		Objectives: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 500}},
		Counts:     metrics.Counts{Completed: 200}, Statistics: metrics.Statistics{metrics.Lateness: at99(0.3)},
		Levels: []metrics.LoadLevel{{Offered: 10, TTFTp99: 200}, {Offered: 36.5, TTFTp99: 410},
			{Offered: 39.5, TTFTp99: 2100}},
		Answer: metrics.Answer{Saturates: true, Confirmed: true, From: 36.5, To: 39.5, Before: 1, After: 2, Shown: 2,
			TierAnswer: metrics.TierAnswer{Proven: 34}},
	}
}

func steadyReport() metrics.Report {
	return metrics.Report{
		Plan:       metrics.Plan{Rate: 8, Goodput: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 500}}},
		Objectives: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 500}},
		Counts:     metrics.Counts{Completed: 995, MetCount: metrics.MetCount{Good: 991}, Failed: 5},
		Statistics: metrics.Statistics{metrics.TTFT: at99(410), metrics.ITL: at99(32), metrics.Lateness: at99(0.3)},
		Failures:   []metrics.FailureCount{{Kind: metrics.FailedStatus, Status: 503, Count: 5}},
		Levels:     []metrics.LoadLevel{{Offered: 8}},
	}
}

// monitoredClient gives a report a monitored client with these limits.
func monitoredClient(why ...string) func(*metrics.Report) {
	return func(r *metrics.Report) {
		r.Client.Verdict.Why = why
		r.Client.Seconds = []metrics.ClientSecond{{}}
	}
}

func TestAnswer(t *testing.T) {
	gate := metrics.Gate{Metric: "p99_ttft_ms", Op: ">", Limit: 500}
	missed := metrics.GateResult{Gate: gate, Value: 612, Known: true, Missed: true}
	for _, c := range []struct {
		want   string
		report metrics.Report
		change func(*metrics.Report)
	}{
		{"within SLO: 34 req/s proven; saturates between 36.5 and 39.5 req/s (p99 TTFT 0.41 -> 2.10 s); client p99 " +
			"send delay 0.3 ms",
			rampReport(), func(*metrics.Report) {}},
		{"within SLO: 35 req/s proven (97 %); saturates between 35 and 38.5 req/s (p99 TTFT 0.41 -> 2.10 s at 45.5 " +
			"req/s); client p99 send delay 0.3 ms",
			rampReport(), func(r *metrics.Report) {
				r.Levels = []metrics.LoadLevel{{Offered: 35, TTFTp99: 410}, {Offered: 38.5, TTFTp99: 200},
					{Offered: 45.5, TTFTp99: 2100}}
				r.Answer = metrics.Answer{Saturates: true, Confirmed: true, From: 35, To: 38.5, After: 1, Shown: 2,
					TierAnswer: metrics.TierAnswer{Proven: 35, Confidence: 0.979}}
			}},
		{"within SLO: 34 req/s proven; saturates between 36.5 and 39.5 req/s (p99 TTFT 0.41 -> 2.10 s); limit: " +
			"queue, 79 % of TTFT; client p99 send delay 0.3 ms",
			rampReport(), func(r *metrics.Report) {
				r.Answer.Bottleneck = metrics.Bottleneck{Part: metrics.QueuePart, Share: 0.799, Of: "TTFT"}
			}},
		{"within SLO: 24 req/s proven; saturates between 24 and 48 req/s (p99 scheduled to first chunk 0.21 -> 7.20 s)",
			rampReport(), func(r *metrics.Report) {
				r.Statistics[metrics.SlotWait], r.Plan.MaxConcurrency = at99(7000), 64
				r.Statistics[metrics.SlotWait].Max = 7000 // part of the wait
				r.Levels = []metrics.LoadLevel{{Offered: 24, TTFTp99: 200, WaitP99: 210},
					{Offered: 48, TTFTp99: 260, WaitP99: 7200}}
				r.Answer = metrics.Answer{Saturates: true, Confirmed: true, From: 24, To: 48, After: 1, Shown: 1,
					TierAnswer: metrics.TierAnswer{Proven: 24}}
			}},
		{"load within SLO unknown; saturation unknown: client overloaded in 1 of 2 levels; waited p99 2.30 s for a " +
			"slot",
			rampReport(), func(r *metrics.Report) {
				r.Levels = []metrics.LoadLevel{
					{Offered: 24, LevelVerdict: metrics.LevelVerdict{Standing: metrics.LevelLimited}, WaitP99: 210,
						TTFTp99: 200}, {Offered: 48, TTFTp99: 260, WaitP99: 2400}}
				r.Statistics[metrics.SlotWait], r.Plan.MaxConcurrency = at99(2300), 64
				r.Answer = metrics.Answer{Why: "client overloaded in 1 of 2 levels"}
			}},
		{"within SLO: 24 req/s proven (99 %); saturates between 36.5 and 39.5 req/s (p99 TTFT 0.41 -> 2.10 s); 70 of " +
			"270 failed (mostly reset); client ok",
			rampReport(), func(r *metrics.Report) { // the sent rate does not fit
				monitoredClient()(r)
				r.Answer.Proven, r.Answer.Confidence, r.Failed, r.ScheduledRate, r.SentRate = 24, 1, 70, 20, 12
				r.Failures = []metrics.FailureCount{{Kind: metrics.FailedReset}, {}}
			}},
		{"within SLO: 24 req/s proven (99 %); saturates 36.5-39.5 req/s; 70 of 270 failed (mostly reset); client " +
			"OVERLOADED; FAILED p99_ttft_ms>500 (612)",
			rampReport(), func(r *metrics.Report) { // nor does the evidence
				monitoredClient("p99 send delay 31ms")(r)
				r.Answer.Proven, r.Answer.Confidence, r.Failed, r.Gates = 24, 1, 70, []metrics.GateResult{missed}
				r.Failures = []metrics.FailureCount{{Kind: metrics.FailedReset}, {}}
			}},
		{"within SLO: 34 req/s proven (97 %), estimate 36-40; saturates at 38 req/s (37-39); limit: queue; " +
			"client p99 send delay 0.3 ms",
			rampReport(), func(r *metrics.Report) { // the peak does not fit
				r.Answer.Bottleneck = metrics.Bottleneck{Part: metrics.QueuePart, Share: 0.799, Of: "TTFT"}
				r.Answer.Confidence, r.Answer.Estimate, r.Answer.PeakOutput = 0.979,
					metrics.Range{Load: 38, Low: 36.2, High: 39.4}, 2200
				r.Answer.Capacity = metrics.Range{Load: 38, Low: 37.2, High: 38.7}
			}},
		// the client alone is late
		{"no saturation up to 3.0 req/s (p99 TTFT up to 30 ms)", rampReport(), func(r *metrics.Report) {
			r.Levels = []metrics.LoadLevel{{Offered: 3, TTFTp99: 30, WaitP99: 400}, {Offered: 12, TTFTp99: 50,
				WaitP99: 900, LevelVerdict: metrics.LevelVerdict{Standing: metrics.LevelLimited}}}
			r.Answer, r.Objectives, r.Statistics[metrics.Lateness] = metrics.Answer{
				Why: "no saturation up to 3.0 req/s"}, nil, metrics.Statistic{}
		}},
		{"load within SLO unknown; saturates between 16 and 32 users (p99 TTFT 41 -> 99 ms)", rampReport(),
			func(r *metrics.Report) {
				r.Plan = metrics.Plan{Rate: metrics.Rate(inf),
					Stages: []metrics.Stage{{Load: metrics.Users.Of(16)}, {Load: metrics.Users.Of(32)}}}
				r.Levels = []metrics.LoadLevel{{Offered: 16, Unit: metrics.Users, TTFTp99: 41},
					{Offered: 32, Unit: metrics.Users, TTFTp99: 99}}
				r.Answer = metrics.Answer{Saturates: true, Confirmed: true, From: 16, To: 32, Before: 0, After: 1,
					Shown: 1,
					Unit:  metrics.Users}
			}},
		{"no load within SLO: 10 req/s missed (97 %); saturates between 36.5 and 39.5 req/s (p99 TTFT 410 ms -> none " +
			"succeeded); client p99 send delay 0.3 ms",
			rampReport(), func(r *metrics.Report) {
				r.Answer.TierAnswer, r.Answer.LowestTried = metrics.TierAnswer{None: true}, 10
				r.Levels[0].LevelVerdict = metrics.LevelVerdict{Standing: metrics.LevelMissed, Confidence: 0.979}
				r.Levels[2].TTFTp99 = 0
			}},
		{"within SLO: 42 req/s proven; no saturation up to 42 req/s (p99 TTFT up to 2.10 s); client p99 send delay " +
			"0.3 ms",
			rampReport(), func(r *metrics.Report) {
				r.Answer = metrics.Answer{TierAnswer: metrics.TierAnswer{Proven: 42},
					Why: "no \x1b[31msaturation\nup to 42 req/s"}
			}},
		{"load within SLO unknown; saturation unknown: too few requests", rampReport(), func(r *metrics.Report) {
			r.Answer, r.Levels = metrics.Answer{Why: "too few requests"}, make([]metrics.LoadLevel, 2)
			r.Statistics[metrics.Lateness] = metrics.Statistic{}
		}},
		{"load within SLO unknown; saturation unknown; client p99 send delay 0.3 ms", rampReport(),
			func(r *metrics.Report) {
				r.Answer, r.Levels = metrics.Answer{}, make([]metrics.LoadLevel, 2)
			}},
		{"load within SLO unknown; 8 req/s: TTFT p99 410 ms; ITL p99 32 ms; 99.1 % within SLO; 5 of 1000 failed " +
			"(HTTP 503); client p99 send delay 0.3 ms",
			steadyReport(), func(*metrics.Report) {}},
		{"8 req/s: TTFT p99 410 ms; ITL p99 32 ms; client p99 send delay 0.3 ms; FAILED p99_ttft_ms>500 (612)",
			steadyReport(), func(r *metrics.Report) {
				r.Objectives, r.Failed = nil, 0
				r.Gates = []metrics.GateResult{{Gate: metrics.Gate{Metric: "met", Op: ">"}, Known: true}, missed}
			}},
		// 99.99 is rounded down
		{"load within SLO unknown; 8 req/s: TTFT p99 410 ms; ITL p99 32 ms; 99.9 % within SLO; waited p99 140 ms for " +
			"a slot",
			steadyReport(), func(r *metrics.Report) {
				r.Completed, r.Good, r.Failed, r.Statistics[metrics.SlotWait], r.Plan.MaxConcurrency = 10_000, 9_999, 0,
					at99(140), 4
			}},
		{"load within SLO unknown; 8 req/s: TTFT p99 12.4 s; ITL p99 0.40 ms; 100.0 % within SLO; client p99 send " +
			"delay 120 ms",
			steadyReport(), func(r *metrics.Report) {
				r.Good, r.Failed, r.Statistics[metrics.TTFT], r.Statistics[metrics.ITL],
					r.Statistics[metrics.Lateness] = r.Completed, 0, at99(12_400), at99(0.4), at99(120)
			}},
		{"load within SLO unknown; 16 users: 31.9 req/s, TTFT p99 410 ms; ITL p99 32 ms; 99.1 % within SLO; 5 of " +
			"1000 failed (mostly HTTP 503)",
			steadyReport(), func(r *metrics.Report) {
				r.Plan.Rate, r.Plan.MaxConcurrency, r.Levels, r.RequestThroughput = metrics.Rate(inf), 16, nil, 31.9
				r.Failures = append(r.Failures, metrics.FailureCount{Kind: metrics.FailedConnect, Count: 1})
			}},
		{"1000 requests of the trace: 995 requests succeeded; 5 of 1000 failed (cause unknown)",
			steadyReport(), func(r *metrics.Report) {
				r.Plan, r.Failures,
					r.Objectives = metrics.Plan{Rate: metrics.Rate(inf), MaxConcurrency: 16, Trace: true}, nil, nil
				r.Statistics[metrics.TTFT], r.Statistics[metrics.ITL] = metrics.Statistic{}, metrics.Statistic{}
			}},
		{"1000 requests at once: 995 requests succeeded; 5 of 1000 failed (cause unknown)",
			steadyReport(), func(r *metrics.Report) {
				r.Plan, r.Levels, r.Failures, r.Objectives = metrics.Plan{Rate: metrics.Rate(inf)}, nil, nil, nil
				r.Statistics[metrics.TTFT], r.Statistics[metrics.ITL] = metrics.Statistic{}, metrics.Statistic{}
			}},
		{"no request succeeded: 200 failed (connect); FAILED p99_ttft_ms>500 (unknown)",
			metrics.Report{Counts: metrics.Counts{Failed: 200},
				Failures: []metrics.FailureCount{{Kind: metrics.FailedConnect, Count: 200}}},
			func(r *metrics.Report) {
				g := missed
				g.Known = false
				r.Gates = []metrics.GateResult{g}
			}},
		{"within SLO: 34 req/s proven; saturates between 36.5 and 39.5 req/s (p99 TTFT 0.41 -> 2.10 s); client ok",
			rampReport(), monitoredClient()},
		{"within SLO: 34 req/s proven; saturates between 36.5 and 39.5 req/s (p99 TTFT 0.41 -> 2.10 s); client " +
			"OVERLOADED (p99 send delay 31ms and 1 more)",
			rampReport(), monitoredClient("p99 send delay 31ms", "12.5% of chunks coalesced before read")},
		{"within SLO: 34 req/s proven; saturates between 36.5 and 39.5 req/s (p99 TTFT 0.41 -> 2.10 s); client " +
			"OVERLOADED; FAILED p99_ttft_ms>500 (612)",
			rampReport(), func(r *metrics.Report) {
				monitoredClient("p99 send delay 31ms", "CPU full for 8 of 10 s")(r)
				r.Gates = []metrics.GateResult{missed}
			}},
		{"16 users: TTFT p99 410 ms; ITL p99 32 ms; client ok", steadyReport(), func(r *metrics.Report) {
			monitoredClient()(r)
			r.Plan, r.Objectives, r.Levels, r.Failed = metrics.Plan{Rate: metrics.Rate(inf), MaxConcurrency: 16}, nil,
				nil, 0
		}},
		{"8 req/s: TTFT p99 410 ms; ITL p99 32 ms; waited p99 140 ms for a slot; client ok", steadyReport(),
			func(r *metrics.Report) {
				monitoredClient()(r)
				r.Objectives, r.Plan.MaxConcurrency, r.Failed, r.Statistics[metrics.SlotWait] = nil, 4, 0, at99(140)
				r.ScheduledRate, r.SentRate = 8, 7.2 // as waiting makes it
			}},
		{"8 req/s: TTFT p99 410 ms; ITL p99 32 ms; sent only 7.2 req/s; client OVERLOADED (p99 send delay 31ms)",
			steadyReport(), func(r *metrics.Report) {
				monitoredClient("p99 send delay 31ms")(r)
				r.Objectives, r.Failed, r.ScheduledRate, r.SentRate = nil, 0, 8, 7.2
			}},
		{"8 req/s: TTFT p99 410 ms; ITL p99 32 ms; sent only 7.2 req/s; client p99 send delay 0.3 ms", steadyReport(),
			func(r *metrics.Report) {
				r.Objectives, r.Failed, r.ScheduledRate, r.SentRate = nil, 0, 8, 7.2
			}},
		{"no request succeeded: 3 failed (connect); client OVERLOADED (CPU full for 8 of 10 s)",
			metrics.Report{Counts: metrics.Counts{Failed: 3},
				Failures: []metrics.FailureCount{{Kind: metrics.FailedConnect, Count: 3}}},
			monitoredClient("CPU full for 8 of 10 s")},
		{"8 req/s: TTFT p99 410 ms; ITL p99 32 ms; 4 of 400 failed (mostly connect), the last 3 without an answer; " +
			"client ok",
			steadyReport(), func(r *metrics.Report) {
				monitoredClient()(r)
				r.Objectives, r.Completed, r.Failed, r.Unreached = nil, 396, 4, 3
				r.Failures = []metrics.FailureCount{{Kind: metrics.FailedConnect, Count: 3},
					{Kind: metrics.FailedStall, Count: 1}}
			}},
		{"no request succeeded: none was sent", metrics.Report{}, monitoredClient()},
		{"no request succeeded: none was sent", metrics.Report{}, func(*metrics.Report) {}},
		{"no request succeeded: the run was interrupted with 3 in flight and 4 not sent",
			metrics.Report{Interrupted: &metrics.Interruption{Reason: "q", Cancelled: 3, Unsent: 4}},
			func(*metrics.Report) {}},
		{"no request succeeded: the run was interrupted",
			metrics.Report{Interrupted: &metrics.Interruption{Reason: "killed"}}, func(*metrics.Report) {}},
		{"no request succeeded: all 20 were warm-up", metrics.Report{Counts: metrics.Counts{WarmedUp: 20}},
			func(*metrics.Report) {}},
		{"no request succeeded: the only one was warm-up", metrics.Report{Counts: metrics.Counts{WarmedUp: 1}},
			func(*metrics.Report) {}},
		{"no request succeeded: 3 failed (connect)",
			metrics.Report{Counts: metrics.Counts{WarmedUp: 20, Failed: 3},
				Failures: []metrics.FailureCount{{Kind: metrics.FailedConnect, Count: 3}}},
			func(*metrics.Report) {}},
		{"no request succeeded: the run was interrupted with 0 in flight and 4 not sent, after 20 warm-up requests",
			metrics.Report{Counts: metrics.Counts{WarmedUp: 20}, NotSent: 4,
				Interrupted: &metrics.Interruption{Reason: "q", Unsent: 4}},
			func(*metrics.Report) {}},
		{"no request succeeded: time ran out before the first was sent", metrics.Report{NotSent: 7},
			func(*metrics.Report) {}},
		{"no request succeeded: all 20 were warm-up (7 not sent)",
			metrics.Report{Counts: metrics.Counts{WarmedUp: 20}, NotSent: 7}, func(*metrics.Report) {}},
	} {
		c.change(&c.report)
		assert.Equal(t, Answer(c.report), c.want, "Answer")
	}
}

func TestAnswerIsOneShortLine(t *testing.T) {
	r := rampReport()
	r.Failed, r.Failures = 3, []metrics.FailureCount{{Kind: metrics.Failure(strings.Repeat("日本\n", 50))}}
	r.Answer = metrics.Answer{Why: strings.Repeat("日本\n", 500)}
	for range 9 {
		r.Gates = append(r.Gates,
			metrics.GateResult{Gate: metrics.Gate{Metric: "mean_client_queue_time_ms", Op: ">"}, Missed: true})
	}
	got := Answer(r)
	const missed = "; FAILED mean_client_queue_time... (unknown) and 8 more"
	if len(got) > 150 || strings.ContainsFunc(got, func(r rune) bool { return r < ' ' || r > '~' }) ||
		!strings.HasSuffix(got, missed) {
		t.Errorf("%d bytes: %q", len(got), got)
	}
	r.Levels, r.Answer, r.Failed = nil, metrics.Answer{}, 0
	const want = "load within SLO unknown; saturation unknown; client p99 send delay 0.3 ms; " +
		"FAILED mean_client_queue_time_ms>0 (unknown) and 8 more"
	assert.Equal(t, Answer(r), want, "Answer")
}

// A value has enough digits to show on which side of the limit it lies.
func TestGateValues(t *testing.T) {
	for _, c := range []struct {
		want, op string
		limit    float64
		percent  bool
		value    float64
	}{
		{"612", ">", 500, false, 612.345}, {"500.3", ">", 500, false, 500.3}, {"500.00004", ">", 500, false, 500.00004},
		{"87%", "<", 0.9, true, 0.87}, {"89.99%", "<", 0.9, true, 0.89987}, {"33.3%", "<", 0.9, true, 1. / 3},
		{"0.062", ">", 1, false, 0.0624}, {"7.35", ">", 1, false, 7.354}, {"0", "<", 10, false, 0},
		{"inf", ">", 1, false, inf},
	} {
		g := metrics.GateResult{Gate: metrics.Gate{Op: c.op, Limit: c.limit, Percent: c.percent}, Value: c.value,
			Known: true}
		assert.Equal(t, gateValue(&g), c.want, "%v", c.value)
	}
}
