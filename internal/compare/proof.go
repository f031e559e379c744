package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
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

// run is a saved run by its path; told is its report where its journal told it.
type run struct {
	path string
	metrics.Report
	told *metrics.Report
}

// Prove compares the runs of two configurations that were read, load by load, in the order in which the first one had
// them. There is none where one has no results of runs.
func Prove(a, b *Configuration) (all []Proof) {
	for _, load := range a.runs.loads {
		x, y := a.runs.byLoad[load], b.runs.byLoad[counterpart(load, a.runs, b.runs)]
		if len(y) > 0 {
			fewest := min(len(x), len(y))
			all = append(all, ProofOf([2]string{a.Label, b.Label}, load, whole(x, fewest), whole(y, fewest)))
		}
	}
	return all
}

// counterpart is what a load of one side is compared with: the same workload and load of the other side, or its only
// one where both have one, or the only one of the same load where a side does not tell its workload, as results of
// other benchmarks do not.
func counterpart(load string, of, other *runs) string {
	if other.byLoad[load] != nil {
		return load
	}
	if len(of.loads) == 1 && len(other.loads) == 1 {
		return other.loads[0]
	}
	plain := loadOf(&of.byLoad[load][0].Plan)
	alike := func(x *runs) (all []string) {
		for _, l := range x.loads {
			if loadOf(&x.byLoad[l][0].Plan) == plain {
				all = append(all, l)
			}
		}
		return all
	}
	own, others := alike(of), alike(other)
	if len(own) == 1 && len(others) == 1 && (own[0] == plain || others[0] == plain) {
		return others[0]
	}
	return ""
}

// ProofOf compares the runs of two sides, which are of one load.
func ProofOf(labels [2]string, load string, a, b []metrics.Report) Proof {
	return ProofBy(labels, load, a, b, evidence.Compare(a, b))
}

// ProofBy is the proof of the runs of two sides with what they are evidence of.
func ProofBy(labels [2]string, load string, a, b []metrics.Report, r evidence.Result) Proof {
	p := Proof{Labels: labels, Load: load, Result: r, Differences: differences(a, b)}
	if slices.ContainsFunc(p.Differences, func(d Difference) bool { return d.What == "objectives" }) {
		p.Rows = slices.DeleteFunc(p.Rows, func(r evidence.Row) bool { return r.Key == "goodput" || r.Key == "slo" })
	}
	p.Failed = mean(a, successes) > 0 && mean(b, successes) == 0
	return p
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

// add adds the results of a file. What is no result is told where the rows of the tables are read.
func (x *runs) add(f *dashboard.File) {
	for _, raw := range f.Results {
		r, err := export.ReadResult(raw)
		id := Identity(&r)
		if err != nil || x.known[id] {
			continue
		}
		x.known[id] = true
		load, _ := Workload(f.Path, raw, &r.Plan)
		if x.byLoad[load] == nil {
			x.loads = append(x.loads, load)
		}
		if n := len(x.byLoad[load]); n < mostRuns {
			one := run{path: f.Path, Report: r}
			if n < evidence.FewestRuns { // more runs do without their journals
				one.told = f.Report
			}
			x.byLoad[load] = append(x.byLoad[load], one)
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
		switch of := runs[i].told; {
		case fewest >= evidence.FewestRuns:
		case of != nil:
			r = *of
		default:
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
		rate := metrics.RequestsPerSecond.Text(float64(p.Rate))
		if p.Burstiness != 1 && p.Burstiness > 0 { // 0 is not told
			rate += fmt.Sprintf(" (burstiness %s)", metrics.Rate(p.Burstiness))
		}
		parts = append(parts, rate)
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
		{"benchmark", func(r *metrics.Report) string { return cmp.Or(text.Clean(r.Tool), "benchtop or vLLM") }},
		{"model", func(r *metrics.Report) string { return r.Plan.ModelID }},
		{"backend", func(r *metrics.Report) string { return r.Plan.Backend }},
		{"load", load},
		{"objectives", func(r *metrics.Report) string { return r.Plan.Goodput.String() }},
		{"sampling and body", sampling},
		{"client", func(r *metrics.Report) string {
			state := export.ClientState(*r)
			if len(a)+len(b) > 2 { // details differ from run to run
				state, _, _ = strings.Cut(state, " (")
			}
			return state
		}},
		{"prompts", func(r *metrics.Report) string { return r.Plan.Dataset }},
		{"part of the load", func(r *metrics.Report) string { return cmp.Or(r.Plan.Part.String(), "all") }},
		{"prefix cache", func(r *metrics.Report) string { return r.Plan.Cache }},
		{"users", func(r *metrics.Report) string { return cmp.Or(r.Plan.Users(), "wait") }},
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
		form, most := func(v float64) string { return text.Digits(v, 4) }, alike*max(x, y)
		if of.share {
			form, most = func(v float64) string { return fmt.Sprintf("%.0f %%", 100*v) }, alike
		}
		if math.Abs(x-y) > most {
			all = append(all, Difference{of.name, form(x), form(y)})
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
		plain := table.List(t.Title, "what", "a", "b")
		for _, d := range p.Differences {
			t.Add(d.What, d.A, d.B)
		}
		plain.Rows = t.Rows
		all = append(all, Table{Table: *t, Group: group, plain: plain})
	}
	if len(p.Rows) > 0 {
		t := p.evidence(a, b)
		t.Group = group
		all = append(all, t)
	}
	return all
}

// evidence is the table of the rows, with the titles of both sides.
func (p *Proof) evidence(a, b string) Table {
	t := table.New("Evidence, "+cmp.Or(p.Units, "by what each run found"), "Figure", a, b, "B against A",
		fmt.Sprintf("%.0f %% interval", 100*p.Confidence), "Verdict", "To see 5 %")
	plain := table.New(t.Title, "figure", "a", "b", "change", "low", "high", "verdict", "times_as_long")
	for i := range p.Rows {
		r := &p.Rows[i]
		var change, between, longer string
		if decided := marks[r.Verdict] != ""; r.Low < r.High || decided && !math.IsNaN(r.Change) {
			change, between = percent(r.Change), percent(r.Low)+" to "+percent(r.High)
		}
		switch {
		case math.IsInf(r.Longer, 1):
			longer = "does not settle"
		case r.Longer > 100:
			longer = "over 100 x as long"
		case r.Longer > 0:
			longer = fmt.Sprintf("%.1f x as long", r.Longer)
		}
		t.Add(r.Name, figureText(r, r.A), figureText(r, r.B), change, between,
			table.Cell{Text: string(r.Verdict), Mark: marks[r.Verdict]}, longer)
		plain.Add(r.Key, plainText(r, r.A), plainText(r, r.B), exact(r.Change), exact(r.Low), exact(r.High), r.Verdict,
			exact(r.Longer))
	}
	return Table{Table: *t, plain: plain}
}

// Short is the evidence with short titles, for a screen.
func (p *Proof) Short() Table { return p.evidence("A", "B") }

var marks = map[evidence.Verdict]table.Mark{evidence.Better: table.Good, evidence.Worse: table.Slack}

// exact is a number for a program, of a share and a change as a part of 1; "" for none.
func exact(v float64) string {
	if !text.Finite(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// plainText is a figure for a program, the bounds of an answer in words.
func plainText(r *evidence.Row, v metrics.Range) string {
	if v.Low > 0 || v.High > 0 {
		return figureText(r, v)
	}
	return exact(v.Load)
}

// Note says why there is no evidence, "" where there may be.
func (p *Proof) Note() string {
	if p.Why == "" {
		return ""
	}
	return fmt.Sprintf(
		"No evidence for %s: %s, so that pieces of runs cannot be compared; give %d or more runs a side, "+
			"as of --num-runs %[3]d.", p.Load, p.Why, evidence.FewestRuns)
}

// Multiplicity says by how much verdicts by chance add up over several loads, "" for one.
func Multiplicity(proofs []Proof) string {
	tested := 0
	for i := range proofs {
		if slices.ContainsFunc(proofs[i].Rows, func(r evidence.Row) bool { return !math.IsNaN(r.Change) }) {
			tested++
		}
	}
	if tested < 2 {
		return ""
	}
	return fmt.Sprintf("Verdicts are corrected for the figures of one load, not for all %d: of servers that are "+
		"alike, up to %.0f %% of such comparisons have a verdict by chance.", tested,
		100*min(1, float64(tested)*(1-evidence.Confidence)))
}

// figureText is a figure, with the bounds of an answer.
func figureText(r *evidence.Row, v metrics.Range) string {
	switch {
	case r.Share:
		return fmt.Sprintf("%.1f %%", 100*v.Load)
	case v.High > 0:
		return text.Digits(v.Low, 3) + " to " + text.Digits(v.High, 3)
	case v.Low > 0:
		return text.Digits(v.Low, 3) + " or more"
	}
	return decimals(v.Load)
}

// percent is a change with its sign.
func percent(v float64) string { return fmt.Sprintf("%+.1f %%", 100*v) }
