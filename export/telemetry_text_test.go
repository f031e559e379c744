package export

import (
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/internal/assert/golden"
	"benchtop/internal/text"
	"benchtop/metrics"
)

func telemetry(t *testing.T, r metrics.Report) string {
	t.Helper()
	got := Telemetry(r)
	for line := range strings.Lines(got) {
		if line = strings.TrimSuffix(line, "\n"); len(line) > textWidth ||
			strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Errorf("not fit to be printed: %q", line)
		}
	}
	return got
}

func TestTelemetry(t *testing.T) {
	golden.Same(t, "testdata/telemetry.txt", telemetry(t, serverReport()))
	run, qs := sampleRun()
	golden.Same(t, "testdata/telemetry_sample.txt", telemetry(t, summarize(t, run, qs)))
}

// Each section is written only with data, and has only known figures.
func TestTelemetryOfMissingData(t *testing.T) {
	nan := metrics.Unsaid()
	silentServer := metrics.ServerReport{
		RunningMean: nan, RunningMost: nan, WaitingMean: nan, WaitingMost: nan, KVMean: nan, KVMost: nan,
		Preemptions: nan, PromptTokens: nan,
		OutputTokens: nan, HitRate: nan, Acceptance: nan, Seconds: make([]metrics.ServerSecond, 2),
	}
	silentGPU := metrics.GPUReport{
		UseMean: nan, PowerMean: nan, Energy: nan, MemoryMost: nan, TemperatureMost: nan, JoulesPerToken: nan,
		CostPerMillion: metrics.TokenCost{Output: nan, Input: nan, Total: nan, Good: nan},
		Seconds:        make([]metrics.GPUSecond, 2),
	}
	for name, r := range map[string]metrics.Report{
		"nothing": {},
		"absent": {Server: &metrics.ServerReport{Absent: "404"},
			GPUs: &metrics.GPUReport{Absent: "no nvidia-smi"}},
		"silent": {Server: &silentServer, GPUs: &silentGPU},
		"unknown": {Split: metrics.TTFTSplit{N: 5, TTFT: 50 * ms, Queue: metrics.Never, Prefill: metrics.Never,
			Rest: 50 * ms, Source: metrics.SplitUnknown}},
		"none arrived": {Split: metrics.TTFTSplit{Source: metrics.SplitByRequests}},
	} {
		assert.Equal(t, telemetry(t, r), "", "%s", name)
	}
	server := silentServer
	server.Kind, server.WaitingMean, server.WaitingMost, server.HitRate, server.Absent = "a\x1b[1m\nb日", 2, 1234.5, 0,
		"the page is gone:\n"+strings.Repeat("x y ", 99)
	gpu := silentGPU
	gpu.TemperatureMost, gpu.Names = 71, []string{"A100", "H100"}
	split := metrics.TTFTSplit{N: 1, SlotWait: 30 * ms, Connect: 5 * ms, TTFT: 20 * ms, Queue: metrics.Never,
		Prefill: metrics.Never, Rest: 20 * ms, Source: metrics.SplitUnknown}
	golden.Same(t, "testdata/telemetry_some.txt",
		telemetry(t, metrics.Report{Server: &server, GPUs: &gpu, Split: split}))
}

// The share of cached tokens is written without a metrics page too; a run without a sample gets a note.
func TestTelemetryOfCachedTokens(t *testing.T) {
	told := metrics.Report{
		Counts: metrics.Counts{InputTokens: 400, Cached: metrics.TokenShare{Tokens: 300, Requests: 4, Of: 400}}}
	if want := "\n----------------------Server----------------------\nCached prompt tokens, by usage (%):      " +
		"75.00     \n" + strings.Repeat("=", 50) + "\n"; telemetry(t, told) != want {
		t.Errorf("got %q, want %q", telemetry(t, told), want)
	}
	if got := compact(t, benchtopJSON(t, told)["cached_tokens"]); got !=
		`{"hit_rate":0.75,"prompt_tokens":400,"requests":4,"share":0.75,"tokens":300}` {
		t.Errorf("JSON %s", got)
	}
	r := serverReport()
	r.InputTokens, r.Completed, r.Cached = 800, 5, metrics.TokenShare{Tokens: 300, Requests: 4, Of: 400}
	no := metrics.Unsaid()
	s := r.Server
	s.RunningMean, s.RunningMost, s.WaitingMean, s.WaitingMost, s.KVMean, s.KVMost = no, no, no, no, no, no
	got := telemetry(t, r)
	assert.Has(t, got, "Prefix cache hit rate (%):               34.50", "by usage of 4 of 5 (%): 75.00",
		"too short to sample")
	if got := benchtopJSON(t, r)["server"].(map[string]any)["levels_absent"]; got != "The run was too short to sample "+
		"the server's queue and cache" {
		t.Errorf("levels absent: %v", got)
	}
}

// If the metrics page was lost before the end, neither the parts nor the mean stand for the run.
func TestTelemetryOfAPartOfTheRun(t *testing.T) {
	r := serverReport()
	r.Ended = 20 * time.Second // the samples are of its first seconds
	r.Split.Queue, r.Split.Prefill, r.Split.Rest, r.Split.Source = metrics.Never, metrics.Never, r.Split.TTFT,
		metrics.SplitUnknown
	got := telemetry(t, r)
	if strings.Contains(got, "server's clock") || strings.Contains(got, "Same requests") {
		t.Errorf("means of different requests side by side:\n%s", got)
	}
	if want := "/metrics covers too little of the run"; !strings.Contains(strings.Join(strings.Fields(got), " "),
		want) {
		t.Errorf("want %q in\n%s", want, got)
	}
	assert.Has(t, telemetry(t, serverReport()), "server's clock")
}

// The letters fill the bar for parts of any length.
func TestSplitBar(t *testing.T) {
	for _, c := range []struct {
		split metrics.TTFTSplit
		want  string
	}{
		{metrics.TTFTSplit{SlotWait: 1, Connect: 1, Queue: 1, Prefill: 1, Rest: 1}, "SSCCQQPPRR"},
		{metrics.TTFTSplit{Queue: 99, Prefill: 1}, "QQQQQQQQQQ"},
		{metrics.TTFTSplit{Queue: 1, Prefill: 2}, "QQQPPPPPPP"},
		{metrics.TTFTSplit{SlotWait: 1, Queue: metrics.Never, Prefill: metrics.Never, Rest: 1}, "SSSSSUUUUU"},
		{metrics.TTFTSplit{Queue: metrics.Never, Prefill: 1, Rest: 1}, "PPPPPRRRRR"},
		{metrics.TTFTSplit{}, ""},
		{metrics.TTFTSplit{SlotWait: 1 << 62, Rest: 1 << 62, Prefill: 1 << 62}, "SSSPPPPRRR"},
	} {
		assert.Equal(t, bar(ttftPartsOf(&c.split), 10), c.want, "%+v", c.split)
	}
}

func TestAnswerOfASearch(t *testing.T) {
	find := &metrics.Find{From: 1, Most: 64}
	for _, c := range []struct {
		want   string
		change func(*metrics.Report)
	}{
		{"within SLO: 34 req/s proven (99 %); client ok", func(r *metrics.Report) {
			r.Answer.Saturates, r.Answer.Confidence = false, 0.9999 // rounded down
		}},
		{"within SLO: 63.4 req/s proven (97 %), higher loads untested; client ok",
			func(r *metrics.Report) { r.Answer.Saturates, r.Answer.Proven, r.Answer.Untested = false, 63.4, true }},
		{"within SLO: 34 users proven (99 %); client ok", func(r *metrics.Report) {
			r.Answer.Saturates, r.Answer.Unit, r.Answer.Confidence = false, metrics.Users, 1
		}},
		{"within SLO: 34 req/s proven; client ok",
			func(r *metrics.Report) { r.Answer.Saturates, r.Answer.Confidence = false, metrics.Unsaid() }},
	} {
		r := rampReport()
		monitoredClient()(&r)
		r.Plan.Find, r.Answer.Confidence = find, 0.9789
		c.change(&r)
		assert.Equal(t, Answer(r), c.want, "Answer")
	}
}

// GPUs named in --gpu and missing in the data are reported.
func TestUnseenGPUs(t *testing.T) {
	one := []metrics.GPUSecond{{GPUs: []metrics.GPU{{Index: 0}}}}
	for _, c := range []struct {
		asked        string
		gpus         *metrics.GPUReport
		words        string
		remarkAsWell bool
	}{
		{"", &metrics.GPUReport{Absent: "no GPU tool"}, "", false},
		{"all", nil, "--gpu all: no GPU data: the run ended before the first sample", true},
		{"7", &metrics.GPUReport{Absent: "nvidia-smi shows none of the GPUs [7], only 0 to 1"},
			"--gpu 7: no GPU data: nvidia-smi shows none of the GPUs [7], only 0 to 1", true},
		{"0,7,9", &metrics.GPUReport{Seconds: one}, "--gpu 0,7,9: no data for GPU 7, 9", true},
		{"0", &metrics.GPUReport{Seconds: one}, "", false},
		{"all", &metrics.GPUReport{Seconds: one}, "", false},
		{"all", &metrics.GPUReport{Seconds: one, UseMean: 0.5, Absent: "nvidia-smi ended: lost it"},
			"--gpu all: GPU data incomplete: nvidia-smi ended: lost it", false}, // reported below the figures
	} {
		r := metrics.Report{Plan: metrics.Plan{GPUs: c.asked}, GPUs: c.gpus}
		assert.Equal(t, MissingGPUs(&r), c.words, "--gpu %s", c.asked)
		want := ""
		if c.remarkAsWell {
			want = "\n" + text.Wrap("GPUs: "+c.words+".", textWidth)
		}
		assert.Equal(t, Remarks(r), want, "--gpu %s: remark", c.asked)
	}
}

// A speed that is not known is no figure.
func TestSpeedOfAnswersAtOnce(t *testing.T) {
	for _, c := range []struct {
		r    metrics.Report
		want []string
	}{
		{metrics.Report{Counts: metrics.Counts{Completed: 3}, AtOnce: 3},
			[]string{"Mean output speed (tok/s/user):          unknown",
				"No speed: the output of 3 of 3 answers came at\n  once."}},
		{metrics.Report{Counts: metrics.Counts{Completed: 3}, AtOnce: 1, Speeds: metrics.Statistic{N: 2, Mean: 50}},
			[]string{"Mean output speed (tok/s/user):          50.00", "of 1 of 3 answers"}},
	} {
		got := telemetry(t, c.r)
		assert.Has(t, got, c.want...)
	}
	assert.Lacks(t, telemetry(t, metrics.Report{Counts: metrics.Counts{Completed: 3},
		Speeds: metrics.Statistic{N: 3}}), "No speed")
}
