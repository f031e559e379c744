package panels

import (
	"fmt"
	"math"
	"strings"
	"time"

	"benchtop/metrics"
	"benchtop/tui/chart"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// latenessPanel shows how late the client itself was with its requests, and how busy its processors were.
var latenessPanel = Panel{name: "lateness", title: latenessTitle, draw: drawLateness, timed: true,
	empty: func(v *View) bool { return len(v.Client) == 0 }, nothing: nothingYet}

func latenessTitle(v *View, w, _ int) []screen.Span {
	p99, most, cpu := "", "", ""
	percent := func(used, cores float64) string {
		if !(cores > 0) {
			return ""
		}
		return fmt.Sprintf("%.0f%%", 100*number.Sane(used/cores))
	}
	if v.whole() {
		if late := &v.Report.Statistics[metrics.OwnLateness]; late.N > 0 {
			ms, _ := late.Percentile(99)
			p99, most = number.Latency(number.Seconds(ms/1000)), number.Latency(number.Seconds(late.Max/1000))
		}
		cpu = percent(v.Report.Client.CPU, v.Report.Client.Cores)
	} else if c := v.cursorClient(); c != nil {
		if c.Sent > 0 {
			p99, most = number.Latency(c.LateP99), number.Latency(c.LateMax)
		}
		cpu = percent(c.CPU, c.Cores)
	}
	items := []legendItem{{color: screen.P99, name: "p99", value: p99}, {color: screen.Plain, name: "max", value: most},
		{color: screen.Usage, name: "CPU", value: cpu, spare: true}}
	if !v.whole() {
		return legend(w, "lateness", items...)
	}
	note := between + v.scope()
	return noted(legend(w-screen.Width(note), "lateness", items...), w, screen.Label, note)
}

// cpuShare is how much of its processors the client kept busy, in percent; NaN where it is not known.
func cpuShare(c *metrics.ClientSecond) float64 {
	if !(c.Cores > 0) {
		return math.NaN()
	}
	return 100 * number.Sane(c.CPU/c.Cores)
}

// drawLateness puts lateness above and the processors below, where there is room for both.
func drawLateness(c screen.Canvas, v *View) {
	late, cpu := latenessPlot(v), cpuPlot(v)
	if c.H < 6 {
		late.draw(c)
		return
	}
	drawBoth(c, late, cpu, max(2, c.H*2/5))
}

func latenessPlot(v *View) plot {
	at := clientSeconds(v)
	value := func(of func(*metrics.ClientSecond) time.Duration) func(w *metrics.Window) float64 {
		return func(w *metrics.Window) float64 {
			c := at(w)
			if c == nil || c.Sent == 0 {
				return math.NaN()
			}
			return max(of(c), time.Microsecond).Seconds()
		}
	}
	return plot{v: v, chart: chart.Plot{Log: true}, series: []series{
		{name: "max", color: screen.Plain,
			value: value(func(c *metrics.ClientSecond) time.Duration { return c.LateMax })},
		{name: "p99", color: screen.P99,
			value: value(func(c *metrics.ClientSecond) time.Duration { return c.LateP99 })},
	}}
}

func cpuPlot(v *View) plot {
	at := clientSeconds(v)
	return plot{v: v, chart: chart.Plot{Top: 100}, series: []series{
		{name: "CPU", sign: '#', color: screen.Usage, filled: true, value: func(w *metrics.Window) float64 {
			if c := at(w); c != nil {
				return cpuShare(c)
			}
			return math.NaN()
		}},
	}}
}

// minuteAt is what was joined of the samples of a minute, nil if there are none.
func minuteAt[T any](all []T, w *metrics.Window, at func(*T) time.Duration) *T {
	if k := int(w.Start / time.Minute); k < len(all) && at(&all[k]) > 0 {
		return &all[k]
	}
	return nil
}

// clientSeconds finds the sample of the client that fills most of a window, nil if there is none.
func clientSeconds(v *View) func(w *metrics.Window) *metrics.ClientSecond {
	when := func(c *metrics.ClientSecond) (at, took time.Duration) { return c.At, c.Took }
	samples := finder[metrics.ClientSecond]{all: v.Client, when: when}
	return func(w *metrics.Window) *metrics.ClientSecond {
		if w.Seconds > 0 {
			return minuteAt(v.Minutes.Client, w, func(c *metrics.ClientSecond) time.Duration { return c.At })
		}
		k := samples.from(middle(w))
		end := k
		for end < len(v.Client) && end < k+max(1, v.plan().Part.N) && v.Client[end].At-v.Client[end].Took <= middle(w) {
			end++
		}
		if k == end {
			return nil
		}
		return new(metrics.Together(v.Client[k:end]))
	}
}

// health is the state of the client: whether the figures on the screen are the server's or its own.
type health uint8

const (
	unsampled health = iota // not known, or not yet
	well
	strained // the run as a whole is fine, its last seconds are not
	limited
)

// client is the state of the client and the first reason for it. Once the run is over only the whole run counts.
func (v *View) client() (health, string) {
	s := v.Snapshot
	if r := s.Report; r != nil {
		switch {
		case r.Client.Verdict.Limited():
			return limited, v.reason(r.Client.Verdict)
		case len(r.Client.Seconds) > 0:
			return well, ""
		}
		return unsampled, ""
	}
	switch {
	case len(s.Client) == 0:
		return unsampled, ""
	case s.Verdict.Limited():
		return limited, v.reason(s.Verdict)
	case s.Recent.Limited():
		return strained, v.reason(s.Recent)
	}
	return well, ""
}

// reasonMost is how many columns a reason may take.
const reasonMost = 60

// reason is the first one that is not empty, and the figures that all of them touch, of those that the run has.
func (v *View) reason(of metrics.Verdict) string {
	all := of.Touched()
	if !v.plan().Measures(metrics.ITL) {
		all &^= metrics.FirstTokens | metrics.Gaps
	}
	if !v.judges() {
		all &^= metrics.WithinSLO
	}
	for _, why := range of.Why {
		if why = screen.Sanitize(why); why != "" {
			why = screen.Shorten(why, reasonMost)
			if touched := all.String(); touched != "" {
				why += touching + touched
			}
			return why
		}
	}
	return ""
}

// touching stands between a reason and the figures that it spoils, which are left out first.
const touching = "; affects "

// word and style tell the states apart, either alone.
func (h health) word() string { return [...]string{"", "ok", "under pressure", "OVERLOADED"}[h] }

func (h health) style() screen.Style {
	return [...]screen.Style{screen.Label, screen.Label, screen.Caution, screen.Warning}[h]
}

// limitedShort is the shortest form, for which there is always room.
const limitedShort = "! client"

// reasonLeast is how many columns a shortened reason needs.
const reasonLeast = 16

// describe is the state in words of at most w columns: with its reason, without, or in short. Good news is left out
// where there is no room, bad news is not.
func (h health) describe(why string, w int) string {
	if h == unsampled {
		return ""
	}
	words := "client " + h.word()
	full := words
	if why != "" {
		full += ": " + why
	}
	cause, _, _ := strings.Cut(full, touching)
	switch {
	case screen.Width(full) <= w:
		return full
	case screen.Width(cause) <= w:
		return cause
	case w >= screen.Width(words)+2+reasonLeast:
		return screen.Shorten(full, w)
	case screen.Width(words) <= w, h == strained:
		return words
	case h == limited:
		return limitedShort
	}
	return ""
}

// userStamped reports whether chunks are timed by the client's own clock rather than by the kernel's.
func (v *View) userStamped() bool {
	chunks, unstamped, source := 0, 0, v.plan().Timestamps
	if r := v.Report; r != nil {
		chunks, unstamped, source = r.Client.Stamps.Chunks, r.Client.Stamps.Unstamped, r.Client.Source
	} else {
		for _, some := range v.Minutes.ClientIn(v.Client) {
			for i := range some {
				chunks, unstamped = chunks+some[i].Chunks, unstamped+some[i].Unstamped
			}
		}
	}
	return source == metrics.UserStamps || chunks > 0 && unstamped > chunks/2
}
