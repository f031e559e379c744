package charts

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// mostPixels bounds a picture, whose pixels take four bytes each.
const mostPixels = 80e6

// PNG writes the drawing as a PNG of so many dots an inch. The error is that of w, or says that the picture would be
// too large.
func (d *Drawing) PNG(w io.Writer, dpi float64) error {
	picture, err := d.raster(dpi)
	if err != nil {
		return err
	}
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	return encoder.Encode(w, picture)
}

func (d *Drawing) raster(dpi float64) (*image.RGBA, error) {
	scale := dpi / 72
	wide, high := math.Round(d.Width*scale), math.Round(d.Height*scale)
	if !(wide*high <= mostPixels) {
		return nil, fmt.Errorf("the picture would have %.0f × %.0f pixels, more than %.0f million; lower the "+
			"resolution or the height, or draw SVG", wide, high, mostPixels/1e6)
	}
	b := brush{image.NewRGBA(image.Rect(0, 0, max(1, int(wide)), max(1, int(high)))), scale, nil, vector.Rasterizer{}}
	draw.Draw(b.picture, b.picture.Rect, image.White, image.Point{}, draw.Src)
	for i := range d.shapes {
		b.draw(&d.shapes[i])
	}
	return b.picture, nil
}

// brush draws shapes on a picture. The outline of a shape is collected first, since the rasterizer works on the box
// around it.
type brush struct {
	picture *image.RGBA
	scale   float64
	outline []step
	into    vector.Rasterizer
}

// step is a part of an outline: to begins another one, at the last of its spots.
type step struct {
	op    sfnt.SegmentOp
	spots [3]spot
}

func (b *brush) draw(s *shape) {
	switch {
	case s.text != "":
		b.text(s)
		b.fill(s.fill)
	case s.radius > 0:
		b.circle(s.spots[0], s.radius)
		b.fill(s.fill)
		if s.stroke.A > 0 {
			b.stroke(ring(s.spots[0], s.radius), s.width)
			b.fill(s.stroke)
		}
	case s.stroke.A > 0:
		for _, part := range dashed(s.spots, s.dash) {
			b.stroke(part, s.width)
		}
		b.fill(s.stroke)
	default:
		b.polygon(s.spots...)
		b.fill(s.fill)
	}
}

func (b *brush) add(op sfnt.SegmentOp, spots ...spot) {
	st := step{op: op}
	copy(st.spots[:], spots)
	b.outline = append(b.outline, st)
}

func (b *brush) polygon(spots ...spot) {
	for i, p := range spots {
		op := sfnt.SegmentOpLineTo
		if i == 0 {
			op = sfnt.SegmentOpMoveTo
		}
		b.add(op, p)
	}
}

// ring are the corners of a polygon that looks like a circle.
func ring(at spot, radius float64) []spot {
	const corners = 24
	out := make([]spot, corners+1)
	for i := range out {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / corners)
		out[i] = spot{at.x + radius*cos, at.y + radius*sin}
	}
	return out
}

func (b *brush) circle(at spot, radius float64) { b.polygon(ring(at, radius)...) }

// stroke outlines a line: a box for each of its pieces, which overlap in a circle at each corner. All go around in one
// direction, so that overlaps do not cancel out.
func (b *brush) stroke(spots []spot, width float64) {
	for i := 1; i < len(spots); i++ {
		p, q := spots[i-1], spots[i]
		length := math.Hypot(q.x-p.x, q.y-p.y)
		if length == 0 {
			continue
		}
		dx, dy := (q.x-p.x)/length*width/2, (q.y-p.y)/length*width/2
		b.polygon(spot{p.x + dy, p.y - dx}, spot{q.x + dy, q.y - dx}, spot{q.x - dy, q.y + dx},
			spot{p.x - dy, p.y + dx})
		if i+1 < len(spots) {
			b.circle(q, width/2)
		}
	}
}

// dashed cuts a line into its dashes.
func dashed(spots []spot, dash []float64) (parts [][]spot) {
	if len(dash) == 0 {
		return [][]spot{spots}
	}
	at, left, part := 0, dash[0], spots[:min(1, len(spots)):min(1, len(spots))]
	for i := 1; i < len(spots); i++ {
		p, q := spots[i-1], spots[i]
		length := math.Hypot(q.x-p.x, q.y-p.y)
		for gone := 0.0; length > 0; {
			if gone+left >= length {
				left -= length - gone
				part = append(part, q)
				break
			}
			gone += left
			cut := spot{p.x + (q.x-p.x)*gone/length, p.y + (q.y-p.y)*gone/length}
			if part = append(part, cut); at%2 == 0 {
				parts = append(parts, part)
			}
			at++
			left, part = dash[at%len(dash)], []spot{cut}
		}
	}
	if at%2 == 0 {
		parts = append(parts, part)
	}
	return parts
}

// text outlines the glyphs of a text.
func (b *brush) text(s *shape) {
	face, origin, size := s.face(), s.spots[0], s.size/em
	shift := -s.align * face.each(s.text, nil) * size
	face.each(s.text, func(x float64, glyph sfnt.Segments) {
		on := func(p fixed.Point26_6) spot {
			along, across := shift+(x+float64(p.X)/64)*size, float64(p.Y)/64*size
			if s.turned {
				return spot{origin.x + across, origin.y - along}
			}
			return spot{origin.x + along, origin.y + across}
		}
		for _, g := range glyph {
			b.add(g.Op, on(g.Args[0]), on(g.Args[1]), on(g.Args[2]))
		}
	})
}

// count is the number of spots of a step.
func (s *step) count() int {
	switch s.op {
	case sfnt.SegmentOpQuadTo:
		return 2
	case sfnt.SegmentOpCubeTo:
		return 3
	}
	return 1
}

// fill fills the outline with a colour and forgets it.
func (b *brush) fill(with color.NRGBA) {
	low, high := spot{math.Inf(1), math.Inf(1)}, spot{math.Inf(-1), math.Inf(-1)}
	for i := range b.outline {
		for _, p := range b.outline[i].spots[:b.outline[i].count()] {
			low, high = spot{min(low.x, p.x), min(low.y, p.y)}, spot{max(high.x, p.x), max(high.y, p.y)}
		}
	}
	on := func(v float64) int { return int(min(max(v*b.scale, -1e6), 1e6)) }
	box := image.Rect(on(low.x)-1, on(low.y)-1, on(high.x)+2, on(high.y)+2).Intersect(b.picture.Rect)
	if len(b.outline) > 0 && !box.Empty() {
		b.into.Reset(box.Dx(), box.Dy())
		for i := range b.outline {
			b.trace(&b.outline[i], box.Min)
		}
		b.into.ClosePath()
		b.into.Draw(b.picture, box, image.NewUniform(with), image.Point{})
	}
	b.outline = b.outline[:0]
}

// trace hands a step to the rasterizer, whose origin is a corner of the picture's part.
func (b *brush) trace(s *step, origin image.Point) {
	var at [3][2]float32
	for i, p := range s.spots {
		at[i] = [2]float32{float32(p.x*b.scale) - float32(origin.X), float32(p.y*b.scale) - float32(origin.Y)}
	}
	switch s.op {
	case sfnt.SegmentOpMoveTo:
		b.into.ClosePath()
		b.into.MoveTo(at[0][0], at[0][1])
	case sfnt.SegmentOpLineTo:
		b.into.LineTo(at[0][0], at[0][1])
	case sfnt.SegmentOpQuadTo:
		b.into.QuadTo(at[0][0], at[0][1], at[1][0], at[1][1])
	case sfnt.SegmentOpCubeTo:
		b.into.CubeTo(at[0][0], at[0][1], at[1][0], at[1][1], at[2][0], at[2][1])
	}
}
