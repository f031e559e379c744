package metrics

import (
	"slices"
	"time"
)

// SpeedPercentiles are those of output speeds. The low ones are of slow users.
var SpeedPercentiles = []float64{1, 10, 90, 99}

// leastTPOT is the TPOT below which a request has no output speed: its tokens came at once.
const leastTPOT = time.Microsecond

// Speeds are the figures of the output speeds of users, in tokens/s: the reciprocals of a sample of TPOT.
func (s Sample) Speeds() Statistic {
	speeds := Sample{}
	for tpot, n := range s {
		if tpot >= leastTPOT.Seconds() {
			speeds[1/tpot] += n
		}
	}
	return speeds.sorted().statistic(1, SpeedPercentiles)
}

// Speeds estimates the same of a histogram of TPOT: the TPOT of a request is taken to lie in the middle of its bucket.
func (h *Histogram) Speeds() Statistic {
	speeds, n := sorted{}, 0
	for _, b := range slices.Backward(slices.Collect(h.Buckets())) {
		if b.From >= leastTPOT {
			n += int(b.Count)
			speeds.values, speeds.ends = append(speeds.values, 2/(b.From+b.To).Seconds()), append(speeds.ends, n)
		}
	}
	return speeds.statistic(1, SpeedPercentiles)
}
