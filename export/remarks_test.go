package export

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/internal/assert/golden"
	"benchtop/internal/text"
	"benchtop/metrics"
)

func TestRemarks(t *testing.T) {
	run, qs := sampleRun()
	run.Reason, run.Unsent, run.Plan.Cache = "SIGTERM", 3, "cold cache (cache_salt)"
	qs[0].Tallies[metrics.Redials], qs[1].Tallies[metrics.Redials] = 1, 1
	qs[1].OutputSource = metrics.TokensFromChunks
	qs[2].OutputSource, qs[2].InputSource = metrics.TokensFromEstimate, metrics.TokensUnknown
	cancelled := sampleRequest(4, 5, 2, 1200*ms, 1740*ms)
	cancelled.Failure = metrics.Cancelled
	reset := refused(5, 5, 1250*ms, 1740*ms,
		"read tcp 127.0.0.1:1:\nreset \x1b]0;title\x07by peer "+strings.Repeat("世界 ", 30))
	reset.Failure, reset.Status = metrics.FailedReset, 0
	got := Remarks(summarize(t, run, append(qs, cancelled, reset)))
	golden.Same(t, "testdata/remarks.txt", got)
	for line := range strings.Lines(got) {
		if n := text.Width(strings.TrimSuffix(line, "\n")); n > textWidth {
			t.Errorf("%d columns: %q", n, line)
		}
	}
	assert.Lacks(t, got, "\x1b")
}

// Refused fields are listed below the failures, with the flag that omits them on one line of any length.
func TestRemarkOnRefusedFields(t *testing.T) {
	r := metrics.Report{
		Plan: metrics.Plan{OptionalFields: []string{"repetition_penalty", "logprobs", "ignore_eos"}},
		Failures: []metrics.FailureCount{{Kind: metrics.FailedStatus, Status: 422, Count: 3,
			Examples: []string{"Unexpected fields: {'ignore_eos', 'repetition_penalty', 'logprobs'}"}}},
	}
	other := r
	other.Failures = []metrics.FailureCount{{Kind: metrics.FailedStatus, Status: 400, Count: 3,
		Examples: []string{"unknown model"}}}
	assert.Lacks(t, Remarks(other), "does not know")
	for _, c := range []struct {
		command []string
		want    string
	}{
		{nil, `--extra-body '{"repetition_penalty":null,"logprobs":null,"ignore_eos":null}'`},
		{[]string{"serve", "--extra_body", `{"a":1}`},
			"--extra-body.repetition_penalty null --extra-body.logprobs null --extra-body.ignore_eos null"},
	} {
		r.Plan.Command = c.command
		want := "\nFailures:\n       3  http_status 422   Unexpected fields: {'ignore_eos', 'repetition_pena…\n" +
			"The server does not support repetition_penalty, logprobs and ignore_eos. To omit\n  what it does not " +
			"support, add\n  " + c.want + "\n"
		assert.Equal(t, Remarks(r), want, "Remarks")
	}
}

// Requests that do not fit into the plan's duration are no interruption.
func TestRemarkOnUnsentRequests(t *testing.T) {
	for _, c := range []struct {
		notSent, requests int
		want              string
	}{
		{3, 12, "\nTime ran out before 3 of the 12 requests were sent.\n"},
		{1, 12, "\nTime ran out before 1 of the 12 requests was sent.\n"},
		{3, 0, "\nTime ran out with 3 requests due but not sent.\n"},
		{1, 0, "\nTime ran out with 1 request due but not sent.\n"},
		{0, 12, ""},
	} {
		r := metrics.Report{Plan: metrics.Plan{Requests: c.requests, Duration: time.Minute}, NotSent: c.notSent}
		assert.Equal(t, Remarks(r), c.want, "Remarks")
		r.Interrupted = &metrics.Interruption{Reason: "q", Unsent: c.notSent}
		if got := Remarks(r); strings.Contains(got, "The time") || !strings.Contains(got, "Interrupted: q.") {
			t.Errorf("interrupted: got %q", got)
		}
	}
}

// What was left out of the data set, and what is not as a published preset has it, is said.
func TestRemarkOnWhatWasAsked(t *testing.T) {
	r := metrics.Report{Plan: metrics.Plan{LeftOut: "--max-model-len 9: 1 of 2\x1b[2J",
		Preset: &metrics.Preset{Name: "p", Source: "S"}}}
	if got := Remarks(r); !strings.HasPrefix(got, "\n--max-model-len 9: 1 of 2") || strings.Count(got, "\n") != 2 ||
		strings.Contains(got, "\x1b") {
		t.Errorf("got %q", got)
	}
	r.Plan.Preset.Changed = []string{"--seed changed", "--max-gap missing"}
	got := Remarks(r)
	assert.Has(t, got, "\nPreset p: --seed changed, --max-gap missing, so the rules of S are not kept.")
}

func TestNoRemarks(t *testing.T) {
	run, qs := sampleRun()
	run.Plan.Rate = metrics.Rate(inf) // all requests are due at once
	run.Plan.SteadyState.Off = true
	run.Plan.Percentiles = []float64{50}
	r := summarize(t, run, qs[:3])
	r.PeakOutputPerSecond, r.PeakConcurrency = r.PeakOutputTokens, r.ExactPeakConcurrency
	assert.Equal(t, Remarks(r), "", "Remarks")
	r.PeakConcurrency++
	assert.Has(t, Remarks(r), "Concurrency: at most 1 request was in flight at once.")
}

// One remark names the percentiles that have too few observations, with their counts.
func TestRemarkOnTooFew(t *testing.T) {
	var r metrics.Report
	r.Completed, r.Plan.Metrics = 42, []metrics.Latency{metrics.TTFT, metrics.TPOT, metrics.ITL, metrics.E2EL}
	for l, n := range map[metrics.Latency]int{metrics.TTFT: 42, metrics.TPOT: 42, metrics.ITL: 800, metrics.E2EL: 42} {
		r.Statistics[l] = metrics.Statistic{N: n, Percentiles: []metrics.Percentile{{P: 50}, {P: 99}, {P: 99.9}}}
	}
	const want = "\nPercentiles: too few observations for P99, which takes 100 (42 of TTFT, TPOT and\n" +
		"  E2EL) and P99.9, which takes 1000 (42 of TTFT, TPOT and E2EL, 800 of ITL).\n" +
		"  With so few, it is chance which value stands there.\n"
	assert.Equal(t, Remarks(r), want, "Remarks")
	for l := range r.Statistics {
		r.Statistics[l].N = 1000
	}
	assert.Equal(t, Remarks(r), "", "enough")
}

// ITL of chunks with several tokens is not ITL by token, where the server counted the whole alone.
func TestRemarkOnTokensOfChunks(t *testing.T) {
	const want = "\nITL: chunks hold 2.5 tokens on average, and ITL is the gap between chunks. With --continuous-usage"
	for _, c := range []struct {
		output, counted, known int
		pooling                bool
		want                   string
	}{{250, 10, 0, false, want}, {250, 10, 90, false, ""}, {250, 9, 0, false, ""}, {120, 10, 0, false, ""},
		{250, 10, 0, true, ""}} {
		r := metrics.Report{Counts: metrics.Counts{Completed: 10, OutputTokens: c.output},
			OutputSources: map[metrics.TokenSource]int{metrics.TokensFromUsage: c.counted}}
		r.Statistics[metrics.ITL].N, r.Statistics[metrics.TokenITL].N, r.Plan.Pooling = 90, c.known, c.pooling
		if got := strings.ReplaceAll(Remarks(r), "\n  ", " "); !strings.HasPrefix(got, c.want) ||
			c.want == "" && got != "" {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// A limit that was set during the run is not reported as the plan's.
func TestRemarkOnSlotWait(t *testing.T) {
	r := metrics.Report{Plan: metrics.Plan{Rate: 10, MaxConcurrency: 4},
		Statistics: metrics.Statistics{metrics.SlotWait: metrics.Statistic{N: 1, Mean: 3, Max: 5}}}
	for want, events := range map[string][]metrics.LogEntry{
		"Client queue: with at most 4 requests in flight, requests waited 3.00 ms": nil,
		"Client queue: with the limits set on requests in flight during the run, requests\n  waited 3.00 ms": {
			{Set: &metrics.LoadSetting{Load: metrics.Users.Of(9)}}},
	} {
		r.Events = events
		assert.Has(t, Remarks(r), want)
	}
}

// The reason for a low rate is reported only if the figures explain it.
func TestRemarkOnPacing(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*metrics.Report)
		want   string
	}{
		{"not known", func(*metrics.Report) {}, "."},
		{"a client that read late",
			func(r *metrics.Report) { r.Client.Verdict.Why = []string{"2.0% of chunks coalesced before read"} }, "."},
		{"no connections", func(r *metrics.Report) {
			r.Failures = []metrics.FailureCount{{Kind: metrics.FailedStatus, Count: 9},
				{Kind: metrics.FailedConnect, Count: 20}}
		}, "; 20 requests got no connection."},
		{"few of them", func(r *metrics.Report) {
			r.Failures = []metrics.FailureCount{{Kind: metrics.FailedConnect, Count: 3}}
		}, "."},
		{"slow to connect", func(r *metrics.Report) {
			r.Statistics[metrics.Connect].Max, r.Statistics[metrics.OwnLateness].Max = 2400, 900
		}, "; connections took up to 2.40 s to open."},
		{"slow to send", func(r *metrics.Report) {
			r.Statistics[metrics.Connect].Max, r.Statistics[metrics.OwnLateness].Max = 900, 2400
		}, "; the client sent requests up to 2.40 s late."},
		{"neither explains it", func(r *metrics.Report) {
			r.Statistics[metrics.Connect].Max, r.Statistics[metrics.OwnLateness].Max = 40, 90
		}, "."},
	} {
		r := metrics.Report{Plan: metrics.Plan{Rate: 10}, Counts: metrics.Counts{Completed: 71, Failed: 29},
			ScheduledRate: 10, SentRate: 8}
		c.change(&r)
		got := strings.Join(strings.Fields(Remarks(r)), " ") + " "
		_, got, _ = strings.Cut(got, "Pacing: ")
		if want := "8.00 requests/s sent, 10.00 scheduled" + c.want + " "; !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %q, want %q", c.name, got, want)
		}
	}
}

func TestRemarksOnTheLoad(t *testing.T) {
	r := metrics.Report{
		Plan:   metrics.Plan{Rate: 10, MaxConcurrency: 4, Warmup: 2 * time.Minute},
		Counts: metrics.Counts{Completed: 100, WarmedUp: 240}, Damaged: 3,
		ScheduledRate: 10, SentRate: 9.49,
		SteadyState: &metrics.SteadyState{
			Start: 12340 * ms, End: 58 * time.Second, Target: 64, Completed: 562, ThresholdAbs: 61,
			RequestThroughput: 12.3, OutputThroughput: 1234.56,
			TTFT: metrics.Statistic{N: 1, Mean: 120, Median: 110}, TPOT: metrics.Statistic{N: 1, Mean: 20},
			Warning: "the load was full for a moment \x1b[1monly.",
		},
		Gates: []metrics.GateResult{
			{Gate: metrics.Gate{Metric: "p99_ttft_ms", Op: ">", Limit: 500}, Value: 612, Known: true, Missed: true},
			{Gate: metrics.Gate{Metric: "goodput", Op: "<", Limit: 0.9, Percent: true}, Value: 0.991, Known: true},
			{Gate: metrics.Gate{Metric: "mean_tpot_ms", Op: ">", Limit: 50}, Missed: true},
		},
	}
	const want = `
Journal: the figures lack 3 damaged lines that could not be read.
Warm-up: 240 requests in the first 2m excluded from all figures above.
Pacing: 9.49 requests/s sent, 10.00 scheduled.
Steady state: from 12.3 s to 58.0 s, with at least 61 of 64 requests in flight:
  12.30 requests/s, 1234.56 output tokens/s, mean TTFT 120.00 ms (median 110.00
  ms), TPOT 20.00 ms.
Steady state: the load was full for a moment only.
Gates (the run fails if one is met):
  FAILED  p99_ttft_ms>500  (612)
      ok  goodput<90%  (99.1%)
  FAILED  mean_tpot_ms>50  (unknown)
`
	assert.Same(t, "Remarks", Remarks(r), want)
	r = metrics.Report{
		Plan: r.Plan, ScheduledRate: 10, SentRate: 9.4,
		Statistics:  metrics.Statistics{metrics.SlotWait: metrics.Statistic{N: 1, Max: 5}},
		SteadyState: &metrics.SteadyState{Warning: "never full"},
	}
	r.Plan.Warmup = 0
	got := Remarks(r)
	if !strings.Contains(got, "10.00 scheduled; requests waited for a slot.\n") ||
		!strings.HasSuffix(got, "\nSteady state: never full.\n") {
		t.Errorf("got %s", got)
	}
	r.SteadyState = &metrics.SteadyState{End: 28 * time.Second, OutputThroughput: 3, Warning: "short"}
	if got := Remarks(r); !strings.HasSuffix(got,
		"\nSteady state: no figures, since no request completed in the 28s at full load.\n") {
		t.Errorf("nothing completed: got %s", got)
	}
	r.Plan.MaxConcurrency, r.Completed = 0, 100
	if got := Remarks(r); !strings.Contains(got, "10.00 scheduled.") || strings.Contains(got, "slot") {
		t.Errorf("without a limit: got %s", got)
	}
	for _, limit := range []func(){
		func() { r.Plan.Stages = []metrics.Stage{{Load: metrics.Users.Of(2)}, {Load: metrics.Load{Value: 3}}} },
		func() {
			r.Plan.Stages, r.Events = nil,
				[]metrics.LogEntry{{Text: "paused"}, {Set: &metrics.LoadSetting{Load: metrics.Users.Of(2)}}}
		},
	} {
		if limit(); !strings.Contains(Remarks(r), "waited for a slot.") {
			t.Errorf("stages %v, events %v: no word of the wait", r.Plan.Stages, r.Events)
		}
	}
	for _, change := range []func(){
		func() { r.SentRate = 9.5 }, func() { r.SentRate = 0 },
		func() { r.SentRate, r.Plan.Rate = 9.4, metrics.Rate(inf) },
	} {
		change()
		if got := Remarks(r); strings.Contains(got, "Pacing") {
			t.Errorf("%v of %v: %s", r.SentRate, r.Plan.Rate, got)
		}
	}
}

// A first chunk without a token, and reasoning in a field unknown to vLLM, are reported with both figures.
func TestRemarksOnTheFirstChunk(t *testing.T) {
	run, qs := sampleRun()
	qs = qs[:3]
	assert.Lacks(t, Remarks(summarize(t, run, qs)), "TTFT: ")
	for i := range qs {
		qs[i].FirstToken = qs[i].FirstChunk + 40*ms
	}
	got := Remarks(summarize(t, run, qs))
	assert.Has(t, got, "is 300.00 ms to\n  the chunk, as in vLLM, and 340.00 ms to the token.")
	for i := range qs {
		qs[i].FirstToken = qs[i].FirstChunk + 30*ms
	}
	assert.Lacks(t, Remarks(summarize(t, run, qs)), "first token")
	for i := range qs {
		qs[i].FirstToken, qs[i].VLLMLater = qs[i].FirstChunk, 50*ms
	}
	got = Remarks(summarize(t, run, qs))
	assert.Has(t, got, "would\n  report a median TTFT of 350.00 ms, not 300.00 ms.\n")
	qs[0].VLLMLater, qs[1].VLLMLater, qs[2].VLLMLater = 0, 0, 1
	assert.Lacks(t, Remarks(summarize(t, run, qs)), "reasoning_content")
	for i := range qs {
		qs[i].VLLMLater = metrics.Never
	}
	got = Remarks(summarize(t, run, qs))
	if want := "reasoning_content counts as output here. vLLM 0.33 ignores it. It would\n  count 3 of 3 successful " +
		"requests as failed.\n"; !strings.Contains(got, want) {
		t.Errorf("no %q in %s", want, got)
	}
}

// What answers hold beside text is told where servers say it.
func TestContent(t *testing.T) {
	run, qs := sampleRun()
	quiet := summarize(t, run, qs)
	assert.Lacks(t, Remarks(quiet)+resultJSON(t, quiet),
		"Tool calls", "Reasoning:", "draft tokens", `"tool_calls"`, `"reasoning"`, `"drafts"`)
	for i := range qs {
		if q := &qs[i]; q.OK() {
			q.Calls, q.FirstCall, q.ReasoningTokens = 2, q.Sent+100*time.Millisecond, 1
			q.DraftTokens, q.AcceptedTokens = 10, 2+2*(i%2)
		}
	}
	r := summarize(t, run, qs)
	assert.Has(t, Remarks(r), "Tool calls: 6 in 3 of 3 answers; the median time to the first is 100 ms.",
		"Reasoning: 30 % of the output tokens, by the usage of 3 answers.",
		"Speculative decoding: 27 % of the draft tokens accepted, by 3 answers; by answer\n"+
			"  from 20 % (p10) to 36 % (p90).")
	assert.Has(t, resultJSON(t, r), `"tool_calls": {"answers": 3, "calls": 6, "first_ms": {"n": 3, "mean": 100`,
		`"reasoning": {"requests": 3, "tokens": 3, "share": 0.3}`,
		`"drafts": {"requests": 3, "tokens": 30, "accepted": 8, `)
}

// Refusals are successes, counted by themselves in report and result; those of the warm-up and of failures are not.
func TestRefusals(t *testing.T) {
	run, qs := sampleRun()
	if r := summarize(t, run, qs); r.Refusals != 0 || strings.Contains(Remarks(r), "efusal") ||
		strings.Contains(resultJSON(t, r), "refusals") {
		t.Errorf("%d refusals in a usual run", r.Refusals)
	}
	ok := 0
	for i := range qs {
		if qs[i].Refusal = true; qs[i].OK() {
			ok++
			qs[i].VLLMLater = metrics.Never
		}
	}
	r := summarize(t, run, qs)
	if want := fmt.Sprintf("Refusals: %d of %d successful requests.", ok, ok); r.Refusals != ok || r.Completed != ok ||
		!strings.Contains(Remarks(r), want) {
		t.Errorf("%d refusals of %d, want %q in %s", r.Refusals, r.Completed, want, Remarks(r))
	}
	assert.Has(t, Remarks(r), "reasoning_content and refusals count as output here. vLLM 0.33 ignores\n  them.")
	assert.Has(t, resultJSON(t, r), fmt.Sprintf(`"refusals": %d`, ok))
	assert.Has(t, assert.Must(figuresCSV(&r))(t), fmt.Sprintf("\nrefusals,%d\n", ok))
	run.Plan.Warmup = time.Hour
	if r := summarize(t, run, qs); r.Refusals != 0 {
		t.Errorf("%d refusals of the warm-up", r.Refusals)
	}
}

// Reports with one thing to remark.
func TestSingleRemarks(t *testing.T) {
	confirmed := func(text string) metrics.Report {
		return metrics.Report{Plan: metrics.Plan{Confirm: time.Minute},
			Events: []metrics.LogEntry{{Text: metrics.ConfirmationEnded + text}}}
	}
	peaks := func(tokens, chunks int) metrics.Report {
		return metrics.Report{PeakOutputTokens: tokens, PeakOutputPerSecond: chunks}
	}
	knew := metrics.LogEntry{Level: metrics.Warn, Mark: metrics.CacheMark,
		Text: "the server's prefix cache knew 98% \x1b[1mof the tokens"}
	warm := metrics.Report{Events: []metrics.LogEntry{{Text: "another", Mark: "stage"}, knew, knew}}
	cold := warm
	cold.Plan.Cache = "cold cache (cache_salt)"
	hand, search := &metrics.LoadSetting{By: metrics.ByUser}, &metrics.LoadSetting{By: metrics.BySearch}
	slo := metrics.SLO{{Metric: metrics.TTFT, LimitMS: 500}}
	for _, c := range []struct {
		want   string
		report metrics.Report
	}{
		{"\nConfirmation: 24 req/s proven (97 %); no time for more.\n",
			confirmed(": 24 req/s proven (97 %); no time for more")},
		{"\nConfirmation: unproven: 29 req/s not proven after 30s.\n",
			confirmed(" unproven: 29 req/s not proven after 30s")},
		{"", metrics.Report{Plan: metrics.Plan{Confirm: time.Minute},
			Events: []metrics.LogEntry{{Text: "the load of the plan is over; confirmation: waiting"}}}},
		{"\nRedials: 1 request sent again on a new connection after an idle one failed right\n" +
			"  after the write; the extra time is part of the latencies.\n",
			metrics.Report{Counts: metrics.Counts{Tallies: metrics.Tallies{metrics.Redials: 1}}}},
		{"\nPrefix cache: the server's prefix cache knew 98% of the tokens.\n", warm},
		{"\nPrefix cache: cold cache (cache_salt), so that earlier runs have no effect.\n" +
			"Prefix cache: the server's prefix cache knew 98% of the tokens.\n", cold},
		{"\nPeak output: 606 tokens in one second. The peak of 303 tok/s above counts, as\n" +
			"  vLLM does, the chunks of successes.\n", peaks(606, 303)},
		{"\nPeak output: 100 tokens in one second. The peak of 303 tok/s above counts, as\n" +
			"  vLLM does, the chunks of successes.\n", peaks(100, 303)},
		{"", peaks(300, 303)}, {"", peaks(330, 303)}, {"", peaks(0, 303)},
		{"", metrics.Report{Plan: metrics.Plan{Goodput: slo}, Objectives: slo}},
		{"\nLoad: changed once during the run (manually), so it differs from the plan.\n",
			metrics.Report{Steered: 1, Events: []metrics.LogEntry{{}, {Set: hand}}}},
		{"\nLoad: changed 3 times during the run (2 manually, 1 by the search), so it\n  differs from the plan.\n",
			metrics.Report{Steered: 3, Events: []metrics.LogEntry{{Set: hand}, {Set: search}, {Set: hand}}}},
		{"\nLoad: changed twice during the run (by the search), so it differs from the plan.\n",
			metrics.Report{Steered: 2, Events: []metrics.LogEntry{{Set: search}, {Set: search}}}},
		{"\nLoad: changed twice during the run, so it differs from the plan.\n", metrics.Report{Steered: 2}},
		{"\nObjectives: changed during the run. All requests are judged by the final ones:\n  TTFT of at most 250 " +
			"ms, TPOT of at most 50 ms.\n",
			metrics.Report{Plan: metrics.Plan{Goodput: slo},
				Objectives: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 250}, {Metric: metrics.TPOT, LimitMS: 50}}}},
		{"\nObjectives: removed during the run, so no request was judged.\n",
			metrics.Report{Plan: metrics.Plan{Goodput: slo}}},
		{"\nCost: unknown despite --gpu-price: nvidia-smi is not there; tell the server's\n  GPUs, as --metadata " +
			"tensor_parallel_size=8.\n", metrics.Report{
			Counts: metrics.Counts{Completed: 1}, Plan: metrics.Plan{GPUPrice: 2},
			GPUs: &metrics.GPUReport{Absent: "nvidia-smi\nis not there.",
				CostPerMillion: metrics.TokenCost{Output: metrics.Unsaid()}}}},
		{"\nCost: unknown despite --gpu-price: the GPUs were not monitored; tell the\n  server's GPUs, as --metadata " +
			"tensor_parallel_size=8.\n",
			metrics.Report{Counts: metrics.Counts{Completed: 1}, Plan: metrics.Plan{GPUPrice: 2}}},
		{"\nCost: 22.22 per million output tokens, of 8 GPUs by --metadata.\n", metrics.Report{OutputThroughput: 200,
			Counts: metrics.Counts{Completed: 1}, Plan: metrics.Plan{GPUPrice: 2, Metadata: []metrics.Pair{
				{Key: "tensor_parallel_size", Value: "4"}, {Key: "dp", Value: "2"}}}}},
		{"", metrics.Report{Counts: metrics.Counts{Completed: 1}, Plan: metrics.Plan{GPUPrice: 2},
			GPUs: &metrics.GPUReport{CostPerMillion: metrics.TokenCost{Output: 0.5}}}},
		{"\nPrefix cache: asked to have 60 % of the prompt tokens; by the answers it had\n  59.5 %.\n", metrics.Report{
			Plan:   metrics.Plan{CacheHit: .6},
			Counts: metrics.Counts{Cached: metrics.TokenShare{Tokens: 595, Requests: 1, Of: 1000}},
			Server: &metrics.ServerReport{HitRate: .2}}},
		{"\nPrefix cache: asked to have 60 % of the prompt tokens; by the server's counters\n  it had 20.0 %.\n",
			metrics.Report{Plan: metrics.Plan{CacheHit: .6}, Server: &metrics.ServerReport{HitRate: .2}}},
		// no price
		{"", metrics.Report{Counts: metrics.Counts{Completed: 1},
			GPUs: &metrics.GPUReport{Absent: "no nvidia-smi",
				CostPerMillion: metrics.TokenCost{Output: metrics.Unsaid()}}}},
	} {
		assert.Same(t, "Remarks", Remarks(c.report), c.want)
	}
}

// The steady part of the only load is told where it is not all of it, and loads that never were steady are.
func TestSteadyRemarks(t *testing.T) {
	window := func(share float64, from, to time.Duration) *metrics.SteadyWindow {
		return &metrics.SteadyWindow{SteadyState: metrics.SteadyState{Start: from, End: to, Completed: 9,
			RequestThroughput: 2, OutputThroughput: 64}, Share: share}
	}
	level := func(s *metrics.SteadyWindow) metrics.LoadLevel { return metrics.LoadLevel{Offered: 4, Steady: s} }
	for _, c := range []struct {
		levels []metrics.LoadLevel
		want   string
	}{
		{[]metrics.LoadLevel{level(window(1, 0, time.Minute))}, ""},
		{[]metrics.LoadLevel{level(window(.75, 15*time.Second, time.Minute))},
			"Steady state: from 15.0 s to 60.0 s, 75 % of the load, without a change: 2.00 requests/s, " +
				"64.00 output tokens/s, mean TTFT 0.00 ms (median 0.00 ms), TPOT 0.00 ms."},
		{[]metrics.LoadLevel{level(nil), level(window(.75, 0, time.Second)), level(window(0, 0, 0))},
			"Steady state: never at 4 req/s: requests in flight or throughput changed to the end."},
	} {
		r := remarks{r: &metrics.Report{Levels: c.levels}, width: math.MaxInt}
		if r.steady(); strings.TrimSpace(r.text) != c.want {
			t.Errorf("%q, want %q", r.text, c.want)
		}
	}
}
