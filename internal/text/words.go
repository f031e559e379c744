package text

import (
	"fmt"
	"strings"
)

// Count is a number with its noun: 1 request, 2 requests.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Join joins words as in a sentence, such as a, b and c; last is " and " or " or ".
func Join(words []string, last string) string {
	n := len(words)
	if n < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:n-1], ", ") + last + words[n-1]
}

// List is the first names of a list, and how many more there are.
func List(names []string, most int) string {
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}

// Cut shortens a text to a number of characters, the last of which is then an ellipsis.
func Cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	if runes := []rune(s); len(runes) > most {
		return string(runes[:max(0, most-1)]) + "…"
	}
	return s
}

// Clip shortens a text to whole characters of at most so many bytes, with an ellipsis behind them.
func Clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
