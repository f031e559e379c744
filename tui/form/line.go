package form

import (
	"slices"
	"strings"
	"unicode"

	tea "github.com/charmbracelet/bubbletea"

	"benchtop/tui/screen"
)

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
