package metrics_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"benchtop/internal/assert"
	. "benchtop/metrics"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/live"
)

// The warm-up is in no figure: the report is that of the run without its requests, except for the timeline.
func TestWarmupIsInNoFigure(t *testing.T) {
	const warmup = 5 * second
	all := eventtest.DrawRun(7, 300)
	plan := Plan{
		Percentiles: []float64{50, 99}, Goodput: SLO{{Metric: TTFT, LimitMS: 700}, {Metric: E2EL, LimitMS: 3000}},
		Detailed: true, Rate: 10,
		Gates: eventtest.Gates(t, "p97.5_ttft>1", "error_rate>1%"),
	}
	var counted []Request
	warm := 0
	for _, q := range all {
		if q.Scheduled < warmup {
			warm++
		} else {
			counted = append(counted, q)
		}
	}
	summarize := func(reqs []Request, warmup, ended time.Duration) Report {
		plan.Warmup = warmup
		r := summarize(t, reqs, runOf(plan, ended))
		return r
	}
	got := summarize(all, warmup, minute)
	without := summarize(counted, warmup, minute)
	whole := summarize(all, 0, minute)
	if warm < 20 || got.WarmedUp != warm || without.WarmedUp != 0 {
		t.Errorf("%d requests warmed up, want %d", got.WarmedUp, warm)
	}
	if got.Duration != 55 || got.Ended != minute {
		t.Errorf("duration %v, end %s; want 55, 1m", got.Duration, got.Ended)
	}
	assert.Equal(t, got.RequestThroughput, float64(got.Completed)/55, "throughput")
	if diff := cmp.Diff(whole.Timeline, got.Timeline, cmp.Comparer(eventtest.SameHistogram)); diff != "" {
		t.Errorf("timeline (-whole run +with warm-up):\n%s", diff)
	}
	got.Due, got.Sent, got.WarmedUp = without.Due, without.Sent, 0
	got.Timeline, without.Timeline = nil, nil
	without.Missing = 0         // the requests of the warm-up
	for i := range got.Levels { // what is in flight when a level begins may be of the warm-up
		got.Levels[i].Steady, without.Levels[i].Steady = nil, nil
	}
	if diff := cmp.Diff(without, got, cmp.Comparer(eventtest.SameHistogram),
		cmpopts.IgnoreUnexported(Request{})); diff != "" {
		t.Errorf("(-without the requests of the warm-up +with them):\n%s", diff)
	}
	if got := summarize(all, warmup, 3*second).Duration; got != 0 {
		t.Errorf("a run that ended in its warm-up is %v s long", got)
	}
}

func TestWarmupRule(t *testing.T) {
	for _, c := range []struct {
		warmup, scheduled time.Duration
		want              bool
	}{
		{0, 0, false}, {0, Never, false}, {second, Never, false},
		{second, 0, true}, {second, second - 1, true}, {second, second, false},
	} {
		q := NewRequest(0)
		q.Scheduled = c.scheduled
		if got := (&Plan{Warmup: c.warmup}).Warming(&q); got != c.want {
			t.Errorf("warm-up of %s, scheduled at %s: %v", c.warmup, c.scheduled, got)
		}
	}
}

// In snapshots, requests of the warm-up are only in windows.
func TestWarmupLive(t *testing.T) {
	plan := Plan{Warmup: 2 * second, Goodput: SLO{{Metric: TTFT, LimitMS: 100}}}
	rec := live.NewView(time.Now(), &plan)
	cut := eventtest.Simple(3, 1200*ms, 50*ms, 10*ms, 5)
	cut.Failure = Cancelled
	eventtest.Play(rec, []Request{
		eventtest.Simple(0, 0, 50*ms, 10*ms, 5),
		eventtest.Busy(1, second, "busy"),
		cut,
		eventtest.Simple(2, 1900*ms, 300*ms, 10*ms, 5), // ends after the warm-up
		eventtest.Simple(4, 2*second, 60*ms, 10*ms, 3),
		eventtest.Simple(5, 2*second, 160*ms, 10*ms, 3),
		eventtest.Busy(6, 3*second, "still busy"),
	})
	s := rec.Snapshot()
	want := Counts{Due: 7, Sent: 7, Completed: 2, Failed: 1, WarmedUp: 4, InputTokens: 20, OutputTokens: 6, Inputs: 2,
		MetCount: MetCount{Good: 1, GoodTokens: 3}, PlannedGood: 1}
	for l := range want.Met {
		want.Met[l] = 2
	}
	want.Met[TTFT] = 1
	assert.Equal(t, s.Totals, want, "totals")
	for name, h := range map[string]Histogram{
		"TTFT": s.Histograms[TTFT], "E2EL": s.Histograms[E2EL], "TPOT": s.Histograms[TPOT],
		"client queue": s.Histograms[SlotWait], "queued": s.Histograms[E2ELQueued],
	} {
		assert.Equal(t, h.Count(), 2, "samples of %s", name)
	}
	assert.Equal(t, s.Histograms[ITL].Count(), 4, "gaps")
	var done, failed, cancelled, output, good int
	for _, w := range s.Windows {
		done, failed, cancelled = done+w.Completed, failed+w.Failed, cancelled+w.Cancelled
		output, good = output+w.TokensOut, good+w.Good
	}
	if done != 4 || failed != 2 || cancelled != 1 || output != 21 || good != 2 {
		t.Errorf("windows have %d done, %d failed, %d cancelled, %d tokens, %d good", done, failed, cancelled, output,
			good)
	}
	failures := []FailureCount{
		{Kind: FailedStatus, Status: 503, Count: 1, Last: 3001 * ms, Examples: []string{"still busy"}},
	}
	assert.Same(t, "failures", s.Failures, failures)
}

// Of two objectives each has its own count, and a request is good if it meets both.
func TestObjectivesAreCounted(t *testing.T) {
	all := []Request{
		eventtest.Simple(0, 0, 100*ms, 10*ms, 11), // meets both, to the microsecond
		eventtest.Simple(1, 0, 101*ms, 10*ms, 11), // too late
		eventtest.Simple(2, 0, 100*ms, 11*ms, 11), // too slow
		eventtest.Simple(3, second, 99*ms, 0, 1),  // no TPOT counts as none
		eventtest.Simple(4, second, 200*ms, 0, 1), // too late
		eventtest.Busy(5, second, "never mind"),   // in no count
	}
	plan := Plan{Goodput: SLO{{Metric: TTFT, LimitMS: 100}, {Metric: TPOT, LimitMS: 10}}}
	r := summarize(t, all, runOf(plan, 2*second))
	if r.Good != 2 || *r.Goodput != 1 {
		t.Errorf("%d good, %v a second; want 2, 1", r.Good, *r.Goodput)
	}
	assert.Equal(t, r.Met, MetObjectives{3, 4, 5}, "met objectives")
	type counts struct{ Done, Good, TTFT, TPOT, E2EL int }
	for i, want := range []counts{{3, 1, 2, 2, 3}, {2, 1, 1, 2, 2}} {
		w := r.Timeline[i]
		assert.Equal(t, counts{w.Completed, w.Good, w.Met[TTFT], w.Met[TPOT], w.Met[E2EL]}, want, "second %d", i)
	}
	r = summarize(t, all[5:], runOf(plan, 2*second))
	assert.Equal(t, r.MetCount, MetCount{}, "without successes: %d good, met %v", r.Good, r.Met)
	r = summarize(t, all, runOf(Plan{}, 2*second))
	if r.Good != 5 || r.Timeline[0].Good != 3 {
		t.Errorf("without objectives: %d good, met %v", r.Good, r.Met)
	}
}

// Requests that failed or were cut were in flight, unsent ones were not. The steady state counts successes alone.
func TestExactPeak(t *testing.T) {
	cut, unsent := eventtest.Simple(3, 150*ms, 100*ms, 0, 1), eventtest.Simple(4, 150*ms, 0, 0, 0)
	cut.Failure, cut.Done = Cancelled, 400*ms
	unsent.Failure, unsent.Sent, unsent.Done = Cancelled, Never, 400*ms
	failed := eventtest.Busy(2, 120*ms, "busy")
	failed.Done = 200 * ms
	warming := eventtest.Simple(5, 0, 900*ms, 0, 1)
	warming.Scheduled = 0
	all := []Request{eventtest.Simple(0, 100*ms, 100*ms, 0, 1), eventtest.Simple(1, 110*ms, 80*ms, 0, 1), failed, cut,
		unsent, warming,
		eventtest.Busy(6, 400*ms, "when the others have ended"), eventtest.Busy(7, 402*ms, "alone")}
	plan := Plan{Rate: Rate(math.Inf(1)), MaxConcurrency: 2, Warmup: 50 * ms}
	r := summarize(t, all, runOf(plan, second))
	if r.ExactPeakConcurrency != 4 || r.PeakConcurrency != 2 {
		t.Errorf("most in flight %d, vLLM's %d, want 4 and 2", r.ExactPeakConcurrency, r.PeakConcurrency)
	}
	if r.SteadyState == nil || r.SteadyState.Peak != 2 {
		t.Errorf("steady state %+v, want a peak of 2", r.SteadyState)
	}
}
