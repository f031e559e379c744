package datasets

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"benchtop/datasets/jsonscan"
)

// Text of a file gets into errors, and must neither fill the screen nor steer it.

// cut is the beginning of a text, at most so many characters, and more where that is not all.
func cut(s string, most int, more string) (beginning, rest string) {
	if runes := []rune(s[:min(len(s), 4*most+4)]); len(runes) > most {
		return string(runes[:most]), more
	}
	return s, ""
}

// shortened is a text of a file, fit to be shown.
func shortened(s string) string {
	s, more := cut(s, 120, "…")
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s) + more
}

// quoteCell quotes a cell of a table or the name of a field, or the beginning of a long one.
func quoteCell(cell string) string {
	cell, more := cut(cell, 60, " …")
	return strconv.Quote(cell) + more
}

// firstOf is a JSON value, or the beginning of a long one.
func firstOf(raw []byte) string {
	value, more := cut(string(raw[:min(len(raw), 1<<10)]), 60, " …")
	return value + more
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
func someOf(names []string) string { return listed(names, 40, shortened) }

// listed lists the first names, as show writes them.
func listed(names []string, most int, show func(string) string) string {
	var list []string
	for _, name := range names[:min(most, len(names))] {
		list = append(list, show(name))
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
