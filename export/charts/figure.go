package charts

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"benchtop/internal/text"
)

// Figure is a picture of curves, in panels that share their axes. Its texts may be foreign: the writers escape them,
// and the caller takes control characters out of them.
type Figure struct {
	Title string
	X, Y  Axis
	// Panels are row by row, all of one number of columns; a panel without points says so.
	Panels  []Panel
	Columns int
	// Notes are sentences below the picture, such as of points that are left out.
	Notes []string
}

// Axis is one of the two axes. With Categories the value i stands for Categories[i].
type Axis struct {
	Label      string
	Scale      Scale
	Categories []string
}

// Panel is one of the plots of a figure.
type Panel struct {
	Title  string
	Curves []Curve
}

// Curve is a series of points. Colour, Dash and Width count the looks that there are, and begin again after the last.
type Curve struct {
	Name                string
	Colour, Dash, Width int
	// Quiet curves are grey and behind the others; Line joins the points.
	Quiet, Line bool
	// Points are in order of X.
	Points []Point
}

// Point is a point of a curve.
type Point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
	// Spread is how far the band around the curve goes from Y in both directions; 0 for none.
	Spread float64 `json:"spread,omitempty"`
	// Label stands beside the point.
	Label string `json:"label,omitempty"`
	// Fields are names and values, for the page to show at the pointer.
	Fields [][2]string `json:"fields"`
}

// Scale is how an axis places its values.
type Scale string

// The scales. Symlog is linear near 0 and logarithmic beyond, in both directions.
const (
	Linear Scale = "linear"
	Log    Scale = "log"
	Sqrt   Scale = "sqrt"
	Symlog Scale = "symlog"
)

var scales = []Scale{Linear, Log, Sqrt, Symlog}

// ParseScale reads the name of a scale; none is Linear.
func ParseScale(name string) (Scale, error) {
	if name == "" {
		return Linear, nil
	}
	if s := Scale(name); slices.Contains(scales, s) {
		return s, nil
	}
	return "", fmt.Errorf("no scale is called %q; use linear or log or sqrt or symlog", name)
}

// Shows reports whether a value has a place on the scale: 0 and less has none on Log, less than 0 none on Sqrt.
func (s Scale) Shows(v float64) bool { return text.Finite(s.place(v)) }

// place is where a value lies; the unit is that of the scale.
func (s Scale) place(v float64) float64 {
	switch s {
	case Log:
		return math.Log10(v)
	case Sqrt:
		return math.Sqrt(v)
	case Symlog:
		return math.Asinh(v)
	}
	return v
}

// value is the inverse of place.
func (s Scale) value(p float64) float64 {
	switch s {
	case Log:
		return math.Pow(10, p)
	case Sqrt:
		return p * math.Abs(p)
	case Symlog:
		return math.Sinh(p)
	}
	return p
}

// rows is the number of rows of panels.
func (f *Figure) rows() int {
	if len(f.Panels) == 0 {
		return 0
	}
	return (len(f.Panels) + f.Columns - 1) / f.Columns
}

// legend are the curves of all panels, each name once.
func (f *Figure) legend() (all []Curve) {
	seen := map[string]bool{}
	for _, p := range f.Panels {
		for _, c := range p.Curves {
			if c.Name != "" && !seen[c.Name] {
				seen[c.Name] = true
				all = append(all, c)
			}
		}
	}
	return all
}

// axes are both axes over the points of all panels, with about so many ticks each.
func (f *Figure) axes(xTicks, yTicks int) (x, y axis) {
	xs, ys := newExtent(), newExtent()
	labelled := false
	for _, p := range f.Panels {
		for _, c := range p.Curves {
			for _, pt := range c.Points {
				xs.add(pt.X)
				ys.add(pt.Y)
				labelled = labelled || pt.Label != ""
				for _, edge := range [2]float64{pt.Y - pt.Spread, pt.Y + pt.Spread} {
					if f.Y.Scale.Shows(edge) {
						ys.add(edge)
					}
				}
			}
		}
	}
	if labelled && f.X.Scale == Linear && xs.high > 0 { // room for labels right of the last point
		xs.high *= 1.2
	}
	return newAxis(f.X, xs, xTicks), newAxis(f.Y, ys, yTicks)
}

// heading is the title in one line.
func heading(title string) string { return strings.ReplaceAll(title, "\n", ", ") }
