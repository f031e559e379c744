package session

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/tui"
)

// The screen gets the latest run, and nobody waits for the screen. Lines that repeat are held once.
func TestSweepScreenHolds(t *testing.T) {
	v := &seriesScreen{runs: make(chan *tui.Preparation, 1)}
	first, second := tui.NewPreparation(), tui.NewPreparation()
	v.show(first)
	v.show(second)
	if got := <-v.runs; got != second {
		t.Error("the screen gets an older run")
	}
	for range 3 {
		fmt.Fprintln(&v.held, "benchtop: warning: one")
	}
	_, _ = io.WriteString(&v.held, "two\nthree\n")
	var out strings.Builder
	v.held.release(&out)
	assert.Equal(t, out.String(), "benchtop: warning: one\ntwo\nthree\n", "held")
}
