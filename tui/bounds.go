package tui

import (
	"strings"
	"time"

	"benchtop/metrics"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// bound is a latency that the plan sets a limit to, drawn as a line with its name.
type bound struct {
	name string
	at   time.Duration
}

// bounds are the limits of one metric: that of its objective, and those of gates on its mean or percentiles. A gate at the
// same place as the one before adds no line.
func bounds(p *metrics.Plan, metric string) []bound {
	if p == nil {
		return nil
	}
	var out []bound
	add := func(name string, ms float64) {
		at := number.Seconds(ms / 1000)
		for _, b := range out {
			if b.at == at {
				return
			}
		}
		if at > 0 {
			out = append(out, bound{name + " " + number.Tick(at), at})
		}
	}
	for _, o := range p.Goodput {
		if o.Metric == metric {
			add("SLO", o.LimitMS)
		}
	}
	for _, g := range p.Gates {
		if stat, ok := strings.CutSuffix(g.Metric, "_"+metric+"_ms"); ok && stat != "std" && (g.Op == ">" || g.Op == ">=") {
			if stat == "median" {
				stat = "p50"
			}
			add(screen.Sanitize(stat)+" gate", g.Limit)
		}
	}
	return out
}

// bounds are the limits in force, those of the objectives as they are now.
func (v *view) bounds(metric string) []bound {
	p := *v.plan()
	p.Goodput = v.goals()
	return bounds(&p, metric)
}
