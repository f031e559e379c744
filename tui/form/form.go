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
	// Secret values are drawn as dots.
	Secret bool
	// Asks says that Lookup depends on it.
	Asks bool
}

// Outcome is what the values of a form stand for.
type Outcome struct {
	Words   []string // of the command line, as a shell takes them
	Problem string   // of the command line, "" for none
	Cost    string   // of the command, in words; "" for unknown
}

// Options describe a form.
type Options struct {
	Title  string
	Fields []Field
	// Shown says which fields matter for the values so far.
	Shown func(values map[string]string, key string) bool
	// Outcome is called once for each change of the values.
	Outcome func(values map[string]string) Outcome
	// About is the name and the description of a field.
	About func(values map[string]string, key string) (name, text string)
	// Complete are the texts that what is typed in a field may go on to, besides its choices.
	Complete func(values map[string]string, key string) []string
	// Fill are the values of all fields that follow from another choice of one, nil where they stay.
	Fill func(values map[string]string, key string) map[string]string
	// Lookup finds the choices of one field from the values of those that ask; it is called whenever one of these was
	// left. It runs beside the form and must end with ctx. The error is shown beside the field.
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

// lookupMsg brings the choices of a field; asked numbers the values that they were asked for.
type lookupMsg struct {
	asked   int
	key     string
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
	help    bool
	problem string // shown once the user wanted to run
	asked   int    // how often the values that Lookup depends on changed
	known   bool   // choices were looked up, or are being, for these values
	note    string // why there are none

	out   Outcome
	found []string // the choices of the field with the cursor, or what its text may go on to
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
	m.refresh()
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

// lookup asks for choices if what they depend on changed since they were asked for.
func (m *form) lookup() tea.Cmd {
	if m.o.Lookup == nil || len(m.fields) == 0 || m.known {
		return nil
	}
	m.known, m.note = true, ""
	asked, values, ctx := m.asked, maps.Clone(m.values()), m.ctx
	return func() tea.Msg {
		key, choices, err := m.o.Lookup(ctx, values)
		return lookupMsg{asked, key, choices, err}
	}
}

// forget has the choices looked up once more.
func (m *form) forget() { m.asked, m.known, m.note = m.asked+1, false, "" }

// refresh brings what follows from the values up to date.
func (m *form) refresh() {
	m.out, m.found = m.o.Outcome(m.values()), nil
	f := &m.fields[m.at]
	if f.choice >= 0 {
		m.found = f.Choices
		return
	}
	all := f.Choices[:len(f.Choices):len(f.Choices)]
	for _, one := range append(all, m.o.Complete(m.values(), f.Key)...) {
		if strings.HasPrefix(one, f.value()) {
			m.found = append(m.found, one)
		}
	}
}

// completion is what Tab makes of the text of the field with the cursor; "" where it adds nothing.
func (m *form) completion() string {
	f := &m.fields[m.at]
	if len(m.found) == 0 || f.choice >= 0 {
		return ""
	}
	same := m.found[0]
	for _, one := range m.found {
		for !strings.HasPrefix(one, same) {
			same = same[:len(same)-1]
		}
	}
	if same = strings.ToValidUTF8(same, ""); len(same) <= len(f.value()) {
		return ""
	}
	return same
}

// choose takes the next choice of the field with the cursor, or the one before, and the values that follow from it.
func (m *form) choose(f *formField, by int) {
	f.choice = (max(f.choice, 0) + by + len(f.Choices)) % len(f.Choices)
	for key, value := range m.o.Fill(m.values(), f.Key) {
		f := &m.fields[slices.IndexFunc(m.fields, func(f formField) bool { return f.Key == key })]
		f.edit, f.choice = NewLine(value), slices.Index(f.Choices, value)
		m.forget()
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
		cmd := m.key(msg)
		m.refresh()
		return m, cmd
	}
	return m, nil
}

// takeChoices takes the choices of a field, unless what they depend on changed since.
func (m *form) takeChoices(msg lookupMsg) {
	if msg.asked != m.asked {
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
	m.refresh()
}

func (m *form) key(msg tea.KeyMsg) tea.Cmd {
	m.problem = ""
	helped := m.help
	m.help = false
	f := &m.fields[m.at]
	switch msg.String() {
	case "ctrl+c":
		return tea.Quit
	case "?": // that of a value is pasted
		m.help = true
		return nil
	case "esc":
		if helped {
			return nil
		}
		return tea.Quit
	case "up", "shift+tab":
		return m.move(-1)
	case "down":
		return m.move(1)
	case "tab":
		if text := m.completion(); text != "" {
			f.edit = NewLine(text)
			return nil
		}
		return m.move(1)
	case "ctrl+z":
		m.problem = "Ctrl-Z does not suspend benchtop"
		return nil
	case "enter":
		return m.enter()
	case "ctrl+r":
		return m.submit()
	}
	if len(f.Choices) > 0 {
		switch key := msg.String(); {
		case key == "left":
			m.choose(f, -1)
			return nil
		case key == "right" || key == " " && !f.Free: // a blank of a free text is typed
			m.choose(f, 1)
			return nil
		}
		if !f.Free {
			return nil
		}
		if f.choice >= 0 { // typing continues the choice
			f.edit, f.choice = NewLine(f.value()), -1
		}
	}
	if f.edit.Edit(msg) && f.Asks {
		m.forget()
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
	if m.problem = m.out.Problem; m.problem != "" {
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
