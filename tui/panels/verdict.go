package panels

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"benchtop/metrics"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// remark is a part of the verdict, in full and shorter.
type remark struct {
	long, short string
	style       screen.Style
	spare       int // where there is little room the highest goes first; 0 stays
}

// DrawVerdict writes one line of what is known of the run so far, or the card with the results of a run that is over where there is room for it. A
// header of one line leaves the state of the client to it.
func (h Header) DrawVerdict(c screen.Canvas, client bool) {
	c.Clear()
	if c.H > 1 {
		h.drawCard(c)
		return
	}
	if h.View.Dead() != nil {
		drawOutage(c, h.View)
		return
	}
	all := h.View.remarks()
	if state, why := h.View.client(); client && state > well {
		all = append([]remark{{long: state.describe(why, c.W/2), short: state.describe("", c.W), style: state.style()}}, all...)
	}
	if h.State == BrokenOff {
		all = append([]remark{{long: "run incomplete", style: screen.Warning}}, all...)
	}
	c.Spans(0, 0, fitVerdict(all, c.W))
}

// fitVerdict joins remarks to at most w columns, as far as that goes: they are shortened, then the spare ones are left out.
func fitVerdict(all []remark, w int) []screen.Span {
	spans := verdictLine(all, false)
	for screen.SpansWidth(spans) > w {
		spans = verdictLine(all, true)
		i := leastNeeded(all, func(r *remark) int { return r.spare })
		if i < 0 {
			break
		}
		all = slices.Delete(all, i, i+1)
	}
	return spans
}

// verdictLine joins remarks.
func verdictLine(all []remark, shorten bool) []screen.Span {
	var out []screen.Span
	for i, r := range all {
		if i > 0 {
			out = append(out, screen.Line.Span(" │ "))
		}
		words := r.long
		if shorten && r.short != "" {
			words = r.short
		}
		out = append(out, r.style.Span(words))
	}
	return out
}

// remarks are the parts of the verdict in the order in which they are read.
func (v *View) remarks() []remark {
	out := v.searchRemarks()
	if r, ok := v.withinRemark(); ok && v.searching() == nil {
		out = append(out, r)
	}
	if r, ok := v.saturationRemark(); ok {
		out = append(out, r)
	}
	if r, ok := v.limitRemark(); ok {
		r.long, r.short = "limit: "+r.long, "limit: "+r.short
		out = append(out, r)
	}
	if len(out) == 0 {
		out = append(out, remark{long: "measuring …", style: screen.Label})
	}
	if r, ok := v.peakRemark(); ok {
		out = append(out, r)
	}
	if n := v.Totals.Failed; n > 0 {
		share := number.Share(n, n+v.Totals.Done)
		out = append(out, remark{long: errorsWord(n) + ", " + share, short: errorsWord(n), style: screen.Warning})
	}
	return out
}

func errorsWord(n int) string {
	if n == 1 {
		return "1 error"
	}
	return number.Count(n) + " errors"
}

// saturationRemark is the load at which the server saturates, or at the end the reason for which none was found.
func (v *View) saturationRemark() (remark, bool) {
	a := v.answer()
	switch {
	case a == nil:
	case a.Saturates:
		return remark{long: saturationName(a), short: saturationShort(a), style: screen.Warning}, true
	case v.State == metrics.Finished && a.Why != "":
		return remark{long: v.unsaturated(), style: screen.Label, spare: 2}, true
	}
	return remark{}, false
}

// unsaturated says why no saturation was found.
func (v *View) unsaturated() string {
	why := screen.Sanitize(v.answer().Why)
	if !strings.Contains(why, "saturat") {
		why = "saturation unknown: " + why
	}
	return why
}

// limitRemark names the part of TTFT that limits the server.
func (v *View) limitRemark() (remark, bool) {
	if a := v.answer(); a != nil && a.Bottleneck.Known() && a.Saturates {
		share := fmt.Sprintf("%.0f%%", math.Floor(100*number.Sane(a.Bottleneck.Share)+1e-9))
		short := a.Bottleneck.Part.String() + ", " + share
		return remark{long: short + " of " + a.Bottleneck.Of, short: short, style: screen.Text, spare: 3}, true
	}
	return remark{}, false
}

// judgedAgain is longer than the time from one verdict of a run that is on to the next.
const judgedAgain = time.Minute

// peakRemark is the highest throughput, the last seconds included.
func (v *View) peakRemark() (remark, bool) {
	a := v.answer()
	if a == nil || v.Pooling() {
		return remark{}, false
	}
	peak := a.PeakOutput
	if v.Report == nil {
		peak = max(peak, metrics.PeakOutput(v.Windows, max(v.plan().Warmup, v.At-judgedAgain), v.At))
	}
	if !(peak > 0) {
		return remark{}, false
	}
	return remark{long: "peak " + number.Short(peak) + " tok/s", style: screen.Style{Fg: screen.Output}, spare: 4}, true
}

// searching is the search for the highest load while it is on; nil for none.
func (v *View) searching() *metrics.Search {
	if v.Search == nil || v.Search.Phase == metrics.SearchDone || v.State == metrics.Finished {
		return nil
	}
	return v.Search
}

// testedMost is how many tested loads are listed.
const testedMost = 6

// searchRemarks are the state of a search with about how long it takes, and the loads tested so far.
func (v *View) searchRemarks() []remark {
	s := v.searching()
	if s == nil {
		return nil
	}
	now := remark{long: "search: " + s.String(), short: s.String(), style: screen.Caution}
	if s.Left > 0 {
		about, sign := "about ", "~"
		if s.AtLeast {
			about, sign = "at least ", "≥"
		}
		now.long += ", " + about + number.Coarse(s.Left) + " left"
		now.short += ", " + sign + number.Coarse(s.Left)
	}
	if len(s.Tested) == 0 {
		return []remark{now}
	}
	words := "tested"
	for _, t := range s.Tested[max(0, len(s.Tested)-testedMost):] {
		words += " " + metrics.LoadNumber(number.Sane(t.Load)) + " " // with as many digits as the state has
		for _, passed := range append([]bool{t.Passed}, t.Others...) {
			words += map[bool]string{true: "✓", false: "✗"}[passed]
		}
	}
	out := []remark{now}
	if borders := v.bordersText(s); borders != "" {
		out = append(out, remark{long: borders, style: screen.Text})
	}
	return append(out, remark{long: words, style: screen.Text, spare: 2})
}

// Dead is the outage of a server that does not answer any more while the run is on; nil for none.
func (v *View) Dead() *metrics.Outage {
	if v.State == metrics.Finished {
		return nil
	}
	return v.Outage
}

// drawOutage fills the line with the news that the server does not answer.
func drawOutage(c screen.Canvas, v *View) {
	words := "server not answering for " + number.Coarse(v.At-v.Outage.Since)
	if why := screen.Sanitize(v.Outage.Why); why != "" {
		words += ": " + why
	}
	words += "; grey figures are from before"
	st := screen.Style{Fg: screen.Inverse, Bg: screen.Bad, Bold: true}
	if c.Terminal().Mono {
		st, words = screen.Strong, "! "+words
	}
	c.Fill(st)
	c.Print(1, 0, words, st)
}

// cardHeight is the height of the card with its border on a screen, 1 where there is only room for the line.
func (v *View) cardHeight(w, h int) int {
	if w < 60 || h < 24 {
		return 1
	}
	return (len(v.cardRows())+1)/2 + 2
}

// cardRow is a result of the card.
type cardRow struct {
	name  string
	value []screen.Span
	short string // in place of the value where there is no room for it; "" to cut it
	path  bool   // its end says more than its middle
}

// drawCard draws the results of a run that is over.
//
//	╭─ ✓ DONE 806 requests in 00:32, 88.4% within SLO ─────────────────────────────────────────╮
//	│ within SLO  up to 31.4 req/s  97% confidence  throughput  mean 25 req/s · 1600 tok/s     │
//	│ saturation  ~34 req/s                         client      ok                             │
//	│ limit       queue, 79% of TTFT                saved       benchtop-results/run.json      │
//	╰──────────────────────────────────────────────────────────────────────────────────────────╯
func (h Header) drawCard(c screen.Canvas) {
	c.Border(true, false, false)
	end := ConclusionSign(h.View.Report)
	title := append([]screen.Span{screen.Text.Span(" "), end, screen.Text.Span(" " + h.ended())}, h.View.goodAtEnd()...)
	c.Sub(2, 0, c.W-4, 1).Spans(0, 0, title)
	rows, left := h.View.cardRows(), 0
	for _, r := range rows[:min(len(rows), c.H-2)] {
		left = max(left, cardNames+screen.SpansWidth(r.value)+2)
	}
	in := c.Sub(2, 1, c.W-4, c.H-2)
	cut := min(left, in.W*11/20)
	columns := [...]screen.Canvas{in.Sub(0, 0, cut-1, in.H), in.Sub(cut, 0, in.W-cut, in.H)}
	for i, r := range rows[:min(len(rows), 2*in.H)] {
		at := columns[i/in.H].Sub(0, i%in.H, in.W, 1)
		at.Print(0, 0, r.name, screen.Label)
		value := at.Sub(cardNames, 0, at.W, 1)
		switch fits := screen.SpansWidth(r.value) <= value.W; {
		case !fits && r.path:
			r.value[0].Text = screen.ShortenMiddle(r.value[0].Text, value.W)
		case !fits && r.short != "":
			r.value[0].Text = r.short
		}
		value.Spans(0, 0, r.value)
	}
}

// cardNames is the width of the names on the card.
const cardNames = len("throughput") + 2

// ended is how many requests were done in which time.
func (h Header) ended() string {
	r := h.View.Report
	out := fmt.Sprintf("%s requests in %s", number.Count(r.Completed), number.Clock(r.Ended))
	if r.Failed > 0 {
		out += ", " + errorsWord(r.Failed)
	}
	return out
}

// goodAtEnd is the share of the requests of the whole run that met the objectives.
func (v *View) goodAtEnd() []screen.Span {
	share, known := goodput(&v.Totals)
	if !known || len(v.ShownObjectives()) == 0 {
		return []screen.Span{screen.Text.Span(" ")}
	}
	st := screen.Success
	if target, _ := v.target(); share < target {
		st = screen.Warning
	}
	return []screen.Span{screen.Text.Span(", "), st.Span(percent(share) + " within SLO"), screen.Text.Span(" ")}
}

// cardRows are the results in the order in which they are read.
func (v *View) cardRows() []cardRow {
	r := v.Report
	row := func(name string, m remark, ok bool, otherwise string) cardRow {
		if !ok {
			return cardRow{name: name, value: []screen.Span{screen.Label.Span(otherwise)}}
		}
		return cardRow{name: name, value: []screen.Span{m.style.Span(m.long)}, short: m.short}
	}
	var out []cardRow
	for i, tier := range v.tiers() {
		name := "within " + tier.Title()
		if len(v.tiers()) > 1 {
			name = screen.Shorten(tier.Name, cardNames-1)
		}
		out = append(out, row(name, v.highestOf(i), true, ""))
	}
	if len(out) == 0 {
		out = append(out, row("within SLO", remark{}, false, "no objectives given"))
	}
	if saturation, ok := v.saturationRemark(); ok {
		saturation.long = strings.TrimPrefix(cmp.Or(saturation.short, saturation.long), "saturation ")
		out = append(out, row("saturation", saturation, ok, ""))
	}
	if limit, ok := v.limitRemark(); ok {
		out = append(out, row("limit", limit, ok, ""))
	}
	rate := "mean " + number.Rate(r.RequestThroughput) + " req/s"
	if !v.Pooling() {
		rate += between + number.Rate(r.OutputThroughput) + " tok/s"
	}
	out = append(out, cardRow{name: "throughput", value: []screen.Span{screen.Strong.Span(rate)}})
	if o := v.Outage; o != nil {
		words := "not answering since " + number.Clock(o.Since) + ": " + screen.Sanitize(o.Why)
		out = append(out, cardRow{name: "server", value: []screen.Span{screen.Warning.Span(words)}})
	}
	client, why := v.client()
	words := strings.TrimPrefix(client.describe(why, math.MaxInt), "client ")
	out = append(out, cardRow{name: "client", value: []screen.Span{client.style().Span(words)}})
	return append(out, cardRow{name: "saved", value: []screen.Span{v.saved()}, path: true})
}

// saved is the place of the result, or the reason for which there is none.
func (v *View) saved() screen.Span {
	switch {
	case v.SaveError != "":
		return screen.Warning.Span("NOT SAVED: " + screen.Sanitize(v.SaveError))
	case v.SavePath == "":
		return screen.Label.Span("not saved")
	}
	return screen.Strong.Span(screen.Sanitize(v.SavePath))
}
