// Package form asks the user to fill in fields on the screen, as benchtop does without arguments. It knows neither
// flags nor runs: its caller provides the fields and the command line that they stand for.
package form

import (
	"context"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"benchtop/tui/screen"
	"benchtop/tui/term"
)

// Field is one line of a form.
type Field struct {
	Key, Label string
	// Short is the label where there is little room, "" for the same.
	Short string
	// Value to begin with; "" means the first choice, if there are any.
	Value string
	// Choices to choose from. Free says that anything else may be typed as well.
	Choices []string
	Free    bool
	// Hint is shown beside it.
	Hint string
}

// Options describe a form.
type Options struct {
	Title  string
	Fields []Field
	// Shown says which fields matter for the values so far.
	Shown func(values map[string]string, key string) bool
	// Command is the command line of the values, in words as a shell takes them, and its error, "" for none.
	Command func(values map[string]string) (words []string, problem string)
	// Lookup finds the choices of one field from the values of others; it is called whenever the first field was left.
	// It runs beside the form and must end with ctx. The error is shown beside the field.
	Lookup func(ctx context.Context, values map[string]string) (key string, choices []string, err error)
	// Input and Output; nil means the terminal. ASCII and Color are as in the options of the dashboard.
	Input  io.Reader
	Output io.Writer
	ASCII  bool
	Color  string
}

// Ask asks the user to fill in a form. It returns the values and whether they are to be used: not if the user left the
// form. The errors are those of term.Writer.Run.
func Ask(ctx context.Context, o Options) (values map[string]string, use bool, err error) {
	if o.Output == nil {
		o.Output = os.Stdout
	}
	asking, cancel := context.WithCancel(ctx)
	defer cancel()
	m := newForm(o, screen.ThemePalette("", screen.ColorProfile(o.Color, os.Getenv), term.LightBackground(os.Getenv)))
	m.ctx = asking
	w := term.NewWriter(o.Output)
	w.Ask = m.palette.Profile != termenv.Ascii
	if !w.IsTerminal() {
		m.w, m.h = w.Size(0, 0)
	}
	if err := w.Run(ctx, m, o.Input); err != nil {
		return nil, false, err
	}
	return m.values(), m.use, nil
}

// lookupMsg brings the choices of a field; of is the value they were asked for.
type lookupMsg struct {
	of, key string
	choices []string
	err     error
}

// form is the state of a form. Only Bubble Tea's loop touches it.
type form struct {
	o       Options
	ctx     context.Context
	palette *screen.Palette
	w, h    int

	fields  []formField
	at      int // the field with the cursor
	use     bool
	problem string // shown once the user wanted to run
	known   bool   // choices were looked up, or are being, for the value of the first field
	note    string // why there are none
}

// formField is a field with its value.
type formField struct {
	Field
	edit   Line
	choice int // index into Choices; -1 for typed text
}

func newForm(o Options, p *screen.Palette) *form {
	m := &form{o: o, ctx: context.Background(), palette: p}
	for _, f := range o.Fields {
		x := formField{Field: f, edit: NewLine(f.Value), choice: -1}
		if len(f.Choices) > 0 {
			x.choice = max(0, slices.Index(f.Choices, f.Value))
		}
		m.fields = append(m.fields, x)
	}
	return m
}

func (f *formField) value() string {
	if f.choice >= 0 && f.choice < len(f.Choices) {
		return f.Choices[f.choice]
	}
	return f.edit.String()
}

func (m *form) values() map[string]string {
	out := map[string]string{}
	for i := range m.fields {
		out[m.fields[i].Key] = m.fields[i].value()
	}
	return out
}

// shown are the indices of the fields that matter.
func (m *form) shown() []int {
	values := m.values()
	var out []int
	for i := range m.fields {
		if m.o.Shown == nil || m.o.Shown(values, m.fields[i].Key) {
			out = append(out, i)
		}
	}
	return out
}

// Init looks up the choices for the first values.
func (m *form) Init() tea.Cmd { return m.lookup() }

// lookup asks for choices if the first field changed since they were asked for.
func (m *form) lookup() tea.Cmd {
	if m.o.Lookup == nil || len(m.fields) == 0 || m.known {
		return nil
	}
	m.known, m.note = true, ""
	of, values, ctx := m.fields[0].value(), maps.Clone(m.values()), m.ctx
	return func() tea.Msg {
		key, choices, err := m.o.Lookup(ctx, values)
		return lookupMsg{of, key, choices, err}
	}
}

// Update takes one message.
func (m *form) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h = max(0, msg.Width), max(0, msg.Height)
	case lookupMsg:
		m.takeChoices(msg)
	case term.Background:
		m.palette = m.palette.On(msg.Light)
	case tea.KeyMsg:
		return m, m.key(msg)
	}
	return m, nil
}

// takeChoices takes the choices of a field, unless the first field changed since.
func (m *form) takeChoices(msg lookupMsg) {
	if !m.known || msg.of != m.fields[0].value() {
		return
	}
	for i := range m.fields {
		f := &m.fields[i]
		if f.Key != msg.key {
			continue
		}
		before := f.value()
		f.Choices, f.choice = msg.choices, slices.Index(msg.choices, before)
		if f.choice < 0 && before == "" && len(f.Choices) > 0 {
			f.choice = 0
		}
	}
	m.note = ""
	if msg.err != nil {
		m.note = screen.Sanitize(msg.err.Error())
	}
}

func (m *form) key(msg tea.KeyMsg) tea.Cmd {
	m.problem = ""
	switch msg.String() {
	case "ctrl+c", "esc":
		return tea.Quit
	case "up", "shift+tab":
		return m.move(-1)
	case "down", "tab":
		return m.move(1)
	case "enter":
		return m.enter()
	case "ctrl+r":
		return m.submit()
	}
	f := &m.fields[m.at]
	if len(f.Choices) > 0 {
		switch key := msg.String(); {
		case key == "left":
			f.choice = (max(f.choice, 0) + len(f.Choices) - 1) % len(f.Choices)
			return nil
		case key == "right" || key == " " && !f.Free: // a blank of a free text is typed
			f.choice = (f.choice + 1) % len(f.Choices)
			return nil
		}
		if !f.Free {
			return nil
		}
		if f.choice >= 0 { // typing continues the choice
			f.edit, f.choice = NewLine(f.value()), -1
		}
	}
	if f.edit.Edit(msg) && m.at == 0 { // the choices were those of another server
		m.known, m.note = false, ""
	}
	return nil
}

// move goes to a neighbour that is shown, around the ends.
func (m *form) move(by int) tea.Cmd {
	shown := m.shown()
	i := slices.Index(shown, m.at)
	m.at = shown[(max(i, 0)+by+len(shown))%len(shown)]
	return m.lookup()
}

// enter goes on, and at the last field to the end.
func (m *form) enter() tea.Cmd {
	shown := m.shown()
	if m.at == shown[len(shown)-1] {
		return m.submit()
	}
	return m.move(1)
}

func (m *form) submit() tea.Cmd {
	if _, m.problem = m.o.Command(m.values()); m.problem != "" {
		return nil
	}
	m.use = true
	return tea.Quit
}

// commandTooLong stands for a command line that there is no room for.
const commandTooLong = "(window too small for the command line; it is printed when it runs)"

// shellLines breaks the words of a command line into lines of w columns with a '\' at their ends, so that text copied
// from the screen runs as a whole. A flag keeps its values where they fit. It is nil where a word is too long.
func shellLines(words []string, w int) (lines []string) {
	const indent, goesOn = "  ", ` \`
	w -= len(goesOn)
	for _, unit := range flagUnits(words, w-len(indent)) {
		if len(indent)+screen.Width(unit) > w {
			return nil
		}
		switch last := len(lines) - 1; {
		case last < 0:
			lines = append(lines, unit)
		case screen.Width(lines[last])+1+screen.Width(unit) <= w:
			lines[last] += " " + unit
		default:
			lines[last] += goesOn
			lines = append(lines, indent+unit)
		}
	}
	return lines
}

// flagUnits joins the words that belong on one line, at most w columns wide.
func flagUnits(words []string, w int) (units []string) {
	for _, word := range words {
		word = screen.SanitizeSpaced(word)
		if last := len(units) - 1; last >= 0 && !strings.HasPrefix(word, "-") &&
			screen.Width(units[last])+1+screen.Width(word) <= w {
			units[last] += " " + word
		} else {
			units = append(units, word)
		}
	}
	return units
}
