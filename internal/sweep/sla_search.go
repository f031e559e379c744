package sweep

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"benchtop/internal/search"
	"benchtop/metrics"
	"benchtop/metrics/grid"
)

// The loads that a search sets, as flags of the client.
const (
	RequestRate    = "request_rate"
	MaxConcurrency = "max_concurrency"
)

// SLA is a search for the highest load within each of several sets. All sets share its runs.
type SLA struct {
	Sets []Set
	// Variable is RequestRate or MaxConcurrency.
	Variable string
	// From is the first load; 0 for a guess: of a rate a part of the throughput of a run that sends all requests at once, which is made for
	// that, of a concurrency firstUsers. Most is the highest that may be tried.
	From, Most float64
	// Runs is the most runs, 0 for the search's own number; Repeats the most at one load.
	Runs, Repeats int
	// Say prints a line; Show hears how far the search is.
	Say  func(line string)
	Show func([]grid.Search)
}

const (
	firstUsers = 16
	// ofThroughput is the part of the highest throughput at which the search for a rate begins.
	ofThroughput = 0.7
	// sure is the probability from which on the verdict of a load needs no further run.
	sure = 0.95
)

// Answer is what a search found for a set.
type Answer struct {
	Set Set
	search.Result
	// Achieved is the mean request throughput at the load that passed. Unmet are criteria that ask for at least a figure, and that the runs at
	// that load do not reach: then no load meets the set.
	Achieved float64
	Unmet    []Criterion
}

// perform makes the run of a number, from 0, at a load given as a flag's value, or finds it where it was made before. It returns the record
// and its file.
type perform func(ctx context.Context, load string, number int) (record Record, file string, err error)

// loads are the runs of a search, by load.
type loads map[float64][]Record

// search makes runs until the highest load of each set is known. On an error the answers are those so far.
func (o *SLA) search(ctx context.Context, run perform) ([]Answer, []Record, error) {
	whole := o.Variable == MaxConcurrency
	from := o.From
	guessed := 0 // runs
	if from == 0 && whole {
		from = firstUsers
	} else if from == 0 {
		record, _, err := run(ctx, "inf", 0)
		if err != nil {
			return nil, nil, err
		}
		from = max(roundDown(ofThroughput*record.Number("request_throughput")), 1e-3)
		guessed = 1
	}
	o.Say(fmt.Sprintf("Initial %s to search: %s.", o.Variable, metrics.LoadText(min(from, o.Most), whole)))
	var names []string
	for _, s := range o.Sets {
		names = append(names, s.Name)
	}
	confidence := 0.0
	if o.Repeats > 1 {
		confidence = sure
	}
	runs := o.Runs
	if runs > 0 {
		runs = max(1, runs-guessed)
	}
	s := search.New(search.Options{From: from, Most: o.Most, Whole: whole, Tiers: names, Runs: runs, Confidence: confidence, Repeats: o.Repeats})
	at, records := loads{}, []Record(nil)
	for {
		probe, more := s.Next()
		o.show(s, more)
		if !more {
			return o.answers(s, at), records, nil
		}
		text := loadValue(probe.Load)
		o.Say(fmt.Sprintf("Testing %s: %s", o.Variable, metrics.LoadText(probe.Load, whole)))
		record, file, err := run(ctx, text, len(at[probe.Load]))
		var evidence []search.Evidence
		if err == nil {
			evidence, err = judge(o.Sets, file, record)
		}
		if err != nil {
			return o.answers(s, at), records, fmt.Errorf("%s=%s: %w", o.Variable, text, err)
		}
		at[probe.Load], records = append(at[probe.Load], record), append(records, record)
		s.Observe(probe.Load, evidence)
		for i, e := range evidence {
			o.Say("Validating SLA: " + verdict(o.Sets[i], record, e))
		}
	}
}

// roundDown keeps two digits of a number.
func roundDown(v float64) float64 {
	if !(v > 0) || math.IsInf(v, 0) {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(v))-1)
	return math.Floor(v/unit) * unit
}

// loadValue is a load as a flag's value and in the names of directories.
func loadValue(v float64) string { return strconv.FormatFloat(v, 'g', 12, 64) }

// verdict is the outcome of one run for a set.
func verdict(s Set, record Record, e search.Evidence) string {
	said := map[bool]string{true: "PASSED", false: "FAILED"}[e.Passed()]
	if s.Tier != nil {
		return fmt.Sprintf("%s (%s): %.1f%% of %d requests within | %s", s.Name, s.Conditions(), 100*float64(e.Good)/float64(max(1, e.Requests)), e.Requests, said)
	}
	var figures []string
	for _, c := range s.Criteria {
		figures = append(figures, fmt.Sprintf("%s = %.2f%s%.2f", c.Key, record.Number(c.Key), c.Op, c.Limit))
	}
	return strings.Join(figures, ", ") + " | " + said
}

// show tells of the brackets of all sets.
func (o *SLA) show(s *search.Search, more bool) {
	var all []grid.Search
	for _, r := range s.Results() {
		all = append(all, grid.Search{Tier: r.Tier, Passed: r.Passed, Failed: r.Failed, Confidence: r.Confidence, Over: !more})
	}
	o.Show(all)
}

func (o *SLA) answers(s *search.Search, at loads) (all []Answer) {
	for i, r := range s.Results() {
		a := Answer{Set: o.Sets[i], Result: r}
		if records := at[r.Passed]; len(records) > 0 {
			for _, record := range records {
				a.Achieved += record.Number("request_throughput") / float64(len(records))
			}
			a.Unmet = a.Set.unmet(records)
		}
		all = append(all, a)
	}
	return all
}

// Text is the answer in a line for a person.
func (a Answer) Text(variable string) string {
	load := func(v float64) string { return metrics.LoadText(v, variable == MaxConcurrency) }
	name := "Maximum " + variable + " for SLA " + a.Set.Name + ": "
	confident := fmt.Sprintf("%s, %.0f%% confidence", runsText(a.Runs), 100*a.Confidence)
	if a.Achieved > 0 {
		confident = fmt.Sprintf("%.4g req/s completed, %s", a.Achieved, confident)
	}
	switch {
	case a.Passed == 0 && a.Failed == 0:
		return name + "unknown; " + a.Why + "."
	case a.Passed == 0:
		return name + "none; " + a.Why + "."
	case len(a.Unmet) > 0:
		return name + fmt.Sprintf("none; at %s, the most within the other criteria, %s is not met.", load(a.Passed), strings.Join(metrics.Each(a.Unmet, Criterion.String), ", "))
	case a.AtLeast:
		return name + fmt.Sprintf("at least %s (%s); %s.", load(a.Passed), confident, a.Why)
	}
	return name + fmt.Sprintf("%s (%s); %s.", load(a.Passed), confident, a.Why)
}

func runsText(n int) string {
	if n == 1 {
		return "1 run"
	}
	return fmt.Sprintf("%d runs", n)
}
