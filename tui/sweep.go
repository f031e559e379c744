package tui

import (
	"cmp"
	"context"
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"benchtop/metrics/grid"
	"benchtop/tui/panels"
	"benchtop/tui/screen"
	"benchtop/tui/term"
)

// SweepOptions configure the screen of a sweep.
type SweepOptions struct {
	// Screen has the looks of the screen, and of the dashboards of its runs; it says nothing of a run.
	Screen Options
	// Snapshots is a channel of capacity 1 on which the latest wins. It is closed after the last snapshot.
	Snapshots <-chan grid.Snapshot
	// Runs brings the preparation of each run that begins; its dashboard replaces that of the run before.
	Runs <-chan *Preparation
	// Control takes the commands that keys give to the sweep.
	Control SweepControl
	// Leave ends the screen with the sweep, unless a key was pressed. Inside shows the dashboard of each run, until the
	// user leaves it for the grid.
	Leave, Inside bool
}

// SweepControl takes commands for a sweep. Its methods are called from the screen's loop and must not block. Each
// returns a result or a refusal for the screen, "" where it comes as Snapshot.Notice. A combination is named by its
// index in Snapshot.Cells.
type SweepControl interface {
	// Skip leaves the rest of a combination out; a run of it that is on ends.
	Skip(cell int) string
	// Repeat measures a combination that is over once more.
	Repeat(cell int) string
	// Stop ends the sweep: the run in progress is cut, the server stopped, and what is done is kept.
	Stop() string
}

// RunSweep shows a sweep until the user leaves (nil), ctx ends (its cause) or the terminal is lost (ErrTerminal).
// Before the end of the sweep the user can leave only after having stopped it. The terminal is restored before RunSweep
// returns.
func RunSweep(ctx context.Context, o SweepOptions) error {
	return onStage(ctx, o.Screen, func(ctx context.Context, s *stage) tea.Model {
		m := newSweepModel(o, s.palette)
		m.sent, m.resized, m.aside, m.title = s.w.Sent, s.w.Resized, s.aside, s.w.Title
		m.next = await(ctx, o.Snapshots, func(g grid.Snapshot) tea.Msg { return sweepMsg{&g} }, sweepEndMsg{})
		m.nextRun = await(ctx, o.Runs, func(p *Preparation) tea.Msg { return sweepRunMsg{p} }, nil)
		m.dashboard = func(o Options) *model { return s.model(ctx, o) }
		m.tick = every(m.HeaderEvery)
		if s.width > 0 {
			m.resize(s.width, s.height)
		}
		return m
	})
}

// sweepMsg brings a snapshot; sweepEndMsg follows the last one. sweepRunMsg brings a run, dashboardMsg a message for
// the dashboard of a run, and leftMsg says that the user left it.
type (
	sweepMsg     struct{ s *grid.Snapshot }
	sweepEndMsg  struct{}
	sweepRunMsg  struct{ p *Preparation }
	dashboardMsg struct {
		of  *model
		msg tea.Msg
	}
	leftMsg struct{ of *model }
)

// sweepModel is the state of the screen of a sweep. Only Bubble Tea's loop touches it. The dashboard of the run in
// progress is a model within it, which gets its messages whether it is shown or not.
type sweepModel struct {
	frame
	control       SweepControl
	next, nextRun tea.Cmd
	dashboard     func(Options) *model

	latest, shown *grid.Snapshot
	run           *model // of the run in progress, or the last one; nil before the first
	inside        bool   // its dashboard is shown
	ended         bool   // the last snapshot came
	stopping      bool
	leave         bool // at the end
	entered       bool // the dashboard of the next run is shown when it begins

	page   panels.SweepPage
	list   panels.SweepList
	scroll int // lines of the server's log below the screen
}

func newSweepModel(o SweepOptions, p *screen.Palette) *sweepModel {
	empty := &grid.Snapshot{Current: -1, Word: "series", Part: "load"}
	return &sweepModel{frame: newFrame(o.Screen, p), control: o.Control, latest: empty, shown: empty,
		leave: o.Leave, entered: o.Inside}
}

// Init starts waiting for snapshots, runs and ticks.
func (m *sweepModel) Init() tea.Cmd { return tea.Batch(m.next, m.nextRun, m.tick()) }

// Update takes one message.
func (m *sweepModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := m.take(msg)
	return m, m.wake(cmd)
}

func (m *sweepModel) take(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.resize(max(0, msg.Width), max(0, msg.Height))
		return m.tell(msg)
	case sweepMsg:
		return m.takeSnapshot(msg.s)
	case sweepEndMsg:
		m.ended = true
		if m.prompt != nil && m.prompt.yes != nil { // there is nothing left to ask about
			m.closePrompt()
		}
		m.show()
		return m.leaveAtEnd()
	case sweepRunMsg:
		return tea.Batch(m.nextRun, m.takeRun(msg.p))
	case dashboardMsg:
		if msg.of == m.run { // not one of a run before
			return m.tell(msg.msg)
		}
	case leftMsg:
		if msg.of == m.run {
			m.leaveDashboard()
		}
	case term.Background:
		m.palette = m.palette.On(msg.Light)
		m.show()
		return m.tell(msg)
	case tickMsg:
		return m.onTick()
	case tea.KeyMsg:
		m.limiter.Key()
		m.stay()
		return eachKey(msg, m.onKeys)
	case tea.MouseMsg:
		m.stay()
		return m.onMouse(msg)
	}
	return nil
}

// stay keeps the screen after the end of the sweep.
func (m *sweepModel) stay() {
	if m.leave = false; m.run != nil {
		m.run.Within = m.place()
	}
}

func (m *sweepModel) resize(w, h int) {
	m.setSize(w, h)
	m.show()
}

// takeSnapshot shows what is news at once, the rest with the next frame.
func (m *sweepModel) takeSnapshot(s *grid.Snapshot) tea.Cmd {
	before := m.latest
	m.latest = s
	if m.run != nil && s.Current >= 0 { // a run may be here before the snapshot that has it
		m.run.Within, m.run.Series = m.place(), s.Word
	}
	if s.Notice != before.Notice {
		m.notify(s.Notice)
	}
	if s.Over || s.Current != before.Current || s.CurrentRun != before.CurrentRun ||
		s.Server.State != before.Server.State || len(s.Cells) != len(before.Cells) {
		m.show()
	}
	if s.Over && !before.Over {
		return tea.Batch(m.next, tea.Sequence(m.ring(s), m.leaveAtEnd()))
	}
	return m.next
}

// leaveAtEnd leaves a sweep that is over, if the user wanted to.
func (m *sweepModel) leaveAtEnd() tea.Cmd {
	if m.stopping || m.Exit || m.leave {
		return tea.Quit
	}
	return nil
}

// ring announces that the sweep is over.
func (m *sweepModel) ring(s *grid.Snapshot) tea.Cmd {
	if m.Quiet || m.aside == nil {
		return nil
	}
	return m.aside("\a\x1b]9;benchtop: " + screen.Sanitize(cmp.Or(s.Summary, "done")) + "\a")
}

// takeRun makes the dashboard of a run. It is as the user left that of the run before.
func (m *sweepModel) takeRun(p *Preparation) tea.Cmd {
	o := m.Options
	// a load changed by hand is not that of the combination
	o.Preparation, o.Quiet, o.Exit, o.ReadOnly = p, true, false, true
	o.Within, o.Series = m.place(), m.latest.Word
	before := m.run
	m.run = m.dashboard(o)
	m.run.within()
	m.run.resized, m.run.title = nil, nil // the screen tells its size and names the terminal itself
	m.run.palette = m.palette
	if before != nil {
		m.run.page, m.run.span, m.run.whole, m.run.linear = min(before.page, len(panels.Pages)-1), before.span,
			before.wholeBefore, before.linear
	}
	m.run.resize(m.w, m.h)
	m.inside = m.inside || m.entered
	m.show()
	return m.run.Init()
}

// within has the messages that a dashboard waits for come back to it, and its end be the way back.
func (m *model) within() {
	m.own = func(cmd tea.Cmd) tea.Cmd {
		return func() tea.Msg { return dashboardMsg{m, cmd()} }
	}
	tick := m.tick
	m.next, m.prep.wait, m.tick = m.own(m.next), m.own(m.prep.wait), func() tea.Cmd { return m.own(tick()) }
	m.quit = func() tea.Msg { return leftMsg{m} }
}

// place names the combination in progress for its dashboard, or the run where there is no experiment of combinations,
// and says what comes then unless a key is pressed.
func (m *sweepModel) place() string {
	then := map[bool]string{true: ", then closes"}[m.leave]
	at, all := max(0, m.latest.CurrentRun)+1, 0
	for i, c := range m.latest.Cells {
		if i < m.latest.Current {
			at += len(c.Runs)
		}
		all += len(c.Runs)
	}
	if m.latest.Dir == "" {
		return fmt.Sprintf("run %d/%d%s", at, all, then)
	}
	return fmt.Sprintf("sweep %d/%d%s", m.latest.Current+1, len(m.latest.Cells), then)
}

// tell gives the dashboard a message.
func (m *sweepModel) tell(msg tea.Msg) tea.Cmd {
	if m.run == nil {
		return nil
	}
	_, cmd := m.run.Update(msg)
	return cmd
}

// enterDashboard shows the run in progress, leaveDashboard the grid again.
func (m *sweepModel) enterDashboard() {
	if m.run == nil {
		m.notify("no run has begun yet")
		return
	}
	m.inside, m.entered = true, false
	m.run.palette = m.palette
	m.run.show()
}

func (m *sweepModel) leaveDashboard() {
	m.inside, m.entered = false, false
	m.palette = m.run.palette // the theme may be another
	m.show()
}

func (m *sweepModel) onTick() tea.Cmd {
	if m.title != nil {
		m.title(panels.NewSweepView(m.latest, m.list).TerminalTitle())
	}
	switch due := m.frame.onTick(); {
	case m.over():
		m.show()
		return m.rest()
	case due:
		m.show()
	}
	return m.tick()
}

// show brings the newest snapshot to the screen.
func (m *sweepModel) show() { m.shown, m.stale = m.latest, true }

// over reports whether the sweep is over or gone.
func (m *sweepModel) over() bool { return m.ended || m.latest.Over }

func (m *sweepModel) view() *panels.SweepView {
	v := panels.NewSweepView(m.shown, m.list)
	v.Stopping, v.Pulse, v.Scroll, v.Raster = m.stopping, m.ticks/m.perFrame%2 == 0, m.scroll, &m.raster
	v.Slower = m.limiter.Sign(m.ASCII)
	if m.run != nil && m.run.prep == nil && !m.over() {
		v.Run = m.run.latest
	}
	return v
}

// View returns the screen. It draws only if something changed.
func (m *sweepModel) View() string {
	if m.inside {
		return m.run.View()
	}
	return m.render(m.draw)
}

func (m *sweepModel) draw(c screen.Canvas) {
	m.screen.Clear()
	v := m.view()
	a := v.Layout(m.page, m.w, m.h)
	v.Draw(c, a)
	if a.Tiny {
		m.prompt.drawTiny(c)
		return
	}
	a.Keys.Of(c).Safely(func(c screen.Canvas) { drawKeys(c, m.notice.text, sweepKeymap.items(m, nil)) })
	below := c.Sub(0, a.Head.H, m.w, m.h-a.Head.H-a.Keys.H)
	m.drawAbove(below, 0, func() []section { return sweepKeymap.help(m) })
}
