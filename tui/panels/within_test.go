package panels

import (
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/tui/screen"
)

// stageTableText is the table of the stages as text.
func stageTableText(s *metrics.Snapshot, w int) string {
	sf := screen.NewSurface(w, 8)
	sf.Terminal.Mono = true
	v := &View{Snapshot: s, Terminal: sf.Terminal, Whole: true}
	v.drawStages(sf.All(), v.stageRows())
	return sf.Render(&screen.Palette{Mono: true})
}

func levelAt(second int, load float64, good int, standing metrics.Standing,
	others ...metrics.LevelVerdict) metrics.LoadLevel {
	from := time.Duration(second) * time.Second
	l := metrics.LoadLevel{From: from, To: from + 10*time.Second, Offered: load, Completed: 1, Others: others}
	l.LevelVerdict = metrics.LevelVerdict{Requests: 100, Good: good, Standing: standing, Confidence: 0.979}
	return l
}

var aGoal = metrics.SLO{{Metric: metrics.TTFT, LimitMS: 500}}

// The line and the table go by the same verdicts, and a level that is unknown says why, or what it lacks.
func TestVerdictNamesTheLoadThatMissed(t *testing.T) {
	t.Parallel()
	levels := []metrics.LoadLevel{levelAt(0, 8, 90, metrics.LevelMissed), levelAt(10, 16, 100, metrics.LevelUnknown),
		levelAt(20, 24, 100, metrics.LevelUnknown)}
	levels[1].Why, levels[2].Missing = "3 requests have not ended", 39500*time.Millisecond
	s := &metrics.Snapshot{State: metrics.Running, At: 29 * time.Second, Objectives: aGoal,
		Plan: &metrics.Plan{Goodput: aGoal}, Levels: levels,
		Answer: &metrics.Answer{TierAnswer: metrics.TierAnswer{None: true, HeldLevel: -1}, LowestTried: 8}}
	for w, want := range map[int]string{120: "no load within SLO: 8 req/s missed (97 %)",
		40: "none in SLO: 8 req/s missed (97 %)"} {
		assert.Equal(t, verdictOf(s, w, 1, false), want, "%d columns", w)
	}
	table := stageTableText(s, 100)
	assert.Has(t, table, "90.0% !  97 %", "100.0% ?  3 requests have not ended",
		"100.0% ?  hold 40 s more  now")
}

// A stage that is not judged yet has no sign, however good its seconds were.
func TestStageWithoutAVerdict(t *testing.T) {
	t.Parallel()
	s := &metrics.Snapshot{At: 5 * time.Second, Objectives: aGoal,
		Plan: &metrics.Plan{Goodput: aGoal,
			Stages: []metrics.Stage{{Length: 10 * time.Second, Load: metrics.Load{Value: 8}}}}}
	for i := range 5 {
		w := &metrics.Window{Start: time.Duration(i) * time.Second, Counts: metrics.Counts{Sent: 8, Completed: 8}}
		w.Good = 8
		s.Windows = append(s.Windows, w)
	}
	if table := stageTableText(s, 80); !strings.Contains(table, "100.0%") || strings.ContainsAny(table, "✓!") {
		t.Errorf("the table\n%s", table)
	}
}

// Each tier has a column with its verdicts, a place in the line, and its highest load.
func TestTiersOnScreen(t *testing.T) {
	t.Parallel()
	tier := func(good int, standing metrics.Standing) metrics.LevelVerdict {
		return metrics.LevelVerdict{Requests: 100, Good: good, Standing: standing}
	}
	s := &metrics.Snapshot{
		At: 30 * time.Second, Objectives: aGoal, State: metrics.Finished,
		Plan: &metrics.Plan{Goodput: aGoal, Tiers: []metrics.Tier{{Name: "gold", SLO: aGoal},
			{Name: "silver\x1b[31m", SLO: aGoal}, {Name: "bronze", SLO: aGoal}}},
		Levels: []metrics.LoadLevel{
			levelAt(0, 20, 99, metrics.LevelWithin, tier(100, metrics.LevelWithin), tier(20, metrics.LevelMissed)),
			levelAt(10, 40, 100, metrics.LevelBehind, tier(97, metrics.LevelWithin), tier(10, metrics.LevelMissed)),
		},
		Answer: &metrics.Answer{
			TierAnswer: metrics.TierAnswer{Proven: 20, Confidence: 0.979}, Why: "no saturation up to 40 req/s",
			LowestTried: 20,
			Others:      []metrics.TierAnswer{{Proven: 39.8, ProvenLevel: 1, Confidence: 0.9}, {None: true}},
		},
	}
	for w, want := range map[int]string{
		160: "gold: 20 req/s proven (97 %) │ silver: 39.8 req/s proven (90 %) │ bronze: no load, 20 req/s missed │ " +
			"no saturation up to 40 req/s",
		100: "gold 20 req/s (97 %) │ silver 39.8 req/s (90 %) │ bronze 20 req/s missed",
	} {
		assert.Equal(t, verdictOf(s, w, 1, false), want, "verdictOf")
	}
	table := stageTableText(s, 120)
	lines := strings.Split(table, "\n")
	for i, want := range []string{"gold", "99.0% ✓  100.0% ✓   20.0% !    highest gold 97 %",
		"100.0% !   97.0% ✓   10.0% !"} {
		if !strings.Contains(lines[i], want) {
			t.Errorf("line %d: %q, want %q in\n%s", i, lines[i], want, table)
		}
	}
	if !strings.Contains(lines[2], "100.0% completed") || !strings.Contains(lines[2], "highest silver 90 %") {
		t.Errorf("the second level\n%s", lines[2])
	}
	// On the card each tier has a row.
	v := &View{Snapshot: s, Terminal: screen.Terminal{Mono: true}}
	s.Report = &metrics.Report{Plan: *s.Plan, Objectives: aGoal, Answer: *s.Answer, Levels: s.Levels}
	rows := metrics.Each(v.cardRows()[:3], func(r cardRow) string { return r.name + ": " + r.value[0].Text })
	if got, want := strings.Join(rows, "\n"),
		"gold: 20 req/s proven (97 %)\nsilver: 39.8 req/s proven (90 %)\nbronze: no load, 20 req/s missed"; got !=
		want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A search with several tiers shows their borders, and the verdicts of each on the loads it tested.
func TestBordersOnScreen(t *testing.T) {
	t.Parallel()
	s := &metrics.Snapshot{
		Objectives: aGoal, Answer: &metrics.Answer{},
		Plan: &metrics.Plan{Goodput: aGoal, Tiers: []metrics.Tier{{Name: "gold", SLO: aGoal},
			{Name: "silver", SLO: aGoal}, {Name: "bronze", SLO: aGoal}}},
		Search: &metrics.Search{Phase: metrics.SearchNarrowing, Passed: 8, Failed: 16, Load: 11.3,
			Tiers: []metrics.SearchTier{{Passed: 8, Failed: 16}, {Passed: 16}, {Failed: 8}},
			Tested: []metrics.TestedLoad{{Load: 8, Passed: true, Others: []bool{true, false}},
				{Load: 16, Others: []bool{true, false}}}},
	}
	if got, want := verdictOf(s, 160, 1, false),
		"search: testing 11.3 req/s │ gold 8–16 · silver ≥16 · bronze <8 │ tested 8 ✓✓✗ 16 ✗✓✗"; got != want {
		t.Errorf("%q\nwant %q", got, want)
	}
}
