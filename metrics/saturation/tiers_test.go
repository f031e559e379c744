package saturation_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/metrics"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/live"
)

// twoTiers are objectives that requests miss with a first chunk after 1.1 s, and after 1.6 s.
func twoTiers() (metrics.SLO, []metrics.Tier) {
	gold, bronze := metrics.SLO{{Metric: metrics.TTFT, LimitMS: 1100}}, metrics.SLO{{Metric: metrics.TTFT, LimitMS: 1600}}
	return gold, []metrics.Tier{{Name: "gold", SLO: gold}, {Name: "bronze", SLO: bronze}}
}

// slowed are the requests of users with a first chunk after 1 s, whose first chunks come that much later in each stage of ten seconds.
func slowed(stages []metrics.Stage, by ...time.Duration) []metrics.Request {
	all := closedLoop(stages, 2*time.Second, 64)
	for i := range all {
		q := &all[i]
		late := by[int(q.Due/(10*time.Second))]
		q.FirstChunk, q.Chunks[0].At = q.FirstChunk+late, q.Chunks[0].At+late
	}
	return all
}

// Each tier has a highest load of its own, at stages of a plan.
func TestTiersAtStages(t *testing.T) {
	t.Parallel()
	gold, tiers := twoTiers()
	plan := metrics.Plan{Rate: metrics.Rate(math.Inf(1)), MaxConcurrency: 4, Stages: userStages(4, 8, 16, 32), Goodput: gold, Tiers: tiers}
	r := answerTo(t, plan, slowed(plan.Stages, 0, 0, 500*time.Millisecond, 900*time.Millisecond))
	if a := r.Answer.Tier(0); !a.Within || a.Highest != 8 || a.HighestLevel != 1 || !(a.Confidence > 0.5) {
		t.Errorf("gold: %+v, want 8 users", a)
	}
	if a := r.Answer.Tier(1); !a.Within || a.Highest != 16 || a.HighestLevel != 2 || !(a.Confidence > 0.5) {
		t.Errorf("bronze: %+v, want 16 users", a)
	}
	want := [][2]metrics.Standing{
		{metrics.LevelWithin, metrics.LevelWithin}, {metrics.LevelWithin, metrics.LevelWithin}, {metrics.LevelMissed, metrics.LevelWithin}, {metrics.LevelMissed, metrics.LevelMissed},
	}
	for i, l := range r.Levels {
		if got := [2]metrics.Standing{l.Tier(0).Standing, l.Tier(1).Standing}; got != want[i] {
			t.Errorf("level %d: %q, want %q; %+v", i, got, want[i], l)
		}
	}
}

// One SLO leaves no trace of tiers.
func TestOneTier(t *testing.T) {
	t.Parallel()
	gold, _ := twoTiers()
	plan := metrics.Plan{Rate: metrics.Rate(math.Inf(1)), MaxConcurrency: 4, Stages: userStages(4, 8), Goodput: gold}
	r := answerTo(t, plan, slowed(plan.Stages, 0, 0))
	if r.Answer.Others != nil || r.Levels[0].Others != nil {
		t.Errorf("%+v\n%+v", r.Answer, r.Levels[0])
	}
}

// searchStep is an event of a search: the verdict on a load, and the next one, 0 for a break.
func searchStep(at, next int, tested float64, tiers ...metrics.SearchTier) metrics.LogEntry {
	set := &metrics.LoadSetting{Users: next, Paused: next == 0, By: metrics.BySearch}
	return metrics.LogEntry{At: time.Duration(at) * time.Second, Set: set, Search: &metrics.SearchStep{Tested: tested, Tiers: tiers}}
}

// The verdicts of a search hold: a load that it found wanting is not within the objectives, although all of its requests that ended were good,
// and the answer of each tier is the load that passed. The live view says the same.
func TestSearchTellsItsVerdicts(t *testing.T) {
	t.Parallel()
	gold, tiers := twoTiers()
	plan := metrics.Plan{
		Rate: metrics.Rate(math.Inf(1)), MaxConcurrency: 40, Goodput: gold, Tiers: tiers, Find: &metrics.Find{From: 40, Most: 60, Users: true}, Duration: 40 * time.Second,
	}
	good := metrics.SearchTier{Requests: 100, Good: 99, Within: true, Passed: 40}
	missed := metrics.SearchTier{Requests: 100, Good: 60, Passed: 40, Failed: 56}
	behind := metrics.SearchTier{Requests: 100, Good: 98, Passed: 40, Failed: 52}
	within := func(load float64) metrics.SearchTier {
		return metrics.SearchTier{Requests: 100, Good: 100, Within: true, Passed: load}
	}
	events := []metrics.LogEntry{
		searchStep(0, 40, 0), searchStep(10, 56, 40, good, within(40)), searchStep(20, 52, 56, missed, within(56)), searchStep(30, 40, 52, behind, within(56)),
		{At: 40 * time.Second, Mark: metrics.FoundMark, Search: &metrics.SearchStep{Tested: 40, Tiers: []metrics.SearchTier{good, {Passed: 56}}}},
	}
	all := slowed(userStages(40, 56, 52, 40), 0, 0, 0, 0)
	r := summarizeSteered(t, plan, all, events)
	level := func(requests, good int, standing metrics.Standing) metrics.TierLevel {
		return metrics.TierLevel{Requests: requests, Good: good, Standing: standing}
	}
	wantLevels := [][2]metrics.TierLevel{
		{level(100, 99, metrics.LevelWithin), level(100, 100, metrics.LevelWithin)},
		{level(100, 60, metrics.LevelMissed), level(100, 100, metrics.LevelWithin)},
		{level(100, 98, metrics.LevelBehind), level(100, 100, metrics.LevelWithin)},
		{level(100, 99, metrics.LevelWithin), level(0, 0, metrics.LevelOpen)},
	}
	for i, l := range r.Levels {
		if got := [2]metrics.TierLevel{l.Tier(0), l.Tier(1)}; got != wantLevels[i] {
			t.Errorf("level %d of %g: %+v, want %+v", i, l.Offered, got, wantLevels[i])
		}
	}
	a, b := r.Answer.Tier(0), r.Answer.Tier(1)
	if !a.Within || a.Highest != 40 || a.HighestLevel != 3 || !b.Within || b.Highest != 56 || b.HighestLevel != 1 {
		t.Errorf("gold %+v, bronze %+v; want 40 in the last level, and 56", a, b)
	}
	// The two tests of 40 count together.
	if once := summarizeSteered(t, plan, all, events[:4]).Answer.Confidence; !(a.Confidence > once) {
		t.Errorf("confidence %v with two tests, %v with one", a.Confidence, once)
	}

	view := live.NewView(time.Now(), &plan)
	eventtest.Again(view, all, eventtest.LastDone(all))
	for _, e := range events {
		eventtest.Tell(view, e)
	}
	view.JudgeAt(eventtest.LastDone(all))
	got := view.SnapshotAt(eventtest.LastDone(all))
	if diff := cmp.Diff(r.Answer.Tier(0), got.Answer.Tier(0)); diff != "" {
		t.Errorf("(-report +live)\n%s", diff)
	}
	if diff := cmp.Diff(r.Answer.Others, got.Answer.Others); diff != "" {
		t.Errorf("(-report +live)\n%s", diff)
	}
	for i := range got.Levels {
		if got.Levels[i].Standing != r.Levels[i].Standing {
			t.Errorf("level %d is %q live, %q in the report", i, got.Levels[i].Standing, r.Levels[i].Standing)
		}
	}
}
