package chart

import (
	"benchtop/tui/screen"
	"math"
	"strings"
	"testing"
	"time"
)

// flat is a minute of level values.
func flat() Line {
	l := Line{Name: "running", Color: screen.Running, Below: Filled}
	for i := range 60 {
		l.Points = append(l.Points, Point{time.Duration(i+1) * time.Second, 11})
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
		{"before its line at the edge", []Annotation{at(55, "stage 2")}, "                    stage 2┊"},
		{"touching the name before", []Annotation{at(34, "abc"), at(55, "stage 2")}, "                ┊abc       ┊"},
		{"too many", []Annotation{at(30, "a"), at(30, "b"), at(32, "c"), at(36, "d")}, "               ┊a┊d"},
		{"outside", []Annotation{at(-5, "a"), at(0, "b"), at(60, "c"), at(70, "d")}, "                            c┊"},
		{"foreign", []Annotation{at(30, "\x1b[31m漢字\n")}, "               ┊漢字"},
		{"without a name", []Annotation{at(30, "")}, "               ┊"},
		{"too long", []Annotation{at(30, strings.Repeat("x", 30))}, "               ┊"},
	} {
		got := drawn(axisWidth+30, 8, screen.Terminal{}, minute(c.marks...).Draw)
		if top := strings.TrimRight(strings.TrimPrefix(got[0], "      "), " "); top != c.top {
			t.Errorf("%s: %q, want %q\n%s", c.name, top, c.top, strings.Join(got, "\n"))
		}
	}
}

// The warm-up is grey and has nothing below it.
func TestWarmupIsDimmed(t *testing.T) {
	sf := screen.NewSurface(axisWidth+30, 8)
	sf.Terminal.Filled = true
	p := minute()
	p.Time.Warm = 30 * time.Second
	p.Draw(sf.All(), nil)
	var grey, green int
	for x := range 30 {
		for y := range 7 {
			c := sf.All().At(axisWidth+x, y)
			switch {
			case c.Glyph == ' ':
				if filled := c.Style.Bg != screen.Plain; filled && x < 15 {
					t.Errorf("an area at %d,%d", x, y)
				}
			case c.Style.Fg == screen.Dimmed && x < 15:
				grey++
			case c.Style.Fg == screen.Running && x >= 14:
				green++
			default:
				t.Errorf("%q in colour %d at %d,%d", c.Glyph, c.Style.Fg, x, y)
			}
		}
	}
	if grey != 15 || green < 15 {
		t.Errorf("%d grey cells, want 15; %d green ones, want at least 15", grey, green)
	}
}

// An area is hidden by later areas and by the cleared areas of later lines. Lines, annotations and words are drawn over it.
func TestAreas(t *testing.T) {
	level := func(v float64, below Below, color screen.Color) Line {
		return Line{Name: "x", Below: below, Color: color, Points: []Point{{0, v}, {time.Minute, v}}}
	}
	const one, two = screen.Running, screen.Output
	of := screen.Shade
	for _, c := range []struct {
		name  string
		lines []Line
		fg    [4]screen.Color // of the lines, from the top row down, Plain for none
		bg    [4]screen.Color
	}{
		{"one", []Line{level(100, Filled, one)}, [4]screen.Color{one}, [4]screen.Color{of(one), of(one), of(one), of(one)}},
		{"low in its cell", []Line{level(80, Filled, one)}, [4]screen.Color{one}, [4]screen.Color{0, of(one), of(one), of(one)}},
		{"at the bottom", []Line{level(0, Filled, one)}, [4]screen.Color{3: one}, [4]screen.Color{}},
		{"bare", []Line{level(100, Bare, one)}, [4]screen.Color{one}, [4]screen.Color{}},
		{"a later area over an earlier one", []Line{level(100, Filled, one), level(40, Filled, two)},
			[4]screen.Color{0: one, 2: two}, [4]screen.Color{of(one), of(one), of(two), of(two)}},
		{"an earlier line over a later area", []Line{level(40, Filled, one), level(100, Filled, two)},
			[4]screen.Color{0: two, 2: one}, [4]screen.Color{of(two), of(two), of(two), of(two)}},
		{"cleared", []Line{level(100, Filled, one), level(40, Cleared, two)},
			[4]screen.Color{0: one, 2: two}, [4]screen.Color{of(one), of(one), 0, 0}},
	} {
		for _, filled := range []bool{true, false} {
			sf := screen.NewSurface(axisWidth+20, 4)
			sf.Terminal.Filled = filled
			mark := Annotation{At: 45 * time.Second, Name: "abc", Glyph: '┊', Line: screen.Dim}
			Plot{Time: TimeAxis{Shown: time.Minute}, Lines: c.lines, Top: 100, Annotations: []Annotation{mark}}.Draw(sf.All(), nil)
			for y := range 4 {
				bg := c.bg[y]
				if !filled {
					bg = screen.Plain
				}
				if p := sf.All().At(axisWidth+7, y); (p.Glyph != ' ' || c.fg[y] != screen.Plain) && p.Style.Fg != c.fg[y] || p.Style.Bg != bg {
					t.Errorf("%s, filled %v: row %d is %q in %v on %v, want %v on %v", c.name, filled, y, p.Glyph, p.Style.Fg, p.Style.Bg, c.fg[y], bg)
				}
				for x := axisWidth + 15; x < axisWidth+19; x++ { // the annotation and its name, or the line
					if p := sf.All().At(x, y); p.Style.Bg != bg {
						t.Errorf("%s, filled %v: %q at %d, %d is on %v, want %v", c.name, filled, p.Glyph, x, y, p.Style.Bg, bg)
					}
				}
			}
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
	if got := draw(Point{-time.Minute, -60}, Point{0, 0}, Point{2 * time.Minute, 120}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// BenchmarkPlot is a chart of three lines over two minutes on a screen of 120x40, on a kept raster.
func BenchmarkPlot(b *testing.B) {
	p := Plot{Time: TimeAxis{Shown: 2 * time.Minute}, Annotations: []Annotation{{At: time.Minute, Name: "stage 2", Glyph: '┊'}}}
	for i := range 3 {
		l := Line{Name: "x", Below: Filled, Color: screen.Output}
		for s := range 120 {
			l.Points = append(l.Points, Point{time.Duration(s) * time.Second, 100 + 50*math.Sin(float64(s)/9+float64(i))})
		}
		p.Lines = append(p.Lines, l)
	}
	sf := screen.NewSurface(axisWidth+60, 13)
	sf.Terminal.Filled = true
	r := new(Raster)
	b.ReportAllocs()
	for b.Loop() {
		p.Draw(sf.All(), r)
	}
}
