package datasets

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"benchtop/datasets/jsonscan"
)

// What a file says gets into errors, and must neither fill the screen nor steer it.

// shortened is a text of a file, fit to be shown.
func shortened(s string) string {
	const most = 120
	more := ""
	if runes := []rune(s); len(runes) > most {
		s, more = string(runes[:most]), "…"
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s) + more
}

// quoted is a flag's value, fit for the line of an error: in quotes where it needs them.
func quoted(s string) string {
	const most = 100 // bytes
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return r == '"' || unicode.IsSpace(r) || !unicode.IsPrint(r) }) {
		return strconv.Quote(s)
	}
	return s
}

// someOf lists names from a file, as many as a person would read.
func someOf(names []string) string {
	const most = 40
	list := make([]string, 0, most)
	for _, name := range names[:min(most, len(names))] {
		list = append(list, shortened(name))
	}
	if len(names) > most {
		list = append(list, "…")
	}
	return strings.Join(list, ", ")
}

// wholeText is the text of a JSON string, or an error if it has half of a character.
func wholeText(raw []byte) (string, error) {
	text, err := jsonscan.WholeText(raw)
	if err != nil {
		return "", fmt.Errorf("the text has %w; was it cut off in the midst?", err)
	}
	return text, nil
}
