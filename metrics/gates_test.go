package metrics_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/internal/assert"
	. "benchtop/metrics"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/live"
)

// gatedRun has eight successes with TTFTs of 100 to 800 ms and two failures in ten seconds.
func gatedRun() []Request {
	var all []Request
	for i := range 8 {
		q := eventtest.Simple(i, time.Duration(i)*second, time.Duration(i+1)*100*ms, 50*ms, 5)
		q.Due -= time.Duration(i) * ms // held so long
		all = append(all, q)
	}
	return append(all, eventtest.Busy(8, 8*second, "busy"), eventtest.Busy(9, 9*second, "busy"))
}

func TestGatesOfAReport(t *testing.T) {
	plan := Plan{
		Percentiles: []float64{99}, Goodput: SLO{{Metric: TTFT, LimitMS: 600}},
		Gates: eventtest.Gates(t,
			"goodput<60%", "goodput<=60%", "error_rate>0.2", "error_rate>=20%", "request_goodput<1",
			"request_throughput<0.8",
			"output_throughput<=4", "total_token_throughput>12", "completed<9", "failed>1", "max_concurrent_requests>2",
			"mean_ttft>450", "median_ttft>=450", "std_ttft>1s", "min_ttft<100", "max_ttft>=800",
			"p97.5_ttft>783", "p97.5_ttft>782", "mean_itl>50", "max_e2el>1s", "p50_tpot>=50",
			"max_client_queue_time_ms>6", "max_e2el_including_client_queue>1007"),
	}
	r := summarize(t, gatedRun(), runOf(plan, 10*second))
	want := []struct {
		value  float64
		missed bool
	}{
		{0.6, false}, {0.6, true}, {0.2, false}, {0.2, true}, {0.6, true}, {0.8, false},
		{4, true}, {12, false}, {8, true}, {2, true}, {1, false},
		{450, false}, {450, true}, {229.128784747792, false}, {100, false}, {800, true},
		{782.5, false}, {782.5, true}, {50, false}, {1000, false}, {50, true},
		{7, true}, {1007, false},
	}
	for i, got := range r.Gates {
		if !got.Known || !near(got.Value, want[i].value) || got.Missed != want[i].missed || got.Gate != plan.Gates[i] {
			t.Errorf("%s: %+v, want %+v", plan.Gates[i], got, want[i])
		}
	}
	assert.Equal(t, len(r.Gates), len(want), "results")
	// The percentile of a gate is not among those of the plan.
	if len(r.Statistics[TTFT].Percentiles) != 1 || len(r.Statistics[ITL].Gated) != 0 {
		t.Errorf("percentiles of TTFT %v, gated ones of ITL %v", r.Statistics[TTFT].Percentiles,
			r.Statistics[ITL].Gated)
	}
}

func TestGatesWithoutASample(t *testing.T) {
	all := eventtest.Gates(t, "goodput<90%", "error_rate>1%", "request_goodput<1", "request_throughput<1",
		"output_throughput<1",
		"total_token_throughput<1", "max_concurrent_requests>5", "p99_ttft>5", "max_client_queue_time>1")
	all = append(all, Gate{Metric: "nonsense", Op: "<", Limit: 1})
	r := summarize(t, nil,
		Run{Plan: Plan{Gates: all, Goodput: SLO{{Metric: TTFT, LimitMS: 1}}}, End: End{Ended: second}})
	for _, g := range r.Gates {
		if g.Known || !g.Missed {
			t.Errorf("%s: %+v, want unknown and missed", g.Gate, g)
		}
	}
	shown := live.NewView(time.Now(), &r.Plan).Snapshot()
	for _, g := range shown.CheckGates() {
		if g.Known || g.Missed {
			t.Errorf("live, %s: %+v, want unknown and not missed", g.Gate, g)
		}
	}
	r = summarize(t, nil, runOf(Plan{Gates: eventtest.Gates(t, "completed<1", "failed>0", "goodput<1")}, second))
	got := []bool{r.Gates[0].Known, r.Gates[0].Missed, r.Gates[1].Known, r.Gates[1].Missed, r.Gates[2].Known,
		r.Gates[2].Missed}
	assert.Same(t, "completed, failed, goodput", got, []bool{true, true, true, false, false, true})
	if !all[0].NeedsObjectives() || !all[2].NeedsObjectives() || all[1].NeedsObjectives() || all[7].NeedsObjectives() {
		t.Error("goodput and request_goodput need objectives, the others do not")
	}
}

// Live, gates come from histograms and totals: shares and rates are the same, latencies to the width of a bucket.
func TestGatesLive(t *testing.T) {
	names := []string{"goodput", "error_rate", "request_goodput", "request_throughput", "output_throughput",
		"total_token_throughput",
		"completed", "failed", "max_concurrent_requests"}
	for _, s := range []string{"mean", "median", "std", "min", "max", "p95", "p97.5"} {
		for _, l := range LatencyKeys() {
			names = append(names, s+"_"+l+"_ms")
		}
	}
	plan := Plan{Goodput: SLO{{Metric: TTFT, LimitMS: 700}}, Warmup: 3 * second}
	for _, n := range names {
		plan.Gates = append(plan.Gates, Gate{Metric: n, Op: ">=", Limit: 0})
	}
	all := eventtest.DrawRun(4, 600)
	ended := eventtest.LastDone(all)
	r := summarize(t, all, runOf(plan, ended))
	rec := live.NewView(time.Now(), &plan)
	eventtest.Play(rec, all)
	s := rec.Snapshot()
	s.At = ended
	shown := s.CheckGates()
	for i, want := range r.Gates {
		got := shown[i]
		tolerance := 0.04*want.Value + 0.001
		if want.Gate.Metric == "max_concurrent_requests" {
			tolerance = want.Value // all requests, not only successes, and other seconds
		}
		if !got.Known || !got.Missed || math.Abs(got.Value-want.Value) > tolerance || got.Value == 0 {
			t.Errorf("%s: live %+v, report %+v", want.Gate.Metric, got, want)
		}
	}
	// Too few requests are no failure as long as more may come.
	plan.Gates = eventtest.Gates(t, "completed<1000", "completed>1000", "completed<=5000")
	for _, g := range s.CheckGates() {
		if g.Missed || !g.Known {
			t.Errorf("%s is missed while the run is on: %+v", g.Gate, g)
		}
	}
	rec.Finish(&r)
	s = rec.Snapshot()
	if got := s.CheckGates(); !cmp.Equal(got, r.Gates) {
		t.Errorf("after the end %+v, want the report's", got)
	}
	if got := (&Snapshot{}).CheckGates(); got != nil {
		t.Errorf("without a plan: %+v", got)
	}
}
