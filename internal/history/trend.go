package history

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"benchtop/internal/parallel"
	"benchtop/internal/text"
	"benchtop/metrics"
)

// Trend is a figure of runs of one workload and load, in the order of their starts.
type Trend struct {
	Key      string   `json:"figure"`
	Workload string   `json:"workload"`
	Points   []Point  `json:"runs"`
	Changes  []Change `json:"changes"`
	// Note says which runs are left out, why there are no changes, or where they were not looked for; "" for none.
	Note string `json:"note,omitempty"`
}

// Point is the figure of a run.
type Point struct {
	Started time.Time `json:"started"`
	Name    string    `json:"name"`
	Value   float64   `json:"value"`
}

// Change is a run from which on a figure is another: the medians between the changes before and after it.
type Change struct {
	Started time.Time `json:"started"`
	Name    string    `json:"name"`
	Before  float64   `json:"before"`
	After   float64   `json:"after"`
	// Verdict is "better" or "worse", "" where that is not known.
	Verdict string `json:"verdict,omitempty"`
}

// Trends are those of a figure, by workload in the order of its first run. Runs without the figure are left out. A key
// for which no run has a number is an error.
func Trends(runs []Run, key string) (all []Trend, err error) {
	if l, known := metrics.LatencyOf(key[strings.IndexByte(key, '_')+1:]); known && l.Key() != "" {
		key += "_ms"
	}
	if err := check(runs, key); err != nil {
		return nil, fmt.Errorf("--figure %s: %w", key, err)
	}
	place, left := map[string]int{}, map[string]int{}
	for _, r := range runs {
		v, ok := Number(r.Text(key))
		if !ok {
			left[r.Workload]++
			continue
		}
		i, known := place[r.Workload]
		if !known {
			i = len(all)
			place[r.Workload], all = i, append(all, Trend{Key: key, Workload: r.Workload})
		}
		all[i].Points = append(all[i].Points, Point{r.Started, r.Name, v})
	}
	if len(all) == 0 && len(runs) > 0 {
		return nil, fmt.Errorf("--figure %s: no run has a number for it", key)
	}
	parallel.Do(runtime.GOMAXPROCS(0), len(all), func(i int) bool {
		all[i].change(left[all[i].Workload])
		return true
	})
	return all, nil
}

// change finds the changes; so many runs have not the figure.
func (t *Trend) change(without int) {
	values, changes := t.values(), []Change{}
	left := max(0, len(values)-mostSeries)
	edges := []int{left}
	for _, at := range Changes(values[left:]) {
		edges = append(edges, left+at)
	}
	edges = append(edges, len(values))
	for i, at := range edges[1 : len(edges)-1] {
		before, after := median(values[edges[i]:at]), median(values[at:edges[i+2]])
		changes = append(changes,
			Change{t.Points[at].Started, t.Points[at].Name, before, after, t.verdict(after - before)})
	}
	t.Changes = changes
	var notes []string
	if without > 0 {
		notes = append(notes, text.Count(without, "run")+" left out, without this figure")
	}
	if left > 0 {
		notes = append(notes, fmt.Sprintf("changes are looked for in the newest %d runs", mostSeries))
	}
	switch {
	case len(values) < fewestRuns:
		notes = append(notes, fmt.Sprintf("too few runs to tell a change: it takes %d or more", fewestRuns))
	case len(t.Changes) == 0:
		notes = append(notes, "no change found")
	}
	t.Note = strings.Join(notes, "; ")
}

func (t *Trend) values() []float64 {
	return metrics.Each(t.Points, func(p Point) float64 { return p.Value })
}

func median(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	n := len(values)
	return values[(n-1)/2]/2 + values[n/2]/2 // their sum may be too large
}

// verdict says which way a change of the figure goes.
func (t *Trend) verdict(by float64) string {
	if strings.HasSuffix(t.Key, "throughput") || strings.HasSuffix(t.Key, "goodput") {
		by = -by
	} else if !strings.HasSuffix(t.Key, "_ms") && t.Key != "failed" {
		return ""
	}
	return map[bool]string{by > 0: "worse", by < 0: "better"}[true]
}

// String is the change in words: +12% (85.1 to 95.3), worse.
func (c Change) String() string {
	words := fmt.Sprintf("(%s to %s)", digits(c.Before), digits(c.After))
	if c.Before != 0 {
		words = text.Change((c.After-c.Before)/math.Abs(c.Before)) + " " + words
	}
	return strings.TrimSuffix(words+", "+c.Verdict, ", ")
}

// digits writes a figure.
func digits(v float64) string { return text.Digits(v, 3) }

// Range are the least, the largest and the middle value, in words.
func (t *Trend) Range() string {
	values := t.values()
	return fmt.Sprintf("%s to %s, median %s", digits(slices.Min(values)), digits(slices.Max(values)),
		digits(median(values)))
}

// Line is the trend as a line of columns, at most so many, with a line of marks below it: a ^ where there is a change.
func (t *Trend) Line(columns int, ascii bool) string {
	values := t.values()
	n := min(columns, len(values))
	means, marks := make([]float64, n), []rune(strings.Repeat(" ", n))
	for i := range n {
		from := i * len(values) / n
		means[i] = median(values[from:max((i+1)*len(values)/n, from+1)])
	}
	for _, c := range t.Changes {
		at := slices.IndexFunc(t.Points, func(p Point) bool { return p.Name == c.Name })
		marks[at*n/len(values)] = '^'
	}
	least, most := slices.Min(means), slices.Max(means)
	floor := least - max(most-least, math.Abs(most)*1e-9, 1e-9)/7 // the lowest column is one high
	for i := range means {
		means[i] -= floor
	}
	return text.Sparkline(means, most-floor, ascii) + "\n" + strings.TrimRight(string(marks), " ")
}
