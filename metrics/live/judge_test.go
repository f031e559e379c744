package live

import (
	"math"
	"slices"
	"strings"
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

// A past run gives the same snapshot, with or without the answer flags of its chunks.
func TestAgain(t *testing.T) {
	for seed := range uint64(5) {
		all := eventtest.DrawRun(seed, 150)
		plan := metrics.Plan{Goodput: ttft(700)}
		live, replayed := NewView(time.Now(), &plan), NewView(time.Time{}, &plan)
		eventtest.Play(live, all)
		for i := range all {
			all[i].Chunks = slices.Clone(all[i].Chunks)
			for k := range all[i].Chunks {
				all[i].Chunks[k].Answer = false
			}
		}
		at := eventtest.LastDone(all)
		eventtest.Again(replayed, all, at)
		diff := cmp.Diff(live.SnapshotAt(at), replayed.SnapshotAt(at), cmp.Comparer(eventtest.SameHistogram),
			cmpopts.EquateNaNs())
		if diff != "" {
			t.Errorf("seed %d (-live +again):\n%s", seed, diff)
		}
	}
}

// A load of requests in flight is not within the objectives.
func TestJudgeDoesNotTrustTheQuickOnes(t *testing.T) {
	plan := metrics.Plan{Rate: 20, Burstiness: 1, Goodput: ttft(200)}
	rec := NewView(time.Now(), &plan)
	for i := range 100 {
		x := begun(rec, i, time.Duration(i)*50*ms)
		x.sent(x.q.Due)
		if i < 40 {
			x.chunk(x.q.Due+ms, "")
			x.done(x.q.Due+second, "")
		}
	}
	rec.JudgeAt(8 * second)
	if a := rec.SnapshotAt(8 * second).Answer; a.Highest() > 0 {
		t.Errorf("40 of 100 have ended, and %+v", a)
	}
}

// Samples of a machine that was out of sight count for the load of their time when they come at last.
func TestLateSamples(t *testing.T) {
	plan := metrics.Plan{Rate: 20, Burstiness: 1, Goodput: ttft(200), Part: metrics.Part{N: 2}}
	rec := NewView(time.Now(), &plan)
	for i := range 200 {
		x := begun(rec, i, time.Duration(i)*50*ms)
		x.sent(x.q.Due)
		x.chunk(x.q.Due+ms, "")
		x.done(x.q.Due+2*ms, "")
	}
	set := metrics.LoadSetting{Load: metrics.Load{Unit: metrics.RequestsPerSecond, Value: 21}}
	rec.fact(6*second, metrics.LogEntry{At: 6 * second, Set: &set})
	for part := 1; part <= 2; part++ {
		for at := second; at <= 10*second; at += second {
			rec.fact(at, metrics.ClientSecond{At: at, Took: second, Part: part})
		}
	}
	rec.JudgeAt(10 * second)
	for _, l := range rec.SnapshotAt(10 * second).Levels {
		if strings.Contains(l.Why, "no samples") {
			t.Errorf("at %g: %s", l.Offered, l.Why)
		}
	}
	assert.Equal(t, len(rec.SnapshotAt(10*second).Levels), 2, "levels")
}

// Objectives that were set during the run judge all of it, in totals, windows and report, but no gate.
func TestSetObjectives(t *testing.T) {
	ci.SkipUnderRace(t)
	all := eventtest.DrawRun(5, 1200)
	plan := metrics.Plan{Goodput: ttft(700), Warmup: 4 * second,
		Gates: eventtest.Gates(t, "goodput<10%", "request_goodput<0.001")}
	other := metrics.SLO{{Metric: metrics.TTFT, LimitMS: 400}, {Metric: metrics.TPOT, LimitMS: 50},
		{Metric: metrics.E2EL, LimitMS: 3000}}
	ended := eventtest.LastDone(all)
	want := plan
	want.Goodput = other
	for name, set := range map[string]func(rec *View){
		"at the end": func(rec *View) {
			eventtest.Again(rec, all, ended)
			rec.SnapshotAt(ended) // whose seconds are judged again
			rec.setObjectives(other)
		},
		"at the start": func(rec *View) { rec.setObjectives(other); eventtest.Again(rec, all, ended) },
		"twice": func(rec *View) {
			rec.setObjectives(nil)
			eventtest.Again(rec, all, ended)
			rec.fact(0, metrics.LogEntry{Objectives: &other})
		},
	} {
		rec, straight := NewView(time.Now(), &plan), NewView(time.Now(), &want)
		set(rec)
		eventtest.Again(straight, all, ended)
		a, b := rec.SnapshotAt(ended), straight.SnapshotAt(ended)
		planned := cmpopts.IgnoreFields(metrics.Counts{}, "PlannedGood")
		if diff := cmp.Diff(b.Windows, a.Windows, planned, cmp.Comparer(eventtest.SameHistogram)); diff != "" {
			t.Errorf("%s: windows (-want +got):\n%s", name, diff)
		}
		if !cmp.Equal(a.Totals, b.Totals, planned) || a.Totals.Good == 0 || a.Totals.Good == a.Totals.PlannedGood {
			t.Errorf("%s: %+v, want %+v", name, a.Totals, b.Totals)
		}
		if a.Endpoints[0].MetCount != b.Endpoints[0].MetCount || a.Endpoints[0].Good == 0 {
			t.Errorf("%s: endpoint %+v, want %+v", name, a.Endpoints[0].MetCount, b.Endpoints[0].MetCount)
		}
		if !slices.Equal(a.Objectives, other) || len(a.Plan.Goodput) != 1 {
			t.Errorf("%s: objectives %v, plan %v", name, a.Objectives, a.Plan.Goodput)
		}
		run := metrics.Run{Plan: plan, End: metrics.End{Ended: ended}, Events: []metrics.LogEntry{
			{At: 2, Objectives: &other}, {At: 1, Objectives: &metrics.SLO{{Metric: metrics.TTFT, LimitMS: 1}}},
			{At: 3, Text: "nothing"}}}
		summary := assert.Must(report.Summarize(eventtest.Each(all), run))(t)
		if summary.Good != a.Totals.Good || summary.PlannedGood != a.Totals.PlannedGood ||
			summary.Met != a.Totals.Met || !slices.Equal(summary.Objectives, other) {
			t.Errorf("%s: %d good of %v in the report, live %d", name, summary.Good, summary.Objectives, a.Totals.Good)
		}
		plain, _ := report.Summarize(eventtest.Each(all), metrics.Run{Plan: plan, End: metrics.End{Ended: ended}})
		if diff := cmp.Diff(plain.Gates, summary.Gates); diff != "" {
			t.Errorf("%s: gates (-planned +got):\n%s", name, diff)
		}
		if live := a.CheckGates(); math.Abs(live[0].Value-plain.Gates[0].Value) > 1e-12 || len(live) != 2 {
			t.Errorf("%s: live gates %+v, want %+v", name, live, plain.Gates)
		}
	}
}
