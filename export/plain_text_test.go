package export

import (
	"strings"
	"testing"
)

func TestCutAndWrap(t *testing.T) {
	if got := cut("abcdef", 6); got != "abcdef" {
		t.Errorf("got %q", got)
	}
	if got := cut("日本語日本語", 7); got != "日本…" {
		t.Errorf("got %q", got)
	}
	for line := range strings.Lines(wrap(strings.Repeat("four 日本 ", 40), textWidth)) {
		if n := columns(strings.TrimRight(line, "\n")); n > textWidth || n < 9 {
			t.Errorf("%d columns: %q", n, line)
		}
	}
}
