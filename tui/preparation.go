package tui

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"benchtop/metrics"
	"benchtop/tui/chart"
	"benchtop/tui/number"
	"benchtop/tui/panels"
	"benchtop/tui/screen"
)

// Preparation holds the steps before a run. The code that prepares the run writes it, and the dashboard shows it from
// its first moment until the run's first snapshot. Its methods may be called from any goroutine and never wait.
type Preparation struct {
	run    chan preparedRun // of capacity 1
	mu     sync.Mutex       // guards everything below
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

// Seal ends the preparation: from here on the run begins, and the keys that would have cancelled it are the run's. It
// is false if the user has left before.
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

// preparationEvery is how often the dashboard draws the preparation. The terminal gets changes only.
const preparationEvery = 250 * time.Millisecond

// preparationScreen is the preparation on the dashboard.
type preparationScreen struct {
	of    *Preparation
	wait  tea.Cmd // for the run
	now   time.Time
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

func (p *preparationScreen) tick() tea.Cmd {
	return tea.Tick(preparationEvery, func(now time.Time) tea.Msg { return preparationMsg{now} })
}

// begin takes the run that was prepared. The screen shows it with its first snapshot.
func (m *model) begin(r runMsg) tea.Cmd {
	if r.control != nil {
		m.Control = r.control
	}
	m.compareWith(r.baseline)
	m.next = m.own(r.next)
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

// preparingSign is the state of the header while a run is prepared.
func preparingSign(clock string) []screen.Span {
	return []screen.Span{screen.Strong.Span("◐ PREPARING"), screen.Text.Span(" " + clock)}
}

// drawPreparation fills the screen. Header, box and bottom line are where the dashboard has them.
func (m *model) drawPreparation(c screen.Canvas) {
	c.Clear()
	v, leave := m.prep.of.view(m.prep.now), " cancel"
	if m.Within != "" {
		leave = " back to the " + m.Series
	}
	a := panels.Lines(c.W, c.H)
	if a.Tiny {
		v.drawTiny(c, leave)
		return
	}
	v.drawHead(a.Head.Of(c))
	v.drawBox(c.Sub(0, a.Head.H, c.W, c.H-a.Head.H-1))
	drawLeave(a.Keys.Of(c), leave)
}

func drawLeave(c screen.Canvas, word string) {
	c.Print(c.Print(0, 0, "q", screen.Strong), 0, word, screen.Label)
}

// drawHead draws one or two lines: the name and the state, then the plan.
func (v *preparationView) drawHead(c screen.Canvas) {
	right := preparingSign(v.clock)
	c.Sub(0, 0, c.W-screen.SpansWidth(right)-1, 1).Print(0, 0, "benchtop", screen.Strong)
	c.Spans(c.W-screen.SpansWidth(right), 0, right)
	c.Print(0, 1, panels.PlanLine(v.plan, c.W), screen.Label)
}

// drawTiny shows the step in progress alone.
func (v *preparationView) drawTiny(c screen.Canvas, leave string) {
	c.Spans(0, 0, preparingSign(v.clock))
	if c.H > 2 {
		drawLeave(c.Sub(0, c.H-1, c.W, 1), leave)
		c = c.Sub(0, 0, c.W, c.H-1)
	}
	if v.at < 0 {
		return
	}
	r := &v.rows[v.at]
	c.Print(0, 1, strings.TrimSpace(r.name+" "+r.count), screen.Text)
	for i, line := range screen.Wrap(r.words, c.W, c.H-2) {
		c.Print(0, 2+i, line, screen.Label)
	}
}

// preparationLine is a line of the box: of a step, or a further line of its words.
type preparationLine struct {
	row   *preparationRow // nil for a further line of words
	words string
}

// widestBox keeps the times of steps near their names.
const widestBox = 120

// drawBox lists the steps. Where there are more lines than room, the step in progress is among those that are shown.
func (v *preparationView) drawBox(c screen.Canvas) {
	names := 0
	for i := range v.rows {
		names = max(names, screen.Width(v.rows[i].name))
	}
	c = c.Sub(0, 0, min(c.W, widestBox), c.H)
	inner, at := c.W-4, 2+names+2 // words begin at the latter
	lines, current := []preparationLine(nil), 0
	for i := range v.rows {
		r := &v.rows[i]
		lines = append(lines, preparationLine{row: r, words: r.words})
		if r.state != stepOn {
			continue
		}
		current = len(lines) - 1
		rest := screen.Wrap(r.words, inner-at-stepTook, mostWords)
		if r.count != "" { // the count stands where the words would begin
			lines[current].words = ""
		} else if len(rest) > 0 {
			lines[current].words, rest = rest[0], rest[1:]
		}
		for _, words := range rest {
			lines = append(lines, preparationLine{words: words})
		}
	}
	c = c.Sub(0, 0, c.W, min(c.H, len(lines)+2))
	if c.H < 3 {
		return
	}
	c.Border(false, false, false)
	c.Print(2, 0, " preparing the run ", screen.Strong)
	c = c.Sub(2, 1, inner, c.H-2)
	from := max(0, min(current-c.H/2, len(lines)-c.H))
	for y, l := range lines[from:min(len(lines), from+c.H)] {
		line := c.Sub(0, y, c.W, 1)
		if l.row != nil {
			l.row.draw(line, at)
		}
		words := screen.Text
		if l.row != nil && l.row.state == stepDone {
			words = screen.Label
		}
		line.Sub(at, 0, c.W-at-stepTook, 1).Print(0, 0, l.words, words)
	}
}

// stepTook is the width of the column of times, mostWords how many lines the words of a step may take.
const stepTook, mostWords = 7, 4

// draw writes a step without its words, which begin at a column.
func (r *preparationRow) draw(c screen.Canvas, at int) {
	sign, name, style := "·", screen.Label, screen.Label
	switch r.state {
	case stepOn:
		sign, name, style = "▶", screen.Strong, screen.Strong
	case stepDone:
		sign, name, style = "✓", screen.Text, screen.Success
	}
	c.Print(0, 0, sign, style)
	c.Print(2, 0, r.name, name)
	c.Right(c.W, 0, r.took, screen.Label)
	if r.count == "" {
		return
	}
	x := at
	if room := c.W - at - stepTook - screen.Width(r.count) - 2; r.part >= 0 && room >= 10 {
		w := min(room, 40)
		chart.Bar(c.Sub(at, 0, w, 1), r.part)
		x += w + 2
	}
	c.Print(x, 0, r.count, screen.Text)
}
