package text

import (
	"strings"
	"testing"

	"benchtop/internal/assert"
)

func TestWidth(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "≤ 3 …": 5, "日本語": 6, "e\u0301": 1, "│┤─": 3} {
		assert.Equal(t, Width(s), want, "Width(%q)", s)
	}
}

func TestFitAndWrap(t *testing.T) {
	assert.Equal(t, Fit("abcdef", 6), "abcdef", "Fit")
	assert.Equal(t, Fit("日本語日本語", 7), "日本…", "Fit")
	assert.Equal(t, FitMiddle("http://one:8000", 9), "http…8000", "FitMiddle")
	assert.Equal(t, FitMiddle("one", 9)+Wrap("", 9), "one", "FitMiddle")
	for line := range strings.Lines(Wrap(strings.Repeat("four 日本 ", 40), 80)) {
		if n := Width(strings.TrimRight(line, "\n")); n > 80 || n < 9 {
			t.Errorf("%d columns: %q", n, line)
		}
	}
}
