package report

import (
	"fmt"
	"slices"
	"strings"

	"benchtop/metrics"
	"benchtop/metrics/judge"
)

// places sum up the latencies by which the places of each axis of a plan are compared.
type places []map[metrics.Latency]*judge.Places

// newPlaces begins with the axes of a plan. TPOT is that of a user, as a place delivers it; TTFT that of its queue.
func newPlaces(p *metrics.Plan) places {
	out := make(places, min(len(p.Axes), metrics.MostAxes))
	for i := range out {
		out[i] = map[metrics.Latency]*judge.Places{p.FirstWait(): {}}
		if p.Measures(metrics.TPOT) && p.Axes[i].By != metrics.AxisEngine {
			out[i][metrics.TPOT] = new(judge.Places)
		}
	}
	return out
}

// add takes a success.
func (s places) add(q *metrics.Request, o *metrics.Outcome, groups []*metrics.Group) {
	for i, of := range s {
		g := groups[metrics.ByAxis+i]
		for l, sums := range of {
			if v, times := l.Exact(o); g != nil && times > 0 {
				sums.Add(g.Place, q.Sent, v, 1)
			}
		}
	}
}

// addEngines takes the samples of engines, with the mean latency of those of their requests that began in each.
func (s places) addEngines(p *metrics.Plan, samples []metrics.ServerSecond) {
	at := slices.IndexFunc(p.Axes[:len(s)], func(a metrics.Axis) bool { return a.By == metrics.AxisEngine })
	if at < 0 {
		return
	}
	for i := range samples {
		for _, e := range samples[i].Engines {
			if n := int(e.TTFT.N); n > 0 && samples[i].At > p.Warmup {
				s[at][p.FirstWait()].Add(engineName(p, &e), samples[i].At, e.TTFT.Mean.Seconds(), n)
			}
		}
	}
}

// engineName is that of the server, where there are several, and of its engine.
func engineName(p *metrics.Plan, e *metrics.Engine) string {
	return strings.TrimSpace(fmt.Sprint(p.ServerURL(e.Server), " ", e.Name))
}

// compared are the places of the axes, with the ratio of the prompts of slow ones to those of the others.
func (s places) compared(p *metrics.Plan, groups [][]metrics.Group) []metrics.Comparison {
	out := make([]metrics.Comparison, len(s))
	for i := range out {
		out[i] = metrics.Comparison{Axis: p.Axes[i], Places: groups[i]}
	}
	judge.Compare(out, s)
	for i := range out {
		for k := range out[i].Spreads {
			for j := range out[i].Spreads[k].Slow {
				slow := &out[i].Spreads[k].Slow[j]
				slow.Input = inputRatio(out[i].Places, slow.Name)
			}
		}
	}
	return out
}

// inputRatio is that of the mean length of a place's prompts to that of the others'; 0 where it is not known.
func inputRatio(all []metrics.Group, name string) float64 {
	var own, others metrics.Counts
	for i := range all {
		if all[i].Place == name {
			own.Merge(&all[i].Counts)
		} else {
			others.Merge(&all[i].Counts)
		}
	}
	return metrics.PerSecond(metrics.Share(own.InputTokens, own.Completed),
		metrics.Share(others.InputTokens, others.Completed))
}
