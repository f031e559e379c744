package export

import (
	"encoding/json"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/internal/assert/golden"
	"benchtop/metrics"
)

// benchtopJSON is the "benchtop" object of a result.
func benchtopJSON(t *testing.T, r metrics.Report) map[string]any {
	t.Helper()
	var result struct{ Benchtop map[string]any }
	assert.Fine(t, json.Unmarshal([]byte(resultJSON(t, r)), &result))
	return result.Benchtop
}

// indented is a value as JSON with its keys sorted, one a line.
func indented(t *testing.T, v any) []byte {
	t.Helper()
	b := assert.Must(json.MarshalIndent(v, "", " "))(t)
	return append(b, '\n')
}

// compact is a value as JSON with its keys sorted.
func compact(t *testing.T, v any) string {
	t.Helper()
	b := assert.Must(json.Marshal(v))(t)
	return string(b)
}

func TestBenchtopObject(t *testing.T) {
	stat := metrics.Statistic{
		N: 2, Mean: 1, Median: 2, Std: 3, Min: 4, Max: 5,
		Percentiles: []metrics.Percentile{{P: 90, Value: 6}, {P: 99, Value: 7}},
	}
	r := metrics.Report{
		Plan: metrics.Plan{
			Warmup: 1500 * ms,
			Stages: []metrics.Stage{{Length: 30 * time.Second, Load: metrics.Load{Value: 8}},
				{Start: 30 * time.Second, Length: time.Minute, Load: metrics.Users.Of(16)}},
			Goodput: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 500}, {Metric: metrics.E2EL, LimitMS: inf}},
		},
		Objectives: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 500}, {Metric: metrics.E2EL, LimitMS: inf}}, Steered: 3,
		Counts: metrics.Counts{Completed: 90, Failed: 10, MetCount: metrics.MetCount{Good: 81,
			Met: metrics.MetObjectives{metrics.TTFT: 81, metrics.E2EL: 90}}, WarmedUp: 7},
		Damaged: 2, NotSent: 5,
		ScheduledRate: 10, SentRate: 9.5,
		Statistics: metrics.Statistics{metrics.TPOTWeighted: stat},
		SteadyState: &metrics.SteadyState{
			Start: time.Second, End: 3500 * ms, Target: 16, Threshold: 0.95, ThresholdAbs: 16, Peak: 17, Started: 3,
			Completed: 4, Total: 5,
			Warning: "short", RequestThroughput: 1.6, InputThroughput: 2, OutputThroughput: 3, TotalThroughput: 5,
			TTFT: stat, TPOT: stat,
		},
		Levels: []metrics.LoadLevel{
			{To: 30 * time.Second, Offered: 8,
				LevelVerdict: metrics.LevelVerdict{Requests: 240, Good: 239, Standing: metrics.LevelWithin,
					Confidence: 0.97, Effective: 90.5}, Done: 7.9, TTFTp50: 100, TTFTp99: 410, WaitP99: 450, ITLp99: 32,
				Completed: 0.99},
			{From: 30 * time.Second, To: 90 * time.Second, Offered: 16, Unit: metrics.Users,
				LevelVerdict: metrics.LevelVerdict{Requests: 1, Why: "too short", Missing: 40 * time.Second},
				Limited:      []string{"stalled for 0.2s", "CPU full"}},
		},
		Answer: metrics.Answer{Saturates: true, Confirmed: true,
			Capacity: metrics.Range{Load: 12, Low: 11.7, High: 12.4}, From: 11.5, To: 12.5, Before: 0, After: 1,
			Shown: 1, TierAnswer: metrics.TierAnswer{Proven: 8, Confidence: 0.97}, SaturatedAt: 31 * time.Second},
		Gates: []metrics.GateResult{
			{Gate: metrics.Gate{Metric: "p99_ttft_ms", Op: ">", Limit: 500}, Value: 612, Known: true, Missed: true},
			{Gate: metrics.Gate{Metric: "goodput", Op: "<", Limit: 0.9, Percent: true}, Missed: true},
		},
		Probes: &metrics.Probes{Completed: 1, Failed: 2, Latencies: []time.Duration{70 * ms}},
		Timeline: []*metrics.Window{
			{Start: 0, Counts: metrics.Counts{Completed: 3, MetCount: metrics.MetCount{Good: 2}}}},
		Events: []metrics.LogEntry{{At: 30 * time.Second, Level: metrics.Info, Text: "16 users now", Mark: "16 users"},
			{At: metrics.Never},
			{Set: &metrics.LoadSetting{Load: metrics.Load{Value: 2.5}, Paused: true, By: metrics.ByUser},
				Objectives: &metrics.SLO{{Metric: metrics.E2EL, LimitMS: inf}}},
			{Set: &metrics.LoadSetting{Load: metrics.Users.Of(4), RampTo: 8, RampOver: 90 * time.Second},
				Objectives: new(metrics.SLO)}},
	}
	golden.Same(t, "testdata/benchtop.json", indented(t, benchtopJSON(t, r)))
	r.Answer.TierAnswer = metrics.TierAnswer{Estimate: metrics.Range{Load: 9, Low: 8}, Confidence: 0.5, Untested: true}
	answer := benchtopJSON(t, r)["answer"].(map[string]any)
	if text := compact(t, answer["estimate"]); text != `{"high":null,"load":9,"low":8}` || answer["sure"] != nil ||
		answer["proven"] != false ||
		answer["highest_within_slo"] != 9.0 || answer["untested"] != true {
		t.Errorf("an estimate: %s, answer: %v", text, answer)
	}
}

func TestBenchtopObjectOfMissingData(t *testing.T) {
	r := metrics.Report{
		Plan:        metrics.Plan{Ramp: &metrics.Ramp{Strategy: "linear", From: 1, To: inf}},
		SteadyState: &metrics.SteadyState{Warning: "never full"},
		Answer:      metrics.Answer{Saturates: true, From: 5, To: 5, Before: 0, After: 1, Shown: 1}, // missing levels
		Probes:      &metrics.Probes{Failed: 2},
		Timeline:    []*metrics.Window{{Counts: metrics.Counts{Completed: 1, MetCount: metrics.MetCount{Good: 1}}}},
		Client: metrics.Client{Source: metrics.UserStamps, Stamps: metrics.Stamps{
			DelayP50: metrics.Never, DelayP99: metrics.Never, DelayP999: metrics.Never, DelayMax: metrics.Never,
		}},
	}
	golden.Same(t, "testdata/benchtop_missing.json", indented(t, benchtopJSON(t, r)))
	if r.Probes = nil; benchtopJSON(t, r)["probes"] != nil {
		t.Error("probes of a run without")
	}
}

func TestClientObject(t *testing.T) {
	r := metrics.Report{
		Statistics: metrics.Statistics{metrics.Lateness: {N: 1, Mean: 140}, metrics.OwnLateness: {N: 1, Mean: 24}},
		Counts:     metrics.Counts{Tallies: metrics.Tallies{metrics.Redials: 3}},
		Client: metrics.Client{
			Verdict: metrics.Verdict{Why: []string{"p99 send delay 24ms", "CPU full for 8 of 10 s"}},
			Source:  metrics.KernelStamps,
			Stamps: metrics.Stamps{
				Chunks: 200, Shared: 5, Unstamped: 4, DelayP50: 21 * us, DelayP99: 310 * us, DelayP999: 400 * us,
				DelayMax: 412_900,
			},
			CPU: 1.5, CPUMost: 1.875, Cores: 2, StoodStill: 1200 * ms,
			GCs: 2, GCPause: 85 * us, Memory: 25 << 20, Sockets: 9, Dialled: 11, ClockSteps: 1,
			Seconds: []metrics.ClientSecond{{
				At: 2 * time.Second, Took: 1200 * ms, CPU: 1.875, CPUWait: 0.5, Cores: 2, Sched: 12 * ms,
				Stall: 1200 * ms,
				GCs:   2, GCPause: 85 * us, Memory: 25 << 20, Sockets: 9, Dialled: 11, ClockStep: true, Sent: 10,
				LateP99: 24 * ms, LateMax: 25 * ms,
				Chunks: 200, Shared: 5, Unstamped: 4, DelayP50: 21 * us, DelayP99: 310 * us, DelayMax: 412 * us,
			}, {DelayP50: metrics.Never, DelayP99: metrics.Never, DelayMax: metrics.Never}},
		},
	}
	golden.Same(t, "testdata/client.json", indented(t, benchtopJSON(t, r)["client"]))
	r.Client.Verdict.Why = nil
	if got := benchtopJSON(t, r)["client"].(map[string]any)["verdict"]; got != "ok" {
		t.Errorf("verdict %v", got)
	}
}
