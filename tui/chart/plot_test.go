package chart

import (
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/tui/screen"
)

// flat is a minute of level values.
func flat() Line {
	l := Line{Name: "running", Color: screen.Running, Filled: true}
	for i := range 60 {
		l.Points = append(l.Points, Point{time.Duration(i+1) * time.Second, 6.1})
	}
	return l
}

// minute is a plot of a level line over a minute.
func minute(marks ...Annotation) Plot {
	return Plot{Time: TimeAxis{Shown: time.Minute}, Lines: []Line{flat()}, Annotations: marks}
}

// drawn are the rows of a chart.
func drawn(w, h int, t screen.Terminal, draw func(screen.Canvas, *Raster)) []string {
	sf := screen.NewSurface(w, h)
	sf.Terminal = t
	draw(sf.All(), nil)
	return strings.Split(sf.Render(&screen.Palette{Mono: true}), "\n")
}

func TestMarks(t *testing.T) {
	at := func(sec int, name string) Annotation {
		return Annotation{At: time.Duration(sec) * time.Second, Name: screen.Sanitize(name), Glyph: '┊'}
	}
	for _, c := range []struct {
		name  string
		marks []Annotation
		top   string // the top row, right of the axis, which the line does not touch
	}{
		{"none", nil, ""},
		{"in the middle", []Annotation{at(30, "stage 2")}, "               ┊stage 2"},
		{"two", []Annotation{at(20, "stage 2"), at(40, "stage 3")}, "          ┊stage 2 ┊stage 3"},
		{"too near for the first name", []Annotation{at(20, "stage 2"), at(30, "stage 3")}, "          ┊    ┊stage 3"},
		{"too near for the unit", []Annotation{at(20, "16 req/s"), at(30, "32 req/s")}, "          ┊16  ┊32 req/s"},
		{"before its line at the edge", []Annotation{at(55, "stage 2")}, "                    stage 2┊"},
		{"touching the name before", []Annotation{at(34, "abc"), at(55, "stage 2")}, "                ┊abc       ┊"},
		{"too many", []Annotation{at(30, "a"), at(30, "b"), at(32, "c"), at(36, "d")}, "               ┊a┊d"},
		{"outside", []Annotation{at(-5, "a"), at(0, "b"), at(60, "c"), at(70, "d")}, "                            c┊"},
		{"foreign", []Annotation{at(30, "\x1b[31m漢字\n")}, "               ┊漢字"},
		{"without a name", []Annotation{at(30, "")}, "               ┊"},
		{"too long", []Annotation{at(30, strings.Repeat("x", 30))}, "               ┊"},
	} {
		got := drawn(axisWidth+30, 8, screen.Terminal{}, minute(c.marks...).Draw)
		if top := strings.TrimRight(string([]rune(got[0])[axisWidth:]), " "); top != c.top {
			t.Errorf("%s: %q, want %q\n%s", c.name, top, c.top, strings.Join(got, "\n"))
		}
	}
}

// A line that goes on beyond an edge keeps its slope up to there.
func TestLinesAreCutAtTheEdges(t *testing.T) {
	draw := func(points ...Point) string {
		p := Plot{Time: TimeAxis{Shown: time.Minute}, Lines: []Line{{Name: "x", Points: points}}, Top: 120}
		return strings.Join(drawn(axisWidth+30, 9, screen.Terminal{}, p.Draw), "\n")
	}
	want := draw(Point{0, 0}, Point{time.Minute, 60})
	assert.Equal(t, draw(Point{-time.Minute, -60}, Point{0, 0}, Point{2 * time.Minute, 120}), want, "draw")
}
