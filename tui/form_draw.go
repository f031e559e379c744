package tui

import (
	"regexp"
	"slices"
	"strings"
)

// View draws the form.
func (m *form) View() string {
	s := newSurface(m.w, m.h)
	s.ascii = m.o.ASCII
	safely(s.all(), func() { m.draw(s.all()) })
	return rowEnds.ReplaceAllString(s.render(m.palette), "$1")
}

// rowEnds are blanks at the ends of lines. Some terminals copy them, and behind a '\' they would keep a shell from going on.
var rowEnds = regexp.MustCompile(`(?m) +((?:\x1b\[[0-9;]*m)*)$`)

func (m *form) draw(c canvas) {
	if c.w < 20 || c.h < 5 {
		c.center("the form needs a larger window", label)
		return
	}
	x := c.print(0, 0, "benchtop ", style{fg: blue, attr: bold})
	c.print(x, 0, m.o.Title, text)
	m.drawKeys(c.sub(0, c.h-1, c.w, 1))
	if m.narrow() {
		c = c.sub(0, 2, c.w, c.h-4)
	} else {
		c = c.sub(2, 2, c.w-4, c.h-4)
	}
	bad, command := m.outcome(c.w, c.h)
	at := min(c.h-len(bad)-len(command), len(m.shown())+2)
	if len(bad)+len(command) == 0 {
		at = c.h + 1 // nothing to keep a blank line from
	}
	m.drawFields(c.sub(0, 0, c.w, at-1))
	for i, line := range bad {
		c.print(0, at+i, line, style{fg: orange})
	}
	for i, line := range command {
		c.print(0, at+len(bad)+i, line, strong)
	}
}

// narrow says that labels and margins give way, so that there is room for values.
func (m *form) narrow() bool { return m.w < 40 }

func (f *formField) label(narrow bool) string {
	if narrow && f.Short != "" {
		return f.Short
	}
	return f.Label
}

// outcome is what is wrong, and the command line, in lines of w columns. Fields go first: where there is little room, the first
// problem is enough, and where there is none, neither is shown.
func (m *form) outcome(w, h int) (bad, command []string) {
	words, problem := m.o.Command(m.values())
	all := []string{strings.SplitN(problem, "\n", 2)[0]}
	if m.problem != "" {
		all = strings.Split(m.problem, "\n")
	}
	for _, one := range all {
		if one != "" {
			bad = append(bad, wrap("! "+sanitize(one), w, 2)...)
		}
	}
	room := h - min(len(m.shown()), 6) - 1
	bad = bad[:max(0, min(len(bad), room))]
	command = shellLines(words, w)
	if len(command) == 0 || len(bad)+len(command) > room { // a part of it would run without its limits
		command = wrap(formShort, w, 3)
	}
	if len(bad)+len(command) > room {
		command = nil
	}
	return bad, command
}

// drawFields shows as many fields as there is room for, the one with the cursor among them.
func (m *form) drawFields(c canvas) {
	if c.h <= 0 {
		return
	}
	shown := m.shown()
	names := 0
	for _, i := range shown {
		names = max(names, width(m.fields[i].label(m.narrow())))
	}
	from := max(0, min(slices.Index(shown, m.at)-c.h/2, len(shown)-c.h))
	for y, i := range shown[from:min(len(shown), from+c.h)] {
		m.drawField(c.sub(0, y, c.w, 1), &m.fields[i], names, i == m.at)
	}
}

func (m *form) drawField(c canvas, f *formField, names int, here bool) {
	sign, st := "  ", label
	if here {
		sign, st = "› ", strong
	}
	if m.o.ASCII && here {
		sign = "> "
	}
	c.print(c.print(0, 0, sign, style{fg: blue, attr: bold}), 0, f.label(m.narrow()), st)
	x := 2 + names + 2
	if m.narrow() {
		x--
	}
	value := sanitize(f.value())
	switch {
	case len(f.Choices) > 1 && here:
		x = c.print(x, 0, "‹ ", label)
		x = c.print(x, 0, shorten(value, c.w-x-2), strong)
		x = c.print(x, 0, " ›", label)
	case here && f.choice < 0:
		x = c.print(x, 0, f.edit.shown(min(60, c.w-x)), strong)
	default:
		x = c.print(x, 0, value, text)
	}
	if here || f.Free {
		at := max(x+3, 2+names+2+34)
		c.print(at, 0, m.beside(f, c.w-at), label)
	}
}

// beside is what is said beside a field, in w columns: a hint as a whole or not at all, an error as far as there is room.
func (m *form) beside(f *formField, w int) string {
	hint := f.Hint
	switch {
	case f.Free && len(f.Choices) > 1:
		hint = "← → choose, or type"
	case f.Free && m.note != "":
		return shorten(m.note, w)
	case len(f.Choices) > 1:
		hint = "← → choose"
	}
	if width(hint) > w {
		return ""
	}
	return hint
}

func (m *form) drawKeys(c canvas) {
	x := 0
	for _, k := range [][2]string{{"↑ ↓", "fields"}, {"Enter", "next, at the end run"}, {"ctrl+r", "run"}, {"Esc", "leave"}} {
		if x = c.print(x, 0, k[0]+" ", strong); x < c.w {
			x = c.print(x, 0, k[1], label) + 2
		}
	}
}
