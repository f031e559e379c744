package tui

import (
	"regexp"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"benchtop/tui/term"
)

// An output that is no terminal has the size given, and the screen fills it.
func TestSizeWithoutTerminal(t *testing.T) {
	for _, c := range []struct{ w, h, width, height int }{{120, 40, 120, 40}, {0, 0, 80, 24}, {120, 0, 80, 24},
		{-1, 40, 80, 24}, {65535, 65535, 1000, 400}, {65535, 80, 1000, 80}} {
		if w, h := term.NewWriter(&output{}).Size(c.w, c.h); w != c.width || h != c.height {
			t.Errorf("%dx%d: got %dx%d, want %dx%d", c.w, c.h, w, h, c.width, c.height)
		}
	}
	s := start(t, false, func(o *Options) { o.Width, o.Height = 120, 40 })
	s.cancel(nil)
	<-s.left
	widest := 0
	// On a busy machine there are several screens, and the cursor goes up from the last line of one to the first of the next.
	for _, line := range regexp.MustCompile(`\r\n|\x1b\[[0-9;]*[ABH]`).Split(s.out.String(), -1) {
		widest = max(widest, ansi.StringWidth(line))
	}
	if widest != 120 {
		t.Errorf("the widest line has %d columns, want 120", widest)
	}
}
