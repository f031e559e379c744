package charts

import (
	"iter"
	"math"
	"slices"
	"strconv"
)

// extent is the range of the values on an axis.
type extent struct{ low, high float64 }

func newExtent() extent { return extent{math.Inf(1), math.Inf(-1)} }

func (e *extent) add(v float64) { e.low, e.high = min(e.low, v), max(e.high, v) }

// axis places values: part is 0 at its begin and 1 at its end.
type axis struct {
	label     string
	scale     Scale
	low, high float64 // in the unit of the scale
	ticks     []tick
}

type tick struct {
	value float64
	label string
}

// part is where a value lies on the axis. A value beyond an end lies there.
func (a *axis) part(v float64) float64 {
	p := (a.scale.place(v) - a.low) / (a.high - a.low)
	if math.IsNaN(p) {
		return 0
	}
	return min(max(p, 0), 1)
}

// margin is left free at both ends of an axis, as a part of it.
const margin = 0.05

// newAxis makes an axis with about so many ticks.
func newAxis(of Axis, e extent, ticks int) axis {
	a := axis{label: of.Label, scale: of.Scale}
	if n := len(of.Categories); n > 0 {
		a.low, a.high = -0.5, float64(n)-0.5
		each := (n + ticks - 1) / ticks
		for i := 0; i < n; i += each {
			a.ticks = append(a.ticks, tick{float64(i), of.Categories[i]})
		}
		return a
	}
	if e.low > e.high { // no values
		e = extent{1, 10}
	}
	if a.scale != Log && e.low > 0 && e.low < e.high/2 {
		e.low = 0
	}
	if e.low == e.high {
		e.low, e.high = rangeOf(e.low)
	}
	a.low, a.high = a.scale.place(e.low), a.scale.place(e.high)
	pad := (a.high - a.low) * margin
	a.high += pad
	if e.low != 0 {
		a.low -= pad
	}
	a.ticks = a.round(ticks)
	return a
}

// rangeOf is a range with a value in it.
func rangeOf(v float64) (low, high float64) {
	if v == 0 {
		return 0, 1
	}
	return min(v*0.8, v*1.2), max(v*0.8, v*1.2)
}

// round are about so many ticks at round values.
func (a *axis) round(most int) (ticks []tick) {
	low, high := a.scale.value(a.low), a.scale.value(a.high)
	if a.scale == Log && high/low >= 5 || a.scale == Symlog && max(math.Abs(low), math.Abs(high)) > 20 {
		for _, v := range magnitudes(low, high, most) {
			ticks = append(ticks, tick{v, shortNumber(v, math.Abs(v))})
		}
		return ticks
	}
	values, step := multiples(low, high, most)
	for _, v := range values {
		ticks = append(ticks, tick{v, shortNumber(v, step)})
	}
	return ticks
}

// Range is a part of a scale.
type Range struct {
	Scale     Scale
	Low, High float64
}

func (r Range) axis() axis {
	return axis{scale: r.Scale, low: r.Scale.place(r.Low), high: r.Scale.place(r.High)}
}

// Part is where a value lies: 0 is Low or less, 1 is High or more.
func (r Range) Part(v float64) float64 {
	a := r.axis()
	return a.part(v)
}

// Ticks are about so many round values in the range, each with its label.
func (r Range) Ticks(most int) iter.Seq2[float64, string] {
	a := r.axis()
	return func(yield func(float64, string) bool) {
		for _, t := range a.round(most) {
			if !yield(t.value, t.label) {
				return
			}
		}
	}
}

// multiples are the multiples of a step, and the step: 1, 2, 2.5 or 5 times a power of ten, at most so many.
func multiples(low, high float64, most int) (out []float64, step float64) {
	step = math.Pow(10, math.Floor(math.Log10((high-low)/float64(max(most, 2)))))
	for _, m := range []float64{1, 2, 2.5, 5, 10} {
		if (high-low)/(step*m) <= float64(max(most, 2)) {
			step *= m
			break
		}
	}
	for k := math.Ceil(low/step - 1e-9); k*step <= high+step*1e-9 && len(out) <= most+1; k++ {
		out = append(out, k*step+0) // + 0 turns -0 into 0
	}
	return out, step
}

// magnitudes are powers of ten, with 0 and negative ones where the range has them, and with twice and five times each
// where few would be there.
func magnitudes(low, high float64, most int) []float64 {
	for _, factors := range [][]float64{{1, 2, 5}, {1, 3}, {1}} {
		if out := series(low, high, factors, 1); len(out) <= most {
			return out
		}
	}
	for every := 2; ; every++ {
		if out := series(low, high, []float64{1}, every); len(out) <= most || every > 300 {
			return out
		}
	}
}

// series are the factors times each power of ten whose exponent is a multiple of every, and their negatives, in order.
func series(low, high float64, factors []float64, every int) (out []float64) {
	from := 0 // linear around 0
	if low > 0 {
		from = int(math.Floor(math.Log10(low)))
	} else {
		out = []float64{0}
	}
	const slack, largest = 1e-9, 308 // a margin may be beyond all numbers
	to := math.Log10(max(math.Abs(low), math.Abs(high), 1e-300))
	for e := from; float64(e) <= min(math.Ceil(to), largest); e++ {
		for _, f := range factors {
			for _, v := range [2]float64{f * math.Pow(10, float64(e)), -f * math.Pow(10, float64(e))} {
				if e%every == 0 && v >= low-slack*math.Abs(low) && v <= high+slack*math.Abs(high) {
					out = append(out, v)
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// shortNumber writes a round number with few digits, such as 250, 0.05, 12k or 1.5M; its neighbours are a step away.
func shortNumber(v, step float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e4, "k"}} {
		if a := math.Abs(v); a >= unit.size && a < 1e15 {
			size := unit.size
			if unit.name == "k" {
				size = 1e3
			}
			return strconv.FormatFloat(v/size, 'f', decimals(min(step, a)/size), 64) + unit.name
		}
	}
	if a := math.Abs(v); a >= 1e15 || a < 1e-6 && a > 0 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	if v == 0 {
		return "0"
	}
	return strconv.FormatFloat(v, 'f', decimals(min(step, math.Abs(v))), 64)
}

// decimals are the digits behind the point that a step needs.
func decimals(step float64) int {
	for d := range 9 {
		if scaled := step * math.Pow(10, float64(d)); math.Abs(scaled-math.Round(scaled)) < 1e-6*max(scaled, 1) &&
			scaled >= 0.5 {
			return d
		}
	}
	return 9
}
