package export

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/metrics"
)

// benchtopJSON is the "benchtop" object of a result.
func benchtopJSON(t *testing.T, r metrics.Report) map[string]any {
	t.Helper()
	var result struct{ Benchtop map[string]any }
	if err := json.Unmarshal([]byte(resultJSON(t, r)), &result); err != nil {
		t.Fatal(err)
	}
	return result.Benchtop
}

// compact is a value as JSON with its keys sorted.
func compact(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestBenchtopObject(t *testing.T) {
	stat := metrics.Statistic{
		N: 2, Mean: 1, Median: 2, Std: 3, Min: 4, Max: 5, Percentiles: []metrics.Percentile{{P: 90, Value: 6}, {P: 99, Value: 7}},
	}
	r := metrics.Report{
		Plan: metrics.Plan{
			Warmup:  1500 * ms,
			Stages:  []metrics.Stage{{Length: 30 * time.Second, Load: metrics.Load{Value: 8}}, {Start: 30 * time.Second, Length: time.Minute, Load: metrics.Users.Of(16)}},
			Goodput: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 500}, {Metric: metrics.E2EL, LimitMS: inf}},
		},
		Objectives: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 500}, {Metric: metrics.E2EL, LimitMS: inf}}, Steered: 3,
		Counts:  metrics.Counts{Completed: 90, Failed: 10, MetCount: metrics.MetCount{Good: 81, Met: metrics.MetObjectives{metrics.TTFT: 81, metrics.E2EL: 90}}, WarmedUp: 7},
		Damaged: 2, NotSent: 5,
		ScheduledRate: 10, SentRate: 9.5,
		Statistics: metrics.Statistics{metrics.TPOTWeighted: stat},
		SteadyState: &metrics.SteadyState{
			Start: time.Second, End: 3500 * ms, Target: 16, Threshold: 0.95, ThresholdAbs: 16, Peak: 17, Started: 3, Completed: 4, Total: 5,
			Warning: "short", RequestThroughput: 1.6, InputThroughput: 2, OutputThroughput: 3, TotalThroughput: 5, TTFT: stat, TPOT: stat,
		},
		Levels: []metrics.LoadLevel{
			{To: 30 * time.Second, Offered: 8, LevelVerdict: metrics.LevelVerdict{Requests: 240, Good: 239, Standing: metrics.LevelWithin, Confidence: 0.97, Effective: 90.5}, Done: 7.9, TTFTp50: 100, TTFTp99: 410, WaitP99: 450, ITLp99: 32, Completed: 0.99},
			{From: 30 * time.Second, To: 90 * time.Second, Offered: 16, Unit: metrics.Users, LevelVerdict: metrics.LevelVerdict{Requests: 1, Why: "too short", Missing: 40 * time.Second}, Limited: []string{"stalled for 0.2s", "CPU full"}},
		},
		Answer: metrics.Answer{Saturates: true, Confirmed: true, Capacity: metrics.Range{Load: 12, Low: 11.7, High: 12.4}, From: 11.5, To: 12.5, Before: 0, After: 1, Shown: 1, TierAnswer: metrics.TierAnswer{Proven: 8, Confidence: 0.97}, SaturatedAt: 31 * time.Second},
		Gates: []metrics.GateResult{
			{Gate: metrics.Gate{Metric: "p99_ttft_ms", Op: ">", Limit: 500}, Value: 612, Known: true, Missed: true},
			{Gate: metrics.Gate{Metric: "goodput", Op: "<", Limit: 0.9, Percent: true}, Missed: true},
		},
		Probes:   &metrics.Probes{Completed: 1, Failed: 2, Latencies: []time.Duration{70 * ms}},
		Timeline: []metrics.Window{{Start: 0, Counts: metrics.Counts{Completed: 3, MetCount: metrics.MetCount{Good: 2}}}},
		Events: []metrics.LogEntry{{At: 30 * time.Second, Level: metrics.Info, Text: "16 users now", Mark: "16 users"}, {At: metrics.Never},
			{Set: &metrics.LoadSetting{Load: metrics.Load{Value: 2.5}, Paused: true, By: metrics.ByUser}, Objectives: &metrics.SLO{{Metric: metrics.E2EL, LimitMS: inf}}},
			{Set: &metrics.LoadSetting{Load: metrics.Users.Of(4), RampTo: 8, RampOver: 90 * time.Second}, Objectives: new(metrics.SLO)}},
	}
	got := benchtopJSON(t, r)
	for key, want := range map[string]string{
		"warmup_s": `1.5`, "warmed_up": `7`, "good": `81`, "damaged_journal_lines": `2`, "ramp": `null`, "not_sent": `5`,
		"interrupted":            `null`,
		"stages":                 `[{"length_s":30,"rate_rps":8,"start_s":0},{"length_s":60,"start_s":30,"users":16}]`,
		"objectives":             `[{"limit_ms":500,"metric":"ttft","share":0.9},{"limit_ms":"inf","metric":"e2el","share":1}]`,
		"pacing":                 `{"done_rps":null,"scheduled_rps":10,"sent_rps":9.5}`,
		"tpot_token_weighted_ms": `{"max":5,"mean":1,"median":2,"min":4,"n":2,"p90":6,"p99":7,"std":3}`,
		"steady_state": `{"input_throughput":2,"mean_tpot_ms":1,"mean_ttft_ms":1,"median_tpot_ms":2,"median_ttft_ms":2,` +
			`"output_throughput":3,"p90_tpot_ms":6,"p99_tpot_ms":7,"percentiles_ttft_ms":[[90,6],[99,7]],"request_throughput":1.6,` +
			`"total_token_throughput":5,"window":{"duration_s":2.5,"end_s":3.5,"observed_peak":17,"requests_completed_in_window":4,` +
			`"requests_started_in_window":3,"requests_total":5,"start_s":1,"target_concurrency":16,"threshold":0.95,` +
			`"threshold_abs":16,"warning":"short"}}`,
		"levels": `[{"client_limited":null,"completed_share":0.99,"confidence":0.97,"done_rps":7.9,"effective_requests":90.5,"from_s":0,"good":239,` +
			`"itl_p99_ms":32,"missing_s":null,"offered":8,"requests":240,"standing":"within","to_s":30,` +
			`"ttft_p50_ms":100,"ttft_p99_ms":410,"unit":"req/s","wait_p99_ms":450,"why":null},` +
			`{"client_limited":"stalled for 0.2s; CPU full","completed_share":0,"confidence":null,"done_rps":0,"effective_requests":null,` +
			`"from_s":30,"good":0,"itl_p99_ms":null,"missing_s":40,"offered":16,"requests":1,` +
			`"standing":null,"to_s":90,"ttft_p50_ms":null,"ttft_p99_ms":null,"unit":"users","wait_p99_ms":null,"why":"too short"}]`,
		"gates":  `[{"missed":true,"text":"p99_ttft_ms\u003e500","value":612},{"missed":true,"text":"goodput\u003c90%","value":null}]`,
		"probes": `{"completed":1,"failed":2,"max_ms":70,"median_ms":70,"p99_ms":70}`,
		"events": `[{"count":1,"level":"info","mark":"16 users","objectives":null,"set":null,"t_s":30,"text":"16 users now"},` +
			`{"count":1,"level":"","mark":null,"objectives":null,"set":null,"t_s":null,"text":""},` +
			`{"count":1,"level":"","mark":null,"objectives":[{"limit_ms":"inf","metric":"e2el"}],"set":{"by":"hand","paused":true,` +
			`"ramp_over_s":null,"ramp_to":null,"rate_rps":2.5,"users":null},"t_s":0,"text":""},` +
			`{"count":1,"level":"","mark":null,"objectives":[],"set":{"by":null,"paused":false,` +
			`"ramp_over_s":90,"ramp_to":8,"rate_rps":null,"users":4},"t_s":0,"text":""}]`,
		"steered": `3`, "find": `null`,
	} {
		if diff := cmp.Diff(want, compact(t, got[key])); diff != "" {
			t.Errorf("%s (-want +got):\n%s", key, diff)
		}
	}
	answer := got["answer"].(map[string]any)
	if answer["bends"] != true || answer["at"] != 12.0 || answer["unit"] != "req/s" || answer["highest_within_slo"] != 8.0 ||
		answer["sure"] != 0.97 || answer["bent_at_s"] != 31.0 || answer["why"] != nil || answer["text"] != Answer(r) {
		t.Errorf("answer: %v", answer)
	}
	if text := compact(t, answer["capacity"]); text != `{"high":12.4,"load":12,"low":11.7}` || answer["proven"] != true || answer["rule"] != metrics.AnswerRule {
		t.Errorf("capacity %s, answer: %v", text, answer)
	}
	r.Answer.TierAnswer = metrics.TierAnswer{Estimate: metrics.Range{Load: 9, Low: 8}, Confidence: 0.5, Untested: true}
	answer = benchtopJSON(t, r)["answer"].(map[string]any)
	if text := compact(t, answer["estimate"]); text != `{"high":null,"load":9,"low":8}` || answer["sure"] != nil || answer["proven"] != false ||
		answer["highest_within_slo"] != 9.0 || answer["untested"] != true {
		t.Errorf("an estimate: %s, answer: %v", text, answer)
	}
	if before, after := compact(t, answer["before"]), compact(t, answer["after"]); "["+before+","+after+"]" != compact(t, got["levels"]) {
		t.Errorf("before %s, after %s", before, after)
	}
	if second := got["timeline"].([]any)[0].(map[string]any); second["good"] != 2.0 || second["done"] != 3.0 {
		t.Errorf("timeline: %v", second)
	}
}

func TestBenchtopObjectOfMissingData(t *testing.T) {
	r := metrics.Report{
		Plan:        metrics.Plan{Ramp: &metrics.Ramp{Strategy: "linear", From: 1, To: inf}},
		SteadyState: &metrics.SteadyState{Warning: "never full"},
		Answer:      metrics.Answer{Saturates: true, From: 5, To: 5, Before: 0, After: 1, Shown: 1}, // missing levels
		Probes:      &metrics.Probes{Failed: 2},
		Timeline:    []metrics.Window{{Counts: metrics.Counts{Completed: 1, MetCount: metrics.MetCount{Good: 1}}}},
		Client: metrics.Client{Source: metrics.UserStamps, Stamps: metrics.Stamps{
			DelayP50: metrics.Never, DelayP99: metrics.Never, DelayP999: metrics.Never, DelayMax: metrics.Never,
		}},
	}
	got := benchtopJSON(t, r)
	for key, want := range map[string]string{
		"stages": `[]`, "objectives": `[]`, "good": `null`, "levels": `[]`, "gates": `[]`,
		"ramp":   `{"from_rps":1,"over_requests":null,"over_s":null,"strategy":"linear","to_rps":"inf"}`,
		"pacing": `{"done_rps":null,"scheduled_rps":null,"sent_rps":null}`,
		"client": `{"clock_steps":null,"cpu_cores":null,"dialled":null,"gc":null,` +
			`"lateness_ms":{"max":null,"mean":null,"median":null,"min":null,"n":0,"std":null},"memory_bytes":null,` +
			`"own_lateness_ms":{"max":null,"mean":null,"median":null,"min":null,"n":0,"std":null},"redials":0,"seconds":[],"sockets":null,` +
			`"stamps":{"chunks":0,"read_delay_ms":{"max":null,"p50":null,"p99":null,"p999":null},"shared":0,"shared_share":null,` +
			`"unstamped":null},"stood_still_s":null,"timestamps":"user","verdict":null,"why":[]}`,
		"server": `null`, "gpus": `null`,
		"ttft_split": `{"connect_ms":null,"held_ms":null,"includes_other_requests":false,"n":0,"prefill_most_ms":null,"prefill_ms":null,"queue_most_ms":null,"queue_ms":null,"rest_ms":null,"source":null,"ttft_ms":null}`,
		"probes":     `{"completed":0,"failed":2,"max_ms":null,"median_ms":null,"p99_ms":null}`,
		"answer": `{"after":null,"at":null,"before":null,"bends":true,"bent_at_s":0,"capacity":null,"drifting":false,"estimate":null,` +
			`"highest_within_slo":null,"limit":null,"no_load":false,"peak_output_tokens_per_s":null,"proven":false,"rule":"effective-requests-1","sure":null,` +
			`"text":"no request succeeded: none was sent","unit":"req/s","untested":false,"why":null}`,
	} {
		if diff := cmp.Diff(want, compact(t, got[key])); diff != "" {
			t.Errorf("%s (-want +got):\n%s", key, diff)
		}
	}
	steady := got["steady_state"].(map[string]any)
	for _, key := range []string{"request_throughput", "mean_ttft_ms", "median_ttft_ms", "mean_tpot_ms", "median_tpot_ms", "p90_tpot_ms", "p99_tpot_ms"} {
		if v, there := steady[key]; v != nil || !there {
			t.Errorf("%s: %v", key, v)
		}
	}
	if r.Probes = nil; benchtopJSON(t, r)["probes"] != nil {
		t.Error("probes of a run without")
	}
}

func TestClientObject(t *testing.T) {
	r := metrics.Report{
		Statistics: metrics.Statistics{metrics.Lateness: {N: 1, Mean: 140}, metrics.OwnLateness: {N: 1, Mean: 24}}, Counts: metrics.Counts{Redials: 3},
		Client: metrics.Client{
			Verdict: metrics.Verdict{Why: []string{"p99 send delay 24ms", "CPU full for 8 of 10 s"}}, Source: metrics.KernelStamps,
			Stamps: metrics.Stamps{
				Chunks: 200, Shared: 5, Unstamped: 4, DelayP50: 21 * us, DelayP99: 310 * us, DelayP999: 400 * us, DelayMax: 412_900,
			},
			CPU: 1.5, CPUMost: 1.875, Cores: 2, StoodStill: 1200 * ms,
			GCs: 2, GCPause: 85 * us, Memory: 25 << 20, Sockets: 9, Dialled: 11, ClockSteps: 1,
			Seconds: []metrics.ClientSecond{{
				At: 2 * time.Second, Took: 1200 * ms, CPU: 1.875, CPUWait: 0.5, Cores: 2, Sched: 12 * ms, Stall: 1200 * ms,
				GCs: 2, GCPause: 85 * us, Memory: 25 << 20, Sockets: 9, Dialled: 11, ClockStep: true, Sent: 10, LateP99: 24 * ms, LateMax: 25 * ms,
				Chunks: 200, Shared: 5, Unstamped: 4, DelayP50: 21 * us, DelayP99: 310 * us, DelayMax: 412 * us,
			}, {DelayP50: metrics.Never, DelayP99: metrics.Never, DelayMax: metrics.Never}},
		},
	}
	const want = `{"clock_steps":1,"cpu_cores":{"available":2,"max":1.875,"mean":1.5},"dialled":11,"gc":{"count":2,"pause_ms":0.085},` +
		`"lateness_ms":{"max":0,"mean":140,"median":0,"min":0,"n":1,"std":0},"memory_bytes":26214400,` +
		`"own_lateness_ms":{"max":0,"mean":24,"median":0,"min":0,"n":1,"std":0},"redials":3,"seconds":[` +
		`{"chunks":200,"clock_step":true,"cpu_cores":1.875,"cpu_wait":0.5,"dialled":11,"gc_pause_ms":0.085,"gcs":2,"late_max_ms":25,` +
		`"late_p99_ms":24,"memory_bytes":26214400,"read_delay_max_ms":0.412,"read_delay_p50_ms":0.021,"read_delay_p99_ms":0.31,"redials":0,` +
		`"sched_p99_ms":12,"sent":10,"shared":5,"sockets":9,"stall_ms":1200,"t_s":2,"took_s":1.2,"unstamped":4},` +
		`{"chunks":0,"clock_step":false,"cpu_cores":0,"cpu_wait":0,"dialled":0,"gc_pause_ms":0,"gcs":0,"late_max_ms":null,` +
		`"late_p99_ms":null,"memory_bytes":null,"read_delay_max_ms":null,"read_delay_p50_ms":null,"read_delay_p99_ms":null,"redials":0,` +
		`"sched_p99_ms":0,"sent":0,"shared":0,"sockets":0,"stall_ms":0,"t_s":0,"took_s":0,"unstamped":0}],"sockets":9,` +
		`"stamps":{"chunks":200,"read_delay_ms":{"max":0.413,"p50":0.021,"p99":0.31,"p999":0.4},"shared":5,"shared_share":0.025,` +
		`"unstamped":4},"stood_still_s":1.2,"timestamps":"kernel","verdict":"limited","why":["p99 send delay 24ms","CPU full for 8 of 10 s"]}`
	if diff := cmp.Diff(want, compact(t, benchtopJSON(t, r)["client"])); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	r.Client.Verdict.Why = nil
	if got := benchtopJSON(t, r)["client"].(map[string]any)["verdict"]; got != "ok" {
		t.Errorf("verdict %v", got)
	}
}
