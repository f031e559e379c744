package tui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"benchtop/tui/screen"
)

// foldMost bounds how many lines of foreign text are kept for the screen.
const foldMost = 2000

// fold breaks foreign text of several lines into lines of at most w columns, at blanks where there are any. It takes time in
// proportion to the text, where wrap is for a few lines.
func fold(s string, w int) []string {
	var out []string
	for _, part := range strings.Split(s, "\n") {
		if part = screen.Sanitize(part); part == "" {
			if len(out) > 0 && out[len(out)-1] != "" {
				out = append(out, "")
			}
			continue
		}
		if out = foldLine(out, part, max(w, 1)); len(out) >= foldMost {
			return out[:foldMost]
		}
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

// foldLine appends the lines of one paragraph that is clean already.
func foldLine(out []string, s string, w int) []string {
	start, blank, n := 0, -1, 0 // bytes where the line begins and where its last blank is, columns so far
	for i := 0; i < len(s) && len(out) < foldMost; {
		size, cols := 1, 1
		if s[i] >= 0x80 || i+1 < len(s) && s[i+1] >= 0x80 {
			var cluster string
			cluster, cols = ansi.FirstGraphemeCluster(s[i:], ansi.GraphemeWidth)
			size = max(1, len(cluster))
		}
		if s[i] == ' ' {
			blank = i
		}
		if n+cols > w && i > start {
			switch {
			case s[i] == ' ':
				out = append(out, s[start:i])
				i++
				start, blank, n = i, -1, 0
				continue
			case blank > start:
				out = append(out, s[start:blank])
				start = blank + 1
				n = screen.Width(s[start:i])
			default:
				out = append(out, s[start:i])
				start, n = i, 0
			}
			blank = -1
		}
		i += size
		n += cols
	}
	if start < len(s) {
		out = append(out, s[start:])
	}
	return out
}
