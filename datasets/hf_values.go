package datasets

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"benchtop/datasets/textfile"
	"benchtop/internal/jsonscan"
)

// hfValues is a row, an object in JSON.
type hfValues []byte

// errNoValue is the error of a value that a row does not have.
var errNoValue = errors.New("is not in the row")

// elementAt is an element of an array, nil behind its end.
func elementAt(array []byte, index int) []byte {
	for element := range jsonscan.Elements(array) {
		if index--; index < 0 {
			return element
		}
	}
	return nil
}

// value is the value at a path such as turns[0] or messages[0].content. A column of that very name goes before.
func (row hfValues) value(path string) ([]byte, error) {
	column, rest := hfColumn(path)
	fields := jsonscan.Fields(row, path, column)
	if fields[0] != nil || rest == "" {
		return noneMissing(path, fields[0])
	}
	value, at := fields[1], column
	for value != nil && rest != "" {
		var step string
		var next []byte
		if rest[0] == '[' {
			step, rest, _ = strings.Cut(rest[1:], "]")
			index, err := strconv.Atoi(step)
			if err != nil || value[0] != '[' {
				return nil, fmt.Errorf("expected %q to be an array: got %s", at, jsonscan.Kind(value))
			}
			next = elementAt(value, index)
			at += "[" + step + "]"
		} else {
			step, rest = hfColumn(rest[1:])
			if value[0] != '{' {
				return nil, fmt.Errorf("expected %q to be an object: got %s", at, jsonscan.Kind(value))
			}
			next = jsonscan.Fields(value, step)[0]
			at += "." + step
		}
		value = next
	}
	return noneMissing(at, value)
}

func noneMissing(path string, value []byte) ([]byte, error) {
	if value == nil {
		return nil, fmt.Errorf("%s %w", textfile.Quote(path), errNoValue)
	}
	return value, nil
}

// hfColumn is the name at the beginning of a path, and what follows it.
func hfColumn(path string) (name, rest string) {
	if end := strings.IndexAny(path, ".["); end > 0 {
		return path[:end], path[end:]
	}
	return path, ""
}

// hfPathForm is a path that is more than a name.
var hfPathForm = regexp.MustCompile(`^[^.\[\]]+(\[\d{1,9}\]|\.[^.\[\]]+)*$`)

// hfPiece is a part of a prompt: a text, or the path of one.
type hfPiece struct{ text, path string }

var hfPlace = regexp.MustCompile(`\{[a-z_]+(\[\d\]|\.[a-z_]+)*\}`)

// hfPieces are the parts of a text with paths in braces.
func hfPieces(text string) (pieces []hfPiece) {
	for text != "" {
		at := hfPlace.FindStringIndex(text)
		if at == nil {
			at = []int{len(text), len(text)}
		}
		pieces = append(pieces, hfPiece{text: text[:at[0]]})
		if at[0] < at[1] {
			pieces = append(pieces, hfPiece{path: text[at[0]+1 : at[1]-1]})
		}
		text = text[at[1]:]
	}
	return pieces
}
