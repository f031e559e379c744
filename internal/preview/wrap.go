package preview

import (
	"strings"

	"github.com/rivo/uniseg"
)

// cut keeps the first n characters of a text, and puts behind them that there was more.
func cut(s string, n int, more string) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i] + more
		}
	}
	return s
}

// wrapped are the lines of a text wherever it may be parted, none wider than so many columns of a terminal, of which some
// characters take two.
func wrapped(s string, columns int) (lines []string) {
	start, at, width := 0, 0, 0
	for state, rest := -1, s; rest != ""; {
		var cluster string
		var boundaries int
		cluster, rest, boundaries, state = uniseg.StepString(rest, state)
		w := boundaries >> uniseg.ShiftWidth
		if width+w > columns && at > start {
			lines = append(lines, s[start:at])
			start, width = at, 0
		}
		at, width = at+len(cluster), width+w
	}
	if start < len(s) {
		lines = append(lines, s[start:])
	}
	return lines
}

// inLines are the lines of a list in words, parted behind commas.
func inLines(s string, columns int) []string {
	lines := []string{""}
	for item := range strings.SplitAfterSeq(s, ", ") {
		last := &lines[len(lines)-1]
		if *last != "" && len(*last)+len(strings.TrimSpace(item)) > columns {
			*last = strings.TrimSpace(*last)
			lines = append(lines, item)
			continue
		}
		*last += item
	}
	return lines
}
