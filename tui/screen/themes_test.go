package screen

import (
	"testing"

	"github.com/muesli/termenv"
)

func TestCheckTheme(t *testing.T) {
	for _, name := range append(Themes(), "") {
		if err := CheckTheme(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	if err := CheckTheme("dark"); err == nil || err.Error() != `"dark" is no theme; use default, contrast, mono` {
		t.Errorf("dark: %v", err)
	}
}

// Each theme draws a line in its styles, and a line ends as it began.
func TestThemes(t *testing.T) {
	for _, c := range []struct {
		theme string
		p     termenv.Profile
		want  string
	}{
		{themeStandard, termenv.ANSI256, "\x1b[38;5;74ma\x1b[mb\x1b[38;5;245mc\x1b[0;1md\x1b[m"},
		{themeContrast, termenv.ANSI256, "\x1b[1;38;5;32ma\x1b[0;1mb\x1b[mc\x1b[1md\x1b[m"},
		{themeContrast, termenv.ANSI, "\x1b[94ma\x1b[0;1mb\x1b[mc\x1b[1md\x1b[m"},
		{themeMono, termenv.ANSI256, "abc\x1b[1md\x1b[m"},
		{themeStandard, termenv.Ascii, "abcd"},
		{themeContrast, termenv.Ascii, "abcd"},
		{themeMono, termenv.Ascii, "abcd"},
	} {
		sf := NewSurface(4, 1)
		for x, st := range []Style{{Fg: Output}, Text, Label, Strong} {
			sf.All().Set(x, 0, rune('a'+x), st)
		}
		if got := sf.Render(ThemePalette(c.theme, c.p)); got != c.want {
			t.Errorf("%s, %s: got %q, want %q", c.theme, c.p.Name(), got, c.want)
		}
	}
}

// The colours of high contrast stand out from black and from white alike.
func TestContrast(t *testing.T) {
	for i, s := range contrastSwatches {
		if s[termenv.TrueColor] == "" || Color(i) == Black {
			continue
		}
		c := termenv.ConvertToRGB(termenv.RGBColor(s[termenv.TrueColor]))
		r, g, b := c.LinearRgb()
		l := 0.2126*r + 0.7152*g + 0.0722*b
		if onBlack, onWhite := (l+0.05)/0.05, 1.05/(l+0.05); onBlack < 4.3 || onWhite < 4.3 {
			t.Errorf("%s: %.1f on black, %.1f on white", s[termenv.TrueColor], onBlack, onWhite)
		}
	}
}
