package panels

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"benchtop/metrics"
	"benchtop/tui/chart"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// annotations are full lines across the charts over time: saturation, the most important one, then the changes of the load in order of time.
func (v *View) annotations() []chart.Annotation {
	var out []chart.Annotation
	if a := v.answer(); a != nil && a.Saturates && a.SaturatedAt >= 0 {
		out = append(out, chart.Annotation{
			At: a.SaturatedAt, Name: saturationName(a), Glyph: '│', Line: screen.Style{Fg: screen.Bad}, Words: screen.Warning, Prominent: true,
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
	return e.Set != nil || slices.ContainsFunc(v.plan().Stages, func(s metrics.Stage) bool { return s.String() == e.Mark })
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

// saturationName names the load at which the server saturates, as closely as it is known, with a question mark until it is confirmed.
func saturationName(a *metrics.Answer) string {
	if !a.Confirmed {
		return "saturating? " + saturationLoad(a)
	}
	return "saturates " + saturationLoad(a)
}

// saturationShort is the load alone, with a question mark until it is confirmed.
func saturationShort(a *metrics.Answer) string {
	if !a.Confirmed {
		return saturationLoad(a) + "?"
	}
	return saturationLoad(a)
}

func saturationLoad(a *metrics.Answer) string {
	at, close := a.At()
	if !close {
		return loadNumber(a.From) + "–" + loadName(a.To, a.Users)
	}
	if at = number.Sane(at); at >= 10 {
		at = math.Round(at)
	}
	return "~" + loadName(at, a.Users)
}

// loadName writes a load: 38 req/s, 64 users.
func loadName(load float64, users bool) string { return metrics.LoadWords(loadNumber(load), users) }

// loadNumber writes a load to a tenth.
func loadNumber(load float64) string {
	if load = number.Sane(load); load >= 10_000 {
		return number.Short(load)
	}
	return strconv.FormatFloat(math.Round(load*10)/10, 'f', -1, 64)
}

// settingName names the load that was set.
func settingName(s metrics.LoadSetting) string {
	switch {
	case s.Paused:
		return "paused"
	case s.RampTo > 0:
		return fmt.Sprintf("to %s in %s", loadNumber(s.RampTo), number.Coarse(s.RampOver))
	case s.Users > 0:
		return loadName(float64(s.Users), true)
	}
	return loadName(s.Rate, false)
}

// confidence writes a probability, never as certain.
func confidence(p float64) string {
	if p >= 0.995 {
		return ">99% confidence"
	}
	return fmt.Sprintf("%.0f%% confidence", 100*min(number.Sane(p), 1))
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

// limits are those of the latency with a key: that of its objective in force, and those of gates on its mean or percentiles. A gate at the same place
// as the one before adds no line.
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
		if stat, ok := strings.CutSuffix(g.Metric, "_"+key+"_ms"); ok && stat != "std" && (g.Op == ">" || g.Op == ">=") {
			if stat == "median" {
				stat = "p50"
			}
			add(screen.Sanitize(stat)+" gate", g.Limit)
		}
	}
	return out
}
