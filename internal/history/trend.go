package history

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

	"benchtop/internal/parallel"
	"benchtop/internal/text"
	"benchtop/metrics"
)

// Trend is a figure of runs of one workload and load, in the order of their starts.
type Trend struct {
	Key, Workload string
	Runs          []Run
	Values        []float64 // of each run
	Changes       []Change
	// Left are older runs, which are too many to be looked at.
	Left int
}

// Change is a run from which on a figure is another: the medians between the changes before and after it.
type Change struct {
	Run           int // its place in Runs
	Before, After float64
}

// Trends are those of a figure, by workload in the order of its first run. Runs without the figure are left out. A key
// that no run has is an error.
func Trends(runs []Run, key string) (all []Trend, err error) {
	if l, known := metrics.LatencyOf(key[strings.IndexByte(key, '_')+1:]); known && l.Key() != "" {
		key += "_ms"
	}
	if err := check(runs, key); err != nil {
		return nil, fmt.Errorf("--figure %s: %w", key, err)
	}
	place := map[string]int{}
	for _, r := range runs {
		v, ok := Number(r.Text(key))
		if !ok {
			continue
		}
		i, known := place[r.Workload]
		if !known {
			i = len(all)
			place[r.Workload], all = i, append(all, Trend{Key: key, Workload: r.Workload})
		}
		all[i].Runs, all[i].Values = append(all[i].Runs, r), append(all[i].Values, v)
	}
	parallel.Do(runtime.GOMAXPROCS(0), len(all), func(i int) bool {
		all[i].change()
		return true
	})
	return all, nil
}

// change finds the changes.
func (t *Trend) change() {
	t.Left = max(0, len(t.Values)-mostSeries)
	edges := []int{t.Left}
	for _, at := range Changes(t.Values[t.Left:]) {
		edges = append(edges, t.Left+at)
	}
	edges = append(edges, len(t.Values))
	for i, at := range edges[1 : len(edges)-1] {
		t.Changes = append(t.Changes, Change{at, median(t.Values[edges[i]:at]), median(t.Values[at:edges[i+2]])})
	}
}

func median(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

// String is the change in words: +12% (85.1 to 95.3).
func (c Change) String() string {
	words := fmt.Sprintf("(%s to %s)", Digits(c.Before), Digits(c.After))
	if c.Before != 0 {
		words = text.Change((c.After-c.Before)/math.Abs(c.Before)) + " " + words
	}
	return words
}

// Digits writes a number with three digits that count, and all before the decimal point.
func Digits(v float64) string {
	if math.Abs(v) >= 1000 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// Verdict says whether a change of the figure is for the better or worse, "" where that is not known.
func (t *Trend) Verdict(c Change) string {
	up := c.After > c.Before
	switch {
	case strings.HasSuffix(t.Key, "throughput"), strings.HasSuffix(t.Key, "goodput"):
		up = !up
	case !strings.HasSuffix(t.Key, "_ms") && t.Key != "failed":
		return ""
	}
	if c.After == c.Before { // the scatter is another
		return ", another scatter"
	}
	return map[bool]string{true: ", worse", false: ", better"}[up]
}

// Range are the least, the middle and the largest value, in words.
func (t *Trend) Range() string {
	return fmt.Sprintf("%s to %s, median %s", Digits(slices.Min(t.Values)), Digits(slices.Max(t.Values)),
		Digits(median(t.Values)))
}

// Note says why there are no changes, or where they were not looked for; "" for neither.
func (t *Trend) Note() string {
	switch {
	case len(t.Values) < fewestRuns:
		return fmt.Sprintf("too few runs to tell a change: it takes %d or more", fewestRuns)
	case t.Left > 0:
		return fmt.Sprintf("changes are looked for in the newest %d runs", mostSeries)
	case len(t.Changes) == 0:
		return "no change found"
	}
	return ""
}

// Line is the trend as a line of columns, at most so many, with a line of marks below it: a ^ where there is a change.
func (t *Trend) Line(columns int, ascii bool) string {
	n := min(columns, len(t.Values))
	means, marks := make([]float64, n), []rune(strings.Repeat(" ", n))
	for i := range n {
		means[i] = median(t.Values[i*len(t.Values)/n : max((i+1)*len(t.Values)/n, i*len(t.Values)/n+1)])
	}
	for _, c := range t.Changes {
		marks[c.Run*n/len(t.Values)] = '^'
	}
	least, most := slices.Min(means), slices.Max(means)
	floor := least - max(most-least, math.Abs(most)*1e-9, 1e-9)/7 // the lowest column is one high
	for i := range means {
		means[i] -= floor
	}
	return text.Sparkline(means, most-floor, ascii) + "\n" + strings.TrimRight(string(marks), " ")
}
