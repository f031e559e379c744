package metrics

import (
	"slices"
	"time"
)

// SpeedPercentiles are those of output speeds. The low ones are of slow users.
var SpeedPercentiles = []float64{1, 10, 90, 99}

// leastTPOT is the TPOT below which a request has no output speed: its tokens came at once.
const leastTPOT = time.Microsecond

// atOnce is the time in which output comes at once.
const atOnce = time.Millisecond

// Pace is the TPOT of an answer whose output came over some time: the time in which its user can read a token. It is
// Never where all output came at once, as in an answer that is not streamed, or in one chunk with an empty one behind
// it: the time between them is none of the output.
func (r *Request) Pace() time.Duration {
	for _, c := range slices.Backward(r.Chunks) {
		if c.Tokens > 0 {
			if c.At-r.FirstToken < atOnce {
				break
			}
			return r.TPOT()
		}
	}
	return Never
}

// Speeds are the figures of the output speeds of users, in tokens/s: the reciprocals of a sample of Pace.
func (s *Sample) Speeds() Statistic {
	var speeds Sample
	paces := s.sorted()
	for i, tpot := range paces.values {
		if tpot >= leastTPOT.Seconds() {
			speeds.AddTimes(1/tpot, int(paces.times(i)))
		}
	}
	return speeds.sorted().statistic(1, SpeedPercentiles)
}

// Speeds estimates the same of a histogram of Pace: that of a request is taken to lie in the middle of its bucket.
func (h *Histogram) Speeds() Statistic {
	speeds, n := sortedValues{}, 0
	for _, b := range slices.Backward(slices.Collect(h.Buckets())) {
		if b.From >= leastTPOT {
			n += int(b.Count)
			speeds.values, speeds.ends = append(speeds.values, 2/(b.From+b.To).Seconds()), append(speeds.ends, n)
		}
	}
	return speeds.statistic(1, SpeedPercentiles)
}
