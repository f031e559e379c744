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
	below := m.outcome(c.W, c.H)
	at := min(c.H-len(below), max(len(m.shown()), paneHigh)+1)
	if len(below) == 0 {
		at = c.H + 1 // nothing to keep a blank line from
	}
	fields, pane := c.Sub(0, 0, c.W, at-1), c.Sub(0, 0, 0, 0)
	switch x := min(c.W*11/20, 64); {
	case c.W >= paneFrom:
		fields, pane = c.Sub(0, 0, x, at-1), c.Sub(x+2, 0, min(c.W-x-2, 90), at-1)
	case m.help:
		fields, pane = pane, fields
	}
	m.drawFields(fields)
	if m.help {
		m.drawHelp(pane)
	} else {
		m.drawAbout(pane)
	}
	for i, line := range below {
		c.Print(0, at+i, line.Text, line.Style)
	}
}

// Sizes of the pane beside the fields: lines that it has where there is room, and columns of the form from which on it
// is there.
const (
	paneHigh = 16
	paneFrom = 70
)

// drawAbout describes the field with the cursor, and lists its choices or what its text may go on to.
func (m *form) drawAbout(c screen.Canvas) {
	f := &m.fields[m.at]
	name, text := m.o.About(m.values(), f.Key)
	c.Print(0, 0, screen.Sanitize(name), screen.Strong)
	y := 1
	for _, line := range screen.Wrap(screen.Sanitize(text), c.W, max(0, c.H-4)) {
		c.Print(0, y, line, screen.Label)
		y++
	}
	list := c.Sub(0, y+1, c.W, c.H-y-1)
	from := max(0, min(f.choice-list.H/2, len(m.found)-list.H))
	for i, one := range m.found[from:min(len(m.found), from+list.H)] {
		sign, st := "  ", screen.Text
		if from+i == f.choice {
			sign, st = m.sign(), screen.Strong
		}
		list.Print(0, i, sign+screen.ShortenMiddle(screen.Sanitize(one), list.W-2), st)
	}
}

// sign points to what is chosen.
func (m *form) sign() string {
	if m.o.ASCII {
		return "> "
	}
	return "› "
}

// keyHelp is a key of the form with its words: for the bottom line, "" where it does nothing now, and for the help.
type keyHelp struct{ key, foot, help string }

func (m *form) keys() []keyHelp {
	f, shown := &m.fields[m.at], m.shown()
	only := func(is bool, words string) string {
		if is {
			return words
		}
		return ""
	}
	last := m.at == shown[len(shown)-1]
	return []keyHelp{
		{"↑ ↓", "fields", "fields"},
		{"← →", only(len(f.Choices) > 1, "select"), "choices, or the cursor"},
		{"Tab", only(m.completion() != "", "complete"), "complete, or next field"},
		{"Enter", only(!last, "next") + only(last, "run"), "next field, or run"},
		{"ctrl+r", only(!last, "run"), "run"},
		{"ctrl+u", "", "clear up to the cursor"},
		{"?", "help", "help; paste a ? in values"},
		{"Esc", "cancel", "cancel"},
	}
}

// drawHelp lists the keys.
func (m *form) drawHelp(c screen.Canvas) {
	for y, k := range m.keys() {
		c.Right(6, y, k.key, screen.Strong)
		c.Print(8, y, k.help, screen.Text)
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

// outcome is the problems, the cost and the command line, in lines of w columns. Fields come first: where there is
// little room only the first problem is shown, and where there is none, nothing is.
func (m *form) outcome(w, h int) (lines []screen.Span) {
	all := []string{strings.SplitN(m.out.Problem, "\n", 2)[0]}
	if m.problem != "" {
		all = strings.Split(m.problem, "\n")
	}
	add := func(st screen.Style, texts ...string) {
		for _, text := range texts {
			lines = append(lines, st.Span(text))
		}
	}
	for _, one := range all {
		if one != "" {
			add(screen.Caution, screen.Wrap("! "+screen.Sanitize(one), w, 2)...)
		}
	}
	room := h - min(len(m.shown()), 6) - 1
	lines = lines[:max(0, min(len(lines), room))]
	command := shellLines(m.out.Words, w)
	if len(command) == 0 || len(lines)+len(command) > room { // a part of the command would run without its limits
		command = screen.Wrap(commandTooLong, w, 3)
	}
	if cost := screen.Wrap(screen.Sanitize(m.out.Cost), w, 2); len(lines)+len(cost)+1+len(command) <= room {
		if add(screen.Text, cost...); len(cost) > 0 {
			add(screen.Text, "")
		}
	}
	if len(lines)+len(command) <= room {
		add(screen.Strong, command...)
	}
	return lines
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
		sign, st = m.sign(), screen.Strong
	}
	c.Print(c.Print(0, 0, sign, screen.Strong), 0, f.label(m.narrow()), st)
	x := 2 + names + 2
	if m.narrow() {
		x--
	}
	value, edit := screen.Sanitize(f.value()), f.edit
	if f.Secret {
		edit.text = slices.Repeat([]rune{'•'}, len(edit.text))
		value = edit.String()
	}
	switch {
	case len(f.Choices) > 1 && here:
		x = c.Print(x, 0, "‹ ", screen.Label)
		x = c.Print(x, 0, screen.Shorten(value, c.W-x-2), screen.Strong)
		x = c.Print(x, 0, " ›", screen.Label)
	case here && f.choice < 0:
		x = c.Print(x, 0, edit.Shown(min(60, c.W-x)), screen.Strong)
	default:
		x = c.Print(x, 0, value, screen.Text)
	}
	if m.note != "" && f.Free && len(f.Choices) == 0 && x+2 < c.W {
		c.Print(x+2, 0, m.note, screen.Label)
	}
}

// drawKeys lists the keys that do something here.
func (m *form) drawKeys(c screen.Canvas) {
	x := 0
	for _, k := range m.keys() {
		if k.foot == "" {
			continue
		}
		if x = c.Print(x, 0, k.key+" ", screen.Strong); x < c.W {
			x = c.Print(x, 0, k.foot, screen.Label) + 2
		}
	}
}

// Line is a line of text that the user edits.
type Line struct {
	text []rune
	at   int // the cursor is before this rune
}

// lineMost is how long a line may get, in runes.
const lineMost = 4000

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
	runes := []rune(before)
	for runes = runes[max(0, len(runes)-max(w, 0)):]; screen.Width(string(runes)) > max(0, w-2); {
		runes = runes[1:]
	}
	before = string(runes)
	return screen.Shorten(before+"│"+after, w)
}
