package tui

import (
	"fmt"
	"slices"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"benchtop/metrics"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// Preparation holds the steps before a run. The code that prepares the run writes it, and the dashboard shows it from its first moment until the
// run's first snapshot. Its methods may be called from any goroutine and never wait.
type Preparation struct {
	run chan preparedRun // of capacity 1

	mu     sync.Mutex // guards everything below
	began  time.Time
	plan   *metrics.Plan
	steps  []prepStep
	at     int // the step in progress, -1 before the first
	left   bool
	sealed bool
}

// prepStep is one step of a preparation. began and ended are zero until then.
type prepStep struct {
	name, words  string
	done, total  int
	began, ended time.Time
}

// preparedRun is the run after its preparation.
type preparedRun struct {
	snapshots <-chan metrics.Snapshot
	control   Control
	baseline  *Baseline
}

// NewPreparation begins a preparation of the steps named, as far as they are known beforehand.
func NewPreparation(steps ...string) *Preparation {
	p := &Preparation{run: make(chan preparedRun, 1), began: time.Now(), plan: &metrics.Plan{}, at: -1}
	for _, name := range steps {
		p.steps = append(p.steps, prepStep{name: name})
	}
	return p
}

// About sets the plan as far as it is known. The plan must not be changed any more.
func (p *Preparation) About(plan *metrics.Plan) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.plan = plan
}

// Step begins a step and ends the one before. A step that was not known beforehand comes in between.
func (p *Preparation) Step(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end()
	next := slices.IndexFunc(p.steps, func(s prepStep) bool { return s.name == name })
	if next < 0 {
		next = p.at + 1
		p.steps = slices.Insert(p.steps, next, prepStep{name: name})
	}
	p.at = next
	p.steps[next].began, p.steps[next].ended = time.Now(), time.Time{}
}

// end ends the step in progress. The caller holds mu.
func (p *Preparation) end() {
	if p.at >= 0 && p.steps[p.at].ended.IsZero() {
		p.steps[p.at].ended = time.Now()
	}
}

// Say describes the progress or the result of the step, in words that may be foreign text.
func (p *Preparation) Say(words string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at >= 0 {
		p.steps[p.at].words = words
	}
}

// Count sets how much of the step in progress is done. A total of 0 is not known.
func (p *Preparation) Count(done, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at >= 0 {
		p.steps[p.at].done, p.steps[p.at].total = done, total
	}
}

// Seal ends the preparation: from here on the run begins, and the keys that would have cancelled it are the run's. It is false if
// the user has left before.
func (p *Preparation) Seal() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end()
	p.sealed = !p.left
	return p.sealed
}

// Show has the dashboard show the run. It is called once, after Seal.
func (p *Preparation) Show(snapshots <-chan metrics.Snapshot, control Control, baseline *Baseline) {
	p.run <- preparedRun{snapshots, control, baseline}
}

// leave cancels the preparation, unless it is over.
func (p *Preparation) leave() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left = !p.sealed
	return p.left
}

// preparationEvery is how often the dashboard reads the preparation. It draws changes only.
const preparationEvery = 250 * time.Millisecond

// preparing is the preparation on the dashboard.
type preparing struct {
	of    *Preparation
	wait  tea.Cmd // for the run
	shown preparationView
	stops int // keys that came too late to cancel the preparation: they are the run's
}

// preparationMsg is the tick at which the dashboard reads the preparation; runMsg brings the run.
type (
	preparationMsg struct{ now time.Time }
	runMsg         struct {
		preparedRun
		next tea.Cmd // its first snapshot
	}
)

func (p *preparing) tick() tea.Cmd {
	return tea.Tick(preparationEvery, func(now time.Time) tea.Msg { return preparationMsg{now} })
}

// refresh reads the preparation and reports whether it looks different.
func (p *preparing) refresh(now time.Time) bool {
	v := p.of.view(now)
	changed := !v.equal(&p.shown)
	p.shown = v
	return changed
}

func (p *preparing) key(key string) tea.Cmd {
	switch key {
	case "q", "ctrl+c":
		if p.of.leave() {
			return tea.Quit
		}
		p.stops++
	case "ctrl+l":
		return tea.ClearScreen
	}
	return nil
}

// begin takes the run that was prepared. The screen shows it with its first snapshot.
func (m *model) begin(r runMsg) tea.Cmd {
	if r.control != nil {
		m.Control = r.control
	}
	m.compareWith(r.baseline)
	m.next = r.next
	return tea.Batch(m.next, m.tick())
}

// showRun turns from the preparation to the run.
func (m *model) showRun() (cmd tea.Cmd) {
	if m.prep == nil {
		return nil
	}
	stops := m.prep.stops
	m.prep = nil
	if m.sent != nil {
		m.limiter.Skip(m.sent()) // drawings of the preparation are no charts
	}
	for range stops {
		cmd = tea.Sequence(cmd, m.stop())
	}
	m.show()
	return cmd
}

// preparationView is the content of the screen of a preparation, for any size.
type preparationView struct {
	plan  *metrics.Plan
	clock string
	rows  []preparationRow
	at    int // the row of the step in progress, -1 for none
}

// preparationRow is a step as it is shown.
type preparationRow struct {
	state       stepState
	name, words string
	count       string  // "" where nothing is counted, or not any more
	part        float64 // done of the total, below 0 where it is not known
	took        string  // "" for a time too short
}

type stepState int

const (
	stepToCome stepState = iota
	stepOn
	stepDone
)

func (v *preparationView) equal(w *preparationView) bool {
	return v.plan == w.plan && v.clock == w.clock && v.at == w.at && slices.Equal(v.rows, w.rows)
}

func (p *Preparation) view(now time.Time) preparationView {
	p.mu.Lock()
	defer p.mu.Unlock()
	v := preparationView{plan: p.plan, clock: number.Clock(now.Sub(p.began)), at: -1}
	for i := range p.steps {
		r := p.steps[i].row(now)
		if r.state == stepOn {
			v.at = i
		}
		v.rows = append(v.rows, r)
	}
	return v
}

func (s *prepStep) row(now time.Time) preparationRow {
	r := preparationRow{name: s.name, words: screen.Sanitize(s.words), part: -1}
	switch {
	case s.began.IsZero():
		return r
	case s.ended.IsZero():
		r.state = stepOn
		if d := now.Sub(s.began).Truncate(time.Second); d > 0 { // it changes once a second
			r.took = number.Coarse(d)
		}
	default:
		r.state = stepDone
		if d := s.ended.Sub(s.began); d >= 10*time.Second {
			r.took = number.Coarse(d)
		} else if d >= 100*time.Millisecond {
			r.took = fmt.Sprintf("%.1fs", d.Seconds())
		}
	}
	switch {
	case r.state != stepOn:
	case s.total > 0:
		r.count = fmt.Sprintf("%d/%d", s.done, s.total)
		r.part = min(float64(s.done)/float64(s.total), 1)
	case s.done > 0:
		r.count = fmt.Sprint(s.done)
	}
	return r
}
