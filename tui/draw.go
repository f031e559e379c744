package tui

import (
	"strings"
	"time"

	"benchtop/metrics"
	"benchtop/tui/screen"
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
		safely(c, func() { m.drawPreparation(c) })
		return
	}
	l := m.layout()
	h := m.header()
	if l.tiny {
		safely(c, func() { h.drawTiny(c) })
		m.drawTinyPrompt(c)
		return
	}
	if !m.only || m.covered() {
		m.screen.Clear()
		m.drawPanels(c, l)
	}
	safely(l.head.of(c), func() { h.draw(l.head.of(c)) })
	safely(l.figures.of(c), func() { h.drawFigures(l.figures.of(c), l.head.h == 1) })
	safely(l.keys.of(c), func() { m.drawKeys(l.keys.of(c)) })
	below := c.Sub(0, l.head.h, m.w, m.h-l.head.h-l.keys.h)
	if m.stopping() {
		m.drawStopping(below, m.head)
	}
	if m.prompt != nil {
		m.prompt.draw(below, m.ascii)
	}
	if m.helping {
		m.drawHelp(below)
	}
}

// covered: something lies above the panels.
func (m *model) covered() bool { return m.helping || m.stopping() || m.prompt != nil }

// safely keeps a panic to its place on the screen.
func safely(c screen.Canvas, f func()) {
	defer func() {
		if recover() != nil {
			c.Clear()
			c.Center("display error", screen.Warning)
		}
	}()
	f()
}

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
	h.slower = m.governor.sign(m.ascii)
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
