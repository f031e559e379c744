package charts

import (
	"bufio"
	"fmt"
	"html"
	"image/color"
	"io"
	"strconv"
	"strings"
)

// SVG writes the drawing as an SVG document, whose texts are texts. The error is that of w.
func (d *Drawing) SVG(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out,
		`<svg xmlns="http://www.w3.org/2000/svg" width="%spt" height="%spt" viewBox="0 0 %s %s" font-family="Go, `+
			`'Lucida Grande', 'DejaVu Sans', Helvetica, Arial, sans-serif">`+"\n",
		short(d.Width), short(d.Height), short(d.Width), short(d.Height))
	fmt.Fprintf(out, `<rect width="100%%" height="100%%" fill="#ffffff"/>`+"\n")
	for i := range d.shapes {
		d.shapes[i].svg(out)
	}
	out.WriteString("</svg>\n")
	return out.Flush()
}

func (s *shape) svg(out *bufio.Writer) {
	switch at := s.spots; {
	case s.text != "":
		fmt.Fprintf(out, `<text x="%s" y="%s" font-size="%s"%s`, short(at[0].x), short(at[0].y), short(s.size),
			paint("fill", s.fill))
		if s.align > 0 {
			fmt.Fprintf(out, ` text-anchor="%s"`, map[bool]string{true: "end", false: "middle"}[s.align > 0.5])
		}
		if s.bold {
			out.WriteString(` font-weight="bold"`)
		}
		if s.turned {
			fmt.Fprintf(out, ` transform="rotate(-90 %s %s)"`, short(at[0].x), short(at[0].y))
		}
		fmt.Fprintf(out, ">%s</text>\n", html.EscapeString(visible(s.text)))
	case s.radius > 0:
		fmt.Fprintf(out, `<circle cx="%s" cy="%s" r="%s"%s%s stroke-width="%s"/>`+"\n", short(at[0].x), short(at[0].y),
			short(s.radius),
			paint("fill", s.fill), paint("stroke", s.stroke), short(s.width))
	case s.stroke.A > 0:
		fmt.Fprintf(out, `<polyline points="%s" fill="none"%s stroke-width="%s" stroke-linejoin="round"`, points(at),
			paint("stroke", s.stroke), short(s.width))
		if len(s.dash) > 0 {
			var lengths []string
			for _, d := range s.dash {
				lengths = append(lengths, short(d))
			}
			fmt.Fprintf(out, ` stroke-dasharray="%s"`, strings.Join(lengths, " "))
		}
		out.WriteString("/>\n")
	default:
		fmt.Fprintf(out, `<polygon points="%s"%s/>`+"\n", points(at), paint("fill", s.fill))
	}
}

func points(spots []spot) string {
	var b strings.Builder
	for i, p := range spots {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(short(p.x) + "," + short(p.y))
	}
	return b.String()
}

// paint is the attribute of a colour, with its opacity.
func paint(of string, c color.NRGBA) string {
	if c.A == 0 {
		return fmt.Sprintf(` %s="none"`, of)
	}
	text := fmt.Sprintf(` %s="%s"`, of, hex(c))
	if c.A < 255 {
		text += fmt.Sprintf(` %s-opacity="%s"`, of, short(float64(c.A)/255))
	}
	return text
}

func hex(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// short writes a length to a hundredth.
func short(v float64) string {
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(v, 'f', 2, 64), "0"), ".")
}
