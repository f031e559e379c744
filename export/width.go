package export

import (
	"strings"
	"unicode"
)

// textWidth is how many columns a line of remarks may take.
const textWidth = 80

// columns estimates how many columns text takes on a terminal, rather too many than too few: combining marks none,
// everything from the first wide block (Hangul Jamo) on two.
func columns(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case r >= 0x1100:
			n += 2
		default:
			n++
		}
	}
	return n
}

// cut shortens text to at most width columns and shows that it did.
func cut(s string, width int) string {
	if columns(s) <= width {
		return s
	}
	used := 0
	for i, r := range s {
		used += columns(string(r))
		if used > width-2 { // the ellipsis is counted as two
			return s[:i] + "…"
		}
	}
	return s
}

// wrap breaks text between words into lines of at most textWidth columns; all but the first are indented.
func wrap(text, indent string) string {
	return strings.Join(wrapAt(text, indent, textWidth), "\n") + "\n"
}

// wrapAt breaks text between words into lines of at most width columns; all but the first are indented.
func wrapAt(text, indent string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case columns(line)+1+columns(word) > width:
			lines = append(lines, line)
			line = indent + word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}
