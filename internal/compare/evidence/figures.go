package evidence

import (
	"math"
	"time"

	"benchtop/metrics"
)

// slice are the seconds of a run that are looked at together.
type slice struct {
	metrics.Counts
	// tokens and completed requests came in so many seconds; the other counts are of requests that belong together.
	tokens, completed int
	seconds           float64
	histograms        metrics.WindowHistograms
}

func (s *slice) add(o *slice) {
	s.Merge(&o.Counts)
	s.tokens += o.tokens
	s.completed += o.completed
	s.seconds += o.seconds
	for l := range s.histograms {
		s.histograms[l].Merge(&o.histograms[l])
	}
}

// stretch are the seconds of a run with load, without its warm-up and its end.
func stretch(r *metrics.Report) []*metrics.Window {
	from, to := 0, 0
	for i := range r.Timeline {
		w := r.Timeline[i]
		if w.Start < r.Plan.Warmup {
			from = i + 1
		}
		if w.Sent > 0 {
			to = i // the last second may be a part of one
		}
	}
	return r.Timeline[min(from, to):to]
}

// measured is the time with load of the runs of a side.
func measured(runs []metrics.Report) (all time.Duration) {
	for i := range runs {
		for _, w := range stretch(&runs[i]) {
			all += w.Length()
		}
	}
	return all
}

// slicesOf are the slices of the runs of both sides, all of one length.
func slicesOf(a, b []metrics.Report) (sa, sb [][]slice) {
	length := max(time.Second, (min(measured(a), measured(b)) / slicesOfRun).Truncate(time.Second))
	return sliced(a, length), sliced(b, length)
}

func sliced(runs []metrics.Report, length time.Duration) (all [][]slice) {
	for i := range runs {
		var of []slice
		s := slice{}
		for _, w := range stretch(&runs[i]) {
			s.add(&slice{w.Counts, w.TokensOut, w.Completed, w.Length().Seconds(), w.Histograms})
			if s.seconds >= length.Seconds() {
				of, s = append(of, s), slice{}
			}
		}
		all = append(all, of)
	}
	return all
}

// figure is one that is compared.
type figure struct {
	key, name           string
	higherBetter, share bool
	// needs is the number of samples that a piece needs for the figure to be one.
	needs int
	// of is the figure of a slice, with the number of its samples; whole that of a run, NaN for none.
	of    func(*slice) (v float64, n int)
	whole func(*metrics.Report) float64
	// basis is the figure that tells over what time this one depends on itself; nil for itself.
	basis func(*slice) (v float64, n int)
}

// compared are the latencies that are.
var compared = []metrics.Latency{metrics.TTFT, metrics.TPOT, metrics.ITL, metrics.E2EL}

// figures are all that are compared.
func figures() (all []figure) {
	for _, l := range compared {
		mean := func(s *slice) (float64, int) {
			return milliseconds(s.histograms[l].Mean()), int(s.histograms[l].Count())
		}
		add := func(key, name string, needs int, of func(*slice) (float64, int),
			whole func(*metrics.Statistic) float64) {
			all = append(all,
				figure{key: key + "_" + l.Key() + "_ms", name: name + " " + l.Naming().Short + " (ms)", needs: needs,
					of: of, basis: mean, whole: func(r *metrics.Report) float64 {
						if s := &r.Statistics[l]; s.N > 0 && whole(s) > 0 { // 0 is what a result does not have
							return whole(s)
						}
						return math.NaN()
					}})
		}
		quantile := func(q float64) func(*slice) (float64, int) {
			return func(s *slice) (float64, int) {
				return milliseconds(s.histograms[l].Quantile(q)), int(s.histograms[l].Count())
			}
		}
		add("mean", "Mean", 5, mean, func(s *metrics.Statistic) float64 { return s.Mean })
		add("median", "Median", 10, quantile(.5), func(s *metrics.Statistic) float64 { return s.Median })
		add("p99", "P99", 100, quantile(.99), func(s *metrics.Statistic) float64 {
			if v, ok := s.Percentile(99); ok {
				return v
			}
			return math.NaN()
		})
	}
	rate := func(key, name string, of func(*slice) int, whole func(*metrics.Report) float64) {
		all = append(all, figure{key: key, name: name, higherBetter: true, needs: 5, whole: whole,
			of: func(s *slice) (float64, int) { return float64(of(s)) / s.seconds, of(s) }})
	}
	rate("output_throughput", "Output (tok/s)", func(s *slice) int { return s.tokens },
		func(r *metrics.Report) float64 { return r.OutputThroughput })
	rate("request_throughput", "Requests (req/s)", func(s *slice) int { return s.completed },
		func(r *metrics.Report) float64 { return r.RequestThroughput })
	part := func(key, name string, higher bool, of func(*metrics.Counts) int, known func(*metrics.Report) bool) {
		all = append(all, figure{key: key, name: name, higherBetter: higher, share: true, needs: 10,
			of: func(s *slice) (float64, int) { return metrics.Share(of(&s.Counts), s.Ended()), s.Ended() },
			whole: func(r *metrics.Report) float64 {
				if !known(r) || r.Ended == 0 {
					return math.NaN()
				}
				return metrics.Share(of(&r.Counts), r.Counts.Ended())
			}})
	}
	part("goodput", "Within SLO", true, func(c *metrics.Counts) int { return c.Good },
		func(r *metrics.Report) bool { return r.Judges() })
	part("error_rate", "Failed", false, func(c *metrics.Counts) int { return c.Failed },
		func(r *metrics.Report) bool { return !r.Uncounted })
	return all
}

// ofRuns are the figures of whole runs that have it.
func (f *figure) ofRuns(runs []metrics.Report) (all []float64) {
	for i := range runs {
		if v := f.whole(&runs[i]); v >= 0 && !math.IsInf(v, 1) {
			all = append(all, v)
		}
	}
	return all
}

// memory is the number of slices over which the figure depends on itself, its integrated autocorrelation time: 1 and
// twice the sum of its autocorrelations, of all runs together, up to the first that is small (Geyer 1992); infinite
// without one.
func (f *figure) memory(sides ...[][]slice) float64 {
	var all [][]float64
	for _, runs := range sides {
		for _, slices := range runs {
			all = append(all, f.series(slices))
		}
	}
	return memoryOf(all...)
}

// memoryOf is the integrated autocorrelation time of series of one kind.
func memoryOf(all ...[]float64) float64 {
	const longest = 24
	var sums [longest]float64
	for _, values := range all {
		m, n := mean(values), len(values)
		for lag := range min(longest, n/2) {
			for i := lag; i < n; i++ {
				sums[lag] += (values[i] - m) * (values[i-lag] - m) * float64(n) / float64(n-lag)
			}
		}
	}
	length := 1.0
	for _, s := range sums[1:] {
		part := s / sums[0]
		if !(part > small) {
			return length
		}
		length += 2 * part
	}
	return math.Inf(1)
}

// small is the autocorrelation that ends their sum.
const small = 0.05

// series is the basis of the figure in each slice that has it.
func (f *figure) series(slices []slice) (values []float64) {
	of := f.basis
	if of == nil {
		of = f.of
	}
	for i := range slices {
		if v, n := of(&slices[i]); n > 0 {
			values = append(values, v)
		}
	}
	return values
}

// pieces are the figures of pieces of each side. Where there are too few, need is how many times as long the runs would
// have to be.
func (f *figure) pieces(a, b [][]slice) (va, vb []float64, need float64) {
	n := max(1, min(count(a), count(b)))
	samples, memory := min(f.samples(a), f.samples(b)), f.memory(a, b)
	if math.IsInf(memory, 1) {
		return nil, nil, memory
	}
	length := max(int(math.Ceil(independent*memory)), (n+most-1)/most, f.needs*n/max(1, samples))
	for ; ; length++ {
		va, na := f.pieced(a, length)
		vb, nb := f.pieced(b, length)
		if min(len(va), len(vb)) < fewest {
			return nil, nil, max(float64(fewest*length)/float64(n), 1.1)
		}
		if min(na, nb) >= f.needs {
			return va, vb, 0
		}
	}
}

// samples are those of a side.
func (f *figure) samples(runs [][]slice) (all int) {
	for _, r := range runs {
		for i := range r {
			_, n := f.of(&r[i])
			all += n
		}
	}
	return all
}

func count(runs [][]slice) (n int) {
	for _, r := range runs {
		n += len(r)
	}
	return n
}

// pieced are the figures of pieces of a length, with the least number of samples of one.
func (f *figure) pieced(runs [][]slice, length int) (values []float64, least int) {
	least = math.MaxInt
	for _, r := range runs {
		n := len(r) / length
		for i := range n {
			var s slice
			for k := i * len(r) / n; k < (i+1)*len(r)/n; k++ {
				s.add(&r[k])
			}
			v, samples := f.of(&s)
			values, least = append(values, v), min(least, samples)
		}
	}
	return values, least
}

func mean(values []float64) float64 {
	all := 0.0
	for _, v := range values {
		all += v
	}
	return all / float64(max(1, len(values)))
}

// Keys are the names of all figures that have a change.
func Keys() []string { return metrics.Each(figures(), func(f figure) string { return f.key }) }
