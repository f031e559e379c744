package textfile

import (
	"io"
	"strings"
	"testing"

	"benchtop/internal/assert"
)

// A file of any size costs no more than one of its rows.
func TestCSVForgetsLines(t *testing.T) {
	rows, err := NewCSV(strings.NewReader("a,b,c,d\n"+strings.Repeat("5,ChatGPT,1,1\n", 100_000)), "")
	for err == nil {
		if _, _, err = rows.Next(); len(rows.text.ends) > 1<<16 {
			t.Fatalf("%d line ends are remembered", len(rows.text.ends))
		}
	}
	assert.Is(t, err, io.EOF)
}
