package panels

import (
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/tui/screen"
	"benchtop/tui/tuitest"
)

// flat is a run of a minute with the same load in each second, so that its lines are level.
func flat(marks ...metrics.LogEntry) metrics.Snapshot {
	s := metrics.Snapshot{At: time.Minute, Plan: &metrics.Plan{}, State: metrics.Running, Marks: marks}
	for i := range 60 {
		s.Windows = append(s.Windows, &metrics.Window{Start: time.Duration(i) * time.Second, Running: 11})
	}
	return s
}

func draw(p plot, w, h int) []string {
	sf := screen.NewSurface(w, h)
	sf.Terminal = p.v.Terminal
	p.draw(sf.All())
	return strings.Split(sf.Render(&screen.Palette{Mono: true}), "\n")
}

func loadOf(s *metrics.Snapshot) plot {
	p := loadPlot(&View{Snapshot: s})
	p.series = p.series[:1]
	return p
}

func TestPhase(t *testing.T) {
	for _, c := range []struct {
		at    time.Duration
		state metrics.State
		want  string
	}{
		{5 * time.Second, metrics.Running, " · stage 1/5 · warm-up"},
		{10 * time.Second, metrics.Running, " · stage 1/5"},
		{15 * time.Second, metrics.Running, " · stage 2/5"},
		{500 * time.Second, metrics.Draining, " · stage 5/5"},
		{500 * time.Second, metrics.Finished, ""},
	} {
		s := tuitest.Judge(tuitest.Mid())
		s.At, s.State = c.at, c.state
		assert.Equal(t, textOf(phase(&s)), c.want, "at %s, %s", c.at, c.state)
	}
	s := tuitest.Mid()
	if got := phase(&s); got != nil {
		t.Errorf("without stages: %v", got)
	}
	s.State, s.Report = metrics.Finished, &metrics.Report{Steered: 2}
	if got := phase(&s); len(got) != 2 || got[1].Text != "changed manually" {
		t.Errorf("after a run whose load was changed manually: %v", got)
	}
	if s.Search = (&metrics.Search{Phase: metrics.SearchDone}); phase(&s) != nil {
		t.Errorf("after a search: %v", phase(&s))
	}
}

// The warm-up is part of the plan's requests, though not of its figures.
func TestWarmupInProgress(t *testing.T) {
	s := metrics.Snapshot{State: metrics.Running, Plan: &metrics.Plan{Requests: 100, Warmup: 10 * time.Second}}
	for _, c := range []struct {
		at       time.Duration
		counts   metrics.Counts
		portion  float64
		progress string
		note     string
	}{
		{5 * time.Second, metrics.Counts{WarmedUp: 25}, 0.25, " 00:05 25/100 -75", " · 25 warm-up"},
		{20 * time.Second, metrics.Counts{WarmedUp: 25, Completed: 20, Failed: 4, Cancelled: 1}, 0.5,
			" 00:20 50/100 -50", " · 20 done"},
	} {
		s.At, s.Totals = c.at, c.counts
		done, _ := portion(&s)
		words, note := textOf(progress(&s, s.State)), (&View{Snapshot: &s}).progressNotes()[0]
		if done != c.portion || words != c.progress || !strings.HasSuffix(note, c.note) {
			t.Errorf("%s: portion %g, %q, %q", c.at, done, words, note)
		}
	}
}
