package metrics_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/internal/assert"
	. "benchtop/metrics"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/live"
)

// The live view and the report of the same requests agree.
func TestSnapshotEqualsReport(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			all := eventtest.DrawRun(seed, 150)
			plan := Plan{Percentiles: []float64{99},
				Goodput: SLO{{Metric: TTFT, LimitMS: 700}, {Metric: TPOT, LimitMS: 60}},
				Abandon: "5%", Retry: "backoff"}
			if seed%2 == 1 {
				plan.Warmup = 4 * second
			}
			rec := live.NewView(time.Now(), &plan)
			eventtest.Play(rec, all)
			ended := eventtest.LastDone(all)
			summary := summarize(t, all, runOf(plan, ended))
			rec.Finish(&summary)
			s := rec.Snapshot()
			if diff := cmp.Diff(summary.Timeline, s.Windows, cmp.Comparer(eventtest.SameHistogram)); diff != "" {
				t.Errorf("seed %d: timeline (-report +snapshot):\n%s", seed, diff)
			}
			for l := range NumInWindow { // of the successes alone, as the exact figures
				a, b := summary.Histograms[l], s.Histograms[l]
				var seconds uint64
				for _, w := range s.Windows {
					seconds += w.Histograms[l].Count()
				}
				n := uint64(summary.Statistics[l].N)
				if l == Pace { // has no figures of its own
					n = a.Count()
				}
				if n == 0 || a.Count() != n || plan.Warmup == 0 && seconds != n {
					t.Errorf("seed %d: %d of %s, %d in the seconds, want %d", seed, a.Count(), l.Naming().Title,
						seconds, n)
				}
				if !eventtest.SameHistogram(a, b) {
					t.Errorf("seed %d: histograms of %s differ", seed, l.Naming().Title)
				}
			}
			got := summary.Counts
			if n := got.Completed + got.Failed + got.Cancelled + got.Abandoned + got.WarmedUp; n != 150 {
				t.Errorf("seed %d: %d requests ended, want 150", seed, n)
			}
			if warm := seed%2 == 1; warm != (summary.WarmedUp > 10) {
				t.Errorf("seed %d: %d requests of the warm-up", seed, summary.WarmedUp)
			}
			assert.Equal(t, got, s.Totals, "seed %d: report totals %+v, snapshot %+v", seed, got, s.Totals)
			if diff := cmp.Diff(summary.Split, s.SplitOver(plan.Warmup, ended+second)); diff != "" && plan.Warmup == 0 {
				t.Errorf("seed %d: split (-report +snapshot):\n%s", seed, diff)
			}
			assert.Equal(t, got.PlannedGood, got.Good, "seed %d: good by the plan", seed)
			if s.Held != 0 || s.Waiting != 0 || s.Running != 0 || !s.OutputExact {
				t.Errorf("seed %d: after the end: held %d, waiting %d, running %d, exact %v", seed, s.Held, s.Waiting,
					s.Running, s.OutputExact)
			}
			assert.Same(t, fmt.Sprintf("seed %d: failures (-report +snapshot)", seed), s.Failures, summary.Failures)
		})
	}
}

// Where answers come in one piece, the time between their pieces is none that the server took for tokens.
func TestWholeAnswersHaveNoTPOT(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := live.NewView(time.Now(), &Plan{Whole: true})
		eventtest.Play(rec, eventtest.DrawRun(1, 50))
		s := rec.Snapshot()
		if s.Histograms[E2EL].Count() == 0 || s.Histograms[TPOT].Count() != 0 || s.Histograms[Pace].Count() != 0 {
			t.Errorf("%d E2EL, %d TPOT, %d paces", s.Histograms[E2EL].Count(), s.Histograms[TPOT].Count(),
				s.Histograms[Pace].Count())
		}
	})
}

// A snapshot does not change after it was taken.
func TestSnapshotIsImmutable(t *testing.T) {
	rec := live.NewView(time.Now(), &Plan{})
	all := eventtest.DrawRun(1, 60)
	eventtest.Play(rec, all[:30])
	s := rec.Snapshot()
	before := fmt.Sprint(s.Windows, slices.Collect(s.Histograms[TTFT].Buckets()),
		slices.Collect(s.Histograms[ITL].Buckets()), s.Failures)
	eventtest.Play(rec, all[30:])
	if after := fmt.Sprint(s.Windows, slices.Collect(s.Histograms[TTFT].Buckets()),
		slices.Collect(s.Histograms[ITL].Buckets()), s.Failures); before != after {
		t.Errorf("the snapshot changed from\n%s\nto\n%s", before, after)
	}
}

func TestTokensAreSpreadOverTheirSeconds(t *testing.T) {
	q := NewRequest(0)
	q.Scheduled, q.Due, q.Admitted, q.Sent = 0, 0, 0, 0
	for i := range 4 { // one chunk a second, counted as one token each; the server says ten in all
		q.Add(Chunk{At: time.Duration(i)*second + 500*ms, Tokens: 1})
	}
	q.OutputTokens, q.InputTokens, q.Done = 10, 33, 4*second
	r := summarize(t, []Request{q}, runOf(Plan{}, 4*second))
	var out, in []int
	for _, w := range r.Timeline[:4] {
		out, in = append(out, w.TokensOut), append(in, w.TokensIn)
	}
	assert.EqualAll(t, out, []int{2, 3, 2, 3}, "output tokens by second")
	assert.EqualAll(t, in, []int{33, 0, 0, 0}, "input tokens by second")
}
