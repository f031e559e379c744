package charts

import (
	_ "embed"
	"fmt"
	"io"
)

var (
	//go:embed figure.js
	figureScript string
	//go:embed figure.css
	figureStyle string
)

// figureData is the data of a figure's script.
type figureData struct {
	Title   string       `json:"title"`
	X       figureAxis   `json:"x"`
	Y       figureAxis   `json:"y"`
	Columns int          `json:"columns"`
	Panels  []figurePlot `json:"panels"`
	Notes   []string     `json:"notes"`
}

type figureAxis struct {
	Label      string   `json:"label"`
	Scale      Scale    `json:"scale"`
	Categories []string `json:"categories,omitempty"`
	// From and To are the ends of the axis.
	From float64 `json:"from"`
	To   float64 `json:"to"`
}

type figurePlot struct {
	Title  string        `json:"title"`
	Curves []figureCurve `json:"curves"`
}

type figureCurve struct {
	Name   string    `json:"name"`
	Colour string    `json:"colour"`
	Dash   []float64 `json:"dash,omitempty"`
	Width  float64   `json:"width"`
	Quiet  bool      `json:"quiet"`
	Line   bool      `json:"line"`
	Points []Point   `json:"points"`
}

// HTML writes the figure as a self-contained page: the pointer shows all fields of a point, the wheel zooms, and curves
// can be hidden. The error is that of w.
func (f *Figure) HTML(w io.Writer) error {
	x, y := f.axes(8, 8)
	d := figureData{Title: f.Title, Columns: max(1, f.Columns), Notes: append([]string{}, f.Notes...),
		Panels: []figurePlot{}, X: f.X.page(&x), Y: f.Y.page(&y)}
	for _, p := range f.Panels {
		plot := figurePlot{Title: p.Title}
		for _, c := range p.Curves {
			colour, dash, width := c.look()
			plot.Curves = append(plot.Curves,
				figureCurve{c.Name, hex(colour), dash, width, c.Quiet, c.Line, append([]Point{}, c.Points...)})
		}
		d.Panels = append(d.Panels, plot)
	}
	data, err := safeJSON(d)
	if err != nil {
		return fmt.Errorf("figure: %w", err)
	}
	return htmlPage{
		title: "Plot of a sweep", style: figureStyle, script: figureScript, data: data,
		body: "<h1 id=\"title\"></h1>\n<p id=\"notes\"></p>\n",
	}.write(w, nil)
}

func (a *Axis) page(on *axis) figureAxis {
	return figureAxis{Label: a.Label, Scale: a.Scale, Categories: a.Categories, From: a.Scale.value(on.low),
		To: a.Scale.value(on.high)}
}
