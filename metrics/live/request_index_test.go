package live

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/internal/assert"
	"benchtop/internal/ci"
	"benchtop/metrics"
)

// A full request index does not grow, and the answer is that of its requests.
func TestFullLedger(t *testing.T) {
	plan := metrics.Plan{Rate: 20, Burstiness: 1, Goodput: ttft(100), Warmup: second}
	const most = 200
	rec, small := NewView(time.Now(), &plan), NewView(time.Now(), &plan)
	rec.index = newRequestIndex(most)
	tell := func(rec *View, n int) {
		for i := range n {
			x := begun(rec, i, time.Duration(i)*50*ms)
			x.sent(x.q.Due)
			x.chunk(x.q.Due+50*ms, "")
			x.done(x.q.Due+60*ms, "")
		}
	}
	tell(rec, 1000)
	tell(small, most)
	came, ended := rec.index.arrived, rec.index.ended
	if len(came.past) > 0 || len(came.last) != most-20 || len(ended.last) != most {
		t.Fatalf("%d and %d kept, want %d without the warm-up, and %d", len(came.last), len(ended.last), most-20, most)
	}
	if log := rec.Snapshot().Log; len(log) != 1 || log[0].At != most*50*ms {
		t.Errorf("log %+v", log)
	}
	rec.JudgeAt(50 * second)
	small.JudgeAt(10 * second)
	got, want := rec.Snapshot(), small.Snapshot()
	if diff := cmp.Diff(want.Answer, got.Answer); diff != "" || got.Answer.Highest() == 0 {
		t.Errorf("answer (-of the first +got):\n%s", diff)
	}
	assert.Same(t, "levels (-of the first +got)", got.Levels, want.Levels)
	rec.JudgeAt(50 * second)
	if again := rec.Snapshot().Answer; again != got.Answer {
		t.Error("judged again what cannot change")
	}

	// Other objectives judge the requests in it; the rest keeps its judgement.
	rec.setObjectives(ttft(10))
	s := rec.Snapshot()
	if s.Answer != nil || s.Totals.Good != 1000-most || s.Windows[5].Good != 0 || s.Windows[20].Good != 20 {
		t.Errorf("%d good, want those beyond; windows %d and %d; answer %+v", s.Totals.Good, s.Windows[5].Good,
			s.Windows[20].Good, s.Answer)
	}
	rec.JudgeAt(50 * second)
	if a := rec.Snapshot().Answer; a == nil || a.Proven > 0 || a.Estimate.High > 20 {
		t.Errorf("answer by the new objectives: %+v", a)
	}
	x := begun(rec, 1000, 50*second)
	x.sent(50 * second)
	x.chunk(50*second+ms, "")
	x.done(51*second, "")
	assert.Equal(t, rec.Snapshot().Totals.Good, s.Totals.Good+1, "good after one more")
}

// A judgement leaves no trace in the next one, which needs hardly any memory.
func TestJudgeAgain(t *testing.T) {
	ci.SkipUnderRace(t)
	rec := recorded(40_000)
	for _, at := range []time.Duration{4 * second, 2 * second, 3500 * ms, 3 * second} {
		fresh := recorded(40_000)
		for _, r := range []*View{rec, fresh} {
			if at == 3*second {
				r.fact(0, metrics.LogEntry{At: second, Set: &metrics.LoadSetting{Load: metrics.Load{Value: 10_000}}})
			}
			r.restUntil = time.Time{}
			r.JudgeAt(at)
		}
		got, want := rec.SnapshotAt(at), fresh.SnapshotAt(at)
		if diff := cmp.Diff(want.Levels, got.Levels); diff != "" || len(got.Levels) == 0 {
			t.Errorf("at %s: levels (-fresh +again):\n%s", at, diff)
		}
		if diff := cmp.Diff(want.Answer, got.Answer); diff != "" {
			t.Errorf("at %s: answer (-fresh +again):\n%s", at, diff)
		}
	}
	const n = 10
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range n {
		rec.restUntil = time.Time{}
		rec.JudgeAt(3 * second)
	}
	runtime.ReadMemStats(&after)
	if each := float64(after.TotalAlloc-before.TotalAlloc) / n / 40_000; each > 8 {
		t.Errorf("%.1f bytes a request for each judgement", each)
	}
}

// Setting the objectives in force costs nothing and changes nothing.
func TestSetObjectivesInForce(t *testing.T) {
	rec := recorded(5000)
	slo := ttft(20)
	rec.setObjectives(slo)
	rec.JudgeAt(second)
	before := rec.Snapshot()
	if n := testing.AllocsPerRun(10, func() { rec.setObjectives(slo) }); n > 2 {
		t.Errorf("%v allocations", n)
	}
	rec.fact(0, metrics.LogEntry{At: second, Objectives: &slo})
	after := rec.Snapshot()
	if after.Answer == nil || after.Answer != before.Answer || after.Totals != before.Totals ||
		!slices.Equal(after.Objectives, slo) {
		t.Errorf("before %+v, after %+v", before.Answer, after.Answer)
	}
}
