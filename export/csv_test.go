package export

import (
	"slices"
	"testing"
)

func TestCSVRow(t *testing.T) {
	got := CSVRow([]string{"", "a", "-", "-1.5", "+2e3", "-inf", "=1+2", "+cmd|x", "-2+3", "@SUM(A1)", "\t=1", "\r=1",
		"\n=1", "a=1", "'=1", "1-2"})
	want := []string{"", "a", "-", "-1.5", "+2e3", "-inf", "'=1+2", "'+cmd|x", "'-2+3", "'@SUM(A1)", "'\t=1", "'\r=1",
		"'\n=1", "a=1", "'=1", "1-2"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
