package tui

import (
	"fmt"
	"time"

	"benchtop/metrics"
	"benchtop/tui/panels"
	"benchtop/tui/screen"
)

// View returns the screen. It draws only if something changed.
func (m *model) View() string { return m.render(m.draw) }

// choices is a view without merged histograms.
func (m *model) choices(s *metrics.Snapshot) *panels.View {
	return &panels.View{
		Snapshot: s, Span: spans[m.span], Whole: m.whole, Linear: m.linear,
		Terminal: m.palette.Terminal(m.ASCII),
		Latency:  panels.ShownLatency(s, m.latency), Back: m.back(s), Baseline: m.Baseline, List: m.list,
		Raster: &m.raster,
	}
}

func (m *model) view(s *metrics.Snapshot) *panels.View {
	v := m.choices(s)
	m.selections.Fill(v)
	return v
}

func (m *model) layout() panels.Areas {
	return panels.Layout(m.pageNow(), m.w, m.h, m.choices(m.shown))
}

func (m *model) draw(c screen.Canvas) {
	if m.prep != nil {
		c.Safely(m.drawPreparation)
		return
	}
	l := m.layout()
	h := m.header()
	if l.Tiny {
		c.Safely(h.DrawTiny)
		m.prompt.drawTiny(c)
		return
	}
	m.screen.Clear()
	m.drawPanels(c, l)
	l.Head.Of(c).Safely(h.Draw)
	l.Verdict.Of(c).Safely(func(c screen.Canvas) { h.DrawVerdict(c, l.Head.H == 1) })
	l.Keys.Of(c).Safely(func(c screen.Canvas) { drawKeys(c, m.notice.text, m.keyItems()) })
	below := c.Sub(0, l.Head.H, m.w, m.h-l.Head.H-l.Keys.H)
	if m.stopping() {
		m.drawStopping(below, m.shown)
	}
	low := 0 // end of the lowest border
	for _, b := range l.Panels {
		if !b.Bare {
			low = max(low, b.Rect.Y+b.Rect.H)
		}
	}
	m.drawAbove(below, l.Keys.Y-low+1, func() []section {
		if m.palette.Mono {
			return append(keymap.help(m), signs)
		}
		return append(keymap.help(m), legend(), signs)
	})
}

func (m *model) stopping() bool {
	s := m.state(m.shown)
	return s == metrics.Draining || s == metrics.Aborting
}

func (m *model) header() panels.Header {
	h := panels.Header{View: m.view(m.shown), State: m.state(m.shown), Page: m.page, Behind: -1}
	for _, p := range m.pages() {
		h.Pages = append(h.Pages, p.Name)
	}
	if m.frozen {
		h.Behind = max(0, m.latest.At-m.shown.At)
	}
	sign := func(is bool, words string, st screen.Style) {
		if is && words != "" {
			h.Signs = append(h.Signs, st.Span(words))
		}
	}
	alone := m.Within == ""
	sign(!alone, m.Within, screen.Label)
	sign(alone && m.Attached && m.ReadOnly, "attached, read only", screen.Label)
	sign(alone && m.Attached && !m.ReadOnly, "attached", screen.Label)
	sign(alone && !m.Attached && m.ReadOnly, "read only", screen.Label)
	sign(true, m.limiter.Sign(m.ASCII), screen.Label)
	sign(m.controls, "CONTROL", screen.Caution)
	return h
}

func (m *model) drawPanels(c screen.Canvas, l panels.Areas) {
	v := m.view(m.shown)
	switch name := m.pageNow().Name; {
	case name == panels.ReportPage.Name:
		r := l.Panels[0].Rect
		v.Text = m.reportLines(r.W - 2)
		v.Scroll = min(m.reportTop, max(0, len(v.Text)-(r.H-2)))
	case m.pageNow().Scrolls:
		v.Scroll = m.scroll
		v.Filter = m.filter
		s := *m.shown
		s.Log = m.logShown()
		v.Snapshot = &s
	}
	boxes := l.Panels
	if m.zoomed {
		boxes = []panels.Box{{Name: m.focus, Rect: l.Below()}}
	}
	for _, b := range boxes {
		if p, ok := panels.Named(b.Name); ok {
			p.Draw(b.Rect.Of(c), v, b, b.Name == m.focus)
			if v.Dead() != nil && onPanels(m) && b.Name != "log" && b.Name != "errors" { // the figures are not of now
				b.Rect.Of(c).Grey()
			}
		}
	}
}

// back is how far back the charts end.
func (m *model) back(s *metrics.Snapshot) time.Duration {
	return panels.Back(s, spans[m.span], m.until)
}

// logShown is the log of the page: as it was when scrolling began, and filtered.
func (m *model) logShown() []metrics.LogEntry {
	log := m.shown.Log
	if m.pinned != nil {
		log = m.pinned
	}
	return panels.FilterLog(log, m.filter)
}

// overlay draws a titled box above everything else, at most as large as c, and returns its inside.
func overlay(c screen.Canvas, title string, w, h int, corner bool) screen.Canvas {
	w, h = min(w+4, c.W), min(h+2, c.H)
	x, y := (c.W-w)/2, (c.H-h)/2
	if corner {
		x, y = c.W-w, c.H-h
	}
	b := c.Sub(x, y, w, h)
	b.Clear()
	if b.W < 4 || b.H < 2 {
		return b
	}
	b.Border(true, false, false)
	b.Sub(2, 0, b.W-4, 1).Print(0, 0, " "+title+" ", screen.Strong)
	return b.Sub(2, 1, b.W-4, b.H-2)
}

// drawStopping shows the fate of the requests in flight and of the result.
func (m *model) drawStopping(c screen.Canvas, s *metrics.Snapshot) {
	flying := s.Waiting + s.Running
	rows := []screen.Span{panels.StateSign(s, m.state(s))}
	if m.state(s) == metrics.Draining {
		rows = append(rows, screen.Text.Span("no new requests are sent"),
			screen.Text.Span(fmt.Sprintf("finishing %d in flight: %d waiting, %d running", flying, s.Waiting,
				s.Running)))
	} else {
		rows = append(rows, screen.Text.Span(fmt.Sprintf("cancelling %d requests in flight", flying)))
	}
	switch {
	case s.SaveError != "":
		rows = append(rows, screen.Warning.Span("! NOT SAVING: "+screen.Sanitize(s.SaveError)))
	case s.SavePath != "":
		rows = append(rows, screen.Text.Span("the result will be saved"))
	default:
		rows = append(rows, screen.Text.Span("the report will be printed, not saved"))
	}
	next := [...]string{"q q cancels them now", "q again cancels them now", "q again quits at once"}
	rows = append(rows, screen.Label.Span(next[min(m.stops, 2)]))
	w := 0
	for _, r := range rows {
		w = max(w, screen.Width(r.Text))
	}
	in := overlay(c, "Stopping", w, len(rows), true)
	for y, r := range rows {
		in.Print(0, y, r.Text, r.Style)
	}
}

// notice is a short text on the bottom line that disappears by itself.
type notice struct {
	text  string
	ticks int // of the header, until it disappears
}

// noticed is how long a notice stays.
const noticed = 4 * time.Second

// age counts a tick and reports whether the notice disappeared with it.
func (n *notice) age() bool {
	if n.ticks == 0 {
		return false
	}
	if n.ticks--; n.ticks == 0 {
		n.text = ""
	}
	return n.ticks == 0
}
