package screen

import (
	"cmp"
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
	Light   bool // the background of the terminal is
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

// NewPalette returns the palette of the default theme for a dark background.
func NewPalette(p termenv.Profile) *Palette { return ThemePalette(themeDefault, p, false) }

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

// change appends the escape sequence from one style, as it is seen, to another, in as few bytes as possible: a screen
// has a thousand of them.
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

// The themes. Default is dark or light, as the background of the terminal is. Contrast draws words, borders and lines
// so that they stand out on any background. Mono has no colours at all.
const (
	themeDefault  = "default"
	themeDark     = "dark"
	themeLight    = "light"
	themeContrast = "contrast"
	themeMono     = "mono"
)

// Themes are the names of all themes, the usual one first.
func Themes() []string {
	return []string{themeDefault, themeDark, themeLight, themeContrast, themeMono}
}

// CheckTheme returns an error with the valid names if name is not a value for tui.Options.Theme.
func CheckTheme(name string) error {
	if name == "" || slices.Contains(Themes(), name) {
		return nil
	}
	return fmt.Errorf("%q is not a theme; use %s", name, strings.Join(Themes(), ", "))
}

// ThemePalette returns the palette of a theme, "" for the default, for a kind of terminal with a light or a dark
// background. Without colours all themes look alike.
func ThemePalette(theme string, p termenv.Profile, light bool) *Palette {
	theme = cmp.Or(theme, themeDefault)
	out := &Palette{Theme: theme, Profile: p, Light: light, Mono: p == termenv.Ascii || theme == themeMono,
		attrs: p != termenv.Ascii}
	if out.Mono {
		return out
	}
	out.Filled = p == termenv.TrueColor || p == termenv.ANSI256
	out.heavy = theme == themeContrast
	of := schemeOf(theme, light)
	for i := range colors {
		if c := of.color(i, p); c != nil {
			out.fg[i], out.bg[i] = c.Sequence(false), c.Sequence(true)
		}
	}
	return out
}

// schemeOf is the scheme of a theme with colours.
func schemeOf(theme string, light bool) scheme {
	out := darkScheme
	if theme == themeLight || light && theme != themeDark {
		out = lightScheme
	}
	if theme == themeContrast {
		out.named, out.share = contrastNamed, out.share/2
	}
	return out
}

// color is a colour of a scheme on a kind of terminal, nil for the terminal's own.
func (s *scheme) color(c Color, p termenv.Profile) termenv.Color {
	switch {
	case c < named:
		return p.Color(s.named[c][p])
	case c >= heats:
		return p.Color(s.heat[c-heats][p])
	case p == termenv.ANSI256:
		return p.Color(s.shades[c-areas])
	case p == termenv.TrueColor:
		line := termenv.RGBColor(cmp.Or(s.named[c-areas][p], s.named[Dimmed][p]))
		mixed := termenv.ConvertToRGB(termenv.RGBColor(s.ground)).BlendRgb(termenv.ConvertToRGB(line), s.share)
		return termenv.RGBColor(mixed.Hex())
	}
	return nil
}

// Next returns the palette of the next theme after this one that looks different.
func (p *Palette) Next() *Palette {
	all := Themes()
	out := p
	for i := slices.Index(all, p.Theme) + 1; out.Mono == p.Mono && out.fg == p.fg && i < 2*len(all); i++ {
		out = ThemePalette(all[i%len(all)], p.Profile, p.Light)
	}
	return out
}

// On returns the palette of the same theme for a light or a dark background.
func (p *Palette) On(light bool) *Palette { return ThemePalette(p.Theme, p.Profile, light) }
