package panels

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"benchtop/internal/findings"
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

// DrawVerdict writes one line of what is known of the run so far, or the card with the results of a run that is over
// where there is room for it. A header of one line leaves the state of the client to it.
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
		all = append([]remark{{long: state.describe(why, c.W/2), short: state.describe("", c.W), style: state.style()}},
			all...)
	}
	if h.State == BrokenOff {
		all = append([]remark{{long: "run incomplete", style: screen.Warning}}, all...)
	}
	c.Spans(0, 0, fitVerdict(all, c.W))
}

// fitVerdict joins remarks to at most w columns, as far as that goes: those that are extra are left out, then all are
// shortened from the last to the first, then the spare ones are left out.
func fitVerdict(all []remark, w int) []screen.Span {
	all = slices.Clone(all)
	for i := len(all) - 1; i >= 0 && screen.SpansWidth(verdictLine(all)) > w; i-- {
		if all[i].spare == extra {
			all = slices.Delete(all, i, i+1)
		}
	}
	for i := len(all) - 1; i >= 0 && screen.SpansWidth(verdictLine(all)) > w; i-- {
		all[i].long = cmp.Or(all[i].short, all[i].long)
	}
	for screen.SpansWidth(verdictLine(all)) > w {
		i := leastNeeded(all, func(r *remark) int { return r.spare })
		if i < 0 {
			break
		}
		all = slices.Delete(all, i, i+1)
	}
	return verdictLine(all)
}

// verdictLine joins remarks.
func verdictLine(all []remark) []screen.Span {
	var out []screen.Span
	for i, r := range all {
		if i > 0 {
			out = append(out, screen.Line.Span(" │ "))
		}
		out = append(out, r.style.Span(r.long))
	}
	return out
}

// remarks are the parts of the verdict in the order in which they are read. A search says itself which loads passed.
func (v *View) remarks() []remark {
	out := v.searchRemarks()
	for _, f := range v.findings() {
		if v.tells(&f) && (f.ID != findings.Within || v.searching() == nil) {
			out = append(out, remark{f.Long, f.Short, findingStyle(&f), v.spare(&f)})
		}
	}
	if len(out) == 0 {
		return []remark{{long: "measuring …", style: screen.Label}}
	}
	return out
}

// findings are those of the run so far, fit for the screen.
func (v *View) findings() []findings.Finding {
	run := findings.OfSnapshot(v.Snapshot)
	if v.Report != nil {
		run = findings.OfReport(v.Report)
	}
	all := run.Findings()
	for i := range all {
		f := &all[i]
		for _, text := range []*string{&f.Tier, &f.Long, &f.Short, &f.Name, &f.Value, &f.Brief} {
			*text = screen.Sanitize(*text)
		}
	}
	return all
}

// tells reports whether a finding is worth a place in one line: before the end a reason for which no saturation is
// named is not.
func (v *View) tells(f *findings.Finding) bool {
	return f.ID != findings.Saturation || f.Severity != findings.Note || v.State == metrics.Finished
}

// finding is the first of its kind, without text where there is none.
func (v *View) finding(id findings.ID) (out findings.Finding) {
	for _, f := range v.findings() {
		if f.ID == id {
			return f
		}
	}
	return out
}

func findingStyle(f *findings.Finding) screen.Style {
	switch f.Severity {
	case findings.Good:
		return screen.Success
	case findings.Open:
		return screen.Caution
	case findings.Bad:
		return screen.Warning
	}
	switch f.ID {
	case findings.Peak:
		return screen.Style{Fg: screen.Output}
	case findings.Limit, findings.Latency:
		return screen.Text
	}
	return screen.Label
}

// extra is the place of what is left out before anything is shortened.
const extra = 5

// spare says in which order findings are left out, the highest first; 0 stays.
func (v *View) spare(f *findings.Finding) int {
	switch {
	case f.ID == findings.Latency && v.judges():
		return extra
	case f.ID == findings.Latency:
		return 1
	case f.ID == findings.Peak:
		return 4
	case f.ID == findings.Limit:
		return 3
	case f.ID == findings.Saturation && f.Severity == findings.Note:
		return 2
	}
	return 0
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
	for _, t := range aroundBorder(testedLoads(s.Tested)) {
		words += " " + t.name + " "
		for _, passed := range append([]bool{t.Passed}, t.Others...) {
			words += map[bool]string{true: "✓", false: "✗"}[passed]
		}
		if t.tries > 1 && len(t.Others) == 0 {
			words += fmt.Sprintf(" (%d of %d)", t.passed, t.tries)
		}
	}
	out := []remark{now}
	if borders := v.bordersText(s); borders != "" {
		out = append(out, remark{long: borders, style: screen.Text})
	}
	return append(out, remark{long: words, style: screen.Text, spare: 2})
}

// testedLoad is the last test of a load, with how many there were and how many passed.
type testedLoad struct {
	metrics.TestedLoad
	name          string // with as many digits as the state has
	tries, passed int
}

// testedLoads are the loads of tests from the lowest to the highest, each once.
func testedLoads(tests []metrics.TestedLoad) (all []testedLoad) {
	for _, t := range tests {
		l := testedLoad{TestedLoad: t, name: metrics.LoadNumber(number.Sane(t.Load)), tries: 1}
		if t.Passed {
			l.passed = 1
		}
		i := slices.IndexFunc(all, func(o testedLoad) bool { return o.name == l.name })
		if i < 0 {
			all = append(all, l)
			continue
		}
		l.tries, l.passed = l.tries+all[i].tries, l.passed+all[i].passed
		all[i] = l
	}
	slices.SortStableFunc(all, func(a, b testedLoad) int { return cmp.Compare(a.Load, b.Load) })
	return all
}

// aroundBorder are some of the loads, about as many that passed as failed.
func aroundBorder(all []testedLoad) []testedLoad {
	border := slices.IndexFunc(all, func(t testedLoad) bool { return !t.Passed })
	if border < 0 {
		border = len(all)
	}
	from := max(0, min(border-testedMost/2, len(all)-testedMost))
	return all[from:min(from+testedMost, len(all))]
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
	if grey := "; grey figures are from before"; screen.Width(words+grey)+3 <= c.W {
		words += grey
	}
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
	narrow, wide := halves(v.cardRows(), w-4)
	return (len(narrow)+1)/2 + len(wide) + 2
}

// halves parts rows, for a card w wide inside, into those that share a line with another one and those that need a
// line.
func halves(rows []cardRow, w int) (narrow, wide []cardRow) {
	for _, r := range rows {
		if r.short != "" || cardNames+screen.SpansWidth(r.value) <= w-w*cardLeft/cardParts {
			narrow = append(narrow, r)
			continue
		}
		if r.path { // to copy it, all of it is needed
			for _, part := range screen.Wrap(r.value[0].Text, w-cardNames, 2) {
				wide = append(wide, cardRow{name: r.name, value: []screen.Span{r.value[0].Style.Span(part)}})
				r.name = ""
			}
			continue
		}
		wide = append(wide, r)
	}
	return narrow, wide
}

// The left column of the card takes so many parts of its width, if its rows need that much.
const (
	cardLeft  = 11
	cardParts = 20
)

// cardRow is a result of the card.
type cardRow struct {
	name  string
	value []screen.Span
	short string // in place of the value where there is no room for it; "" to cut it
	path  bool   // it has two lines where it does not fit into one
}

// drawCard draws the results of a run that is over.
//
//	╭─ ✓ DONE 806 requests in 00:32, 88.4% within SLO ─────────────────────────────────────────╮
//	│ within SLO  24 req/s proven (97 %)     peak (5 s)  2.2k tok/s                            │
//	│ saturation  between 24 and 48 req/s    throughput  mean 25 req/s · 1600 tok/s            │
//	│ limit       queue, 79 % of TTFT        client      ok                                    │
//	╰──────────────────────────────────────────────────────────────────────────────────────────╯
func (h Header) drawCard(c screen.Canvas) {
	c.Border(true, false, false)
	end := ConclusionSign(h.View.Report)
	title := func(errors bool) []screen.Span {
		return append([]screen.Span{screen.Text.Span(" "), end, screen.Text.Span(" " + h.ended(errors))},
			h.View.goodAtEnd()...)
	}
	above := c.Sub(2, 0, c.W-4, 1)
	above.Spans(0, 0, title(screen.SpansWidth(title(true)) <= above.W))
	in := c.Sub(2, 1, c.W-4, c.H-2)
	rows, wide := halves(h.View.cardRows(), in.W)
	lines, left := min((len(rows)+1)/2, in.H), 0
	for _, r := range rows[:min(len(rows), lines)] {
		left = max(left, cardNames+screen.SpansWidth(r.value)+2)
	}
	cut := min(left, max(in.W*cardLeft/cardParts, cardNames+20)) // an estimate stays whole
	columns := [...]screen.Canvas{in.Sub(0, 0, cut-1, in.H), in.Sub(cut, 0, in.W-cut, in.H)}
	for i, r := range rows[:min(len(rows), 2*lines)] {
		r.draw(columns[i/lines].Sub(0, i%lines, in.W, 1))
	}
	for i, r := range wide {
		r.draw(in.Sub(0, lines+i, in.W, 1))
	}
}

// draw writes a row on a line.
func (r cardRow) draw(at screen.Canvas) {
	at.Print(0, 0, r.name, screen.Label)
	value := at.Sub(cardNames, 0, at.W, 1)
	if r.short != "" && screen.SpansWidth(r.value) > value.W {
		r.value[0].Text = r.short
	}
	value.Spans(0, 0, r.value)
}

// cardNames is the width of the names on the card.
const cardNames = len("throughput") + 2

// ended is how many requests were done in which time, and, where there is room for it, how many of them failed.
func (h Header) ended(errors bool) string {
	r := h.View.Report
	out := fmt.Sprintf("%s requests in %s", number.Count(r.Counts.Ended()), number.Clock(r.Ended))
	if errors && r.Failed > 0 {
		out += ", " + number.Count(r.Failed) + " failed"
	}
	if users := r.OfUsers(&r.Plan); errors && users != "" {
		out += ", " + users
	}
	return out
}

// goodAtEnd is the share of the requests of the whole run that met the objectives.
func (v *View) goodAtEnd() []screen.Span {
	share, known := goodput(&v.Totals, 0)
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
	var out []cardRow
	for _, f := range v.findings() {
		if f.ID != findings.Errors { // the title has them
			r := cardRow{name: screen.Shorten(f.Name, cardNames-1),
				value: []screen.Span{findingStyle(&f).Span(f.Value)},
				short: f.Brief}
			if f.Brief == findings.Unknown { // says nothing without its reason
				r.short = ""
			}
			out = append(out, r)
		}
	}
	rate := number.Rate(r.RequestThroughput) + " req/s"
	if v.plan().Generates() {
		rate += between + number.Rate(r.OutputThroughput) + " tok/s"
	}
	mean := screen.Strong.Span("mean " + rate)
	out = append(out, cardRow{name: "throughput", value: []screen.Span{mean}, short: rate})
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
