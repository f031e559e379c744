package panels

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"benchtop/internal/findings"
	"benchtop/metrics"
	"benchtop/tui/chart"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// annotations are full lines across the charts over time: saturation, the most important one, then the changes of the
// load in order of time.
func (v *View) annotations() []chart.Annotation {
	var out []chart.Annotation
	if a := v.answer(); a != nil && a.Saturates && a.SaturatedAt >= 0 {
		out = append(out, chart.Annotation{
			At: a.SaturatedAt, Name: v.finding(findings.Saturation).Short,
			Glyph: '│', Line: screen.Style{Fg: screen.Bad}, Words: screen.Warning, Prominent: true,
		})
	}
	for _, e := range v.Marks {
		if !v.changesLoad(&e) {
			continue
		}
		name := screen.Sanitize(e.Mark)
		if name == "" {
			name = settingName(*e.Set)
		}
		out = append(out, chart.Annotation{At: e.At, Name: name, Glyph: '┊', Line: screen.Dim, Words: screen.Label})
	}
	return out
}

// ticks are the other events with a mark, for the axis of time. Their words are in the log.
func (v *View) ticks() []time.Duration {
	var out []time.Duration
	for i := range v.Marks {
		if !v.changesLoad(&v.Marks[i]) {
			out = append(out, v.Marks[i].At)
		}
	}
	return out
}

// changesLoad reports whether an event sets the load or begins a stage.
func (v *View) changesLoad(e *metrics.LogEntry) bool {
	return e.Set != nil ||
		slices.ContainsFunc(v.plan().Stages, func(s metrics.Stage) bool { return s.String() == e.Mark })
}

// crossings draws the lines of the annotations across a border between two charts over time.
func (v *View) crossings(c screen.Canvas) {
	t, ws, _ := v.overTime()
	left, n := c.W-chart.Columns(c), chart.Columns(c)
	if len(ws) == 0 || n <= 0 {
		return
	}
	for _, a := range v.annotations() {
		x := t.Column(a.At, n)
		if p := c.At(left+x, 0); x > 0 && x < n && p.Glyph == '─' {
			c.Set(left+x, 0, a.Glyph, a.Line)
		}
	}
}

// answer is the verdict on saturation so far, nil for none.
func (v *View) answer() *metrics.Answer {
	if v.Report != nil {
		return &v.Report.Answer
	}
	return v.Answer
}

// levels are the loads of the run so far.
func (v *View) levels() []metrics.LoadLevel {
	if v.Report != nil {
		return v.Report.Levels
	}
	return v.Levels
}

// settingName names the load that was set.
func settingName(s metrics.LoadSetting) string {
	switch {
	case s.Paused:
		return "paused"
	case s.RampTo > 0:
		return fmt.Sprintf("to %s in %s", findings.Number(s.RampTo), number.Coarse(s.RampOver))
	}
	return findings.Load(s.Load)
}

// goals are the objectives in force.
func (v *View) goals() metrics.SLO {
	if v.Objectives != nil {
		return v.Objectives
	}
	return v.plan().Goodput
}

// judges reports whether requests are judged by objectives: those in force, or those of a workload.
func (v *View) judges() bool { return v.plan().Judges(v.goals()) }

// limits are those of the latency with a key: that of its objective in force, and those of gates on its mean or
// percentiles. A gate at the same place as the one before adds no line.
func (v *View) limits(key string) []chart.Limit {
	var out []chart.Limit
	add := func(name string, ms float64) {
		at := number.Seconds(ms / 1000)
		if at > 0 && !slices.ContainsFunc(out, func(l chart.Limit) bool { return l.At == at }) {
			out = append(out, chart.Limit{Name: name + " " + number.Tick(at), At: at})
		}
	}
	for _, o := range v.goals() {
		if o.Metric.Key() == key {
			add("SLO", o.LimitMS)
		}
	}
	for _, g := range v.plan().Gates {
		if stat, ok := strings.CutSuffix(g.Metric, "_"+key+"_ms"); ok && stat != "std" &&
			(g.Op == ">" || g.Op == ">=") {
			if stat == "median" {
				stat = "p50"
			}
			add(screen.Sanitize(stat)+" gate", g.Limit)
		}
	}
	return out
}
