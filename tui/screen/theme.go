package screen

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/muesli/termenv"
)

// Color is an entry of the palette. Text is Plain, the terminal's own foreground, which is readable on any
// background; colours are for data. A colour never carries a meaning alone: a sign or a word stands beside it.
type Color uint8

// The named colours. Heat has more.
const (
	Plain Color = iota
	Blue
	Orange
	Green
	Vermilion
	Purple
	Yellow // poor on white: for areas, never for text
	grey   // labels
	Dimmed // lines that support data: outlines, annotations, the warm-up
	faint  // borders and axes
	Black  // annotations on top of coloured areas
	shades // the first of the colours of areas
	colors = shades + shadeCount
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
	Warning = Style{Fg: Vermilion, Bold: true}
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

// swatch is a colour for terminals of 16 million, 256 and 16 colours; "" is the terminal's own foreground.
type swatch [termenv.Ascii]string

// standardSwatches: the first eight are Okabe and Ito's, which people with any colour vision can tell apart. Of the 16 only
// those are used that can be read on black, on white and on Solarized, whose bright black is its background: so labels are
// plain there, and only borders may be lost.
var standardSwatches = [shades]swatch{
	Blue:      {"#56B4E9", "74", "12"},
	Orange:    {"#E69F00", "172", "3"},
	Green:     {"#009E73", "36", "2"},
	Vermilion: {"#D55E00", "166", "1"},
	Purple:    {"#CC79A7", "175", "5"},
	Yellow:    {"#F0E442", "221", "3"},
	grey:      {"#8A8A8A", "245", ""},
	Dimmed:    {"#8A8A8A", "245", "8"},
	faint:     {"#6C6C6C", "242", "8"},
	Black:     {"#101010", "233", "0"},
}

// contrastSwatches stand out from black about as much as from white, 4.3 to 1 and more, which is nearly as much as one colour
// can have on both. Supporting text is plain.
var contrastSwatches = [shades]swatch{
	Blue:      {"#0078D7", "32", "12"},
	Orange:    {"#B86200", "130", "3"},
	Green:     {"#008547", "29", "2"},
	Vermilion: {"#E0301E", "160", "1"},
	Purple:    {"#B146C2", "133", "5"},
	Yellow:    {"#8F7300", "94", "3"},
	Dimmed:    {"#767676", "243", ""},
	Black:     {"#000000", "16", "0"},
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

// Shades are the colours of areas: heat maps and the bands between percentiles. A terminal needs 256 colours for them. They are
// the same in all themes.
const (
	HeatSteps = 10
	// BandLow lies between the median and the 90th percentile, BandHigh between that and the 99th.
	BandLow    = shades + HeatSteps
	BandHigh   = BandLow + 1
	shadeCount = HeatSteps + 2
)

// shadeSwatches are viridis, from few to many, and two dark tones. Lines stand out on all of them, and all of them stand out on
// black and on white. They are not for 16 colours.
var shadeSwatches = [shadeCount]swatch{
	{"#472D7B", "54", ""}, {"#424086", "55", ""}, {"#3B528B", "61", ""}, {"#33638D", "67", ""}, {"#2C728E", "31", ""},
	{"#21918C", "37", ""}, {"#28AE80", "72", ""}, {"#5EC962", "77", ""}, {"#ADDC30", "149", ""}, {"#FDE725", "220", ""},
	{"#2B566F", "24", ""}, {"#6B4A3A", "95", ""},
}

// Heat is the colour of a share of the maximum, from just above 0 to 1.
func Heat(part float64) Color {
	return shades + Color(min(int(part*HeatSteps), HeatSteps-1))
}

// colorModes are the values of tui.Options.Color and the number of colours of each.
var colorModes = map[string]termenv.Profile{"none": termenv.Ascii, "16": termenv.ANSI, "256": termenv.ANSI256, "true": termenv.TrueColor}

// CheckColor returns an error with the valid names if name is not a value for tui.Options.Color.
func CheckColor(name string) error {
	if _, known := colorModes[name]; known || name == "" || name == "auto" {
		return nil
	}
	return fmt.Errorf("%q is no number of colours; use auto, none, 16, 256 or true", name)
}

// environ passes an environment to termenv.
type environ func(string) string

func (e environ) Getenv(name string) string { return e(name) }
func (e environ) Environ() []string         { return nil }

// colorTerms are terminals with colours that termenv does not know by name.
var colorTerms = []string{"screen", "tmux", "rxvt", "konsole", "putty", "cygwin", "foot", "st"}

// ColorProfile decides how many colours to use. In this order:
//
//	choice                 the value of --color
//	NO_COLOR               none, if it is set to anything
//	CLICOLOR_FORCE         at least 16, unless it is 0
//	CLICOLOR=0             none
//	TERM=dumb              none
//	COLORTERM, TERM        the terminal itself
func ColorProfile(choice string, getenv func(string) string) termenv.Profile {
	if profile, known := colorModes[choice]; known {
		return profile
	}
	if getenv("NO_COLOR") != "" {
		return termenv.Ascii
	}
	force := getenv("CLICOLOR_FORCE")
	forced := force != "" && force != "0"
	if getenv("CLICOLOR") == "0" && !forced {
		return termenv.Ascii
	}
	term := getenv("TERM")
	found := termenv.Ascii
	if term != "dumb" && (term != "" || runtime.GOOS == "windows") {
		found = termenv.NewOutput(nil, termenv.WithEnvironment(environ(getenv)), termenv.WithTTY(true)).ColorProfile()
		first, _, _ := strings.Cut(term, "-")
		if found == termenv.Ascii && slices.Contains(colorTerms, first) {
			found = termenv.ANSI
		}
	}
	if forced && found == termenv.Ascii {
		return termenv.ANSI
	}
	return found
}
