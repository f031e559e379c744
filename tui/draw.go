package tui

import (
	"benchtop/metrics"
	"benchtop/tui/screen"
	"fmt"
	"strings"
	"time"
)

// View returns the screen. It draws only if something changed.
func (m *model) View() string {
	if m.stale {
		m.draw()
		m.cached = m.screen.Render(m.palette)
		m.stale, m.only = false, false
	}
	return m.cached
}

// choices is a view for which nothing was merged yet.
func (m *model) choices(s *metrics.Snapshot) *view {
	return &view{
		s: s, span: spans[m.span], whole: m.whole, linear: m.linear,
		Terminal: m.palette.Terminal(m.ascii),
		latency:  shown(s, m.latency), back: m.back(s), baseline: m.baseline, list: m.list, raster: &m.raster,
	}
}

func (m *model) view(s *metrics.Snapshot) *view {
	v := m.choices(s)
	// The header comes twice as often as the panels: keep what was merged for either.
	k := pick{s, v.span, v.back}
	if m.picked[k] == nil {
		next := map[pick]*selection{k: v.selected()}
		for old, sel := range m.picked {
			v.picked.inherit(sel)
			if old.s == m.body || old.s == m.head {
				next[old] = sel
			}
		}
		m.picked = next
	}
	v.picked = m.picked[k]
	return v
}

func (m *model) layout() areas { return layout(m.pageNow(), m.w, m.h, m.choices(m.body)) }

func (m *model) draw() {
	if m.screen == nil || m.screen.W != m.w || m.screen.H != m.h {
		m.screen = screen.NewSurface(m.w, m.h)
		m.only = false
	}
	m.screen.Terminal = m.palette.Terminal(m.ascii)
	c := m.screen.All()
	if m.prep != nil {
		c.Safely(m.drawPreparation)
		return
	}
	l := m.layout()
	h := m.header()
	if l.tiny {
		c.Safely(h.drawTiny)
		m.drawTinyPrompt(c)
		return
	}
	if !m.only || m.covered() {
		m.screen.Clear()
		m.drawPanels(c, l)
	}
	l.head.of(c).Safely(h.draw)
	l.figures.of(c).Safely(func(c screen.Canvas) { h.drawFigures(c, l.head.h == 1) })
	l.keys.of(c).Safely(m.drawKeys)
	below := c.Sub(0, l.head.h, m.w, m.h-l.head.h-l.keys.h)
	if m.stopping() {
		m.drawStopping(below, m.head)
	}
	if m.prompt != nil {
		m.prompt.draw(below)
	}
	if m.helping {
		m.drawHelp(below)
	}
}

// covered: something lies above the panels.
func (m *model) covered() bool { return m.helping || m.stopping() || m.prompt != nil }

func (m *model) stopping() bool {
	s := m.state(m.head)
	return s == metrics.Draining || s == metrics.Aborting
}

func (m *model) header() header {
	h := header{v: m.view(m.head), state: m.state(m.head), page: m.page, behind: -1, controls: m.controls}
	for _, p := range m.pages() {
		h.pages = append(h.pages, p.name)
	}
	if m.frozen {
		h.behind = max(0, m.latest.At-m.head.At)
	}
	h.slower = m.limiter.Sign(m.ascii)
	switch {
	case m.attached && m.readOnly:
		h.guest = "attached, read only"
	case m.attached:
		h.guest = "attached"
	case m.readOnly:
		h.guest = "read only"
	}
	return h
}

func (m *model) drawPanels(c screen.Canvas, l areas) {
	v := m.view(m.body)
	switch name := m.pageNow().name; {
	case name == reportPage.name:
		r := l.panels[0].rect
		v.text = m.reportLines(r.w - 2)
		v.scroll = min(m.reportTop, max(0, len(v.text)-(r.h-2)))
	case m.pageNow().scrolls:
		v.scroll = m.scroll
		v.filter = m.filter
		s := *m.body
		s.Log = m.logShown()
		v.s = &s
	}
	boxes := l.panels
	if m.zoomed {
		boxes = []box{{m.focus, m.below(l)}}
	}
	for _, b := range boxes {
		if p, ok := panelNamed(b.name); ok {
			p.frame(b.rect.of(c), v, b.name == m.focus)
		}
	}
}

// below is the area between the key figures and the bottom line.
func (m *model) below(l areas) rect {
	y := l.figures.y + l.figures.h
	return rect{0, y, m.w, max(0, l.keys.y-y)}
}

// back is how far back the charts end.
func (m *model) back(s *metrics.Snapshot) time.Duration {
	if m.until <= 0 {
		return 0
	}
	return scrolled(s, spans[m.span], max(0, closedEnd(s)-m.until))
}

// closedEnd is the end of the last closed second; 0 if there is none.
func closedEnd(s *metrics.Snapshot) time.Duration {
	if ws := closedWindows(s); len(ws) > 0 {
		return ws[len(ws)-1].Start + time.Second
	}
	return 0
}

// logShown is the log as the page shows it: as it was when scrolling began, and what the filter leaves of it.
func (m *model) logShown() []metrics.LogEntry {
	log := m.body.Log
	if m.pinned != nil {
		log = m.pinned
	}
	if m.filter == "" {
		return log
	}
	var out []metrics.LogEntry
	for _, e := range log {
		if strings.Contains(strings.ToLower(string(e.Level)+" "+eventText(e)), strings.ToLower(m.filter)) {
			out = append(out, e)
		}
	}
	return out
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
	border(b, true)
	b.Sub(2, 0, b.W-4, 1).Print(0, 0, " "+title+" ", screen.Strong)
	return b.Sub(2, 1, b.W-4, b.H-2)
}

// drawHelp lists the keys, in two columns where one is too high and there is room for two.
func (m *model) drawHelp(c screen.Canvas) {
	rows := m.helpLines()
	keys, most := 0, 0
	for _, r := range rows {
		keys, most = max(keys, screen.Width(r[0])), max(most, screen.Width(r[1]))
	}
	column, columns := keys+2+most, 1
	if len(rows) > c.H-2 && 2*column+helpGap+4 <= c.W {
		columns = 2
	}
	high := (len(rows) + columns - 1) / columns
	in := overlay(c, "Help, any key closes", columns*column+(columns-1)*helpGap, high, false)
	if high > in.H { // j and k show the rest
		m.helpTop = min(m.helpTop, high-in.H)
	} else {
		m.helpTop = 0
	}
	for i, r := range rows {
		at := in.Sub(i/high*(column+helpGap), i%high-m.helpTop, column, 1)
		if i%high < m.helpTop {
			continue
		}
		if r[0] == "" {
			at.Print(keys+2, 0, r[1], screen.Label)
			continue
		}
		at.Right(keys, 0, r[0], screen.Strong)
		at.Print(keys+2, 0, r[1], screen.Text)
	}
	if high > in.H {
		in.Print(0, 0, "↓", screen.Label)
	}
}

const helpGap = 3 // columns between columns

// drawStopping says what happens to what is still in flight, and to the result.
func (m *model) drawStopping(c screen.Canvas, s *metrics.Snapshot) {
	flying := s.Waiting + s.Running
	rows := []screen.Span{stateSign(s, m.state(s))}
	switch m.state(s) {
	case metrics.Draining:
		rows = append(rows,
			screen.Text.Span("no new requests are sent"),
			screen.Text.Span(fmt.Sprintf("%d in flight may finish: %d waiting, %d running", flying, s.Waiting, s.Running)))
	default:
		rows = append(rows, screen.Text.Span(fmt.Sprintf("cutting %d requests in flight", flying)))
	}
	switch {
	case s.SaveError != "":
		rows = append(rows, screen.Warning.Span("! NOT SAVING: "+screen.Sanitize(s.SaveError)))
	case s.SavePath != "":
		rows = append(rows, screen.Text.Span("the result is saved in any case"))
	default:
		rows = append(rows, screen.Text.Span("the report comes in any case, not saved"))
	}
	switch m.stops {
	case 0:
		rows = append(rows, screen.Label.Span("q q cuts the rest now"))
	case 1:
		rows = append(rows, screen.Label.Span("q again cuts the rest now"))
	default:
		rows = append(rows, screen.Label.Span("q again leaves at once"))
	}
	w := 0
	for _, r := range rows {
		w = max(w, screen.Width(r.Text))
	}
	in := overlay(c, "Stopping", w, len(rows), true)
	for y, r := range rows {
		in.Print(0, y, r.Text, r.Style)
	}
}

// notice is a few words on the bottom line that go by themselves.
type notice struct {
	text  string
	ticks int // of the header, until they go
}

// noticed is how long a notice stays.
const noticed = 4 * time.Second

// say shows words; they may come from outside.
func (m *model) say(words string) {
	if words = screen.Sanitize(words); words != "" {
		m.notice = notice{words, int((noticed + m.headerEvery - 1) / m.headerEvery)}
	}
}

// age counts a tick, and says whether the notice is gone with it.
func (n *notice) age() bool {
	if n.ticks == 0 {
		return false
	}
	if n.ticks--; n.ticks == 0 {
		n.text = ""
	}
	return n.ticks == 0
}
