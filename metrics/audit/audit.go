// Package audit says whether the result of a run is fit to publish: by a list of checks, each of one way in which its
// figures would not be those of the server under the load that the plan names. What a run did not record is not known,
// never valid.
package audit

import (
	"cmp"
	"slices"

	"benchtop/metrics"
)

// Outcome of a check, or of all.
type Outcome string

// The outcomes, from the one that decides to the one that takes all checks.
const (
	Invalid Outcome = "not valid"
	Unknown Outcome = "not known"
	Valid   Outcome = "valid"
)

// rank orders outcomes: of several, the first counts.
func (o Outcome) rank() int { return slices.Index([]Outcome{Invalid, Unknown, Valid}, o) }

// Check is a check of a run. Figure says what was found, Rule what makes a run valid, or, where the outcome is not
// known, what would tell. Both are clean.
type Check struct {
	Name         string
	Outcome      Outcome
	Figure, Rule string
}

// Audit of a run.
type Audit struct {
	Outcome Outcome
	// Checks by outcome, those that decide first.
	Checks []Check
	// Beside are the rules of a published preset, and of MLPerf Inference, which take requests as independent. They do
	// not count.
	Beside []Check
}

// check is a rule. Of gives the outcome and the figure, and for one that is not known what would tell.
type check struct {
	name, rule string
	of         func(*metrics.Report) finding
}

// finding is the outcome of a check.
type finding struct {
	Outcome
	figure, tell string
}

// Of audits a run.
func Of(r *metrics.Report) Audit {
	a := Audit{Outcome: Valid, Beside: append(preset(r), mlperf(r)...)}
	for _, c := range checks {
		f := c.of(r)
		a.Checks = append(a.Checks, Check{c.name, f.Outcome, f.figure, cmp.Or(f.tell, c.rule)})
		if f.rank() < a.Outcome.rank() {
			a.Outcome = f.Outcome
		}
	}
	slices.SortStableFunc(a.Checks, func(a, b Check) int { return a.Outcome.rank() - b.Outcome.rank() })
	return a
}

// Names of the checks with an outcome.
func (a *Audit) Names(o Outcome) (names []string) {
	for _, c := range a.Checks {
		if c.Outcome == o {
			names = append(names, c.Name)
		}
	}
	return names
}
