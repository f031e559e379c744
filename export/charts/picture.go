package charts

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"
)

// Sizes of texts and the room around panels, in points.
const (
	titleSize, labelSize, tickSize = 13, 11, 9.5
	tickLength                     = 4
	gap                            = 14
	// aspect is how many times wider than high a panel is, its labels included.
	aspect = 1.3
	// legendWidth is the most that a legend is wide, legendRow the height of one of its rows.
	legendWidth, legendRow = 260, 17
	swatchWidth            = 28
)

// Drawing lays the figure out, with panels of a height in inches, their labels included.
func (f *Figure) Drawing(inches float64) *Drawing {
	rows, columns := max(f.rows(), 1), max(f.Columns, 1)
	high := inches * 72
	wide := high * aspect
	legend := f.legend()
	if len(legend) < 2 {
		legend = nil
	}
	top, bottom := float64(gap), float64(gap)
	if f.Title != "" {
		top += titleSize + gap
	}
	bottom += float64(len(f.Notes)) * (tickSize + 5)
	d := &Drawing{Width: wide*float64(columns) + gap, Height: top + bottom + high*float64(rows)}
	side := 0.0
	for _, c := range legend {
		side = max(side, swatchWidth+min(textWidth(c.Name, tickSize), legendWidth)+2*gap)
	}
	d.Width += side
	if f.Title != "" {
		d.words(fit(heading(f.Title), titleSize, d.Width-2*gap), spot{d.Width / 2, gap + titleSize}, titleSize, 0.5,
			ink).bold = true
	}
	x, y := f.axes(int(wide/70), int(high/45))
	for i := range rows * columns {
		row, column := i/columns, i%columns
		left, up := float64(column)*wide, top+float64(row)*high
		p := frame{d: d, x: x, y: y}
		p.left, p.right = left+gap+tickSize+yLabels(&y)+tickLength+gap, left+wide
		p.top, p.bottom = up+gap, up+high-2*gap-tickSize-labelSize-tickLength
		panel := Panel{}
		if i < len(f.Panels) {
			panel = f.Panels[i]
		}
		if panel.Title != "" {
			p.top += labelSize + 4
		}
		p.axes(heading(panel.Title), true)
		p.curves(&panel)
	}
	d.legend(legend, d.Width-side+gap, top+gap, d.Height-bottom)
	for i, note := range f.Notes {
		d.words(fit(note, tickSize, d.Width-2*gap), spot{gap, d.Height - bottom + float64(i+1)*(tickSize+5)}, tickSize,
			0, quiet)
	}
	return d
}

// yLabels is the width of the labels of a vertical axis.
func yLabels(y *axis) (width float64) {
	for _, t := range y.ticks {
		width = max(width, textWidth(t.label, tickSize))
	}
	return min(width, legendWidth/2)
}

// frame is the rectangle of a panel with its two axes.
type frame struct {
	d                        *Drawing
	left, top, right, bottom float64
	x, y                     axis
}

func (f *frame) across(x float64) float64 { return f.left + f.x.part(x)*(f.right-f.left) }
func (f *frame) down(y float64) float64   { return f.bottom - f.y.part(y)*(f.bottom-f.top) }
func (f *frame) at(x, y float64) spot     { return spot{f.across(x), f.down(y)} }

// axes draws the frame: grid, ticks, labels and the title. Lines of the grid at the ticks of x are drawn if upright is
// set.
func (f *frame) axes(title string, upright bool) {
	middle := (f.left + f.right) / 2
	f.d.words(fit(title, labelSize, f.right-f.left), spot{middle, f.top - 6}, labelSize, 0.5, ink).bold = true
	free := math.Inf(-1)
	for _, t := range f.x.ticks {
		x := f.across(t.value)
		if upright {
			f.d.line(hairline, 0.7, nil, spot{x, f.top}, spot{x, f.bottom})
		}
		f.d.line(quiet, 0.8, nil, spot{x, f.bottom}, spot{x, f.bottom + tickLength})
		text := fit(t.label, tickSize, max(40, (f.right-f.left)/float64(max(1, len(f.x.ticks)))-4))
		if half := textWidth(text, tickSize) / 2; x-half > free {
			f.d.words(text, spot{x, f.bottom + tickLength + tickSize + 1}, tickSize, 0.5, quiet)
			free = x + half + 4
		}
	}
	for _, t := range f.y.ticks {
		y := f.down(t.value)
		f.d.line(hairline, 0.7, nil, spot{f.left, y}, spot{f.right, y})
		f.d.line(quiet, 0.8, nil, spot{f.left - tickLength, y}, spot{f.left, y})
		f.d.words(fit(t.label, tickSize, legendWidth/2), spot{f.left - tickLength - 3, y + tickSize*0.35}, tickSize, 1,
			quiet)
	}
	f.d.line(quiet, 0.8, nil, spot{f.left, f.top}, spot{f.left, f.bottom}, spot{f.right, f.bottom})
	f.d.words(fit(f.x.label, labelSize, f.right-f.left), spot{middle, f.bottom + tickLength + tickSize + labelSize + 7},
		labelSize, 0.5, ink)
	left := f.left - tickLength - yLabels(&f.y) - labelSize + 1
	f.d.words(fit(f.y.label, labelSize, f.bottom-f.top), spot{left, (f.top + f.bottom) / 2}, labelSize, 0.5,
		ink).turned = true
}

// nothing says in the middle of an empty panel that there is nothing.
func (f *frame) nothing(words string) {
	f.d.words(words, spot{(f.left + f.right) / 2, (f.top + f.bottom) / 2}, labelSize, 0.5, quiet)
}

const markRadius = 3

// curves draws the curves of a panel: their bands, then their lines, then their points, then the labels.
func (f *frame) curves(p *Panel) {
	curves := slices.Clone(p.Curves)
	slices.SortStableFunc(curves, func(a, b Curve) int { return cmp.Compare(a.layer(), b.layer()) })
	empty := true
	for i := range curves {
		empty = empty && len(curves[i].Points) == 0
		f.band(&curves[i])
	}
	if empty {
		f.nothing("no data")
		return
	}
	for i := range curves {
		if c := &curves[i]; c.Line {
			colour, dash, width := c.look()
			f.d.line(colour, width, dash, f.spots(c)...)
		}
	}
	var taken []labelBox
	for i := range curves {
		taken = append(taken, f.points(&curves[i])...)
	}
	for i := range curves {
		for _, pt := range curves[i].Points {
			if pt.Label != "" {
				taken = f.label(pt, taken)
			}
		}
	}
}

// spots are the places of the points of a curve.
func (f *frame) spots(c *Curve) (all []spot) {
	for _, pt := range c.Points {
		all = append(all, f.at(pt.X, pt.Y))
	}
	return all
}

// points draws the points of a curve; labels have no room on them and on the line between them.
func (f *frame) points(c *Curve) (taken []labelBox) {
	colour, _, _ := c.look()
	radius, edge := float64(markRadius), white
	if c.Quiet {
		colour, radius, edge = faint(colour, 160), 2.2, color.NRGBA{}
	}
	all := f.spots(c)
	for k, at := range all {
		f.d.circle(colour, edge, at, radius)
		taken = append(taken, around(at, radius))
		if k > 0 && c.Line {
			taken = append(taken, along(all[k-1], at)...)
		}
	}
	return taken
}

// layer orders curves from the back to the front.
func (c *Curve) layer() int {
	if c.Quiet {
		return 0
	}
	return 1
}

// band draws the area of the spread around a curve.
func (f *frame) band(c *Curve) {
	var above, below []spot
	flush := func() {
		if len(above) > 1 {
			slices.Reverse(below)
			colour, _, _ := c.look()
			f.d.area(faint(colour, 40), append(above, below...)...)
		}
		above, below = nil, nil
	}
	for _, pt := range c.Points {
		if !(pt.Spread >= 0) {
			flush()
			continue
		}
		above, below = append(above, f.at(pt.X, pt.Y+pt.Spread)), append(below, f.at(pt.X, pt.Y-pt.Spread))
	}
	flush()
}

// labelBox is a rectangle that a label must not cover.
type labelBox struct{ left, top, right, bottom float64 }

func (b labelBox) meets(o labelBox) bool {
	return b.left < o.right && o.left < b.right && b.top < o.bottom && o.top < b.bottom
}

func around(at spot, radius float64) labelBox {
	return labelBox{at.x - radius, at.y - radius, at.x + radius, at.y + radius}
}

// along covers a line.
func along(from, to spot) (boxes []labelBox) {
	const apart = 6
	steps := int(math.Hypot(to.x-from.x, to.y-from.y) / apart)
	for i := range steps {
		part := float64(i) / float64(steps)
		boxes = append(boxes, around(spot{from.x + (to.x-from.x)*part, from.y + (to.y-from.y)*part}, 1.5))
	}
	return boxes
}

// label writes the label of a point at the first place around it that is free, or not at all: the page shows it at the
// pointer.
func (f *frame) label(pt Point, taken []labelBox) []labelBox {
	lines := strings.Split(pt.Label, "\n")
	width, height := 0.0, float64(len(lines))*(tickSize+2)
	for i, l := range lines {
		lines[i] = fit(l, tickSize, legendWidth)
		width = max(width, textWidth(lines[i], tickSize))
	}
	const away = 5
	at := f.at(pt.X, pt.Y)
	for _, place := range []spot{
		{at.x + away, at.y - away - height}, {at.x + away, at.y + away}, {at.x - away - width, at.y - away - height},
		{at.x - away - width, at.y + away}, {at.x - width/2, at.y - 2*away - height}, {at.x + 2*away, at.y - height/2},
	} {
		box := labelBox{place.x, place.y, place.x + width, place.y + height}
		if box.left < f.left || box.right > f.right || box.top < f.top || box.bottom > f.bottom ||
			slices.ContainsFunc(taken, box.meets) {
			continue
		}
		for i, l := range lines {
			f.d.words(l, spot{place.x, place.y + float64(i)*(tickSize+2) + tickSize}, tickSize, 0, ink)
		}
		return append(taken, box)
	}
	return taken
}

// legend lists curves from a corner down to a bottom.
func (d *Drawing) legend(curves []Curve, left, top, bottom float64) {
	most := max(1, int((bottom-top)/legendRow)-1)
	for i, c := range curves {
		y := top + float64(i)*legendRow
		if i == most && len(curves) > most {
			d.words(fmt.Sprintf("and %d more", len(curves)-i), spot{left, y + tickSize*0.35}, tickSize, 0, quiet)
			return
		}
		colour, dash, width := c.look()
		if c.Line {
			d.line(colour, width, dash, spot{left, y}, spot{left + swatchWidth - 6, y})
		}
		d.circle(colour, white, spot{left + (swatchWidth-6)/2, y}, markRadius)
		d.words(fit(c.Name, tickSize, legendWidth), spot{left + swatchWidth, y + tickSize*0.35}, tickSize, 0, ink)
	}
}
