package tui

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"benchtop/metrics"
	"benchtop/tui/form"
	"benchtop/tui/panels"
	"benchtop/tui/screen"

	tea "github.com/charmbracelet/bubbletea"
)

// prompt asks for a line of text, or, with yes, for one key.
type prompt struct {
	title, hint string
	line        form.Line
	err         string

	// enter gets the line. It returns an error, which is shown and keeps the prompt open, or "", which closes it.
	enter func(line string) string
	// changed is called with every change, left when the prompt is closed without Enter; both may be nil.
	changed func(line string)
	left    func()
	// yes makes the prompt a question: y calls it, any other key does not.
	yes func()
}

// onPrompt takes a key, or pasted text, while a prompt is open. Ctrl-C closes it, and stops even here.
func (f *frame) onPrompt(msg tea.KeyMsg, stop func() tea.Cmd) tea.Cmd {
	p := f.prompt
	switch {
	case msg.String() == "ctrl+c":
		f.closePrompt()
		return stop()
	case !p.take(msg) && f.prompt == p: // unless it asked another question
		f.prompt = nil
	}
	return nil
}

// take takes a key, or pasted text, and reports whether the prompt stays open.
func (p *prompt) take(msg tea.KeyMsg) bool {
	key := msg.String()
	switch {
	case p.yes != nil:
		if key == "y" || key == "Y" {
			p.yes()
		}
		return false
	case key == "esc":
		p.leave()
		return false
	case key == "enter":
		p.err = p.enter(p.line.String())
		return p.err != ""
	case p.line.Edit(msg):
		p.err = ""
		if p.changed != nil {
			p.changed(p.line.String())
		}
	}
	return true
}

// leave closes the prompt without an answer.
func (p *prompt) leave() {
	if p.left != nil {
		p.left()
	}
}

func (f *frame) closePrompt() {
	f.prompt.leave()
	f.prompt = nil
}

// draw shows the prompt in the lower left corner of c.
func (p *prompt) draw(c screen.Canvas) {
	const most = 76
	note, st := p.hint, screen.Label
	if p.err != "" {
		note, st = p.err, screen.Warning
	}
	w := min(max(screen.Width(p.title)+4, screen.Width(note), 44), most, max(0, c.W-4))
	lines := screen.Wrap(screen.Sanitize(note), w, 3)
	y := 0
	if p.yes == nil {
		y = 1 // below the line
	}
	in := overlay(c.Sub(0, 0, w+4, c.H), p.title, w, y+len(lines), true)
	if p.yes == nil {
		in.Print(0, 0, p.line.Shown(in.W), screen.Strong)
	}
	for i, l := range lines {
		in.Print(0, y+i, l, st)
	}
}

// drawTiny shows the prompt where there is room for one line only.
func (p *prompt) drawTiny(c screen.Canvas) {
	if p == nil || c.H == 0 {
		return
	}
	c = c.Sub(0, c.H-1, c.W, 1)
	c.Clear()
	var words string
	switch room := c.W - screen.Width(p.title) - 1; {
	case p.err != "":
		words = p.err
	case p.yes != nil: // the question is at the end
		words = p.hint
		if screen.Width(words) > c.W {
			words = "y confirm, other keys cancel"
		}
	case room >= 12:
		words = p.title + " " + p.line.Shown(room)
	default:
		words = p.line.Shown(c.W)
	}
	c.Print(0, 0, words, screen.Strong)
}

// ask opens a prompt with a line to begin from.
func (f *frame) ask(p prompt, line string) {
	p.line = form.NewLine(line)
	f.prompt = &p
}

// askWords sets a filter while the user types; Esc takes it back.
func (f *frame) askWords(title, hint, before string, set func(words string)) {
	f.ask(prompt{
		title: title, hint: hint + "Enter apply, Esc cancel", changed: set, left: func() { set(before) },
		enter: func(line string) string { set(strings.TrimSpace(line)); return "" },
	}, before)
}

// askLoad sets the load to a number.
func (m *model) askLoad() {
	unit := m.unit()
	m.ask(prompt{
		title: "Load in " + unit.String(), hint: "Enter apply, Esc cancel",
		enter: func(line string) string {
			value, why := parseLoad(line, unit)
			if why == "" && m.mayLoad() {
				m.setLoad(value)
			}
			return why
		},
	}, "")
}

// parseLoad reads a load; why says why the text is none.
func parseLoad(text string, unit metrics.Unit) (value float64, why string) {
	text = strings.TrimSpace(text)
	value, err := strconv.ParseFloat(text, 64)
	switch {
	case text == "":
		return 0, "enter a number of " + unit.String()
	case err != nil || math.IsNaN(value):
		return 0, fmt.Sprintf("%q is not a number of %s", text, unit.String())
	case unit == metrics.Users && (value < 1 || value != math.Trunc(value)):
		return 0, fmt.Sprintf("%q: users must be a whole number of at least 1", text)
	case value < 0.001:
		return 0, fmt.Sprintf("%q: at least 0.001; P pauses", text)
	case value > panels.LoadMost:
		return 0, fmt.Sprintf("%q: at most %.0f", text, panels.LoadMost)
	}
	return value, ""
}

// askRamp moves the load to a number in a time, after a second question.
func (m *model) askRamp() {
	unit := m.unit()
	m.ask(prompt{
		title: "Ramp in " + unit.String(), hint: `target and duration, such as "40 in 60s"; Esc cancel`,
		enter: func(line string) string {
			to, over, why := parseRamp(line, unit)
			if why == "" {
				m.confirmRamp(to, over)
			}
			return why
		},
	}, "")
}

func (m *model) confirmRamp(to float64, over time.Duration) {
	from, _ := m.load()
	words := fmt.Sprintf("to %s in %s?", panels.LoadText(m.unit().Of(to)), over)
	if from > 0 {
		words = fmt.Sprintf("from %s ", panels.LoadText(m.unit().Of(from))) + words
	}
	m.prompt = &prompt{title: "Ramp", hint: words + " y start, other keys cancel", yes: func() {
		if m.mayLoad() {
			m.steer(metrics.Command{Do: metrics.RampLoad, Value: to, Over: over}, to, false)
			m.pendingLoad.known = false // only the run knows where the ramp is
		}
	}}
}

// parseRamp reads "40 in 60s"; why says why the text is no ramp. A time without a unit counts seconds.
func parseRamp(text string, unit metrics.Unit) (to float64, over time.Duration, why string) {
	fields := slices.DeleteFunc(strings.Fields(text), func(s string) bool { return s == "in" })
	if len(fields) != 2 {
		return 0, 0, `expected a load and a time, such as "40 in 60s"`
	}
	if to, why = parseLoad(fields[0], unit); why != "" {
		return 0, 0, why
	}
	if _, err := strconv.ParseFloat(fields[1], 64); err == nil {
		fields[1] += "s"
	}
	over, err := time.ParseDuration(fields[1])
	switch {
	case err != nil:
		return 0, 0, fmt.Sprintf("%q is not a duration, such as 90s or 5m", fields[1])
	case over < time.Second || over > 24*time.Hour:
		return 0, 0, fmt.Sprintf("%q: must be between 1s and 24h", fields[1])
	}
	return to, over, ""
}

// askObjectives edits the objectives.
func (m *model) askObjectives() {
	now := metrics.Each(m.choices(m.latest).ShownObjectives(), func(o metrics.Objective) string {
		return o.Metric.Key() + ":" + strconv.FormatFloat(o.LimitMS, 'f', -1, 64)
	})
	m.ask(prompt{
		title: "Objectives in milliseconds",
		hint:  "such as ttft:500 tpot:50 e2el:15000; empty for none; Enter apply, Esc cancel",
		enter: func(line string) string {
			slo, err := parseObjectives(line)
			if err != nil {
				return err.Error()
			}
			if m.over() {
				m.notify("the run is over")
			} else {
				m.command(metrics.Command{Do: metrics.SetObjectives, Objectives: slo})
			}
			return ""
		},
	}, strings.Join(now, " "))
}

// parseObjectives reads objectives with blanks or commas between them. None is an empty list, not nil.
func parseObjectives(text string) (metrics.SLO, error) {
	out := metrics.SLO{}
	for _, f := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' }) {
		o, err := metrics.ParseObjective(strings.ToLower(f))
		if err != nil {
			return nil, err
		}
		if o.LimitMS <= 0 || o.LimitMS > 1e9 {
			return nil, fmt.Errorf("%q: more than 0 and at most 1e9 milliseconds", f)
		}
		out = out.With(o)
	}
	return out, nil
}

// askFilter filters requests or the log.
func (m *model) askFilter() {
	if !onList(m) {
		m.askWords("Filter the log", "", m.filter, m.setLogFilter)
		return
	}
	set := func(words string) { m.list.Filter = words }
	m.askWords("Filter requests", "id, model, error, status, or failed, slow, running …; ", m.list.Filter, set)
}
