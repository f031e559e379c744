package text

import (
	"strings"
	"testing"
)

func TestWidth(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "≤ 3 …": 5, "日本語": 6, "e\u0301": 1, "│┤─": 3} {
		if got := Width(s); got != want {
			t.Errorf("Width(%q) = %d, want %d", s, got, want)
		}
	}
}

func TestFitAndWrap(t *testing.T) {
	if got := Fit("abcdef", 6); got != "abcdef" {
		t.Errorf("got %q", got)
	}
	if got := Fit("日本語日本語", 7); got != "日本…" {
		t.Errorf("got %q", got)
	}
	if got := FitMiddle("http://one:8000", 9); got != "http…8000" {
		t.Errorf("got %q", got)
	}
	if got := FitMiddle("one", 9) + Wrap("", 9); got != "one" {
		t.Errorf("got %q", got)
	}
	for line := range strings.Lines(Wrap(strings.Repeat("four 日本 ", 40), 80)) {
		if n := Width(strings.TrimRight(line, "\n")); n > 80 || n < 9 {
			t.Errorf("%d columns: %q", n, line)
		}
	}
}
