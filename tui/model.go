package tui

import (
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"benchtop/metrics"
	"benchtop/tui/panels"
	"benchtop/tui/screen"
	"benchtop/tui/term"
)

// snapshotMsg brings a snapshot; endMsg follows the last one.
type (
	snapshotMsg struct{ s metrics.Snapshot }
	endMsg      struct{}
	tickMsg     struct{}
)

// spans are the times that charts and figures can show, of a younger run all of it; 0 is the whole run.
var spans = []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 15 * time.Minute, 0}

const usualSpan = 4 // index in spans

// model is the state of the dashboard. Only Bubble Tea's loop touches it. A snapshot is only kept when it comes, as
// latest; every few ticks one is shown, so that all figures of a frame are of one moment.
type model struct {
	frame
	prep *preparationScreen // nil once the run is shown
	next tea.Cmd            // waits for a snapshot
	quit tea.Cmd
	own  func(tea.Cmd) tea.Cmd // has the message of a command come back to this model

	latest, shown *metrics.Snapshot
	seen          bool // a snapshot came
	ended         bool // the last one came

	page, span                              int
	focus                                   string
	zoomed                                  bool
	frozen, whole, linear                   bool
	wholeBefore                             bool // whole before the run was over
	stops                                   int  // how often the user asked to stop
	latency                                 metrics.Latency
	until                                   time.Duration // where scrolled back charts end; 0 follows the run
	list                                    panels.List
	inspected                               metrics.Inspection
	controls                                bool        // keys change the load
	pendingLoad, pendingSpeed, pendingPlace pendingLoad // the load, and the speed and the place of a run of the past
	rung                                    bool        // the bell

	scroll     int                // lines of the log below the screen
	reportTop  int                // lines of the report above it
	filter     string             // of the log
	pinned     []metrics.LogEntry // the log as it was when scrolling began
	written    writtenReport
	selections panels.Selections // windows merged already
}

func newModel(o Options, p *screen.Palette) *model {
	empty := &metrics.Snapshot{State: metrics.Running, DrainBy: metrics.Never, OutputExact: true}
	m := &model{frame: newFrame(o, p), latest: empty, shown: empty, span: usualSpan, quit: tea.Quit}
	m.own = func(cmd tea.Cmd) tea.Cmd { return cmd }
	if m.Control == nil {
		m.Control = NoControl{}
	}
	m.compareWith(o.Baseline)
	return m
}

// compareWith draws an older run behind this one.
func (m *model) compareWith(b *Baseline) {
	if m.Baseline = b; b.Empty() {
		m.Baseline = nil
		m.notify("the baseline " + screen.ShortenMiddle(screen.Sanitize(b.Name),
			40) + " has no requests to compare with")
	}
}

// Init starts waiting for snapshots and ticks.
func (m *model) Init() tea.Cmd {
	if m.prep != nil {
		return tea.Batch(m.prep.wait, m.own(m.prep.tick()))
	}
	return tea.Batch(m.next, m.tick())
}

// Update takes one message.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := m.take(msg)
	m.inspect()
	return m, m.wake(cmd) // ticks stop when the run is over, but the notice still has to go
}

func (m *model) take(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.resize(max(0, msg.Width), max(0, msg.Height))
	case preparationMsg:
		if m.prep == nil {
			return nil
		}
		m.prep.now, m.stale = msg.now, true
		return m.own(m.prep.tick())
	case runMsg:
		return m.begin(msg)
	case snapshotMsg:
		held := m.showRun()
		return tea.Batch(held, m.takeSnapshot(inForce(&msg.s)))
	case endMsg:
		m.showRun()
		m.ended = true
		if m.brokeOff() {
			m.controls, m.pendingLoad = false, pendingLoad{}
			m.show()
		}
		if m.Exit {
			return m.quit
		}
	case term.Background:
		m.palette = m.palette.On(msg.Light)
		m.show()
	case tickMsg:
		return m.onTick()
	case tea.KeyMsg:
		m.limiter.Key()
		return eachKey(msg, m.onKeys)
	case tea.MouseMsg:
		if m.prep != nil {
			return nil
		}
		m.limiter.Key()
		return m.onMouse(tea.MouseEvent(msg))
	}
	return nil
}

func (m *model) resize(w, h int) {
	m.setSize(w, h)
	m.show()
}

// inForce gives the plan the objectives that are in force now, so that every panel shows them.
func inForce(s *metrics.Snapshot) *metrics.Snapshot {
	if s.Plan == nil || s.Objectives == nil || slices.Equal(s.Plan.Goodput, s.Objectives) {
		return s
	}
	plan := *s.Plan
	plan.Goodput = s.Objectives
	s.Plan = &plan
	return s
}

func (m *model) takeSnapshot(s *metrics.Snapshot) tea.Cmd {
	before := m.latest.State
	m.latest = s
	m.notify(s.Notice)
	if g, ok := m.Control.(Remote); ok && m.ReadOnly && g.Controls() {
		m.ReadOnly = false
		m.notify("the first terminal was lost; c takes control")
	}
	m.pendingLoad.confirm(s.Steering.Changes)
	m.heardPlayer(s)
	cmd := m.next
	switch over := s.State == metrics.Finished; {
	case over && before != metrics.Finished:
		if end := m.finish(); m.Exit && m.Player == nil {
			cmd = tea.Sequence(end, m.quit)
		} else {
			cmd = tea.Batch(m.next, end)
		}
	case !over && before == metrics.Finished: // played back to before the end
		m.whole = m.wholeBefore
	}
	m.page = min(m.page, len(m.pages())-1)
	if !m.seen || s.State != before || s.State == metrics.Finished || s.Replay != nil && !s.Replay.Playing ||
		m.inspectionCame(s) {
		m.seen = true
		m.show()
	}
	return cmd
}

// inspectionCame reports whether the requests that a key asked for came and are not on the screen yet. They are shown
// without waiting for the tick.
func (m *model) inspectionCame(s *metrics.Snapshot) bool {
	rows := m.inspected.Rows && s.Requests != nil && m.shown.Requests == nil
	open := m.inspected.Open - 1
	return rows || open >= 0 && opens(s, open) && !opens(m.shown, open)
}

func opens(s *metrics.Snapshot, index int) bool { return s.Opened != nil && s.Opened.Index == index }

// finish is called when the run is over.
func (m *model) finish() tea.Cmd {
	m.controls, m.pendingLoad = false, pendingLoad{}
	m.whole, m.wholeBefore = true, m.whole // the reader wants the whole run at its end
	if m.Player != nil {
		return nil
	}
	return m.ring()
}

func (m *model) onTick() tea.Cmd {
	m.pendingLoad.age()
	m.pendingSpeed.age()
	m.pendingPlace.age()
	if m.title != nil {
		m.title(panels.TerminalTitle(m.latest, m.state(m.latest)))
	}
	switch due := m.frame.onTick(); {
	case m.over():
		m.show()
		return m.rest()
	case m.frozen || due:
		m.show()
	}
	return m.tick()
}

// show brings the newest snapshot to the screen, unless it is frozen, and has everything drawn again.
func (m *model) show() {
	if !m.frozen {
		m.shown = m.latest
	}
	m.stale = true
}

// inspect tells the run which single requests are on the screen, when that changes.
func (m *model) inspect() {
	var want metrics.Inspection
	if m.pageNow().Lists {
		want = m.list.Inspect()
	}
	if want != m.inspected {
		m.inspected = want
		m.Control.Inspect(want)
	}
}

// over reports whether the run is over or gone.
func (m *model) over() bool { return m.ended || m.latest.State == metrics.Finished }

// brokeOff reports whether the run is gone without an end.
func (m *model) brokeOff() bool { return m.ended && m.latest.State != metrics.Finished }

// state is the state of the run, or the one that follows from the keys pressed.
func (m *model) state(s *metrics.Snapshot) metrics.State {
	switch {
	case m.brokeOff():
		return panels.BrokenOff
	case s.State == metrics.Finished || s.State == metrics.Aborting || s.State == metrics.Counting:
		return s.State
	case m.stops >= 2:
		return metrics.Aborting
	case m.stops == 1:
		return metrics.Draining
	}
	return s.State
}

// pages are the pages of the moment: that of the report comes with it.
func (m *model) pages() []panels.Page {
	if m.hasReport() {
		return append(panels.Pages[:len(panels.Pages):len(panels.Pages)], panels.ReportPage)
	}
	return panels.Pages
}

func (m *model) hasReport() bool { return m.Report != nil && m.latest.Report != nil }

// readsReport reports whether a key opens the page of the report.
func (m *model) readsReport() bool {
	return m.hasReport() && m.pageNow().Name != panels.ReportPage.Name
}

func (m *model) pageNow() panels.Page {
	all := m.pages()
	return all[min(m.page, len(all)-1)]
}

// turn opens a page if it is there.
func (m *model) turn(page int) {
	if page >= 0 && page < len(m.pages()) {
		m.page, m.focus, m.zoomed = page, "", false
	}
}
