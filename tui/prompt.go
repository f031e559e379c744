package tui

import (
	"slices"
	"strings"
	"unicode"

	tea "github.com/charmbracelet/bubbletea"

	"benchtop/tui/screen"
)

// prompt asks for a line of text, or, with yes, for one key.
type prompt struct {
	title, hint string
	line        []rune
	at          int // the cursor is before this rune
	err         string

	// enter gets the line; what it says is shown and keeps the prompt open, "" closes it.
	enter func(line string) string
	// changed hears of every change; nil if nobody cares. left is called when the prompt is closed without Enter; may be nil.
	changed func(line string)
	left    func()
	// yes makes it a question: y does it, any other key does not.
	yes func()
}

// lineMost is how long a line may get, in runes.
const lineMost = 200

// onPrompt takes a key, or pasted text, while a prompt is open.
func (m *model) onPrompt(msg tea.KeyMsg) tea.Cmd {
	p := m.prompt
	m.idle = 0
	defer m.show()
	key := msg.String()
	switch {
	case key == "ctrl+c": // it stops the run, whatever is open
		m.closePrompt()
		return m.onKey(key)
	case p.yes != nil:
		m.prompt = nil
		if key == "y" || key == "Y" {
			p.yes()
		} else if p.left != nil {
			p.left()
		}
	case key == "esc":
		m.closePrompt()
	case key == "enter":
		if p.err = p.enter(string(p.line)); p.err == "" && m.prompt == p {
			m.prompt = nil // unless it asked another question
		}
	default:
		p.edit(msg)
	}
	return nil
}

func (m *model) closePrompt() {
	p := m.prompt
	m.prompt = nil
	if p.left != nil {
		p.left()
	}
}

// edit changes the line.
func (p *prompt) edit(msg tea.KeyMsg) {
	before := string(p.line)
	switch msg.Type {
	case tea.KeyRunes, tea.KeySpace:
		if !msg.Alt {
			p.insert(msg.Runes)
		}
	case tea.KeyBackspace, tea.KeyCtrlH:
		if p.at > 0 {
			p.at--
			p.line = slices.Delete(p.line, p.at, p.at+1)
		}
	case tea.KeyDelete, tea.KeyCtrlD:
		if p.at < len(p.line) {
			p.line = slices.Delete(p.line, p.at, p.at+1)
		}
	case tea.KeyCtrlU:
		p.line, p.at = slices.Delete(p.line, 0, p.at), 0
	case tea.KeyLeft:
		p.at = max(0, p.at-1)
	case tea.KeyRight:
		p.at = min(len(p.line), p.at+1)
	case tea.KeyHome, tea.KeyCtrlA:
		p.at = 0
	case tea.KeyEnd, tea.KeyCtrlE:
		p.at = len(p.line)
	}
	if now := string(p.line); now != before {
		p.err = ""
		if p.changed != nil {
			p.changed(now)
		}
	}
}

// insert puts in what can be printed; line ends of a paste become blanks.
func (p *prompt) insert(runes []rune) {
	for _, r := range runes {
		if unicode.IsSpace(r) {
			r = ' '
		}
		if len(p.line) < lineMost && unicode.IsPrint(r) {
			p.line = slices.Insert(p.line, p.at, r)
			p.at++
		}
	}
}

// shown is the line with its cursor, in at most w columns: the part round the cursor if all of it does not fit.
func (p *prompt) shown(w int) string {
	if p.yes != nil {
		return ""
	}
	before, after := screen.SanitizeSpaced(string(p.line[:p.at])), screen.SanitizeSpaced(string(p.line[p.at:]))
	if strings.HasSuffix(string(p.line[:p.at]), " ") {
		before += " "
	}
	for screen.Width(before) > max(0, w-2) {
		_, before, _ = cutFirst(before)
	}
	return screen.Shorten(before+"│"+after, w)
}

// cutFirst takes the first rune off.
func cutFirst(s string) (first rune, rest string, ok bool) {
	for i, r := range s {
		if i > 0 {
			return first, s[i:], true
		}
		first, ok = r, true
	}
	return first, "", ok
}

// draw shows the prompt in the lower left corner of c.
func (p *prompt) draw(c screen.Canvas, _ bool) {
	const most = 76
	note, st := p.hint, screen.Label
	if p.err != "" {
		note, st = p.err, screen.Warning
	}
	w := min(max(screen.Width(p.title)+4, screen.Width(note), 44), most, max(0, c.W-4))
	lines := screen.Wrap(screen.Sanitize(note), w, 3)
	h := len(lines)
	if p.yes == nil {
		h++
	}
	in := overlay(c.Sub(0, 0, w+4, c.H), p.title, w, h, true)
	y := 0
	if p.yes == nil {
		in.Print(0, 0, p.shown(in.W), screen.Strong)
		y = 1
	}
	for _, l := range lines {
		in.Print(0, y, l, st)
		y++
	}
}

// drawTinyPrompt shows the prompt where there is room for one line only.
func (m *model) drawTinyPrompt(c screen.Canvas) {
	p := m.prompt
	if p == nil || c.H == 0 {
		return
	}
	c = c.Sub(0, c.H-1, c.W, 1)
	c.Clear()
	var words string
	switch room := c.W - screen.Width(p.title) - 1; {
	case p.err != "":
		words = p.err
	case p.yes != nil: // the end of it is the question
		words = p.hint
		if screen.Width(words) > c.W {
			words = "y or any other key?"
		}
	case room >= 12:
		words = p.title + " " + p.shown(room)
	default:
		words = p.shown(c.W)
	}
	c.Print(0, 0, words, screen.Strong)
}
