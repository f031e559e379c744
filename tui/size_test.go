package tui

import (
	"regexp"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// The screen fills the size given for an output that is no terminal.
func TestScreenFillsItsSize(t *testing.T) {
	s := start(t, false, func(o *Options) { o.Width, o.Height = 120, 40 })
	s.cancel(nil)
	<-s.left
	widest := 0
	// On a busy machine there are several screens, and the cursor goes up from the last line of one to the first of the
	// next.
	for _, line := range regexp.MustCompile(`\r\n|\x1b\[[0-9;]*[ABH]`).Split(s.out.String(), -1) {
		widest = max(widest, ansi.StringWidth(line))
	}
	if widest != 120 {
		t.Errorf("the widest line has %d columns, want 120", widest)
	}
}
