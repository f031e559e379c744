package text

import (
	"strings"

	"github.com/rivo/uniseg"
)

// Width is the number of columns that text takes on a terminal: 0 for combining marks, 2 for wide characters.
func Width(s string) int {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return uniseg.StringWidth(s)
		}
	}
	return len(s)
}

// Fit shortens text to so many columns; an ellipsis, which some terminals draw two columns wide, marks the cut.
func Fit(s string, columns int) string {
	if Width(s) <= columns {
		return s
	}
	for used, rest := 0, s; ; {
		_, after, width, _ := uniseg.FirstGraphemeClusterInString(rest, -1)
		if used += width; used > columns-2 {
			return s[:len(s)-len(rest)] + "…"
		}
		rest = after
	}
}

// FitMiddle shortens text to so many characters and keeps both ends, which tell URLs and names apart.
func FitMiddle(s string, most int) string {
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	head := (most - 1) / 2
	return string(runes[:head]) + "…" + string(runes[len(runes)-(most-1-head):])
}

// Fill fills lines of at most so many columns with words. All lines but the first are indented. A longer word has a
// line of its own.
func Fill(words []string, between, indent string, columns int) (lines []string) {
	for _, word := range words {
		last := len(lines) - 1
		switch {
		case last < 0:
			lines = append(lines, word)
		case Width(lines[last])+Width(between)+Width(word) > columns:
			lines = append(lines, indent+word)
		default:
			lines[last] += between + word
		}
	}
	return lines
}

// Wrap breaks text between words into lines of at most so many columns, each with a newline. All but the first are
// indented.
func Wrap(s string, columns int) string {
	return Lines(Fill(strings.Fields(s), " ", "  ", columns))
}

// Lines joins lines, each with a newline.
func Lines(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}
