// Package compare lines up the results of several configurations of a server: the ratio of each to the first by load,
// and the highest load that keeps to limits of latency. It leaves out where results are read and where the comparison
// is written.
package compare

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"benchtop/internal/dashboard"
	"benchtop/internal/files"
	"benchtop/metrics"
)

// Configuration is what is compared: the rows of a server under a label, and its runs where they are known. The first
// is the base.
type Configuration struct {
	Label string
	Rows  []dashboard.Row
	runs  *runs
}

// Read reads the results of a configuration from files and folders, each file once. Notes name the files of folders
// that are no results, and the results that a journal tells. The rows of a folder with a table are those of the table.
func Read(paths []string) (c Configuration, notes []string, err error) {
	c.runs = &runs{byLoad: map[string][]run{}, known: map[string]bool{}}
	for _, path := range paths {
		var table, rows []dashboard.Row
		some, err := dashboard.Each(path, func(f *dashboard.File) {
			within := f.Path != path
			if filepath.Base(f.Path) == dashboard.Table && within {
				table = f.Rows
				return
			}
			if rows = append(rows, f.Rows...); !within || !strings.HasSuffix(f.Path, files.SoFar+".json") {
				c.runs.add(f)
			}
		})
		if err != nil {
			return c, nil, err
		}
		if table != nil {
			rows, some = table, nil
		}
		c.Rows, notes = append(c.Rows, rows...), append(notes, some...)
	}
	return c, notes, nil
}

// Options are the choices of a comparison. Limits are in milliseconds, slacks in percent of them.
type Options struct {
	X                    string // the title of the column of the load
	Median               bool   // compare medians of latencies instead of 99th percentiles
	TTFTMax, TPOTMax     float64
	TTFTSlack, TPOTSlack float64
}

// Concurrency is the title of the usual column of the load.
const Concurrency = "# of max concurrency."

// Keys are the titles of the columns that tell measurements apart; the first four make groups.
var Keys = []string{"Model", "Dataset Name", "Input Len", "Output Len", Concurrency, "qps"}

const groupKeyCount = 4

// settings are the titles of the columns of a server's settings. Those that differ within a configuration make groups,
// too: its rows are of several servers, whose mean is that of none.
var settings = []string{"TP Size", "PP Size", "dtype", "GPU"}

// numeric are the keys whose values are numbers.
var numeric = []string{"Input Len", "Output Len", "TP Size", "PP Size", Concurrency, "qps"}

// otherConcurrency are other titles of the column Concurrency.
var otherConcurrency = []string{"# of max concurrency", "Max Concurrency", "max_concurrency", "Concurrency"}

// Comparison is the outcome.
type Comparison struct {
	Options
	Labels []string
	Groups []Group
	// Offline are the measurements of throughput and latency, by name.
	Offline []Metric
}

// Group are the measurements of one workload.
type Group struct {
	Keys    []Key
	Metrics []Metric
	Highest []Highest
}

// Key is a value of a key column.
type Key struct{ Title, Value string }

// Metric is a figure of all configurations by load.
type Metric struct {
	Title string
	// Limit of a latency and what is still within its slack; 0 for none.
	Limit, Slack float64
	KeyTitles    []string
	Lines        []Line
}

// Line is one load. Ratios, of the second configuration and those after it to the first, are above 1 where they are
// better.
type Line struct {
	Keys   []string
	X      float64 // NaN for none
	Values []Value // of each configuration
	Ratios []float64
}

// Value is the mean of so many runs, which lie from Least to Most; all of these are NaN where a configuration was not
// measured.
type Value struct {
	Mean, Least, Most float64
	Runs              int
}

var unmeasured = Value{Mean: math.NaN(), Least: math.NaN(), Most: math.NaN()}

func (v *Value) add(x float64) {
	if v.Runs == 0 {
		*v = Value{x, x, x, 0}
	}
	n := float64(v.Runs)
	v.Mean, v.Least, v.Most = (v.Mean*n+x)/(n+1), min(v.Least, x), max(v.Most, x)
	v.Runs++
}

// Highest is the highest load at which a configuration keeps to the limits. Figures are NaN where there is none.
type Highest struct {
	Label            string
	TTFT, TPOT, Both float64 // loads
	Output           Value   // tokens/s at Both
	AtTTFT, AtTPOT   float64 // milliseconds at Both
	// Broken is the lowest load below Both that misses a limit, NaN for none.
	Broken float64
}

// the metrics of serving, whose latencies have two titles.
var servingMetrics = []struct {
	p99, median string
	latency     bool
	limit       func(o *Options) (limit, slack float64)
}{
	{"Output Tput (tok/s)", "Output Tput (tok/s)", false, func(*Options) (float64, float64) { return 0, 0 }},
	{"P99 TTFT (ms)", "Median TTFT (ms)", true, func(o *Options) (float64, float64) { return o.TTFTMax, o.TTFTSlack }},
	{"P99", "Median", true, func(o *Options) (float64, float64) { return o.TPOTMax, o.TPOTSlack }},
}

// Of compares configurations. The error says what their rows lack.
func Of(all []Configuration, o Options) (*Comparison, error) {
	c := &Comparison{Options: o}
	serving, others := make([][]dashboard.Row, len(all)), make([][]dashboard.Row, len(all))
	for i := range all {
		c.Labels = append(c.Labels, all[i].Label)
		for _, row := range all[i].Rows {
			if dashboard.KindOf(row) == dashboard.Serving {
				serving[i] = append(serving[i], normalized(row))
			} else {
				others[i] = append(others[i], row)
			}
		}
	}
	c.offline(others)
	if slices.ContainsFunc(serving, func(rows []dashboard.Row) bool { return len(rows) > 0 }) {
		if err := c.serving(serving); err != nil {
			return nil, err
		}
	}
	if len(c.Groups) == 0 && len(c.Offline) == 0 {
		return nil, errors.New("nothing to compare: no results of serving, throughput or latency")
	}
	return c, nil
}

// normalized is a row with one title for the concurrency, numbers for numeric keys, and parallel sizes.
func normalized(row dashboard.Row) dashboard.Row {
	out := dashboard.Row{}
	for title, v := range row {
		if slices.Contains(otherConcurrency, title) && row[Concurrency] == nil {
			title = Concurrency
		}
		if slices.Contains(numeric, title) {
			n, ok := dashboard.Row{title: v}.Number(title)
			if !ok {
				continue
			}
			v = n
		}
		out[title] = v
	}
	for _, titles := range sizes {
		out[titles[0]] = float64(size(row, titles))
	}
	return out
}

// serving compares the rows of each configuration.
func (c *Comparison) serving(rows [][]dashboard.Row) error {
	keys := slices.DeleteFunc(slices.Clone(Keys), func(title string) bool {
		return title != Concurrency &&
			slices.ContainsFunc(rows, func(rows []dashboard.Row) bool { return len(rows) > 0 && !has(rows, title) })
	})
	if !slices.Contains(keys, c.X) {
		return fmt.Errorf("column %q is not in all results; choose one of %s", c.X, strings.Join(keys, ", "))
	}
	apart := slices.DeleteFunc(slices.Clone(settings), func(title string) bool { return !differs(rows, title) })
	loads := slices.DeleteFunc(slices.Clone(keys), isGroupKey)
	groupKeys := slices.DeleteFunc(slices.Concat(keys, apart), func(title string) bool { return !isGroupKey(title) })
	var groups [][]Key
	of := map[string][][]dashboard.Row{} // by group and configuration
	for i := range rows {
		for _, row := range rows[i] {
			group := metrics.Each(groupKeys, func(title string) Key { return Key{title, Text(row[title])} })
			id := fmt.Sprintf("%q", group)
			if of[id] == nil {
				of[id] = make([][]dashboard.Row, len(rows))
				groups = append(groups, group)
			}
			of[id][i] = append(of[id][i], row)
		}
	}
	slices.SortFunc(groups, func(a, b []Key) int {
		return slices.CompareFunc(a, b, func(a, b Key) int { return compareTexts(a.Value, b.Value) })
	})
	for _, group := range groups {
		g := Group{Keys: group}
		for _, m := range servingMetrics {
			title := m.p99
			if c.Median {
				title = m.median
			}
			metric := c.align(of[fmt.Sprintf("%q", group)], title, m.latency, loads)
			metric.Limit, metric.Slack = m.limit(&c.Options)
			g.Metrics = append(g.Metrics, metric)
		}
		g.highest(c.Labels)
		c.Groups = append(c.Groups, g)
	}
	return nil
}

// isGroupKey reports whether the values of a column part the rows into groups, as those of settings do.
func isGroupKey(title string) bool { return slices.Index(Keys, title) < groupKeyCount }

// differs reports whether the rows of one configuration differ in a setting.
func differs(all [][]dashboard.Row, title string) bool {
	return slices.ContainsFunc(all, func(rows []dashboard.Row) bool {
		return slices.ContainsFunc(rows, func(r dashboard.Row) bool { return Text(r[title]) != Text(rows[0][title]) })
	})
}

func has(rows []dashboard.Row, title string) bool {
	return slices.ContainsFunc(rows, func(r dashboard.Row) bool { return r[title] != nil })
}

// align lines the values of a column up by the keys. Values of one configuration with equal keys are averaged. For a
// latency, rows without P99 do not count, as with vLLM.
func (c *Comparison) align(rows [][]dashboard.Row, title string, latency bool, keys []string) Metric {
	lines := map[string]*Line{}
	for i := range rows {
		dropped := latency && has(rows[i], "P99")
		for _, row := range rows[i] {
			if dropped && row["P99"] == nil {
				continue
			}
			texts := metrics.Each(keys, func(key string) string { return Text(row[key]) })
			id := strings.Join(texts, "\x00")
			if lines[id] == nil {
				lines[id] = &Line{Keys: texts, X: math.NaN(), Values: slices.Repeat([]Value{unmeasured}, len(rows))}
				if x, ok := row.Number(c.X); ok {
					lines[id].X = x
				}
			}
			if v, ok := row.Number(title); ok {
				lines[id].Values[i].add(v)
			}
		}
	}
	m := Metric{Title: title, KeyTitles: keys}
	for _, line := range lines {
		line.ratios(latency)
		m.Lines = append(m.Lines, *line)
	}
	slices.SortFunc(m.Lines, func(a, b Line) int {
		return cmp.Or(compareNumbers(a.X, b.X), slices.CompareFunc(a.Keys, b.Keys, compareTexts))
	})
	return m
}

// compareNumbers puts absent ones last.
func compareNumbers(a, b float64) int {
	switch {
	case math.IsNaN(a) && math.IsNaN(b):
		return 0
	case math.IsNaN(a):
		return 1
	case math.IsNaN(b):
		return -1
	}
	return cmp.Compare(a, b)
}

func compareTexts(a, b string) int {
	x, isX := dashboard.Row{"": a}.Number("")
	y, isY := dashboard.Row{"": b}.Number("")
	if isX && isY {
		return cmp.Compare(x, y)
	}
	return strings.Compare(a, b)
}

// ratios compares each value with the first; there is none where that is 0 or absent.
func (l *Line) ratios(latency bool) {
	base := l.Values[0].Mean
	for _, v := range l.Values[1:] {
		ratio := v.Mean / base
		if latency {
			ratio = base / v.Mean
		}
		if base == 0 {
			ratio = math.NaN()
		}
		l.Ratios = append(l.Ratios, ratio)
	}
}

// highest finds the highest loads of a group.
func (g *Group) highest(labels []string) {
	output, ttft, tpot := &g.Metrics[0], &g.Metrics[1], &g.Metrics[2]
	for i, label := range labels {
		if !ttft.measured(i) && !tpot.measured(i) && !output.measured(i) {
			continue
		}
		h := Highest{Label: label, TTFT: ttft.largest(i), TPOT: tpot.largest(i), Both: math.NaN()}
		if !math.IsNaN(h.TTFT) && !math.IsNaN(h.TPOT) {
			h.Both = min(h.TTFT, h.TPOT)
		}
		h.Output, h.AtTTFT, h.AtTPOT = output.at(i, h.Both), ttft.at(i, h.Both).Mean, tpot.at(i, h.Both).Mean
		h.Broken = lowest(ttft.broken(i, h.Both), tpot.broken(i, h.Both))
		g.Highest = append(g.Highest, h)
	}
}

// lowest is the lower of two loads, NaN for none.
func lowest(a, b float64) float64 {
	if a <= b || math.IsNaN(b) {
		return a
	}
	return b
}

func (m *Metric) measured(i int) bool {
	return slices.ContainsFunc(m.Lines, func(l Line) bool { return !math.IsNaN(l.Values[i].Mean) })
}

// Within is the limit with its slack.
func (m *Metric) Within() float64 { return m.Limit * (1 + m.Slack/100) }

// largest is the largest load of a configuration that keeps to the limit, NaN for none.
func (m *Metric) largest(i int) float64 {
	most := math.NaN()
	for _, l := range m.Lines {
		if l.Values[i].Mean <= m.Within() && !math.IsNaN(l.X) && !(l.X <= most) {
			most = l.X
		}
	}
	return most
}

// broken is the lowest load of a configuration below another one that misses the limit, NaN for none.
func (m *Metric) broken(i int, below float64) float64 {
	for _, l := range m.Lines { // by rising load
		if l.X < below && l.Values[i].Mean > m.Within() {
			return l.X
		}
	}
	return math.NaN()
}

// at is the value of a configuration at a load.
func (m *Metric) at(i int, x float64) Value {
	for _, l := range m.Lines {
		if l.X == x {
			return l.Values[i]
		}
	}
	return unmeasured
}

// offlineMetrics are those of throughput and latency, which vLLM's comparison leaves out.
var offlineMetrics = []struct {
	kind    dashboard.Kind
	title   string
	latency bool
}{
	{dashboard.Throughput, "Tput (req/s)", false},
	{dashboard.Throughput, "Tput (tok/s)", false},
	{dashboard.Latency, "Mean latency (ms)", true},
	{dashboard.Latency, "P99 latency (ms)", true},
}

// offline compares throughputs and latencies by the name of the test.
func (c *Comparison) offline(rows [][]dashboard.Row) {
	for _, o := range offlineMetrics {
		of := metrics.Each(rows, func(rows []dashboard.Row) []dashboard.Row {
			others := func(r dashboard.Row) bool { return dashboard.KindOf(r) != o.kind }
			return slices.DeleteFunc(slices.Clone(rows), others)
		})
		if slices.ContainsFunc(of, func(rows []dashboard.Row) bool { return len(rows) > 0 }) {
			c.Offline = append(c.Offline, c.align(of, o.title, o.latency, []string{"Test name"}))
		}
	}
}
