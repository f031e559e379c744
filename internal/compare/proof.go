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
	// Failed: no request of B succeeded, and some of A did.
	Failed bool
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
	var sides [2]*runs
	for i, path := range paths {
		if sides[i], err = runsOf(path); err != nil {
			return nil, err
		}
	}
	for _, load := range sides[0].loads {
		other := load
		if others := sides[1].loads; sides[1].byLoad[load] == nil && len(sides[0].loads) == 1 && len(others) == 1 {
			other = others[0] // the one load of each side
		}
		a, b := sides[0].byLoad[load], sides[1].byLoad[other]
		if len(b) == 0 {
			continue
		}
		p := Proof{Labels: labels, Load: load}
		ra, rb := whole(a, min(len(a), len(b))), whole(b, min(len(a), len(b)))
		p.Differences = differences(ra, rb)
		p.Result = evidence.Compare(ra, rb)
		if slices.ContainsFunc(p.Differences, func(d Difference) bool { return d.What == "objectives" }) {
			p.Rows = slices.DeleteFunc(p.Rows,
				func(r evidence.Row) bool { return r.Key == "goodput" || r.Key == "slo" })
		}
		p.Failed = mean(ra, successes) > 0 && mean(rb, successes) == 0
		all = append(all, p)
	}
	return all, nil
}

// mostRuns bounds the runs of a side at a load; with more, nothing more can be told.
const mostRuns = 500

// Identity tells the run of a result from others: a sweep keeps each in a file of its own, and all in another.
func Identity(r *metrics.Report) string {
	return fmt.Sprint(r.Plan.Started.Unix(), r.Plan.ModelID, r.Duration, r.Completed, r.InputTokens,
		r.Statistics[metrics.TTFT].Mean)
}

// runs are the results of a side by workload and load, each run once.
type runs struct {
	byLoad map[string][]run
	loads  []string // in the order in which they came
	known  map[string]bool
}

// runsOf are the results below a path.
func runsOf(path string) (*runs, error) {
	paths := []string{path}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		if paths, err = dashboard.Files(path, ".json"); err != nil {
			return nil, err
		}
		paths = slices.DeleteFunc(paths, func(p string) bool {
			return filepath.Base(p) == dashboard.Table || strings.HasSuffix(p, files.SoFar+".json")
		})
	}
	out := &runs{byLoad: map[string][]run{}, known: map[string]bool{}}
	for _, p := range paths {
		out.read(p)
	}
	return out, nil
}

// read adds the results of a file. What is no result is told where the rows of the tables are read.
func (x *runs) read(path string) {
	all, _, err := files.ReadResults(path)
	if err != nil {
		return
	}
	for _, raw := range all {
		r, err := export.ReadResult(raw)
		id := Identity(&r)
		if err != nil || x.known[id] {
			continue
		}
		x.known[id] = true
		load, _ := Workload(path, raw, &r.Plan)
		if x.byLoad[load] == nil {
			x.loads = append(x.loads, load)
		}
		if len(x.byLoad[load]) < mostRuns {
			x.byLoad[load] = append(x.byLoad[load], run{path, r})
		}
	}
}

// Workload is the workload and the load of a result of a file, in words: the data set and the lengths, as the tables
// below part them, and the load of its plan, which comes alone as well. Runs with the same can be compared.
func Workload(path string, result []byte, p *metrics.Plan) (words, load string) {
	var parts []string
	if rows, _ := dashboard.Rows(path, result); len(rows) == 1 {
		for _, title := range Keys[1:groupKeyCount] {
			if v := Text(rows[0][title]); v != "" {
				parts = append(parts, strings.ToLower(title)+" "+v)
			}
		}
	}
	load = loadOf(p)
	return strings.Join(append(parts, load), ", "), load
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
	load := func(r *metrics.Report) string { return r.Plan.Load }
	for _, r := range slices.Concat(a, b) {
		if r.Plan.Load == "" { // as a result without its journal
			load = func(r *metrics.Report) string { return loadOf(&r.Plan) }
		}
	}
	for _, of := range []struct {
		name string
		text func(*metrics.Report) string
	}{
		{"model", func(r *metrics.Report) string { return r.Plan.ModelID }},
		{"backend", func(r *metrics.Report) string { return r.Plan.Backend }},
		{"load", load},
		{"objectives", func(r *metrics.Report) string { return r.Plan.Goodput.String() }},
		{"sampling and body", sampling},
		{"client", func(r *metrics.Report) string { return export.ClientState(*r) }},
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
		if math.IsNaN(x) || math.IsNaN(y) || x == 0 && !of.share || y == 0 && !of.share {
			continue
		}
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

func successes(r *metrics.Report) float64 { return float64(r.Completed) }

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
	slices.Sort(texts)
	return strings.Join(texts, " and ")
}

// sampling are the settings of a run that change what a server does with a request.
func sampling(r *metrics.Report) string {
	if r.Plan.Spec == nil {
		return ""
	}
	var all []string
	for _, s := range r.Plan.Spec {
		switch s.Flag {
		case "temperature", "top-p", "top-k", "min-p", "frequency-penalty", "presence-penalty", "repetition-penalty",
			"extra-body", "ignore-eos", "logprobs":
			all = append(all, s.Flag+" "+strings.Join(s.Values, " "))
		}
	}
	return cmp.Or(strings.Join(all, ", "), "as the server has them")
}

// Tables are the differences of the runs and the evidence; none without either.
func (p *Proof) Tables() (all []Table) {
	group, a, b := "Workload: "+p.Load, "A: "+p.Labels[0], "B: "+p.Labels[1]
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
		if r.Low < r.High || !math.IsNaN(r.Change) && r.Verdict != evidence.None {
			change, between = percent(r.Change), percent(r.Low)+" to "+percent(r.High)
		}
		switch {
		case math.IsInf(r.Longer, 1):
			longer = "does not settle"
		case r.Longer > 0:
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
		"No evidence for %s: %s, so that pieces of runs cannot be compared; give %d or more runs a side, "+
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
