package live

import (
	"bytes"
	"encoding/gob"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"benchtop/internal/assert"
	"benchtop/internal/ci"
	"benchtop/metrics"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/report"
)

// A snapshot travels through gob whole.
func TestSnapshotTravels(t *testing.T) {
	plan := metrics.Plan{Rate: metrics.Rate(math.Inf(1)), Goodput: ttft(700), Percentiles: []float64{99}}
	rec := NewView(time.Now(), &plan)
	all := eventtest.DrawRun(3, 80)
	rec.fact(0, metrics.ServerSecond{At: second, Running: 3, Waiting: metrics.Unsaid()})
	rec.fact(0, metrics.LogEntry{Text: "34 req/s", Mark: "34",
		Set:        &metrics.LoadSetting{Load: metrics.Load{Value: 34}, By: metrics.ByUser},
		Objectives: &metrics.SLO{{Metric: metrics.TPOT, LimitMS: 5}}})
	rec.Inspect(metrics.Inspection{Rows: true, Open: 8})
	eventtest.Play(rec, all)
	rec.Judge()
	summary, err := report.Summarize(eventtest.Each(all), metrics.Run{Plan: plan, End: metrics.End{Ended: minute}})
	assert.Fine(t, err)
	rec.Finish(&summary)
	want := rec.Snapshot()
	if len(want.Requests) != 80 || want.Opened == nil || len(want.Windows) < 10 || want.Answer == nil {
		t.Fatal("too little to compare")
	}
	var wire bytes.Buffer
	var got metrics.Snapshot
	assert.Fine(t, gob.NewEncoder(&wire).Encode(want))
	assert.Fine(t, gob.NewDecoder(&wire).Decode(&got))
	options := []cmp.Option{cmp.Comparer(eventtest.SameHistogram), cmpopts.EquateNaNs(), cmpopts.EquateEmpty(),
		cmpopts.IgnoreUnexported(metrics.Request{})}
	if diff := cmp.Diff(want, got, options...); diff != "" {
		t.Errorf("(-sent +received):\n%s", diff)
	}
}

// The minutes of a snapshot are joined from its own windows, also where late events changed seconds long past.
func TestSnapshotsHaveMinutes(t *testing.T) {
	ci.SkipUnderRace(t)
	plan := metrics.Plan{Goodput: ttft(700)}
	rec := NewView(time.Now(), &plan)
	all := eventtest.DrawRun(5, 2000)
	for i := range all {
		eventtest.Play(rec, all[i:i+1])
		if i%50 > 0 {
			continue
		}
		s := rec.SnapshotAt(all[i].Due + 7*second)
		want := metrics.Minutes{}.Follow(&s, 0)
		if diff := cmp.Diff(want, s.Minutes, cmp.Comparer(eventtest.SameHistogram), cmpopts.EquateNaNs()); diff != "" {
			t.Fatalf("at %s (-joined at once +joined by and by):\n%.2000s", s.At, diff)
		}
	}
	if n := len(rec.SnapshotAt(5 * minute).Minutes.Windows); n < 3 {
		t.Errorf("%d minutes", n)
	}
}

// What ends long after its first second changes that second, also one that was packed, and no snapshot before.
func TestLateEnds(t *testing.T) {
	views := []*View{NewView(time.Now(), &metrics.Plan{}), NewView(time.Now(), &metrics.Plan{})}
	var late [][]*exchange
	var before metrics.Snapshot
	counts := func() (all []uint64) {
		for _, w := range before.Windows {
			all = append(all, w.Histograms[metrics.TTFT].Count(), w.Histograms[metrics.ITL].Count())
		}
		return all
	}
	var counted []uint64
	const length = 900
	for s := range length {
		at := time.Duration(s) * second
		late = append(late, metrics.Each(views, func(v *View) *exchange { return begun(v, s, at) }))
		for i, x := range late[s] {
			x.sent(at)
			x.chunk(at+time.Duration(s%9)*ms, "a")
			x.chunk(at+30*ms, "b")
			if s < 400 {
				continue
			}
			late[s-400][i].done(at, []metrics.Failure{metrics.FailedReset, ""}[s%2])
		}
		if snapshot := views[0].SnapshotAt(at); s == 399 {
			before = snapshot
			counted = counts()
		}
	}
	often, once := views[0].SnapshotAt(length*second), views[1].SnapshotAt(length*second)
	same := cmp.Comparer(eventtest.SameHistogram)
	assert.Same(t, "windows (-once +often)", often.Windows, once.Windows, same)
	assert.Same(t, "minutes (-once +often)", often.Minutes, once.Minutes, same)
	assert.Equal(t, often.Windows[0].Histograms[metrics.TTFT].Count(), 0, "samples of a request that failed")
	assert.EqualAll(t, counts(), counted, "an old snapshot has changed")
}
