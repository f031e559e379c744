package textfile

import (
	"strconv"
	"strings"
)

// Text of a file gets into errors and must not fill the screen.
const (
	mostShown = 60 // characters of a text
	mostNames = 20
)

// cut is the beginning of a text, and whether that is not all.
func cut(text string) (beginning string, more bool) {
	if runes := []rune(text[:min(len(text), 4*mostShown+4)]); len(runes) > mostShown {
		return string(runes[:mostShown]), true
	}
	return text, false
}

// Quote is a text of a file in quotes, or the beginning of a long one.
func Quote(text string) string {
	beginning, more := cut(text)
	if more {
		return strconv.Quote(beginning) + " …"
	}
	return strconv.Quote(beginning)
}

// Value is a JSON value, or the beginning of a long one.
func Value(raw []byte) string {
	if len(raw) == 0 {
		return "nothing"
	}
	beginning, more := cut(string(raw[:min(len(raw), 1<<10)]))
	if more {
		return beginning + " …"
	}
	return beginning
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
