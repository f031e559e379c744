package export

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"benchtop/internal/findings"
	"benchtop/internal/table"
	"benchtop/internal/text"
	"benchtop/metrics"
	"benchtop/metrics/audit"
)

// Tables are the figures of a report, for a page: latencies, loads, totals, groups of requests, telemetry with the
// parts of TTFT, failures, gates, the audit. Tables without rows are left out. A row of one cell is a sentence about
// the others.
func Tables(r metrics.Report) []*table.Table {
	total := totalTable(&r)
	total.Title = "Totals"
	all := []*table.Table{latencyTable(&r), levelTable(&r), total, classTable(&r), turnTable(&r),
		checksTable(&r), garbageTable(&r), serverTable(&r)}
	for i := range r.Compared {
		all = append(all, placeTable(&r, &r.Compared[i]))
	}
	all = append(all, *telemetryOf(&r).tables...)
	fit := audit.Of(&r)
	all = append(all, failureTable(&r), gateTable(&r), auditTable(&fit))
	return slices.DeleteFunc(all, func(t *table.Table) bool { return len(t.Rows) == 0 })
}

// RunTable has a row for each of at least one run, with its name.
func RunTable(names []string, reports []*metrics.Report) *table.Table {
	first := reports[0].Plan.FirstWait().Naming().Title
	t := table.New("", "run", "result", "req/s", "tok/s", first+" p50 ms", "p99", "ITL p50 ms", "p99", "failed")
	t.Columns[1].Align = table.Left
	for i, r := range reports {
		wait, itl := &r.Statistics[r.Plan.FirstWait()], &r.Statistics[metrics.ITL]
		t.Add(names[i], Answer(*r), r.RequestThroughput, r.OutputThroughput, percentilesOf(wait, 50, 99),
			percentilesOf(itl, 50, 99), r.Failed)
	}
	return t
}

// latencyTable has a row for each latency that the run has, in milliseconds.
func latencyTable(r *metrics.Report) *table.Table {
	percentiles := []float64{50, 90, 95, 99, 99.9}
	for _, p := range r.Plan.Percentiles {
		if !slices.Contains(percentiles, p) {
			percentiles = append(percentiles, p)
		}
	}
	slices.Sort(percentiles)
	t := table.New("Latencies in ms", "", "n", "mean", "std", "min")
	for _, p := range percentiles {
		t.Optional("p" + pythonNumber(p))
	}
	t.Columns = append(t.Columns, table.Column{Name: "max"})
	for l := range metrics.Latencies() {
		s, name := &r.Statistics[l], l.Naming()
		same := l == metrics.FirstAnswer && s.Mean == r.Statistics[metrics.TTFT].Mean // nothing was thought before it
		if name := cmp.Or(name.Label, name.Title); name != "" && s.N > 0 && !same {
			t.Add(name, s.N, s.Mean, s.Std, s.Min, percentilesOf(s, percentiles...), s.Max)
		}
	}
	return t
}

// levelTable has a row for each load of a run, with the verdict of each tier.
func levelTable(r *metrics.Report) *table.Table {
	wait := r.Plan.FirstWait().Naming().Title
	t := table.New("Loads, latencies in ms", "load", "from", "for", "sent/s", "done/s", wait+" p50", "p99",
		"ITL p99", "steady")
	t.Columns[7].Optional, t.Columns[8].Optional = true, true
	tiers := r.Plan.TiersUnder(r.Objectives)
	for _, tier := range tiers {
		t.Columns = append(t.Columns, table.Column{Name: cmp.Or(tier.Name, "good")},
			table.Column{Name: "confidence", Optional: true}, table.Column{Name: "verdict", Optional: true})
	}
	for i := range r.Levels {
		l := &r.Levels[i]
		row := []any{findings.Load(l.Unit.Of(l.Offered)), metrics.Duration(l.From.Round(time.Second)),
			metrics.Duration((l.To - l.From).Round(time.Second)), l.Sent, l.Done, positiveOrNull(l.TTFTp50),
			positiveOrNull(l.TTFTp99), positiveOrNull(l.ITLp99), steadyShare(l)}
		for k := range tiers {
			v := l.Tier(k)
			row = append(row, wholePercent(v.Requests > 0, metrics.Share(v.Good, v.Requests)),
				cmp.Or(findings.Confidence(v.Confidence), table.Absent), standing(l, &v))
		}
		t.Add(row...)
	}
	return t
}

// steadyShare is the part of a level that is steady.
func steadyShare(l *metrics.LoadLevel) string {
	switch s := l.Steady; {
	case s == nil:
		return table.Absent
	case s.Share == 0:
		return "never"
	default:
		return wholePercent(true, s.Share)
	}
}

// standing says what is known of a level.
func standing(l *metrics.LoadLevel, v *metrics.LevelVerdict) table.Cell {
	c := table.Cell{Text: string(v.Standing)}
	switch v.Standing {
	case metrics.LevelWithin:
		c.Mark = table.Good
	case metrics.LevelMissed, metrics.LevelBehind:
		c.Mark = table.Bad
	case metrics.LevelLimited:
		c.Text += ": " + strings.Join(l.Limited, ", ")
	default:
		if v.Why != "" {
			c.Text += ": " + v.Why
		}
	}
	return c
}

// failureTable has a row for each kind of failure.
func failureTable(r *metrics.Report) *table.Table {
	t := table.List("Failures", "kind", "examples", "requests")
	t.Columns[2].Align = table.Right
	for i := range r.Failures {
		f := &r.Failures[i]
		kind := text.Fit(string(f.Kind), textWidth)
		if f.Status > 0 {
			kind += fmt.Sprintf(", HTTP %d", f.Status)
		}
		examples := metrics.Each(f.Examples, func(s string) string { return text.Fit(text.Clean(s), 3*textWidth) })
		t.Add(kind, strings.Join(examples, " | "), f.Count)
	}
	return t
}

// gateTable has a row for each gate.
func gateTable(r *metrics.Report) *table.Table {
	t := table.List("Gates (the run fails if one is met)", "gate", "value", "result")
	t.Columns[1].Align = table.Right
	for i := range r.Gates {
		g, result := &r.Gates[i], table.Cell{Text: "ok", Mark: table.Good}
		if g.Missed {
			result = table.Cell{Text: "FAILED", Mark: table.Bad}
		}
		t.Add(g.Gate.String(), gateValue(g), result)
	}
	return t
}

// ClientState says in a few words whether the client limited the measurement, "" where that is not known.
func ClientState(r metrics.Report) string { return clientVerdict(&r, maxAnswerWidth) }
