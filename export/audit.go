package export

import (
	"fmt"
	"strings"

	"benchtop/internal/table"
	"benchtop/metrics"
	"benchtop/metrics/audit"
)

// Audit says whether a result is fit to publish: a line with the outcome, the checks as a table, with the rules that
// are not kept, and the headline.
func Audit(r metrics.Report) (text string, fit audit.Outcome) {
	a := audit.Of(&r)
	line := "Audit: " + string(a.Outcome)
	if names := a.Names(a.Outcome); a.Outcome != audit.Valid {
		line += fmt.Sprintf(", by %d of %d checks: %s", len(names), len(a.Checks), strings.Join(names, ", "))
	}
	for i := range a.Checks {
		if c := &a.Checks[i]; c.Outcome == audit.Valid {
			c.Rule = "" // of interest where it is not kept
		}
	}
	t := auditTable(&a)
	t.Title = ""
	return fmt.Sprintf("%s\n%s\n%s\n", line, t, Answer(r)), a.Outcome
}

var outcomeMarks = map[audit.Outcome]table.Mark{
	audit.Valid: table.Good, audit.Invalid: table.Bad, audit.Unknown: table.Slack,
}

// auditTable has a row for each check, and the rules that stand beside them.
func auditTable(a *audit.Audit) *table.Table {
	t := table.List("Audit: "+string(a.Outcome), "check", "outcome", "figure", "rule")
	for _, c := range a.Checks {
		t.Add(c.Name, table.Cell{Text: string(c.Outcome), Mark: outcomeMarks[c.Outcome]}, c.Figure, c.Rule)
	}
	for _, c := range a.Beside {
		kept := map[bool]string{true: "kept", false: "not kept"}[c.Outcome == audit.Valid]
		t.Add(c.Name, kept, c.Figure, c.Rule)
	}
	return t
}

// auditObject is the audit of a report.
func auditObject(r *metrics.Report) object {
	check := func(c *audit.Check) object {
		return object{{"name", c.Name}, {"outcome", string(c.Outcome)}, {"figure", c.Figure}, {"rule", c.Rule}}
	}
	beside := func(c *audit.Check) object {
		return object{{"name", c.Name}, {"kept", c.Outcome == audit.Valid}, {"figure", c.Figure}, {"rule", c.Rule}}
	}
	a := audit.Of(r)
	return object{{"outcome", string(a.Outcome)}, {"checks", each(a.Checks, check)}, {"beside", each(a.Beside, beside)}}
}
