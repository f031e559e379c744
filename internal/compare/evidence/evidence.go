// Package evidence tells a difference between two sides of a comparison from chance. The units are whole runs, or
// pieces of runs that are so long that they hardly depend on each other; single requests do, since they wait for each
// other. An exact rank test compares the units of the sides.
package evidence

import (
	"fmt"
	"math"
	"slices"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/judge"
)

// Verdict is what the evidence says of a figure of B against A.
type Verdict string

const (
	Better Verdict = "better"
	Worse  Verdict = "worse"
	// None: the difference may be chance.
	None Verdict = "no evidence"
	// Short: there are too few units for a test, or for one whose outcome could be evidence beside those of the others.
	Short Verdict = "too short"
)

const (
	// Confidence of intervals; the chance that any figure has a verdict by chance is at most 1 - Confidence.
	Confidence = 0.95
	// Notable is the change that runs should be long enough to see.
	Notable = 0.05
	// fewest and most are the numbers of units of a side. The least that can tell all figures of two sides apart is 6.
	fewest, most = 6, 12
	// FewestRuns of a side are compared as wholes.
	FewestRuns = fewest
	// independent is the length of a piece in times over which its figure depends on itself. With 3, few comparisons of
	// equal servers have a verdict; with 1, one in five had near the capacity.
	independent = 3
	// slicesOfRun is the number of parts by which that time is found.
	slicesOfRun = 60
)

// Row is a figure of both sides.
type Row struct {
	// Key is its name in results, as p99_ttft_ms; Name is for a person.
	Key, Name string
	// A and B are the figures of whole runs, of several their mean; an answer has its bounds as well.
	A, B metrics.Range
	// Change of B against A, as a part of A, or of a Share as a difference; Low to High hold it with Confidence. NaN
	// where the runs are too short for it, and for an answer.
	Change, Low, High float64
	Verdict           Verdict
	// Longer: with runs so many times as long, there would be a test, or a change of Notable would be seen; 0 where
	// that is so, and beside a verdict; infinite where the figure does not settle, so that it cannot be said.
	Longer float64
	// A Share is a part of 1. HigherBetter figures are rates and shares of what is good.
	Share, HigherBetter bool
}

// Result is the evidence of a comparison.
type Result struct {
	Rows []Row
	// Confidence of the intervals.
	Confidence float64
	// Units are what was compared, as "5 and 5 runs".
	Units string
	// Why there is no evidence but of the answers, "" where there is.
	Why string
}

// Compare compares the runs of two sides.
func Compare(a, b []metrics.Report) (out Result) {
	out.Confidence = Confidence
	if len(a) >= FewestRuns && len(b) >= FewestRuns {
		out.Units = fmt.Sprintf("%d and %d runs", len(a), len(b))
		out.compare(a, b, func(f *figure) (va, vb []float64, need float64) { return f.ofRuns(a), f.ofRuns(b), 0 })
		return out
	}
	for _, r := range slices.Concat(a, b) {
		if out.Why = unsteady(&r); out.Why != "" {
			break
		}
	}
	if out.Why == "" {
		sa, sb := slicesOf(a, b)
		least, longest := math.MaxInt, 0
		out.compare(a, b, func(f *figure) (va, vb []float64, need float64) {
			if va, vb, need = f.pieces(sa, sb); va != nil {
				least, longest = min(least, len(va), len(vb)), max(longest, len(va), len(vb))
			}
			return va, vb, need
		})
		out.Units = fmt.Sprintf("%d to %d pieces of a side", least, longest)
		if longest == 0 {
			out.Units = "too short for pieces"
		}
	}
	if len(a) == 1 && len(b) == 1 {
		out.answers(&a[0], &b[0])
	}
	return out
}

// unsteady is why the pieces of a run are not all of one load, "" where they are.
func unsteady(r *metrics.Report) string {
	switch p := &r.Plan; {
	case len(r.Timeline) == 0:
		return "a result has no whole journal of its own beside it"
	case p.Ramp != nil, len(p.Stages) > 0, p.Find != nil, p.Confirm > 0, r.Steered > 0, p.Trace:
		return "the load changes during a run"
	case !p.ClosedLoop() && math.IsInf(float64(p.Rate), 1):
		return "all requests of a run are sent at once"
	case late(r) > mostLate:
		return fmt.Sprintf("%.0f %% of the requests of a run ended after the last was sent", 100*late(r))
	}
	return ""
}

// mostLate is the share of requests that end after the load up to which those that end in it stand for all.
const mostLate = 0.1

// late is the share of the requests that ended after the load, without the users of a closed loop, who all do.
func late(r *metrics.Report) float64 {
	after, all := 0, 0
	for i := range r.Timeline {
		w := r.Timeline[i]
		if after += w.Ended(); w.Sent > 0 {
			after = 0
		}
		if w.Start >= r.Plan.Warmup {
			all += w.Ended()
		}
	}
	users := 0
	if r.Plan.ClosedLoop() {
		users = r.Plan.LoopUsers()
	}
	return metrics.Share(after-users, all)
}

// compare adds a row for each figure that both sides have, by the units of it.
func (out *Result) compare(a, b []metrics.Report, units func(*figure) (va, vb []float64, need float64)) {
	var tests []test
	for _, f := range figures() {
		wa, wb := f.ofRuns(a), f.ofRuns(b)
		if len(wa) < len(a) || len(wb) < len(b) || mean(wa) == 0 && mean(wb) == 0 && !f.share {
			continue
		}
		row := Row{Key: f.key, Name: f.name, A: metrics.Range{Load: mean(wa)}, B: metrics.Range{Load: mean(wb)},
			Change: math.NaN(), Low: math.NaN(), High: math.NaN(), HigherBetter: f.higherBetter, Share: f.share}
		if va, vb, need := units(&f); va == nil {
			row.Verdict, row.Longer = Short, need
		} else {
			if row.test(va, vb); row.strays() { // its interval is none, either
				row.Change, row.Low, row.High, row.Verdict = math.NaN(), math.NaN(), math.NaN(), None
				out.Rows = append(out.Rows, row)
				continue
			}
			tests = append(tests, test{row: len(out.Rows), chance: chance(va, vb)})
		}
		out.Rows = append(out.Rows, row)
	}
	out.decide(tests, 1-Confidence)
}

// test is that of a row, by so many units of a side, and the chance of its change.
type test struct {
	row, units int
	chance     float64
}

// decide gives the rows that were tested their verdicts, by the level of all together.
func (out *Result) decide(tests []test, level float64) {
	chances := metrics.Each(tests, func(x test) float64 { return x.chance })
	for i, p := range judge.Corrected(chances) {
		row := &out.Rows[tests[i].row]
		row.Verdict = None
		if p <= level && row.Change != 0 {
			row.Verdict, row.Longer = row.direction(row.Change), 0
		}
	}
}

// strays reports whether the change of the whole runs is far beyond the interval, so that pieces do not stand for them.
func (r *Row) strays() bool {
	change, width := r.B.Load-r.A.Load, r.High-r.Low
	if !r.Share {
		change /= r.A.Load
	}
	return r.A.Load > 0 && (change > r.High+width || change < r.Low-width)
}

// direction is the verdict on a change.
func (r *Row) direction(change float64) Verdict {
	if change > 0 == r.HigherBetter {
		return Better
	}
	return Worse
}

// test fills in the change with its interval.
func (r *Row) test(a, b []float64) {
	width := 0.0 // in widths of the interval that is narrow enough
	if r.Share {
		r.Low, r.Change, r.High = shift(a, b, Confidence)
		width = (r.High - r.Low) / 2 / Notable
	} else {
		low, middle, high := shift(logs(a), logs(b), Confidence)
		r.Low, r.Change, r.High = math.Expm1(low), math.Expm1(middle), math.Expm1(high)
		width = (high - low) / 2 / math.Log1p(Notable)
	}
	if width > 1 {
		r.Longer = width * width
	}
}

// logs of figures; what is below a microsecond or a thousandth a second counts as that.
func logs(values []float64) []float64 {
	return metrics.Each(values, func(v float64) float64 { return math.Log(max(v, 1e-3)) })
}

// answers adds the loads that each run found. Ranges that do not meet are evidence.
func (out *Result) answers(a, b *metrics.Report) {
	add := func(key, name string, of func(*metrics.Report) metrics.Range) {
		row := Row{Key: key, Name: name, A: of(a), B: of(b), Change: math.NaN(), Low: math.NaN(), High: math.NaN(),
			Verdict: None, HigherBetter: true}
		above := func(x, y metrics.Range) bool { return y.High > 0 && x.Low > y.High }
		switch {
		case a.Answer.Unit != b.Answer.Unit || !row.A.Known() || !row.B.Known():
			return
		case above(row.B, row.A):
			row.Verdict = Better
		case above(row.A, row.B):
			row.Verdict = Worse
		}
		out.Rows = append(out.Rows, row)
	}
	unit := a.Answer.Unit.String()
	add("slo", "Within SLO ("+unit+")", func(r *metrics.Report) metrics.Range { return r.Answer.Estimate })
	add("saturation", "Saturation ("+unit+")", func(r *metrics.Report) metrics.Range {
		if !r.Answer.Saturates || !r.Answer.Confirmed {
			return metrics.Range{}
		}
		return r.Answer.Capacity
	})
}

// milliseconds is a duration as latencies are given.
func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
