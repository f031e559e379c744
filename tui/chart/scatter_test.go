package chart

import (
	"strings"
	"testing"

	"benchtop/tui/screen"
)

// Each point stands at its place on both axes, and the line joins those on it.
func TestScatter(t *testing.T) {
	s := Scatter{
		Spots: []Spot{{10, 40, '●', screen.Text}, {20, 10, '●', screen.Text}, {10, 20, '○', screen.Dim}},
		Line:  [][2]float64{{10, 40}, {20, 10}},
	}
	got := drawn(40, 10, screen.Terminal{ASCII: true}, s.Draw)
	want := strings.Split(strings.Trim(`
   40                 *..               |
                        ....            |
                           ...          |
                             ....       |
   20                 o         ...     |
                                  ....  |
                                     .* |
                                        |
    0                                   |
     -+0--------------+10-------------20|
`, "\n"), "\n")
	for i, l := range got {
		if i >= len(want) || strings.TrimRight(l, " ") != strings.TrimRight(strings.TrimSuffix(want[i], "|"), " ") {
			t.Fatalf("line %d differs:\n%s", i, strings.Join(got, "\n"))
		}
	}
}
