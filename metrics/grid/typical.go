package grid

import (
	"math"
	"slices"
)

// Typical are the figures of a combination: the median of each over its runs that have it, and the sums of requests. ok
// is false for a combination without figures yet.
func (c *Cell) Typical() (out Figures, ok bool) {
	runs := c.measured()
	if len(runs) == 0 {
		return Figures{}, false
	}
	for at, to := range out.values() {
		var all []float64
		for _, f := range runs {
			if v := *f.values()[at]; !math.IsNaN(v) {
				all = append(all, v)
			}
		}
		*to = median(all)
	}
	for _, f := range runs {
		out.Completed += f.Completed
		out.Failed += f.Failed
	}
	return out, true
}

// measured are the figures of the runs that have any.
func (c *Cell) measured() (all []*Figures) {
	for i := range c.Runs {
		if s := c.Runs[i].State; s == Done || s == Found {
			all = append(all, &c.Runs[i].Figures)
		}
	}
	return all
}

// Range is how far a figure of a combination lies apart between its runs, and how many of them have it; NaN for none.
func (c *Cell) Range(figure func(*Figures) float64) (least, most float64, runs int) {
	least, most = math.NaN(), math.NaN()
	for _, f := range c.measured() {
		v := figure(f)
		if math.IsNaN(v) {
			continue
		}
		if runs++; runs == 1 {
			least, most = v, v
		}
		least, most = min(least, v), max(most, v)
	}
	return least, most, runs
}

// values are the figures with a fraction.
func (f *Figures) values() []*float64 {
	return []*float64{
		&f.RequestThroughput, &f.OutputThroughput, &f.TotalThroughput, &f.MeanTTFT, &f.MedianTTFT, &f.P99TTFT,
		&f.MedianTPOT, &f.P99TPOT, &f.P99ITL, &f.MedianE2EL, &f.P99E2EL, &f.Goodput,
		&f.PerUser, &f.PerGPU, &f.Ready, &f.FirstToken,
	}
}

// median is NaN for no values.
func median(all []float64) float64 {
	n := len(all)
	if n == 0 {
		return math.NaN()
	}
	slices.Sort(all)
	return all[(n-1)/2] + (all[n/2]-all[(n-1)/2])/2
}
