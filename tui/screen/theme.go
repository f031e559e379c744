package screen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/muesli/termenv"
)

// Style is the look of a cell. The zero value is plain text.
type Style struct {
	Fg, Bg Color
	Bold   bool
}

// Span returns a piece of text in the style.
func (s Style) Span(text string) Span { return Span{text, s} }

// The styles of text and lines.
var (
	Text    = Style{}
	Label   = Style{Fg: grey}
	Strong  = Style{Bold: true}
	Line    = Style{Fg: faint}
	Dim     = Style{Fg: Dimmed}
	Success = Style{Fg: Good, Bold: true}
	Caution = Style{Fg: Waiting, Bold: true}
	Warning = Style{Fg: Bad, Bold: true}
)

// Palette turns styles into escape sequences for one theme on one kind of terminal.
type Palette struct {
	Theme   string
	Profile termenv.Profile
	Mono    bool // no colours
	attrs   bool // bold works; without it there are no escape sequences
	Filled  bool // enough colours for dim areas below lines
	heavy   bool // all text but labels is bold
	fg, bg  [colors]string
}

// Terminal describes the terminal of the palette.
func (p *Palette) Terminal(ascii bool) Terminal {
	return Terminal{Mono: p.Mono, Filled: p.Filled, ASCII: ascii}
}

// NewPalette returns the palette of the standard theme.
func NewPalette(p termenv.Profile) *Palette { return ThemePalette(themeStandard, p) }

// seen is the style as this terminal can show it. With 16 colours none is bold: bright yellow is unreadable on white.
func (p *Palette) seen(s Style) Style {
	named := s.Fg == grey // labels, which weigh less than their values
	if p.fg[s.Fg] == "" {
		s.Fg = Plain
	}
	if p.bg[s.Bg] == "" {
		s.Bg = Plain
	}
	if p.heavy && !named {
		s.Bold = true
	}
	if p.Profile == termenv.ANSI && s.Fg != Plain { // many terminals show bold text in the bright colours
		s.Bold = false
	}
	return s
}

// change appends the escape sequence from one style, as it is seen, to another, in as few bytes as possible: a screen has a
// thousand of them.
func (p *Palette) change(b []byte, from, to Style) []byte {
	if p.Mono && !p.attrs || from == to {
		return b
	}
	if to == (Style{}) {
		return append(b, "\x1b[m"...)
	}
	b = append(b, "\x1b["...)
	start := len(b)
	part := func(s string) {
		if s == "" {
			return
		}
		if len(b) > start {
			b = append(b, ';')
		}
		b = append(b, s...)
	}
	if from.Bold && !to.Bold || from.Bg != to.Bg && p.bg[to.Bg] == "" || from.Fg != to.Fg && to.Fg == Plain {
		part("0")
		from = Style{}
	}
	if to.Bold && !from.Bold {
		part("1")
	}
	if from.Fg != to.Fg {
		part(p.fg[to.Fg])
	}
	if from.Bg != to.Bg {
		part(p.bg[to.Bg])
	}
	if len(b) == start {
		return b[:start-2]
	}
	return append(b, 'm')
}

// The themes. Standard has colours that people with any colour vision can tell apart, on dark and on light. Contrast draws
// words, borders and lines so that they stand out on any background. Mono has no colours at all.
const (
	themeStandard = "default"
	themeContrast = "contrast"
	themeMono     = "mono"
)

// Themes are the names of all themes, the usual one first.
func Themes() []string { return []string{themeStandard, themeContrast, themeMono} }

// CheckTheme returns an error with the valid names if name is not a value for tui.Options.Theme.
func CheckTheme(name string) error {
	if name == "" || slices.Contains(Themes(), name) {
		return nil
	}
	return fmt.Errorf("%q is no theme; use %s", name, strings.Join(Themes(), ", "))
}

// ThemePalette returns the palette of a theme for a kind of terminal. Without colours all themes look alike.
func ThemePalette(theme string, p termenv.Profile) *Palette {
	out := &Palette{Theme: theme, Profile: p, Mono: p == termenv.Ascii || theme == themeMono, attrs: p != termenv.Ascii}
	if out.Mono {
		return out
	}
	out.Filled = p == termenv.TrueColor || p == termenv.ANSI256
	swatches := &standardSwatches
	if theme == themeContrast {
		out.heavy, swatches = true, &contrastSwatches
	}
	for i, sw := range slices.Concat(swatches[:], shadeSwatches[:]) {
		if c := p.Color(sw[p]); sw[p] != "" && c != nil {
			out.fg[i], out.bg[i] = c.Sequence(false), c.Sequence(true)
		}
	}
	return out
}

// Next returns the palette of the theme after this one.
func (p *Palette) Next() *Palette {
	all := Themes()
	return ThemePalette(all[(slices.Index(all, p.Theme)+1)%len(all)], p.Profile)
}
