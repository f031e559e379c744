package textfile

import (
	"strconv"
	"strings"
)

// mostShown bounds the characters of a text, mostNames the names in a list: text of a file gets into errors and must
// not fill the screen.
const (
	mostShown = 60
	mostNames = 20
)

// Cut is the beginning of a text, at most so many characters, and an ellipsis where that is not all.
func Cut(text string, most int) (beginning, more string) {
	if runes := []rune(text[:min(len(text), 4*most+4)]); len(runes) > most {
		return string(runes[:most]), "…"
	}
	return text, ""
}

// Quote is a text of a file in quotes, or the beginning of a long one.
func Quote(text string) string {
	beginning, more := Cut(text, mostShown)
	return strings.TrimSpace(strconv.Quote(beginning) + " " + more)
}

// Value is a JSON value, or the beginning of a long one.
func Value(raw []byte) string {
	if len(raw) == 0 {
		return "nothing"
	}
	beginning, more := Cut(string(raw[:min(len(raw), 1<<10)]), mostShown)
	return strings.TrimSpace(beginning + " " + more)
}

// Names are names of columns or fields in quotes, or the first of many.
func Names(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	var list []string
	for _, name := range names[:min(mostNames, len(names))] {
		list = append(list, Quote(name))
	}
	if more := len(names) - mostNames; more > 0 {
		return strings.Join(list, ", ") + " and " + strconv.Itoa(more) + " more"
	}
	return strings.Join(list, ", ")
}
