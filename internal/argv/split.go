package argv

import (
	"errors"
	"strings"
)

// Split splits a command line into words as a POSIX shell does, with quotes and backslashes, but expands nothing, as
// Python's shlex.split.
func Split(line string) (words []string, err error) {
	var word strings.Builder
	open := false // a word has begun, perhaps an empty one
	for i := 0; i < len(line); i++ {
		switch c := line[i]; c {
		case ' ', '\t', '\r', '\n':
			if open {
				words = append(words, word.String())
				word.Reset()
				open = false
			}
		case '\\':
			if i++; i == len(line) {
				return nil, errors.New("it ends in a backslash")
			}
			word.WriteByte(line[i])
			open = true
		case '\'', '"':
			open = true
			rest, ok := quoted(line[i+1:], c, &word)
			if !ok {
				return nil, errors.New("a quotation mark is not closed: " + line[i:])
			}
			i = len(line) - len(rest) - 1
		default:
			word.WriteByte(c)
			open = true
		}
	}
	if open {
		words = append(words, word.String())
	}
	return words, nil
}

// quoted reads up to the closing mark and returns what follows it. Within double quotes a backslash escapes the mark
// and itself.
func quoted(text string, mark byte, word *strings.Builder) (rest string, ok bool) {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == mark:
			return text[i+1:], true
		case c == '\\' && mark == '"' && i+1 < len(text) && (text[i+1] == mark || text[i+1] == '\\'):
			i++
			word.WriteByte(text[i])
		default:
			word.WriteByte(c)
		}
	}
	return "", false
}
