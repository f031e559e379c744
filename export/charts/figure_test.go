package charts

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"image/color"
	"image/png"
	"io"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"benchtop/internal/assert"
	"benchtop/internal/assert/golden"
)

// sample has two panels of two curves each, with a band, a label, grey points and foreign texts, and an empty one.
func sample() Figure {
	curve := func(name string, colour int, factor float64) Curve {
		c := Curve{Name: name, Colour: colour, Dash: colour, Line: true}
		for _, x := range []float64{1, 4, 16, 64} {
			c.Points = append(c.Points,
				Point{X: x, Y: factor * (30 + x), Spread: x / 8, Fields: [][2]string{{"x", fmt.Sprint(x)}}})
		}
		return c
	}
	grey := Curve{Name: "All runs", Quiet: true, Points: []Point{{X: 20, Y: 20, Fields: [][2]string{{canary, canary}}}}}
	first := curve("seqs=32", 0, 1)
	first.Points[3].Label = "seqs=32\n" + canary
	return Figure{
		Title: "model=tiny " + canary, X: Axis{Label: "max concurrency (requests)", Scale: Linear},
		Y: Axis{Label: "median TTFT (ms)", Scale: Linear},
		Panels: []Panel{{"len=8", []Curve{first, curve("seqs=256", 1, 1.4)}},
			{"len=64\nrow=1", []Curve{curve("seqs=32", 0, 1.2), grey}}, {"len=512", nil}},
		Columns: 2, Notes: []string{"3 runs are left out: no finite x \x1b[31m"},
	}
}

func TestSVG(t *testing.T) {
	f := sample()
	var out bytes.Buffer
	assert.Fine(t, f.Drawing(3).SVG(&out))
	golden.Same(t, "testdata/figure.svg", out.Bytes())
	for d := xml.NewDecoder(&out); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("a reader of XML refuses it: %v", err)
		}
		if element, ok := token.(xml.StartElement); ok &&
			(element.Name.Local == "img" || element.Name.Local == "script") {
			t.Errorf("foreign text became the element %s", element.Name.Local)
		}
	}
}

// Nothing in the text is wider than asked for, and a terminal gets no command.
func TestText(t *testing.T) {
	for name, o := range map[string]TextOptions{"figure.txt": {}, "figure_ascii.txt": {Width: 60, ASCII: true}} {
		f := sample()
		var out bytes.Buffer
		assert.Fine(t, f.Text(&out, o))
		golden.Same(t, "testdata/"+name, out.Bytes())
		for line := range strings.Lines(out.String()) {
			if width := utf8.RuneCountInString(strings.TrimRight(line, "\n")); width > max(o.Width, 80) {
				t.Errorf("%s: a line of %d columns: %s", name, width, line)
			}
		}
		if strings.Contains(out.String(), "\x1b") ||
			o.ASCII && strings.ContainsAny(strings.ReplaceAll(out.String(), "…", ""), "┤│└─⠤") {
			t.Errorf("%s: a terminal could not show it", name)
		}
	}
}

// The page has all points and their fields as data, and nothing of them as markup.
func TestPageOfFigure(t *testing.T) {
	f := sample()
	var out bytes.Buffer
	assert.Fine(t, f.HTML(&out))
	page := out.String()
	var data figureData
	assert.Fine(t, json.Unmarshal([]byte(block(t, page, dataOpen)), &data))
	if len(data.Panels) != 3 || len(data.Panels[0].Curves) != 2 || data.Title != f.Title ||
		data.Panels[1].Curves[1].Points[0].Fields[0][1] != canary {
		t.Errorf("got %+v", data)
	}
	if n, closed := strings.Count(page, "<script"), strings.Count(page, "</script"); n != 3 || closed != 3 {
		t.Errorf("%d scripts begin and %d end, want 3", n, closed)
	}
	own := strings.Replace(page, echarts(), "", 1)
	assert.Lacks(t, strings.Replace(own, block(t, page, dataOpen), "", 1), "<img", "<!--", "http:", "https:", " src=")
	if !strings.Contains(page, scriptHash(figureScript)) {
		t.Error("the policy does not allow the page's own script")
	}
}

// A PNG has the curve's colour along the curve, as many pixels as asked for, and a limit.
func TestPNG(t *testing.T) {
	f := sample()
	var out bytes.Buffer
	d := f.Drawing(3)
	assert.Fine(t, d.PNG(&out, 72))
	picture := assert.Must(png.Decode(&out))(t)
	if got := picture.Bounds().Size(); got.X != int(math.Round(d.Width)) || got.Y != int(math.Round(d.Height)) {
		t.Errorf("%v pixels, want %v × %v", got, d.Width, d.Height)
	}
	found := 0
	for _, s := range d.shapes {
		if s.radius != markRadius || s.fill != palette[1] {
			continue
		}
		found++
		at := picture.At(int(s.spots[0].x), int(s.spots[0].y))
		if r, g, b, _ := at.RGBA(); color.NRGBAModel.Convert(color.RGBA64{uint16(r), uint16(g), uint16(b), 0xffff}) !=
			palette[1] {
			t.Errorf("at %v: colour %v, want %v", s.spots[0], at, palette[1])
		}
	}
	if found != 5 { // four points and the legend
		t.Errorf("%d points of the second curve, want 5", found)
	}
	assert.Complains(t, f.Drawing(100).PNG(io.Discard, 2400), "more than 80 million")
}

// A stroke covers its width evenly, also where pieces meet, and dashes leave gaps.
func TestStroke(t *testing.T) {
	black := color.NRGBA{0, 0, 0, 255}
	d := Drawing{Width: 40, Height: 20}
	d.line(black, 4, nil, spot{5, 10}, spot{20, 10}, spot{35, 10})
	d.line(black, 2, []float64{4, 4}, spot{5, 16}, spot{21, 16}, spot{37, 16})
	picture := assert.Must(d.raster(72))(t)
	dark := func(x, y int) bool { return picture.RGBAAt(x, y).R < 20 }
	for x := 6; x < 34; x++ {
		if !dark(x, 8) || !dark(x, 11) || dark(x, 6) || dark(x, 13) {
			t.Errorf("the line is torn at %d", x)
		}
	}
	var dashes strings.Builder
	for x := 5; x < 37; x++ {
		dashes.WriteByte(map[bool]byte{true: '#', false: '.'}[dark(x, 15)])
	}
	assert.Equal(t, dashes.String(), strings.Repeat("####....", 4), "dashes")
}

func TestAxes(t *testing.T) {
	for _, c := range []struct {
		axis      Axis
		low, high float64
		want      string
	}{
		{Axis{}, 0, 100, "0 20 40 60 80 100"},
		{Axis{}, 31, 104, "0 20 40 60 80 100"},
		{Axis{}, 98, 104, "98 99 100 101 102 103 104"},
		{Axis{}, -5, 5, "-4 -2 0 2 4"},
		{Axis{}, 0.001, 0.0032, "0 0.0005 0.0010 0.0015 0.0020 0.0025 0.0030"},
		{Axis{}, 5, 5, "4.0 4.5 5.0 5.5 6.0"},
		{Axis{}, 0, 0, "0 0.2 0.4 0.6 0.8 1.0"},
		{Axis{}, 1e5, 1.6e6, "0 250k 500k 750k 1.00M 1.25M 1.50M"},
		{Axis{}, 0, 52000, "0 10k 20k 30k 40k 50k"},
		{Axis{}, math.Inf(1), math.Inf(-1), "0 2 4 6 8 10"},
		{Axis{Scale: Log}, 1, 64, "1 2 5 10 20 50"},
		{Axis{Scale: Log}, 1, 1e6, "1 10 100 1000 10k 100k 1M"},
		{Axis{Scale: Log}, 1, 1e20, "1 10k 100M 1T 1e+16 1e+20"},
		{Axis{Scale: Log}, 100, 120, "100 105 110 115 120"},
		{Axis{Scale: Sqrt}, 0, 100, "0 20 40 60 80 100"},
		{Axis{Scale: Symlog}, -1000, 1000, "-100 -1 0 1 100"},
		{Axis{Categories: []string{"a", "b", "c"}}, 0, 2, "a b c"},
	} {
		a := newAxis(c.axis, extent{c.low, c.high}, 7)
		var got []string
		last := -1.0
		for _, tick := range a.ticks {
			got = append(got, tick.label)
			if part := a.part(tick.value); part <= last || part > 1 {
				t.Errorf("%v from %v to %v: the tick %s is at %v, after one at %v", c.axis, c.low, c.high, tick.label,
					part, last)
			} else {
				last = part
			}
		}
		assert.Equal(t, strings.Join(got, " "), c.want, "%v from %v to %v: ticks", c.axis, c.low, c.high)
	}
}

// Any range has a handful of ticks and a place for its ends.
func FuzzAxis(f *testing.F) {
	f.Add(0.0, 100.0, uint8(0))
	f.Add(1e-300, 1e300, uint8(1))
	f.Add(-1e300, 1e300, uint8(3))
	f.Add(1e15, 1e15+1, uint8(0))
	f.Fuzz(func(t *testing.T, low, high float64, scale uint8) {
		s := scales[int(scale)%len(scales)]
		if !(low <= high) || !s.Shows(low) || !s.Shows(high) || math.Abs(low) > 1e300 || math.Abs(high) > 1e300 {
			return
		}
		a := newAxis(Axis{Scale: s}, extent{low, high}, 7)
		if len(a.ticks) > 9 {
			t.Errorf("%s from %v to %v: %d ticks", s, low, high, len(a.ticks))
		}
		if from, to := a.part(low), a.part(high); !(from >= 0 && from <= to && to <= 1) {
			t.Errorf("%s from %v to %v: the ends are at %v and %v", s, low, high, from, to)
		}
	})
}

func TestParseScale(t *testing.T) {
	for _, name := range []string{"", "linear", "log", "sqrt", "symlog"} {
		if s, err := ParseScale(name); err != nil || name != "" && string(s) != name {
			t.Errorf("%q: %v %v", name, s, err)
		}
	}
	_, err := ParseScale("cubic")
	assert.Complains(t, err, "cubic", "use linear or log or sqrt or symlog")
	for s, v := range map[Scale]float64{Log: 0, Sqrt: -1, Linear: math.Inf(1)} {
		if s.Shows(v) {
			t.Errorf("%s has a place for %v", s, v)
		}
	}
	for _, s := range scales {
		if got := s.value(s.place(7)); math.Abs(got-7) > 1e-9 {
			t.Errorf("%s: 7 comes back as %v", s, got)
		}
	}
}
