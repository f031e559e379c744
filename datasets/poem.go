package datasets

import (
	_ "embed" // for the poem
	"errors"
	"io"
	"strings"
)

// sonnets are 42 of Shakespeare's, in today's spelling, a verse a line.
//
//go:embed poem.txt
var sonnets string

// maxPoem is how large a poem may be, in MiB. It is kept in memory.
const maxPoem = 64

// readPoem returns the lines of a text with their newlines, which only the last may lack.
func readPoem(r io.Reader) ([]string, error) {
	text, err := readAllText(r, maxPoem)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("the file is empty; expected a text, a verse on each line")
	}
	lines := strings.SplitAfter(text, "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	}
	return lines, nil
}
