// Package evidence tells a difference between two sides of a comparison from chance. The units are whole runs, or pieces
// of runs that are so long that they hardly depend on each other; single requests do, since they wait for each other. An
// exact rank test compares the units of the sides, corrected for the number of figures.
package evidence

import (
	"errors"
	"fmt"
	"math"
	"time"

	"benchtop/metrics"
)

// Verdict is what the evidence says of a figure of B against A.
type Verdict string

const (
	Better Verdict = "better"
	Worse  Verdict = "worse"
	// None: the difference may be chance.
	None Verdict = "no evidence"
	// Short: there are too few units for a test.
	Short Verdict = "too short"
)

// Row is a figure of both sides.
type Row struct {
	// Key is its name in results, as p99_ttft_ms; Name is for a person.
	Key, Name string
	// A and B are the figures of whole runs, of several their mean; NaN for none.
	A, B float64
	// Change of B against A, as a part of A, or of a share in the same unit as the share itself; with Low to High, which
	// hold it with Confidence. NaN where the runs are too short.
	Change, Low, High float64
	Verdict           Verdict
	// Longer: so many times as long, the runs are long enough for a test, or the interval as narrow as Notable; 0 where
	// they are.
	Longer float64
	// HigherBetter figures are rates and shares; a Share is a part of 1.
	HigherBetter, Share bool
}

const (
	// Confidence of intervals; the chance of a verdict by chance on any of the figures is at most 1 - Confidence.
	Confidence = 0.95
	// Notable is the change that runs should be long enough to see.
	Notable = 0.05
	// fewest and most are the numbers of units of a side; of whole runs, fewestRuns do for a single figure.
	fewest, most, fewestRuns = 6, 12, 4
	// independent is the length of a piece in times over which the figure depends on itself. With 3, at most 5 % of
	// comparisons of equal servers had a verdict, with 1 up to 21 %.
	independent = 3
	// slicesOfRun is the number of parts by which that time is found.
	slicesOfRun = 60
)

// Result is the evidence of a comparison.
type Result struct {
	Rows []Row
	// Units describes what was compared, as "12 and 12 pieces of 25s".
	Units string
}

// Compare compares the runs of two sides, which should have had the same load. The error says why there can be no
// evidence.
func Compare(a, b []metrics.Report) (Result, error) {
	if len(a) >= fewestRuns && len(b) >= fewestRuns {
		return compareRuns(a, b), nil
	}
	for _, r := range [][]metrics.Report{a, b} {
		for i := range r {
			if err := steady(&r[i]); err != nil {
				return Result{}, err
			}
		}
	}
	return comparePieces(a, b), nil
}

// steady is an error for a run whose pieces are not all of one load.
func steady(r *metrics.Report) error {
	p, why := &r.Plan, ""
	switch {
	case len(r.Timeline) == 0:
		why = "there is no journal beside a result"
	case p.Ramp != nil, len(p.Stages) > 0, p.Find != nil, p.Confirm > 0, r.Steered > 0, p.Trace:
		why = "the load changes during a run"
	case !p.ClosedLoop() && math.IsInf(float64(p.Rate), 1):
		why = "all requests of a run are sent at once"
	default:
		return nil
	}
	return fmt.Errorf("%s, so that its pieces cannot be compared; give %d or more runs a side, as of --num-runs", why,
		fewestRuns+1)
}

// ErrNoUnits: neither side has a figure.
var errNoUnits = errors.New("there is nothing to compare")

// compareRuns takes whole runs as units.
func compareRuns(a, b []metrics.Report) Result {
	out := Result{Units: fmt.Sprintf("%d and %d runs", len(a), len(b))}
	var p []float64
	var tested []int
	for _, f := range figures() {
		va, vb := f.ofRuns(a), f.ofRuns(b)
		if len(va) < fewestRuns || len(vb) < fewestRuns {
			continue
		}
		row := f.row(va, vb)
		row.test(va, vb)
		tested, p = append(tested, len(out.Rows)), append(p, chance(va, vb))
		out.Rows = append(out.Rows, row)
	}
	out.conclude(tested, p)
	return out
}

// comparePieces takes pieces of runs as units.
func comparePieces(a, b []metrics.Report) Result {
	length := min(measured(a), measured(b)) / slicesOfRun
	length = max(time.Second, length.Truncate(time.Second))
	sa, sb := slicesOf(a, length), slicesOf(b, length)
	out := Result{}
	var p []float64
	var tested []int
	least, longest := 0, time.Duration(0)
	for _, f := range figures() {
		wa, wb := f.ofRuns(a), f.ofRuns(b)
		if len(wa) == 0 || len(wb) == 0 {
			continue
		}
		row := f.row(wa, wb)
		each := f.independence(sa, sb)
		va, vb, need := f.pieces(sa, sb, each)
		if va == nil {
			row.Verdict, row.Longer = Short, need
		} else {
			if n := min(len(va), len(vb)); least == 0 || n < least {
				least = n
			}
			row.test(va, vb)
			tested, p = append(tested, len(out.Rows)), append(p, chance(va, vb))
		}
		out.Rows = append(out.Rows, row)
	}
	_ = longest
	out.conclude(tested, p)
	out.Units = fmt.Sprintf("%d or more pieces a side", least)
	return out
}

// test fills in the change and its interval.
func (r *Row) test(a, b []float64) {
	if r.Share {
		r.Low, r.Change, r.High = shift(a, b, Confidence)
		if w := (r.High - r.Low) / 2; w > Notable {
			r.Longer = (w / Notable) * (w / Notable)
		}
		return
	}
	la, lb := logs(a), logs(b)
	low, middle, high := shift(la, lb, Confidence)
	r.Low, r.Change, r.High = math.Expm1(low), math.Expm1(middle), math.Expm1(high)
	if w := (high - low) / 2 / math.Log1p(Notable); w > 1 {
		r.Longer = w * w
	}
}

// logs of figures; one of 0 counts as the smallest time that is measured, a microsecond.
func logs(values []float64) []float64 {
	return metrics.Each(values, func(v float64) float64 { return math.Log(max(v, 1e-3)) })
}

// conclude makes verdicts of the probabilities of the rows that were tested.
func (r *Result) conclude(tested []int, p []float64) {
	for i, q := range corrected(p) {
		row := &r.Rows[tested[i]]
		switch {
		case q > 1-Confidence || row.Change == 0:
			row.Verdict = None
		case row.Change > 0 == row.HigherBetter:
			row.Verdict = Better
		default:
			row.Verdict = Worse
		}
	}
}
