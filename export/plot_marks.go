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

func marksOf(r *metrics.Report) []mark {
	var out []mark
	for _, e := range r.Events {
		if e.Mark == "" || e.At == metrics.Never || len(out) == mostMarks {
			continue
		}
		out = append(out, mark{max(0, e.At.Seconds()), 'a' + rune(len(out)), e.Mark})
	}
	return out
}

// widestMark in columns is how much of a mark's words the legend shows.
const widestMark = 24

// legend names the marks in as few lines as they fit into.
func legend(marks []mark, o PlotOptions) []string {
	var lines []string
	line := ""
	for _, m := range marks {
		text := cut(Clean(m.text), widestMark)
		if o.ASCII {
			text = cutASCII(m.text, widestMark)
		}
		entry := fmt.Sprintf("%c %s %s", m.letter, clock(int(m.at)), text)
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
