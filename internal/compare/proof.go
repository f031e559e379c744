package compare

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"benchtop/export"
	"benchtop/internal/compare/evidence"
	"benchtop/internal/dashboard"
	"benchtop/internal/files"
	"benchtop/internal/table"
	"benchtop/internal/text"
	"benchtop/metrics"
)

// Proof is the evidence on the runs of two configurations with the same load.
type Proof struct {
	evidence.Result
	// Labels are those of the two sides; Load is theirs, for a person.
	Labels [2]string
	Load   string
	// Differences of the runs that are not the server's doing.
	Differences []Difference
}

// Difference is what the runs of two sides have not in common, for a person.
type Difference struct{ What, A, B string }

// run is a saved run by its path.
type run struct {
	path string
	metrics.Report
}

// Prove compares the runs below two paths, load by load, in the order in which the first side had them. There is none
// where a side has no results of runs.
func Prove(paths, labels [2]string) (all []Proof, err error) {
	var sides [2]map[string][]run
	var loads [2][]string
	for i, path := range paths {
		if sides[i], loads[i], err = runsOf(path); err != nil {
			return nil, err
		}
	}
	for _, load := range loads[0] {
		other := load
		if sides[1][load] == nil && len(loads[0]) == 1 && len(loads[1]) == 1 {
			other = loads[1][0] // the one load of each side
		}
		a, b := sides[0][load], sides[1][other]
		if len(b) == 0 {
			continue
		}
		p := Proof{Labels: labels, Load: load}
		ra, rb := whole(a, min(len(a), len(b))), whole(b, min(len(a), len(b)))
		p.Differences = differences(ra, rb)
		p.Result = evidence.Compare(ra, rb)
		all = append(all, p)
	}
	return all, nil
}

// runsOf are the results below a path, by load.
func runsOf(path string) (byLoad map[string][]run, loads []string, err error) {
	paths := []string{path}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		if paths, err = dashboard.Results(path); err != nil {
			return nil, nil, err
		}
	}
	byLoad = map[string][]run{}
	for _, p := range paths {
		if filepath.Base(p) == dashboard.Table {
			continue
		}
		all, _, err := files.ReadResults(p)
		if err != nil {
			continue // what is no result is told where its rows are read
		}
		for _, raw := range all {
			r, err := export.ReadResult(raw)
			if err != nil {
				continue
			}
			load := loadOf(&r.Plan)
			if byLoad[load] == nil {
				loads = append(loads, load)
			}
			byLoad[load] = append(byLoad[load], run{p, r})
		}
	}
	return byLoad, loads, nil
}

// whole are the reports of runs, with those of their journals where the shorter side has too few runs to do without.
func whole(runs []run, fewest int) (all []metrics.Report) {
	for i := range runs {
		r := runs[i].Report
		if fewest < evidence.FewestRuns {
			if of, err := files.ReadReport(runs[i].path); err == nil && of.Completed == r.Completed {
				r = of
			}
		}
		all = append(all, r)
	}
	return all
}

// loadOf is the load of a result in words.
func loadOf(p *metrics.Plan) string {
	var parts []string
	if !p.Rate.Unlimited() {
		parts = append(parts, metrics.RequestsPerSecond.Text(float64(p.Rate)))
	}
	if p.MaxConcurrency > 0 {
		parts = append(parts, fmt.Sprintf("at most %d in flight", p.MaxConcurrency))
	}
	return cmp.Or(strings.Join(parts, ", "), "all at once")
}

// alike is the part by which means of lengths may differ and still be called the same.
const alike = 0.02

// differences are those of the runs of two sides that are not the server's doing.
func differences(a, b []metrics.Report) (all []Difference) {
	for _, of := range []struct {
		name string
		text func(*metrics.Report) string
	}{
		{"model", func(r *metrics.Report) string { return r.Plan.ModelID }},
		{"backend", func(r *metrics.Report) string { return r.Plan.Backend }},
		{"load", func(r *metrics.Report) string { return loadOf(&r.Plan) }},
		{"prompts", func(r *metrics.Report) string { return r.Plan.Dataset }},
		{"prefix cache", func(r *metrics.Report) string { return r.Plan.Cache }},
	} {
		x, y := joined(a, of.text), joined(b, of.text)
		if x != y && x != "" && y != "" {
			all = append(all, Difference{of.name, text.Clean(x), text.Clean(y)})
		}
	}
	for _, of := range []struct {
		name   string
		figure func(*metrics.Report) float64
		share  bool
	}{
		{"input tokens of a request", func(r *metrics.Report) float64 { return each(r.InputTokens, r.Completed) },
			false},
		{"output tokens of a request", func(r *metrics.Report) float64 { return each(r.OutputTokens, r.Completed) },
			false},
		{"prefix cache hits", func(r *metrics.Report) float64 { v, _ := r.CachedShare(); return v }, true},
	} {
		x, y := mean(a, of.figure), mean(b, of.figure)
		form, most := "%.4g", alike*max(x, y)
		if of.share {
			x, y, form, most = 100*x, 100*y, "%.0f %%", 100*alike
		}
		if math.Abs(x-y) > most {
			all = append(all, Difference{of.name, fmt.Sprintf(form, x), fmt.Sprintf(form, y)})
		}
	}
	return all
}

func each(n, of int) float64 { return float64(n) / float64(max(of, 1)) }

func mean(all []metrics.Report, of func(*metrics.Report) float64) (sum float64) {
	for i := range all {
		sum += of(&all[i])
	}
	return sum / float64(len(all))
}

// joined are the different texts of some runs.
func joined(all []metrics.Report, of func(*metrics.Report) string) string {
	var texts []string
	for i := range all {
		if t := of(&all[i]); t != "" && !slices.Contains(texts, t) {
			texts = append(texts, t)
		}
	}
	return strings.Join(texts, " and ")
}

// Tables are the differences of the runs and the evidence; none without either.
func (p *Proof) Tables() (all []Table) {
	group, a, b := "Load: "+p.Load, "A: "+p.Labels[0], "B: "+p.Labels[1]
	if len(p.Differences) > 0 {
		t := table.List("The runs differ, whatever the servers do", "", a, b)
		for _, d := range p.Differences {
			t.Add(d.What, d.A, d.B)
		}
		all = append(all, Table{Table: *t, Group: group})
	}
	if len(p.Rows) == 0 {
		return all
	}
	t := table.New("Evidence, "+cmp.Or(p.Units, "by what each run found"), "Figure", a, b, "B against A",
		"95 % interval", "Verdict", "To see 5 %")
	for i := range p.Rows {
		r := &p.Rows[i]
		var change, between, longer string
		if r.Low < r.High {
			change, between = percent(r.Change), percent(r.Low)+" to "+percent(r.High)
		}
		if r.Longer > 0 {
			longer = fmt.Sprintf("%.1f x as long", r.Longer)
		}
		t.Add(r.Name, figureText(r, r.A), figureText(r, r.B), change, between,
			table.Cell{Text: string(r.Verdict), Mark: marks[r.Verdict]}, longer)
	}
	return append(all, Table{Table: *t, Group: group})
}

var marks = map[evidence.Verdict]table.Mark{evidence.Better: table.Good, evidence.Worse: table.Slack}

// Note says why there is no evidence, "" where there may be.
func (p *Proof) Note() string {
	if p.Why == "" {
		return ""
	}
	return fmt.Sprintf(
		"No evidence at %s: %s, so that pieces of runs cannot be compared; give %d or more runs a side, "+
			"as of --num-runs %[3]d.", p.Load, p.Why, evidence.FewestRuns)
}

// figureText is a figure, with the bounds of an answer.
func figureText(r *evidence.Row, v metrics.Range) string {
	switch {
	case r.Share:
		return fmt.Sprintf("%.1f %%", 100*v.Load)
	case v.High > 0:
		return fmt.Sprintf("%.3g to %.3g", v.Low, v.High)
	case v.Low > 0:
		return fmt.Sprintf("%.3g or more", v.Low)
	}
	return decimals(v.Load)
}

// percent is a change with its sign.
func percent(v float64) string { return fmt.Sprintf("%+.1f %%", 100*v) }
