package charts

import "image/color"

// Drawing is a picture of plain shapes, which SVG and PNG draw alike. Lengths are in points, a 72nd of an inch, from
// the upper left.
type Drawing struct {
	Width, Height float64
	shapes        []shape
}

type spot struct{ x, y float64 }

// shape is an area, a line or a text.
type shape struct {
	spots  []spot // of an area or a line; the place of a text
	fill   color.NRGBA
	stroke color.NRGBA
	width  float64
	dash   []float64
	radius float64 // of a circle around the spot
	text   string
	size   float64
	bold   bool
	align  float64 // the part of the text that stands left of its place
	turned bool    // upwards
}

var (
	ink      = color.NRGBA{0x1f, 0x24, 0x30, 255}
	quiet    = color.NRGBA{0x5c, 0x63, 0x70, 255}
	grey     = color.NRGBA{0x9a, 0xa0, 0xa6, 255}
	hairline = color.NRGBA{0xd5, 0xd9, 0xe0, 255}
	white    = color.NRGBA{255, 255, 255, 255}
)

// palette are colours that people with any kind of colour vision tell apart, after Okabe and Ito, without their yellow.
var palette = []color.NRGBA{
	{0x00, 0x72, 0xb2, 255}, {0xd5, 0x5e, 0x00, 255}, {0x00, 0x9e, 0x73, 255}, {0xcc, 0x79, 0xa7, 255},
	{0xe6, 0x9f, 0x00, 255}, {0x56, 0xb4, 0xe9, 255}, {0x4d, 0x4d, 0x4d, 255},
}

// dashes are those of lines, in points.
var dashes = [][]float64{nil, {6, 3}, {2, 2}, {8, 3, 2, 3}, {12, 4}}

// widths are those of lines, in points.
var widths = []float64{1.8, 3, 0.9, 4.2}

// look is how a curve is drawn.
func (c *Curve) look() (colour color.NRGBA, dash []float64, width float64) {
	if c.Quiet {
		return grey, nil, widths[0]
	}
	// Where the colours begin again, the dashes tell curves apart.
	return palette[c.Colour%len(palette)], dashes[(c.Dash+c.Colour/len(palette))%len(dashes)],
		widths[c.Width%len(widths)]
}

func faint(c color.NRGBA, alpha uint8) color.NRGBA {
	c.A = alpha
	return c
}

func (d *Drawing) area(fill color.NRGBA, spots ...spot) {
	d.shapes = append(d.shapes, shape{spots: spots, fill: fill})
}

func (d *Drawing) box(fill color.NRGBA, left, top, right, bottom float64) {
	d.area(fill, spot{left, top}, spot{right, top}, spot{right, bottom}, spot{left, bottom})
}

func (d *Drawing) line(stroke color.NRGBA, width float64, dash []float64, spots ...spot) {
	d.shapes = append(d.shapes, shape{spots: spots, stroke: stroke, width: width, dash: dash})
}

func (d *Drawing) circle(fill, stroke color.NRGBA, at spot, radius float64) {
	d.shapes = append(d.shapes, shape{spots: []spot{at}, fill: fill, stroke: stroke, width: 1, radius: radius})
}

// words writes a line of text; its base line is at the spot, and align says which part of it stands left of there.
func (d *Drawing) words(text string, at spot, size, align float64, fill color.NRGBA) *shape {
	d.shapes = append(d.shapes, shape{spots: []spot{at}, text: text, size: size, align: align, fill: fill})
	return &d.shapes[len(d.shapes)-1]
}
