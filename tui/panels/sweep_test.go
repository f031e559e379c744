package panels

import (
	"math"
	"slices"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/metrics/grid"
	"benchtop/tui/screen"
	"benchtop/tui/tuitest"
)

// The keys that differ head the columns, their values are the cells; names with other keys stay as they are.
func TestDifferingParameters(t *testing.T) {
	for _, c := range []struct {
		names, values []string
		keys          string
		ok            bool
	}{
		{[]string{"a=1, b=2", "a=1, b=3"}, []string{"2", "3"}, "b", true},
		{[]string{"a=1, b=2", "a=2, b=3"}, []string{"1, 2", "2, 3"}, "a, b", true},
		{[]string{"rate=inf", "", "rate=x=y"}, []string{"inf", "", "x=y"}, "rate", true},
		{[]string{"a=1", "b=1"}, nil, "", false},
		{[]string{"a=1", "a=[1, 2]"}, nil, "", false},
		{[]string{"low", "high"}, nil, "", false},
	} {
		keys, values, ok := differing(c.names)
		if strings.Join(keys, ", ") != c.keys || !slices.Equal(values, c.values) || ok != c.ok {
			t.Errorf("%q: %q, %q, %t; want %q, %q, %t", c.names, keys, values, ok, c.keys, c.values, c.ok)
		}
	}
}

// A star is at the best of each figure, whichever way that is better; figures that are missing win nothing.
func TestBestOfASweep(t *testing.T) {
	cell := func(throughput, ttft float64) grid.Cell {
		return grid.Cell{State: grid.Done,
			Runs: []grid.Run{{State: grid.Done,
				Figures: grid.Figures{OutputThroughput: throughput, P99TTFT: ttft, Goodput: math.NaN()}}}}
	}
	v := NewSweepView(
		&grid.Snapshot{Cells: []grid.Cell{cell(10, 5), cell(20, 9), cell(math.NaN(), math.NaN()),
			{State: grid.Failed}}}, SweepList{})
	for name, want := range map[string]int{"tok/s": 1, "TTFT p99": 0} {
		if best, _ := v.best(figureNamed(name)); best == nil || best.at != want {
			t.Errorf("the best %s is that of %+v, want combination %d", name, best, want)
		}
	}
	if best, _ := v.best(figureNamed("good/s")); best != nil {
		t.Error("a figure that none has is best somewhere")
	}
}

// The runs of a series of starts have the figures of starts, and nothing that no run has.
func TestRunsOfStarts(t *testing.T) {
	f := grid.Unknown()
	f.Ready, f.FirstToken = 2000, 2500
	runs := []grid.Run{{State: grid.Done, Figures: f}}
	s := &grid.Snapshot{Current: -1, Cells: []grid.Cell{{State: grid.Done, Load: "cold", Runs: runs}}}
	sf := screen.NewSurface(60, 12)
	NewSweepView(s, SweepList{}).drawDetail(sf.All())
	text := sf.Render(&screen.Palette{Mono: true})
	for word, shown := range map[string]bool{"ready": true, "1st token": true, "2.50s": true,
		"tok/s": false, "TTFT": false, "completed": false} {
		if strings.Contains(text, word) != shown {
			t.Errorf("%s is wrong in\n%s", word, text)
		}
	}
}

// The table of two sides stands below them in place of the detail, and says how many lines have no room.
func TestTableOfSides(t *testing.T) {
	s := &grid.Snapshot{Current: -1, Server: grid.Server{State: grid.ServerForeign},
		Cells: make([]grid.Cell, 2), Table: &grid.Table{Title: "A against B"}}
	for _, line := range []string{"Figure  A  B", "Mean TTFT  1  2", "Mean TPOT  1  1", "Failed  0  0"} {
		s.Table.Lines = append(s.Table.Lines, grid.TableLine{Text: line})
	}
	for h, shown := range map[int]map[string]bool{
		24: {"A against B": true, "Mean TTFT  1  2": true, "Failed  0  0": true, "in the report": false},
		12: {"Mean TTFT  1  2": true, "Mean TPOT": false, "2 more, in the report": true}} {
		v, sf := NewSweepView(s, SweepList{}), screen.NewSurface(80, h)
		v.Draw(sf.All(), v.Layout(SweepGrid, 80, h))
		text := sf.Render(&screen.Palette{Mono: true})
		for word, want := range shown {
			if strings.Contains(text, word) != want {
				t.Errorf("%d lines: %q is wrong in\n%s", h, word, text)
			}
		}
	}
}

// Columns that do not fit lose from the widest.
func TestShrink(t *testing.T) {
	for _, c := range []struct {
		widths, want [3]int
		w            int
	}{
		{[3]int{10, 10, 0}, [3]int{10, 10, 0}, 20},
		{[3]int{30, 10, 0}, [3]int{10, 10, 0}, 20},
		{[3]int{30, 10, 4}, [3]int{16, 10, 4}, 30},
		{[3]int{9, 9, 9}, [3]int{3, 3, 3}, 9},
		{[3]int{9, 9, 9}, [3]int{0, 0, 0}, 0},
	} {
		assert.Equal(t, shrink(c.widths, c.w), c.want, "%v in %d", c.widths, c.w)
	}
}

// A load that is one of the benchmark's parameters is shown once; one that only begins like it is another.
func TestLoadIsSaidOnce(t *testing.T) {
	v := NewSweepView(&grid.Snapshot{Cells: []grid.Cell{
		{Bench: "n=5, max_concurrency=16", Load: "max_concurrency=16"},
		{Bench: "max_concurrency=16", Load: "max_concurrency=1"},
	}}, SweepList{})
	if got := v.cells[0].name(); got != "n=5, max_concurrency=16" {
		t.Errorf("%q", got)
	}
	if got := v.cells[1].names()[2]; got != "max_concurrency=1" {
		t.Errorf("%q", got)
	}
}

// A sweep that a failure ended before its last combination is not done.
func TestSweepThatEndedEarly(t *testing.T) {
	for _, c := range []struct {
		last grid.State
		stop bool
		want string
	}{
		{grid.Done, false, "✓ DONE"}, {grid.Waiting, false, "■ INCOMPLETE"}, {grid.Waiting, true, "■ STOPPED"},
		{grid.Failed, false, "✗ 1 FAILED"},
		{grid.Linked, false, "✓ DONE"},
	} {
		v := NewSweepView(&grid.Snapshot{Over: true, Cells: []grid.Cell{{State: grid.Done}, {State: c.last}}},
			SweepList{})
		v.Stopping = c.stop
		assert.Equal(t, v.sweepState().Text, c.want, "%s, stopped %t", c.last, c.stop)
	}
}

// While a search is on, its brackets alone are shown; at the end those of all parameters, under the values that differ.
// The loads of each search stand in order.
func TestSearchesOfSeveralServers(t *testing.T) {
	s := grid.Snapshot{}
	for _, server := range []string{"seqs=8, len=4", "seqs=32, len=4"} {
		s.Searches = append(s.Searches, grid.Search{Server: server, Tier: "gold"},
			grid.Search{Server: server, Tier: "bronze"})
		for _, load := range []string{"16", "64", "4", "5.5"} {
			s.Cells = append(s.Cells, grid.Cell{Server: server, Bench: "rate=" + load + ", n=5", Load: "rate=" + load})
		}
	}
	shown := func() (tiers, rows []string) {
		v := NewSweepView(&s, SweepList{})
		for _, x := range v.searches {
			tiers = append(tiers, x.Tier)
		}
		for _, c := range v.rows() {
			rows = append(rows, strings.TrimSuffix(strings.TrimPrefix(c.Bench, "rate="), ", n=5"))
		}
		return tiers, rows
	}
	tiers, rows := shown()
	assert.EqualAll(t, tiers, []string{"gold", "bronze"}, "during the second search")
	assert.EqualAll(t, rows, strings.Fields("4 5.5 16 64 4 5.5 16 64"), "rows")
	s.Over = true
	if tiers, _ = shown(); !slices.Equal(tiers, []string{"8 gold", "8 bronze", "32 gold", "32 bronze"}) {
		t.Errorf("at the end %q", tiers)
	}
}

// The best of the repeats of one command is theirs, and needs no name.
func TestCardOfRepeats(t *testing.T) {
	s := tuitest.Repeats()
	for _, line := range NewSweepView(&s, SweepList{}).card() {
		if strings.Contains(line[1].Text, "base command") {
			t.Errorf("%s %s", line[0].Text, line[1].Text)
		}
	}
}

// A terminal is named by how far a series is: of one combination by its runs, as on the screen.
func TestTerminalTitle(t *testing.T) {
	for want, s := range map[string]grid.Snapshot{
		"benchtop sweep serve · llama-3-8b ● RUN 1/3":  tuitest.Repeats(),
		"benchtop sweep serve · llama-3-8b ● RUN 9/11": tuitest.Sweep(),
	} {
		assert.Equal(t, NewSweepView(&s, SweepList{}).TerminalTitle(), want, "NewSweepView")
	}
}
