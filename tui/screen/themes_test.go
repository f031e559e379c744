package screen

import (
	"math"
	"testing"

	"github.com/muesli/termenv"

	"benchtop/internal/assert"
)

func TestCheckTheme(t *testing.T) {
	for _, name := range append(Themes(), "") {
		if err := CheckTheme(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	if err := CheckTheme("sepia"); err == nil ||
		err.Error() != `"sepia" is not a theme; use default, dark, light, contrast, mono` {
		t.Errorf("sepia: %v", err)
	}
}

// Each theme draws a line in its styles, and a line ends as it began.
func TestThemes(t *testing.T) {
	for _, c := range []struct {
		theme string
		light bool
		p     termenv.Profile
		want  string
	}{
		{themeDefault, false, termenv.ANSI256, "\x1b[38;5;75ma\x1b[mb\x1b[38;5;246mc\x1b[0;1md\x1b[m"},
		{themeDefault, true, termenv.ANSI256, "\x1b[38;5;25ma\x1b[mb\x1b[38;5;241mc\x1b[0;1md\x1b[m"},
		{themeLight, false, termenv.ANSI256, "\x1b[38;5;25ma\x1b[mb\x1b[38;5;241mc\x1b[0;1md\x1b[m"},
		{themeDark, true, termenv.ANSI256, "\x1b[38;5;75ma\x1b[mb\x1b[38;5;246mc\x1b[0;1md\x1b[m"},
		{themeContrast, false, termenv.ANSI256, "\x1b[1;38;5;32ma\x1b[0;1mb\x1b[mc\x1b[1md\x1b[m"},
		{themeContrast, false, termenv.ANSI, "\x1b[94ma\x1b[0;1mb\x1b[mc\x1b[1md\x1b[m"},
		{themeMono, false, termenv.ANSI256, "abc\x1b[1md\x1b[m"},
		{themeDefault, false, termenv.Ascii, "abcd"},
		{themeContrast, false, termenv.Ascii, "abcd"},
		{themeMono, false, termenv.Ascii, "abcd"},
	} {
		sf := NewSurface(4, 1)
		for x, st := range []Style{{Fg: Output}, Text, Label, Strong} {
			sf.All().Set(x, 0, rune('a'+x), st)
		}
		assert.Equal(t, sf.Render(ThemePalette(c.theme, c.p, c.light)), c.want, "%s, %s", c.theme, c.p.Name())
	}
}

// The colours of text and of lines stand out from the backgrounds of their theme, and from the areas on them.
func TestContrast(t *testing.T) {
	dark, light := []string{"#000000", "#1E1E1E"}, []string{"#FFFFFF"}
	for _, c := range []struct {
		theme       string
		on          []string
		text, lines float64 // at least
	}{
		{themeDark, dark, 4.5, 3}, {themeLight, light, 4.5, 3}, {themeContrast, append(light, "#000000"), 4.3, 4.3},
	} {
		for _, p := range []termenv.Profile{termenv.TrueColor, termenv.ANSI256} {
			of := schemeOf(c.theme, false)
			for i := Plain + 1; i < named; i++ {
				color := of.color(i, p)
				if color == nil || i == Inverse {
					continue
				}
				least := c.text
				switch {
				case i == faint:
					least = c.lines
				case c.theme == themeContrast && p == termenv.ANSI256: // as near as there are
					least = 3.8
				}
				for _, ground := range c.on {
					if got := contrast(color, termenv.RGBColor(ground)); got < least {
						t.Errorf("%s, %s: colour %d is %.1f on %s, want %.1f", c.theme, p.Name(), i, got, ground, least)
					}
				}
			}
			if c.theme == themeContrast {
				continue
			}
			for area, above := range map[Color][]Color{ // their edges stand for lines
				Output: {Dimmed}, Input: {Dimmed}, Running: {Waiting, Queued, Dimmed}, Usage: {Bad, Dimmed},
				Good: {Dimmed},
			} {
				if got := contrast(of.color(Shade(area), p), termenv.RGBColor(of.ground)); got < 1.5 {
					t.Errorf("%s, %s: the area of %d is %.1f on its ground", c.theme, p.Name(), area, got)
				}
				for _, i := range above {
					if got := contrast(of.color(i, p), of.color(Shade(area), p)); got < 1.9 {
						t.Errorf("%s, %s: colour %d is %.1f on the area of %d", c.theme, p.Name(), i, got, area)
					}
				}
			}
			for _, bar := range []Color{P50, P90, P99} {
				if got := contrast(of.color(Inverse, p), of.color(bar, p)); got < 3 {
					t.Errorf("%s, %s: annotations are %.1f on the bars of colour %d", c.theme, p.Name(), got, bar)
				}
			}
		}
	}
}

// contrast is the ratio of the luminances of two colours, as in the guidelines for the accessibility of web pages.
func contrast(a, b termenv.Color) float64 {
	x, y := luminance(light(a)), luminance(light(b))
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// light is the linear red, green and blue of a colour.
func light(c termenv.Color) [3]float64 {
	r, g, b := termenv.ConvertToRGB(c).LinearRgb()
	return [3]float64{r, g, b}
}

func luminance(c [3]float64) float64 { return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2] }

// visions turn linear colours into those seen with full vision, protanopia, deuteranopia and tritanopia (Machado,
// Oliveira and Fernandes 2009).
var visions = [][3][3]float64{
	{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	{{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

func times(m [3][3]float64, v [3]float64) (out [3]float64) {
	for i := range m {
		out[i] = max(0, m[i][0]*v[0]+m[i][1]*v[1]+m[i][2]*v[2])
	}
	return out
}

// distance is how far two colours are apart in OKLab, in hundredths.
func distance(a, b [3]float64) float64 {
	lab := func(c [3]float64) [3]float64 {
		lms := times([3][3]float64{
			{0.4122214708, 0.5363325363, 0.0514459929}, {0.2119034982, 0.6806995451, 0.1073969566},
			{0.0883024619, 0.2817188376, 0.6299787005},
		}, c)
		l, m, s := math.Cbrt(lms[0]), math.Cbrt(lms[1]), math.Cbrt(lms[2])
		return [3]float64{
			0.2104542553*l + 0.7936177850*m - 0.0040720468*s, 1.9779984951*l - 2.4285922050*m + 0.4505937099*s,
			0.0259040371*l + 0.7827717662*m - 0.8086757660*s,
		}
	}
	x, y := lab(a), lab(b)
	return 100 * math.Hypot(math.Hypot(x[0]-y[0], x[1]-y[1]), x[2]-y[2])
}

// Colours that stand on one chart can be told apart with any colour vision.
func TestNeighboursDiffer(t *testing.T) {
	for _, theme := range []string{themeDark, themeLight} {
		of := schemeOf(theme, false)
		for _, p := range []termenv.Profile{termenv.TrueColor, termenv.ANSI256} {
			for _, chart := range [][]Color{{Output, Input}, {Running, Waiting, Queued}, {P50, P90, P99}, {Good, Bad}} {
				for i, a := range chart {
					for _, b := range chart[i+1:] {
						for k, seen := range visions {
							x, y := light(of.color(a, p)), light(of.color(b, p))
							if d := distance(times(seen, x), times(seen, y)); d < 8 {
								t.Errorf("%s, %s: with vision %d, %v and %v are only %.1f apart", theme, p.Name(), k,
									of.color(a, p), of.color(b, p), d)
							}
						}
					}
				}
			}
			for a := Plain + 1; a < grey; a++ {
				for b := a + 1; b < grey; b++ {
					if d := distance(light(of.color(a, p)), light(of.color(b, p))); d < 6 && p == termenv.TrueColor {
						t.Errorf("%s: %v and %v are only %.1f apart", theme, of.color(a, p), of.color(b, p), d)
					}
				}
			}
		}
	}
}
