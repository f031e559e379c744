package tui

import (
	"math"
	"time"

	"benchtop/metrics"
)

type point struct{ x, v float64 } // x from 0 at the left edge to 1 at the right

// points cuts windows down to what the columns can show: the mean of as many whole seconds as share a column of dots.
// The groups are aligned to the start of the run, so a line does not crawl as time goes on.
func (p plot) points(of []series, ws []metrics.Window, end time.Duration, ts timeScale) [][]point {
	group := ts.group(2 * ts.w)
	out := make([][]point, len(of))
	for i, s := range of {
		for k := 0; k < len(ws); {
			bin := int(ws[k].Start/time.Second) / group
			sum, n, at := 0.0, 0, time.Duration(0)
			for ; k < len(ws) && int(ws[k].Start/time.Second)/group == bin; k++ {
				if v := s.value(&ws[k]); !math.IsNaN(v) {
					sum, n = sum+sane(v), n+1
				}
				at = min(ws[k].Start+time.Second, end)
			}
			if at < ts.from {
				continue
			}
			pt := point{x: ts.part(at), v: math.NaN()}
			if n > 0 {
				pt.v = sum / float64(n)
			}
			out[i] = append(out[i], pt)
		}
	}
	return out
}
