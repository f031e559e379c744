// Package compare lines up the results of several configurations of a server: the ratio of each to the first by load, and the highest
// load that keeps to limits of latency. It leaves out where results are read and where the comparison is written.
package compare

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"benchtop/internal/dashboard"
)

// Configuration is what is compared: the rows of a server under a label. The first is the base.
type Configuration struct {
	Label string
	Rows  []dashboard.Row
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

const groupKeys = 4

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

// Line is one load. Values are NaN where a configuration was not measured. Ratios, of the second configuration and those after it to the
// first, are above 1 where they are better.
type Line struct {
	Keys   []string
	X      float64 // NaN for none
	Values []float64
	Ratios []float64
	// Each value is the mean of Runs, which lie from Least to Most; these are NaN for none.
	Runs        []int
	Least, Most []float64
}

// Highest is the highest load at which a configuration keeps to the limits. Figures are NaN where there is none.
type Highest struct {
	Label            string
	TTFT, TPOT, Both float64 // loads
	Output           float64 // tokens/s at Both: the mean of so many Runs, from Least to Most
	Runs             int
	Least, Most      float64
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
		return title != Concurrency && slices.ContainsFunc(rows, func(rows []dashboard.Row) bool { return len(rows) > 0 && !has(rows, title) })
	})
	if !slices.Contains(keys, c.X) {
		return fmt.Errorf("column %q is not in all results; choose one of %s", c.X, strings.Join(keys, ", "))
	}
	apart := slices.DeleteFunc(slices.Clone(settings), func(title string) bool { return !differs(rows, title) })
	groups := map[string][]Key{}
	grouped := make([]map[string][]dashboard.Row, len(rows))
	for i := range rows {
		grouped[i] = map[string][]dashboard.Row{}
		for _, row := range rows[i] {
			id, group := "", []Key(nil)
			for _, title := range slices.Concat(keys, apart) {
				if slices.Index(Keys, title) < groupKeys {
					k := Key{title, Text(row[title])}
					id += k.Value + "\x00"
					group = append(group, k)
				}
			}
			groups[id] = group
			grouped[i][id] = append(grouped[i][id], row)
		}
	}
	var ids []string
	for id := range groups {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b string) int {
		return slices.CompareFunc(groups[a], groups[b], func(a, b Key) int { return compareTexts(a.Value, b.Value) })
	})
	for _, id := range ids {
		g := Group{Keys: groups[id]}
		of := make([][]dashboard.Row, len(rows))
		for i := range rows {
			of[i] = grouped[i][id]
		}
		for _, m := range servingMetrics {
			title := m.p99
			if c.Median {
				title = m.median
			}
			metric := Metric{Title: title}
			metric.Limit, metric.Slack = m.limit(&c.Options)
			c.align(&metric, of, title, m.latency, slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return slices.Index(Keys, k) < groupKeys }))
			g.Metrics = append(g.Metrics, metric)
		}
		g.highest(c.Labels)
		c.Groups = append(c.Groups, g)
	}
	return nil
}

// differs reports whether the rows of one configuration differ in a setting.
func differs(all [][]dashboard.Row, title string) bool {
	return slices.ContainsFunc(all, func(rows []dashboard.Row) bool {
		return slices.ContainsFunc(rows, func(r dashboard.Row) bool { return Text(r[title]) != Text(rows[0][title]) })
	})
}

func has(rows []dashboard.Row, title string) bool {
	return slices.ContainsFunc(rows, func(r dashboard.Row) bool { return r[title] != nil })
}

// align lines the values of a column up by the keys. Values of one configuration with equal keys are averaged. For a latency, rows without
// P99 do not count, as with vLLM.
func (c *Comparison) align(m *Metric, rows [][]dashboard.Row, title string, latency bool, keys []string) {
	m.KeyTitles = keys
	lines := map[string]*Line{}
	for i := range rows {
		dropped := latency && has(rows[i], "P99")
		for _, row := range rows[i] {
			if dropped && row["P99"] == nil {
				continue
			}
			var texts []string
			for _, k := range keys {
				texts = append(texts, Text(row[k]))
			}
			id := strings.Join(texts, "\x00")
			line := lines[id]
			if line == nil {
				line = &Line{Keys: texts, X: math.NaN(), Values: nans(len(rows)), Runs: make([]int, len(rows)), Least: nans(len(rows)), Most: nans(len(rows))}
				if x, ok := row.Number(c.X); ok {
					line.X = x
				}
				lines[id] = line
			}
			v, ok := row.Number(title)
			if !ok {
				continue
			}
			n := float64(line.Runs[i])
			if n == 0 {
				line.Values[i], line.Least[i], line.Most[i] = 0, v, v
			}
			line.Least[i], line.Most[i] = min(line.Least[i], v), max(line.Most[i], v)
			line.Values[i] = (line.Values[i]*n + v) / (n + 1)
			line.Runs[i]++
		}
	}
	for _, line := range lines {
		line.ratios(latency)
		m.Lines = append(m.Lines, *line)
	}
	slices.SortFunc(m.Lines, func(a, b Line) int {
		return cmp.Or(compareNumbers(a.X, b.X), slices.CompareFunc(a.Keys, b.Keys, compareTexts))
	})
}

func nans(n int) []float64 {
	return slices.Repeat([]float64{math.NaN()}, n)
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
	base := l.Values[0]
	for _, v := range l.Values[1:] {
		ratio := v / base
		if latency {
			ratio = base / v
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
		h := Highest{Label: label, TTFT: ttft.largest(i), TPOT: tpot.largest(i), Both: math.NaN(), Broken: math.NaN()}
		if !math.IsNaN(h.TTFT) && !math.IsNaN(h.TPOT) {
			h.Both = min(h.TTFT, h.TPOT)
		}
		h.Output, h.AtTTFT, h.AtTPOT = output.at(i, h.Both), ttft.at(i, h.Both), tpot.at(i, h.Both)
		h.Least, h.Most = math.NaN(), math.NaN()
		for _, l := range output.Lines {
			if l.X == h.Both {
				h.Runs, h.Least, h.Most = l.Runs[i], l.Least[i], l.Most[i]
				break // as at
			}
		}
		for _, m := range []*Metric{ttft, tpot} {
			for _, l := range m.Lines {
				if l.X < h.Both && l.Values[i] > m.Within() && !(l.X >= h.Broken) {
					h.Broken = l.X
				}
			}
		}
		g.Highest = append(g.Highest, h)
	}
}

func (m *Metric) measured(i int) bool {
	return slices.ContainsFunc(m.Lines, func(l Line) bool { return !math.IsNaN(l.Values[i]) })
}

// Within is the limit with its slack.
func (m *Metric) Within() float64 { return m.Limit * (1 + m.Slack/100) }

// largest is the largest load of a configuration that keeps to the limit, NaN for none.
func (m *Metric) largest(i int) float64 {
	most := math.NaN()
	for _, l := range m.Lines {
		if l.Values[i] <= m.Within() && !math.IsNaN(l.X) && !(l.X <= most) {
			most = l.X
		}
	}
	return most
}

// at is the value of a configuration at a load, NaN for none.
func (m *Metric) at(i int, x float64) float64 {
	for _, l := range m.Lines {
		if l.X == x {
			return l.Values[i]
		}
	}
	return math.NaN()
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
		of := make([][]dashboard.Row, len(rows))
		any := false
		for i := range rows {
			of[i] = slices.DeleteFunc(slices.Clone(rows[i]), func(r dashboard.Row) bool { return dashboard.KindOf(r) != o.kind })
			any = any || len(of[i]) > 0
		}
		if !any {
			continue
		}
		m := Metric{Title: o.title}
		c.align(&m, of, o.title, o.latency, []string{"Test name"})
		c.Offline = append(c.Offline, m)
	}
}
