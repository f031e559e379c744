package export

import (
	"fmt"

	"benchtop/metrics"
)

// mark is a moment on the axis of time.
type mark struct {
	at     float64 // seconds
	letter rune
	text   string
}

// mostMarks is as many as there are letters.
const mostMarks = 26

// marksOf are the marked events of the time that is drawn.
func marksOf(r *metrics.Report) []mark {
	var out []mark
	for _, e := range r.Events {
		at := e.At.Seconds()
		if e.Mark != "" && at >= 0 && at <= float64(len(r.Timeline)) && len(out) < mostMarks {
			out = append(out, mark{at, 'a' + rune(len(out)), e.Mark})
		}
	}
	return out
}

const (
	// widestMark in columns is how much of a mark's words the legend shows.
	widestMark = 24
	// widestRest is what else may stand there: a letter and (6d23h59m59s).
	widestRest = 16
)

// legend names the marks in as few lines as they fit into.
func legend(marks []mark, o PlotOptions) []string {
	var lines []string
	line := ""
	width := min(widestMark, o.Width-widestRest)
	for _, m := range marks {
		text := cut(Clean(m.text), width)
		if o.ASCII {
			text = cutASCII(m.text, width)
		}
		entry := fmt.Sprintf("%c %s (%s)", m.letter, text, clock(int(m.at)))
		if line != "" && columns(line)+2+columns(entry) > o.Width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += "  "
		}
		line += entry
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
