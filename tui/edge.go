package tui

import (
	"time"

	"benchtop/metrics"
)

// edge is the second at the right edge of charts that are scrolled back, whose values then stand in their titles; nil where
// charts follow the run.
func (v *view) edge() *metrics.Window {
	if scrolled(v.s, v.span, v.back) <= 0 {
		return nil
	}
	if ws := v.selected().closed; len(ws) > 0 {
		return &ws[len(ws)-1]
	}
	return nil
}

// edgeRate is the rate at the right edge of the charts: of the last seconds before it, or over, the mean of the run that is in
// its report, where there is one and charts show its end.
func (v *view) edgeRate(of func(*metrics.Window) int, over func(*metrics.Report) float64) float64 {
	switch {
	case v.edge() != nil:
		return lately(v.s, v.selected().closed, of)
	case v.s.Report != nil && over != nil:
		return over(v.s.Report)
	}
	return recent(v.s, of)
}

// edgeLevels are the requests held, waiting and running at the right edge of the charts.
func (v *view) edgeLevels() (held, waiting, running int) {
	if w := v.edge(); w != nil {
		return w.Held, w.Waiting, w.Running
	}
	return v.s.Held, v.s.Waiting, v.s.Running
}

// edgeLook is the look at the server at the right edge of the charts: the newest that is not stale; nil if there is none.
func (v *view) edgeLook() *metrics.ServerSecond {
	if w := v.edge(); w != nil {
		return serverIn(v.s.Server, w)
	}
	if n := len(v.s.Server); n > 0 && (v.s.State == metrics.Finished || v.s.At-v.s.Server[n-1].At < 5*staleAfter) {
		return &v.s.Server[n-1]
	}
	return nil
}

// edgeClient is what the client said of itself at the right edge of the charts; nil if nothing.
func (v *view) edgeClient() *metrics.ClientSecond {
	if w := v.edge(); w != nil {
		return clientSeconds(v)(w.Start)
	}
	if n := len(v.s.Client); n > 0 {
		return &v.s.Client[n-1]
	}
	return nil
}

// edgeMoment is a moment of the last second that charts show.
func (v *view) edgeMoment() time.Duration {
	if w := v.edge(); w != nil {
		return w.Start + time.Second/2
	}
	return v.s.At
}
