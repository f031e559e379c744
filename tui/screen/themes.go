package screen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/muesli/termenv"
)

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
type swatch struct{ rgb, ansi256, ansi string }

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
	out := &Palette{Theme: theme, Profile: p, Mono: p == termenv.Ascii || theme == themeMono, few: p == termenv.ANSI}
	out.attrs = p != termenv.Ascii
	if out.Mono {
		return out
	}
	out.Filled = p == termenv.TrueColor || p == termenv.ANSI256
	swatches := &standardSwatches
	if theme == themeContrast {
		out.heavy, swatches = true, &contrastSwatches
	}
	for i, s := range swatches {
		name := s.rgb
		switch p {
		case termenv.ANSI256:
			name = s.ansi256
		case termenv.ANSI:
			name = s.ansi
		}
		if name == "" {
			continue
		}
		if c := p.Color(name); c != nil {
			out.fg[i], out.bg[i] = c.Sequence(false), c.Sequence(true)
		}
	}
	out.shade(p)
	return out
}

// Next returns the palette of the theme after this one.
func (p *Palette) Next() *Palette {
	all := Themes()
	return ThemePalette(all[(slices.Index(all, p.Theme)+1)%len(all)], p.Profile)
}
