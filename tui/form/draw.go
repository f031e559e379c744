package form

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	tea "github.com/charmbracelet/bubbletea"

	"benchtop/tui/screen"
)

// View draws the form.
func (m *form) View() string {
	s := screen.NewSurface(m.w, m.h)
	s.Terminal = m.palette.Terminal(m.o.ASCII)
	s.All().Safely(m.draw)
	return rowEnds.ReplaceAllString(s.Render(m.palette), "$1")
}

// rowEnds are blanks at the ends of lines. Some terminals copy them, and behind a '\' they would end the command.
var rowEnds = regexp.MustCompile(`(?m) +((?:\x1b\[[0-9;]*m)*)$`)

func (m *form) draw(c screen.Canvas) {
	if c.W < 20 || c.H < 5 {
		c.Center("window too small for the form", screen.Label)
		return
	}
	x := c.Print(0, 0, "benchtop ", screen.Strong)
	c.Print(x, 0, m.o.Title, screen.Text)
	m.drawKeys(c.Sub(0, c.H-1, c.W, 1))
	if m.narrow() {
		c = c.Sub(0, 2, c.W, c.H-4)
	} else {
		c = c.Sub(2, 2, c.W-4, c.H-4)
	}
	bad, command := m.outcome(c.W, c.H)
	at := min(c.H-len(bad)-len(command), len(m.shown())+2)
	if len(bad)+len(command) == 0 {
		at = c.H + 1 // nothing to keep a blank line from
	}
	m.drawFields(c.Sub(0, 0, c.W, at-1))
	for i, line := range bad {
		c.Print(0, at+i, line, screen.Caution)
	}
	for i, line := range command {
		c.Print(0, at+len(bad)+i, line, screen.Strong)
	}
}

// narrow reports whether labels and margins are cut, so that there is room for values.
func (m *form) narrow() bool { return m.w < 40 }

func (f *formField) label(narrow bool) string {
	if narrow && f.Short != "" {
		return f.Short
	}
	return f.Label
}

// outcome is the problems and the command line, in lines of w columns. Fields come first: where there is little room
// only the first problem is shown, and where there is none, neither is.
func (m *form) outcome(w, h int) (bad, command []string) {
	words, problem := m.o.Command(m.values())
	all := []string{strings.SplitN(problem, "\n", 2)[0]}
	if m.problem != "" {
		all = strings.Split(m.problem, "\n")
	}
	for _, one := range all {
		if one != "" {
			bad = append(bad, screen.Wrap("! "+screen.Sanitize(one), w, 2)...)
		}
	}
	room := h - min(len(m.shown()), 6) - 1
	bad = bad[:max(0, min(len(bad), room))]
	command = shellLines(words, w)
	if len(command) == 0 || len(bad)+len(command) > room { // a part of the command would run without its limits
		command = screen.Wrap(commandTooLong, w, 3)
	}
	if len(bad)+len(command) > room {
		command = nil
	}
	return bad, command
}

// drawFields shows as many fields as there is room for, the one with the cursor among them.
func (m *form) drawFields(c screen.Canvas) {
	if c.H <= 0 {
		return
	}
	shown := m.shown()
	names := 0
	for _, i := range shown {
		names = max(names, screen.Width(m.fields[i].label(m.narrow())))
	}
	from := max(0, min(slices.Index(shown, m.at)-c.H/2, len(shown)-c.H))
	for y, i := range shown[from:min(len(shown), from+c.H)] {
		m.drawField(c.Sub(0, y, c.W, 1), &m.fields[i], names, i == m.at)
	}
}

func (m *form) drawField(c screen.Canvas, f *formField, names int, here bool) {
	sign, st := "  ", screen.Label
	if here {
		sign, st = "› ", screen.Strong
	}
	if m.o.ASCII && here {
		sign = "> "
	}
	c.Print(c.Print(0, 0, sign, screen.Strong), 0, f.label(m.narrow()), st)
	x := 2 + names + 2
	if m.narrow() {
		x--
	}
	value := screen.Sanitize(f.value())
	switch {
	case len(f.Choices) > 1 && here:
		x = c.Print(x, 0, "‹ ", screen.Label)
		x = c.Print(x, 0, screen.Shorten(value, c.W-x-2), screen.Strong)
		x = c.Print(x, 0, " ›", screen.Label)
	case here && f.choice < 0:
		x = c.Print(x, 0, f.edit.Shown(min(60, c.W-x)), screen.Strong)
	default:
		x = c.Print(x, 0, value, screen.Text)
	}
	if here || f.Free {
		at := max(x+3, 2+names+2+34)
		c.Print(at, 0, m.hintOf(f, c.W-at), screen.Label)
	}
}

// hintOf is the text beside a field, in w columns: a hint as a whole or not at all, an error as far as there is room.
func (m *form) hintOf(f *formField, w int) string {
	hint := f.Hint
	switch {
	case f.Free && len(f.Choices) > 1:
		hint = "← → select, or type"
	case f.Free && m.note != "":
		return screen.Shorten(m.note, w)
	case len(f.Choices) > 1:
		hint = "← → select"
	}
	if screen.Width(hint) > w {
		return ""
	}
	return hint
}

func (m *form) drawKeys(c screen.Canvas) {
	x := 0
	for _, k := range [][2]string{{"↑ ↓", "fields"}, {"Enter", "next"}, {"ctrl+r", "run"}, {"Esc", "cancel"}} {
		if x = c.Print(x, 0, k[0]+" ", screen.Strong); x < c.W {
			x = c.Print(x, 0, k[1], screen.Label) + 2
		}
	}
}

// Line is a line of text that the user edits.
type Line struct {
	text []rune
	at   int // the cursor is before this rune
}

// lineMost is how long a line may get, in runes.
const lineMost = 200

// NewLine returns a line with the cursor at its end.
func NewLine(text string) Line {
	var l Line
	l.insert([]rune(text))
	return l
}

// String is the text without the cursor.
func (l *Line) String() string { return string(l.text) }

// Edit takes a key, or pasted text, and reports whether the text changed.
func (l *Line) Edit(msg tea.KeyMsg) (changed bool) {
	before := string(l.text)
	switch msg.Type {
	case tea.KeyRunes, tea.KeySpace:
		if !msg.Alt {
			l.insert(msg.Runes)
		}
	case tea.KeyBackspace, tea.KeyCtrlH:
		if l.at > 0 {
			l.at--
			l.text = slices.Delete(l.text, l.at, l.at+1)
		}
	case tea.KeyDelete, tea.KeyCtrlD:
		if l.at < len(l.text) {
			l.text = slices.Delete(l.text, l.at, l.at+1)
		}
	case tea.KeyCtrlU:
		l.text, l.at = slices.Delete(l.text, 0, l.at), 0
	case tea.KeyLeft:
		l.at = max(0, l.at-1)
	case tea.KeyRight:
		l.at = min(len(l.text), l.at+1)
	case tea.KeyHome, tea.KeyCtrlA:
		l.at = 0
	case tea.KeyEnd, tea.KeyCtrlE:
		l.at = len(l.text)
	}
	return string(l.text) != before
}

// insert puts in all that can be printed; line ends of a paste become blanks.
func (l *Line) insert(runes []rune) {
	for _, r := range runes {
		if unicode.IsSpace(r) {
			r = ' '
		}
		if len(l.text) < lineMost && unicode.IsPrint(r) {
			l.text = slices.Insert(l.text, l.at, r)
			l.at++
		}
	}
}

// Shown is the line with its cursor, in at most w columns: the part round the cursor if all of it does not fit.
func (l *Line) Shown(w int) string {
	before, after := screen.SanitizeSpaced(string(l.text[:l.at])), screen.SanitizeSpaced(string(l.text[l.at:]))
	if strings.HasSuffix(string(l.text[:l.at]), " ") {
		before += " "
	}
	for screen.Width(before) > max(0, w-2) {
		before = string([]rune(before)[1:])
	}
	return screen.Shorten(before+"│"+after, w)
}
