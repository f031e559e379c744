package metrics

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"
)

// Percentile is one percentile of a distribution.
type Percentile struct {
	// P from 0 to 100.
	P float64
	// Value in the unit of the Statistic.
	Value float64
}

// Statistic sums up one latency over the successful requests, in milliseconds, or their output speeds, in tokens/s.
// With no samples every figure is 0.
type Statistic struct {
	N                           int
	Mean, Median, Std, Min, Max float64
	// Percentiles of the plan.
	Percentiles []Percentile

	// Shown are the percentiles of screens, Gated those of the plan's gates.
	Shown, Gated []Percentile
}

// Statistics are those of the latencies of a run.
type Statistics [NumLatencies]Statistic

// shownPercentiles are in every report.
var shownPercentiles = []float64{50, 90, 95, 99, 99.9}

// Percentile returns the value for p if the plan asks for it, a gate names it or it is one of 50, 90, 95, 99 and 99.9.
func (s Statistic) Percentile(p float64) (ms float64, ok bool) {
	for _, q := range slices.Concat(s.Percentiles, s.Shown, s.Gated) {
		if q.P == p {
			return q.Value, true
		}
	}
	return 0, false
}

// Sample is an exact multiset of values in seconds. It grows with the number of different values: times are whole
// microseconds, so tens of millions of gaps between chunks fit into a few megabytes. The zero value is empty and ready.
type Sample struct {
	list  []valueCount // in any order; equal ones are joined when it is full
	whole []int        // of a long list: how often so many whole microseconds came
}

type valueCount struct {
	value float64
	times int
}

const (
	longList  = 1 << 10
	wholeMost = 1 << 16
)

// Add counts a value.
func (s *Sample) Add(seconds float64) { s.AddTimes(seconds, 1) }

// AddTimes counts a value so many times.
func (s *Sample) AddTimes(seconds float64, times int) {
	if len(s.list) == cap(s.list) && len(s.list) >= longList {
		s.join()
		s.list = slices.Grow(s.list, len(s.list))
	}
	s.list = append(s.list, valueCount{seconds + 0, times}) // -0 is 0
}

// AddDuration counts a time so many times.
func (s *Sample) AddDuration(v time.Duration, times int) {
	us := v / time.Microsecond
	if len(s.list) < longList || us < 0 || us >= wholeMost || us*time.Microsecond != v {
		s.AddTimes(v.Seconds(), times)
		return
	}
	if s.whole == nil {
		s.whole = make([]int, wholeMost)
	}
	s.whole[us] += times
}

// Reserve makes room for so many values.
func (s *Sample) Reserve(n int) { s.list = slices.Grow(s.list, n) }

// join sorts the list and joins equal values.
func (s *Sample) join() {
	slices.SortFunc(s.list, func(a, b valueCount) int { return cmp.Compare(a.value, b.value) })
	out := s.list[:0]
	for _, v := range s.list {
		if n := len(out); n > 0 && out[n-1].value == v.value {
			out[n-1].times += v.times
		} else {
			out = append(out, v)
		}
	}
	s.list = out
}

// Statistic computes the figures; gated percentiles are computed apart from those asked for.
func (s *Sample) Statistic(percentiles []float64, gated ...float64) Statistic {
	return s.sorted().statistic(inMilliseconds, percentiles, gated...)
}

// Shares computes the figures of values without a unit.
func (s *Sample) Shares(percentiles []float64) Statistic { return s.sorted().statistic(1, percentiles) }

func (s *Sample) sorted() (all sortedValues) {
	for us, n := range s.whole {
		if n > 0 {
			s.AddTimes((time.Duration(us) * time.Microsecond).Seconds(), n)
		}
	}
	s.whole = nil
	s.join()
	all.values, all.ends = make([]float64, 0, len(s.list)), make([]int, 0, len(s.list))
	n := 0
	for _, v := range s.list {
		n += v.times
		all.values, all.ends = append(all.values, v.value), append(all.ends, n)
	}
	return all
}

// StatisticOf computes the figures of values in seconds in rising order.
func StatisticOf(values []float64, percentiles []float64) Statistic {
	return sortedValues{values: values}.statistic(inMilliseconds, percentiles)
}

// inMilliseconds is the scale of figures of times in seconds.
const inMilliseconds = 1000

// sortedValues are values in rising order.
type sortedValues struct {
	values []float64
	ends   []int // how many are at most values[i]; nil where each is there once
}

// count is how many there are.
func (s sortedValues) count() int {
	if len(s.ends) == 0 {
		return len(s.values)
	}
	return s.ends[len(s.ends)-1]
}

// times is how often the i-th value is there.
func (s sortedValues) times(i int) float64 {
	switch {
	case s.ends == nil:
		return 1
	case i == 0:
		return float64(s.ends[0])
	}
	return float64(s.ends[i] - s.ends[i-1])
}

// at is the k-th smallest, from 0.
func (s sortedValues) at(k int) float64 {
	if s.ends == nil {
		return s.values[k]
	}
	i, _ := slices.BinarySearch(s.ends, k+1)
	return s.values[i]
}

// statistic computes the figures as numpy does: mean, median, standard deviation with ddof 0 and percentiles with
// linear interpolation at position p/100·(n-1), all times a scale.
func (s sortedValues) statistic(scale float64, percentiles []float64, gated ...float64) Statistic {
	values, n := s.values, s.count()
	quantiles := func(ps []float64) []Percentile {
		return Each(ps, func(p float64) Percentile { return Percentile{P: p, Value: s.quantile(p/100, n) * scale} })
	}
	out := Statistic{N: n, Percentiles: quantiles(percentiles)}
	out.Shown, out.Gated = quantiles(shownPercentiles), quantiles(gated)
	if n == 0 {
		return out
	}
	var sum, squares neumaierSum
	for i, v := range values {
		sum.add(v * s.times(i))
	}
	mean := sum.value() / float64(n)
	for i, v := range values {
		d := v - mean
		squares.add(d * d * s.times(i))
	}
	out.Mean = mean * scale
	out.Std = math.Sqrt(squares.value()/float64(n)) * scale
	out.Median = (s.at((n-1)/2) + s.at(n/2)) / 2 * scale
	out.Min, out.Max = values[0]*scale, values[len(values)-1]*scale
	return out
}

// quantile of n values, 0 of none. It interpolates from the nearer end, as numpy does, so that the result stays between
// its neighbours.
func (s sortedValues) quantile(q float64, n int) float64 {
	if n == 0 {
		return 0
	}
	pos := q * float64(n-1)
	k := min(max(int(math.Floor(pos)), 0), n-1)
	lo, hi, frac := s.at(k), s.at(min(k+1, n-1)), pos-float64(k)
	if frac >= 0.5 {
		return hi - (hi-lo)*(1-frac)
	}
	return lo + (hi-lo)*frac
}

// neumaierSum is Neumaier's sum, which does not depend on the order of the terms.
type neumaierSum struct{ sum, lost float64 }

func (c *neumaierSum) add(v float64) {
	t := c.sum + v
	if math.Abs(c.sum) >= math.Abs(v) {
		c.lost += (c.sum - t) + v
	} else {
		c.lost += (v - t) + c.sum
	}
	c.sum = t
}

func (c *neumaierSum) value() float64 { return c.sum + c.lost }

// PerSecond is 0 for a run without length, so that no infinity gets into a result.
func PerSecond(v, seconds float64) float64 {
	if seconds <= 0 {
		return 0
	}
	return v / seconds
}

// weightedMean is a weighted mean. Figures that are unsaid or beyond arithmetic do not count.
type weightedMean struct {
	weight, total, most float64
	said                bool
}

// mostFigure bounds foreign figures so that their sums and squares stay finite.
const mostFigure = 1e100

func (w *weightedMean) add(v, weight float64) {
	if !(math.Abs(v) <= mostFigure) || !(weight > 0 && weight <= mostFigure) {
		return
	}
	if !w.said || v > w.most {
		w.most = v
	}
	w.said = true
	w.weight += weight
	w.total += v * weight
}

// figure is Unsaid where nothing counted.
func (w *weightedMean) figure(v float64) float64 {
	if !w.said {
		return Unsaid()
	}
	return v
}

func (w *weightedMean) mean() float64    { return w.figure(w.total / w.weight) }
func (w *weightedMean) highest() float64 { return w.figure(w.most) }

// sumOf is the total of figures that all count once.
func (w *weightedMean) sumOf() float64 { return w.figure(w.total) }

// latency adds a mean latency of some requests.
func (w *weightedMean) latency(l ServerLatency) {
	if l.Mean >= 0 {
		w.add(float64(l.Mean), l.N)
	}
}

// sum is the mean of all those latencies.
func (w *weightedMean) sum() ServerLatency {
	if !w.said {
		return ServerLatency{}
	}
	return ServerLatency{N: w.weight, Mean: time.Duration(min(w.total/w.weight, float64(longest)))}
}

// over is a quotient of two figures, Unsaid where it means nothing.
func over(part, whole float64) float64 {
	q := part / whole
	if !(whole > 0) || !(math.Abs(q) <= mostFigure) {
		return Unsaid()
	}
	return q
}

// A change of less than leastChange rounds to none.
const leastChange = 0.0005

// Change is the relative change of a figure from that of an earlier run: 0.12 is 12 % more. It is not ok where the
// earlier figure is missing or 0.
func Change(now, before float64) (part float64, ok bool) {
	if !(before > 0) || math.IsInf(before, 0) || math.IsNaN(now) {
		return 0, false
	}
	if part = now/before - 1; math.Abs(part) < leastChange {
		part = 0
	}
	return part, true
}

// Milliseconds is a duration as a bare number.
func Milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Share is a part of a whole, 0 of nothing.
func Share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// Duration formats a duration as Go does, without trailing units of zero: 1m for 1m0s, and 1h for 1h0m0s.
func Duration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// Each is what a function makes of each element; nil for none.
func Each[T, V any](all []T, of func(T) V) (out []V) {
	out = slices.Grow(out, len(all))
	for _, x := range all {
		out = append(out, of(x))
	}
	return out
}

// Median of an even number of values is the mean of the middle two; of none it is 0.
func Median(all []float64) float64 {
	if len(all) == 0 {
		return 0
	}
	all = slices.Sorted(slices.Values(all))
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}
