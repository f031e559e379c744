package tui

import (
	"strings"

	"benchtop/tui/screen"
)

// formShort stands for a command line that there is no room for.
const formShort = "(the command line needs a larger window; it is printed when it runs)"

// shellLines breaks the words of a command line into lines of w columns, as one would in a shell: what is copied off the
// screen runs as a whole, never a part of it. A flag keeps its values where they fit. It is nil where a word is too long.
func shellLines(words []string, w int) (lines []string) {
	const indent, goesOn = "  ", ` \`
	w -= len(goesOn)
	for _, unit := range flagUnits(words, w-len(indent)) {
		if len(indent)+screen.Width(unit) > w {
			return nil
		}
		switch last := len(lines) - 1; {
		case last < 0:
			lines = append(lines, unit)
		case screen.Width(lines[last])+1+screen.Width(unit) <= w:
			lines[last] += " " + unit
		default:
			lines[last] += goesOn
			lines = append(lines, indent+unit)
		}
	}
	return lines
}

// flagUnits joins words to what should stand on one line, at most w columns wide.
func flagUnits(words []string, w int) (units []string) {
	for _, word := range words {
		word = screen.SanitizeSpaced(word)
		if last := len(units) - 1; last >= 0 && !strings.HasPrefix(word, "-") && screen.Width(units[last])+1+screen.Width(word) <= w {
			units[last] += " " + word
		} else {
			units = append(units, word)
		}
	}
	return units
}
