package tui

import (
	"strings"
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

// What a theme makes of one line, and that a line ends as it began.
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
		sf := newSurface(4, 1)
		for x, st := range []style{{fg: blue}, text, label, strong} {
			sf.all().set(x, 0, rune('a'+x), st)
		}
		if got := sf.render(themed(c.theme, c.p)); got != c.want {
			t.Errorf("%s, %s: got %q, want %q", c.theme, c.p.Name(), got, c.want)
		}
	}
}

// The colours of high contrast stand out from black and from white alike.
func TestContrast(t *testing.T) {
	for i, s := range contrastSwatches {
		if s.rgb == "" || color(i) == black {
			continue
		}
		c := termenv.ConvertToRGB(termenv.RGBColor(s.rgb))
		r, g, b := c.LinearRgb()
		l := 0.2126*r + 0.7152*g + 0.0722*b
		if onBlack, onWhite := (l+0.05)/0.05, 1.05/(l+0.05); onBlack < 4.3 || onWhite < 4.3 {
			t.Errorf("%s: %.1f on black, %.1f on white", s.rgb, onBlack, onWhite)
		}
	}
}

func TestThemeKey(t *testing.T) {
	m := open(mid(), 80, 24, termenv.ANSI256)
	first := m.View()
	var seen []string
	for range Themes() {
		press(m, "t")
		seen = append(seen, m.palette.theme)
	}
	m.notice = notice{}
	m.show()
	if got := strings.Join(seen, " "); got != "contrast mono default" || m.View() != first {
		t.Errorf("themes %s", got)
	}
}

// Without colours the key changes nothing, and says so.
func TestThemeKeyWithoutColour(t *testing.T) {
	m := open(mid(), 120, 40, termenv.Ascii)
	press(m, "t")
	if got := lastLine(m); m.palette.theme != themeStandard || !strings.Contains(got, "no colours to change") {
		t.Errorf("theme %s, %q", m.palette.theme, got)
	}
}
