package tui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"benchtop/metrics"
)

// snapshotMsg brings a snapshot; endMsg says that there will be none any more.
type (
	snapshotMsg struct{ s metrics.Snapshot }
	endMsg      struct{}
	tickMsg     struct{}
)

// spans are the times a chart can show; 0 is the whole run.
var spans = []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 15 * time.Minute, 0}

const oneMinute = 1 // index in spans

// model is the state of the dashboard. Only Bubble Tea's loop touches it. Snapshots come as often as they like, they are
// only kept; the drawing tick decides when one is shown:
//
//	latest ──tick──> head (header and key figures)
//	       └─every few ticks──> body (panels)
type model struct {
	control Control
	next    tea.Cmd        // waits for a snapshot
	tick    func() tea.Cmd // a new wait for the drawing tick
	perBody int            // ticks between two drawings of the panels
	exit    bool
	palette *palette
	ascii   bool

	w, h               int
	latest, head, body *metrics.Snapshot
	seen               bool // a snapshot came
	ended              bool // the last one came
	ticks              int

	page, span            int
	focus                 string
	zoomed, helping       bool
	frozen, whole, linear bool
	stops                 int // how often the user asked to stop

	helpTop int                 // lines of the help above its box
	scroll  int                 // lines of the log below the screen
	pinned  []metrics.Event     // the log as it was when scrolling began
	picked  map[pick]*selection // windows merged already

	stale  bool // the screen has to be drawn again, headOnly: but not the panels
	only   bool
	screen *surface
	cached string
}

// pick names a selection: of which snapshot, over which span.
type pick struct {
	s    *metrics.Snapshot
	span time.Duration
}

func newModel(o Options, p *palette) *model {
	empty := &metrics.Snapshot{State: metrics.Running, DrainBy: metrics.Never, OutputExact: true}
	return &model{
		control: o.Control, exit: o.Exit, palette: p, ascii: o.ASCII,
		perBody: max(1, int(o.ChartsEvery/max(o.HeaderEvery, 1))),
		latest:  empty, head: empty, body: empty,
		span: oneMinute, stale: true,
	}
}

// Init starts waiting for snapshots and ticks.
func (m *model) Init() tea.Cmd { return tea.Batch(m.next, m.tick()) }

// Update takes one message.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h = max(0, msg.Width), max(0, msg.Height)
		m.show()
	case snapshotMsg:
		return m, m.take(&msg.s)
	case endMsg:
		m.ended = true
		if m.exit {
			return m, tea.Quit
		}
	case tickMsg:
		return m, m.onTick()
	case tea.KeyMsg:
		return m, m.onKeys(msg)
	}
	return m, nil
}

// onKeys takes a key, or several: what is typed fast arrives in one read over a slow line, and Bubble Tea makes one message
// of it. A paste is no key.
func (m *model) onKeys(msg tea.KeyMsg) tea.Cmd {
	if msg.Type != tea.KeyRunes || msg.Paste || msg.Alt {
		return m.onKey(msg.String())
	}
	var all []tea.Cmd
	for _, r := range msg.Runes {
		all = append(all, m.onKey(string(r)))
	}
	return tea.Sequence(all...)
}

func (m *model) take(s *metrics.Snapshot) tea.Cmd {
	before := m.latest.State
	m.latest = s
	if s.State == metrics.Finished && before != metrics.Finished {
		m.whole = true // what people read at the end is the whole run
	}
	if !m.seen || s.State != before || s.State == metrics.Finished {
		m.seen = true
		m.show()
	}
	return m.next
}

func (m *model) onTick() tea.Cmd {
	m.ticks++
	if m.ended {
		m.show()
		return nil // nothing changes any more but by keys
	}
	if m.frozen || m.ticks%m.perBody == 0 {
		m.show()
	} else if m.head != m.latest {
		m.head = m.latest
		if !m.stale {
			m.stale, m.only = true, true
		}
	}
	return m.tick()
}

// show brings the newest snapshot to the screen, unless it is frozen, and has everything drawn again.
func (m *model) show() {
	if !m.frozen {
		m.head, m.body = m.latest, m.latest
	}
	m.stale, m.only = true, false
}

func (m *model) pageNow() page { return pages[m.page] }

func (m *model) layout() screen { return layout(m.pageNow(), m.w, m.h, sloLines(m.body)) }

// over: nothing more will come.
func (m *model) over() bool { return m.ended || m.latest.State == metrics.Finished }

// state is what the run does, or will do as soon as it has heard of the keys pressed.
func (m *model) state(s *metrics.Snapshot) metrics.State {
	switch {
	case s.State == metrics.Finished || s.State == metrics.Aborting:
		return s.State
	case m.stops >= 2:
		return metrics.Aborting
	case m.stops == 1:
		return metrics.Draining
	}
	return s.State
}

func (m *model) onKey(key string) tea.Cmd {
	do := m.lookup(key)
	if m.helping && do != stop && do != redraw {
		switch do {
		case moveDown, scrollDown:
			m.helpTop++
		case moveUp, scrollUp:
			m.helpTop = max(0, m.helpTop-1)
		default:
			m.helping, m.helpTop = false, 0
		}
		m.show()
		return nil
	}
	if do == none {
		return nil
	}
	var cmd tea.Cmd
	switch do {
	case pageNumber:
		m.turn(int(key[0] - '1'))
	case pageNext:
		m.turn((m.page + 1) % len(pages))
	case pageBefore:
		m.turn((m.page + len(pages) - 1) % len(pages))
	case moveLeft:
		m.move(-1, 0)
	case moveRight:
		m.move(1, 0)
	case moveUp:
		m.move(0, -1)
	case moveDown:
		m.move(0, 1)
	case scrollUp, scrollDown, scrollPageUp, scrollPageDown, scrollTop, scrollEnd:
		m.scrollBy(do)
	case zoomIn:
		if m.focus == "" {
			m.move(1, 0)
		}
		m.zoomed = m.focus != ""
	case back:
		m.escape()
	case spanShorter:
		m.span = max(0, m.span-1)
	case spanLonger:
		m.span = min(len(spans)-1, m.span+1)
	case freeze:
		m.frozen = !m.frozen
	case swapScope:
		m.whole = !m.whole
	case swapAxis:
		m.linear = !m.linear
	case redraw:
		cmd = tea.ClearScreen
	case help:
		m.helping = true
	case stop:
		cmd = m.stop()
	}
	m.show()
	return cmd
}

func (m *model) turn(page int) {
	m.page, m.focus, m.zoomed = page, "", false
}

func (m *model) escape() {
	switch {
	case m.zoomed:
		m.zoomed = false
	default:
		m.focus = ""
	}
}

// stop: the first time drain, the second time abort, the third time leave without waiting.
func (m *model) stop() tea.Cmd {
	if m.over() {
		return tea.Quit
	}
	m.stops++
	m.helping = false
	switch m.stops {
	case 1:
		m.control.Drain()
	case 2:
		m.control.Abort()
	default:
		return tea.Quit
	}
	return nil
}

// move takes the focus to a neighbour; a zoomed panel gives way to it.
func (m *model) move(dx, dy int) {
	if to := beside(m.layout().panels, m.focus, dx, dy); to != "" {
		m.focus = to
	}
}

// scrollBy moves through the log. While it is scrolled back the log stands still; back at the end it goes on.
func (m *model) scrollBy(do action) {
	l := m.layout()
	if l.tiny || len(l.panels) == 0 {
		return
	}
	if m.pinned == nil {
		log := m.latest.Log
		if m.frozen {
			log = m.body.Log
		}
		m.pinned = log
	}
	r := l.panels[0].rect
	high := max(1, r.h-2)
	most := max(0, len(logLines(m.pinned, r.w-2))-high)
	switch do {
	case scrollUp:
		m.scroll++
	case scrollDown:
		m.scroll--
	case scrollPageUp:
		m.scroll += high
	case scrollPageDown:
		m.scroll -= high
	case scrollTop:
		m.scroll = most
	case scrollEnd:
		m.scroll = 0
	}
	m.scroll = min(max(m.scroll, 0), most)
	if m.scroll == 0 {
		m.pinned = nil
	}
}

// View returns the screen. It draws only if something changed.
func (m *model) View() string {
	if m.stale {
		m.draw()
		m.cached = m.screen.render(m.palette)
		m.stale, m.only = false, false
	}
	return m.cached
}

func (m *model) view(s *metrics.Snapshot) *view {
	v := &view{
		s: s, span: spans[m.span], whole: m.whole, linear: m.linear,
		mono: m.palette.mono, filled: m.palette.filled, ascii: m.ascii,
	}
	// The header comes twice as often as the panels: keep what was merged for either.
	k := pick{s, v.span}
	if m.picked[k] == nil {
		next := map[pick]*selection{k: v.selected()}
		for old, sel := range m.picked {
			if old.s == m.body || old.s == m.head {
				next[old] = sel
			}
		}
		m.picked = next
	}
	v.picked = m.picked[k]
	return v
}

func (m *model) draw() {
	if m.screen == nil || m.screen.w != m.w || m.screen.h != m.h {
		m.screen = newSurface(m.w, m.h)
		m.only = false
	}
	m.screen.ascii = m.ascii
	c := m.screen.all()
	l := m.layout()
	h := m.header()
	if l.tiny {
		safely(c, func() { h.drawTiny(c) })
		return
	}
	covered := m.helping || m.stopping()
	if !m.only || covered {
		m.screen.clusters = m.screen.clusters[:0]
		c.clear()
		m.drawPanels(c, l)
	}
	safely(c.in(l.head), func() { h.draw(c.in(l.head)) })
	safely(c.in(l.figures), func() { h.drawFigures(c.in(l.figures), l.head.h == 1) })
	safely(c.in(l.keys), func() { m.drawKeys(c.in(l.keys)) })
	if m.stopping() {
		m.drawStopping(c.sub(0, l.head.h, m.w, m.h-l.head.h-l.keys.h), m.head)
	}
	if m.helping {
		m.drawHelp(c.sub(0, l.head.h, m.w, m.h-l.head.h-l.keys.h))
	}
}

// safely keeps a panic to its place on the screen.
func safely(c canvas, f func()) {
	defer func() {
		if recover() != nil {
			c.clear()
			c.center("display error", warning)
		}
	}()
	f()
}

func (m *model) stopping() bool {
	s := m.state(m.head)
	return s == metrics.Draining || s == metrics.Aborting
}

func (m *model) header() header {
	h := header{v: m.view(m.head), state: m.state(m.head), page: m.page, behind: -1}
	for _, p := range pages {
		h.pages = append(h.pages, p.name)
	}
	if m.frozen {
		h.behind = max(0, m.latest.At-m.head.At)
	}
	return h
}

func (m *model) drawPanels(c canvas, l screen) {
	v := m.view(m.body)
	if m.pageNow().scrolls {
		v.scroll = m.scroll
		if m.pinned != nil {
			s := *m.body
			s.Log = m.pinned
			v.s = &s
		}
	}
	boxes := l.panels
	if m.zoomed {
		y := l.figures.y + l.figures.h
		boxes = []box{{m.focus, rect{0, y, m.w, max(0, l.keys.y-y)}}}
	}
	for _, b := range boxes {
		if p, ok := panelNamed(b.name); ok {
			p.frame(c.in(b.rect), v, b.name == m.focus)
		}
	}
}
