package report

import (
	"benchtop/metrics"
	"benchtop/metrics/judge"
)

// places sum up what the places of each axis of a plan are compared by.
type places []judge.Sums

// newPlaces begins with the axes of a plan. TPOT is that of a user, as a place delivers it; TTFT that of its queue.
func newPlaces(p *metrics.Plan) places {
	out := make(places, min(len(p.Axes), metrics.MostAxes))
	for i := range out {
		out[i].Latencies = map[metrics.Latency]*judge.Places{p.FirstWait(): {}}
		if p.Measures(metrics.TPOT) {
			out[i].Latencies[metrics.TPOT] = new(judge.Places)
		}
	}
	return out
}

// add takes a success, with its latencies, or a failure.
func (s places) add(p *metrics.Plan, q *metrics.Request, o *metrics.Outcome, groups []*metrics.Group) {
	for i := range s {
		g, at := groups[metrics.ByAxis+i], q.Sent-p.Warmup
		if g == nil || q.Failure == metrics.Abandoned {
			continue
		}
		s[i].Failures.AddEnd(g.Place, at, !q.OK())
		for l, sums := range s[i].Latencies {
			if l == metrics.TPOT && q.Pace() == metrics.Never { // all of the answer came at once
				continue
			}
			if v, times := l.Exact(o); q.OK() && times > 0 {
				sums.Add(g.Place, at, v, 1)
			}
		}
	}
}

// mostOfSample bounds the requests of a sample, which may come from a file.
const mostOfSample = 1 << 20

// engines are the places of the engines of each role, by the first engine of which they are in order, with the mean
// latency of those of their requests that began in each sample.
func engines(p *metrics.Plan, samples []metrics.ServerSecond, all []metrics.Engine) (out places) {
	type engine struct {
		server int
		name   string
	}
	names, roles := map[engine]string{}, map[string]*judge.Places{}
	for i := range all {
		e := &all[i]
		names[engine{e.Server, e.Name}] = p.EngineName(e, all)
		if role := p.PageOf(e).Role; roles[role] == nil {
			roles[role] = new(judge.Places)
			out = append(out, judge.Sums{Latencies: map[metrics.Latency]*judge.Places{p.FirstWait(): roles[role]}})
		}
	}
	for i := range samples {
		for k := range samples[i].Engines {
			e := &samples[i].Engines[k]
			name, n := names[engine{e.Server, e.Name}], int(min(e.TTFT.N, mostOfSample))
			if name != "" && n > 0 && samples[i].At > p.Warmup {
				roles[p.PageOf(e).Role].Add(name, samples[i].At-p.Warmup, e.TTFT.Mean.Seconds(), n)
			}
		}
	}
	return out
}

// compared are the places of the axes, with the ratio of the prompts of slow ones to those of the others, and engines
// where there are several, each with those of its role.
func (s places) compared(p *metrics.Plan, groups [][]metrics.Group, samples []metrics.ServerSecond,
) (out []metrics.Comparison) {
	for i := range s {
		out = append(out, metrics.Comparison{Axis: p.Axes[i], Places: groups[i]})
	}
	axes := len(out)
	if some := metrics.EnginesOver(samples, p.Warmup); p.Engines {
		roles := engines(p, samples, some)
		if len(roles) == 0 {
			roles = make(places, 1) // a table that says so
		}
		for _, role := range roles {
			s = append(s, role)
			out = append(out, metrics.Comparison{Axis: metrics.Axis{By: metrics.AxisEngine}, Engines: some})
		}
	}
	judge.Compare(out, s)
	for k := len(out) - 1; k > axes; k-- { // all roles have one table
		out[k-1].Spreads = append(out[k-1].Spreads, out[k].Spreads...)
		out = out[:k]
	}
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
