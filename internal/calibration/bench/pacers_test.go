package main

import (
	"testing"

	"benchtop/internal/assert"
)

// A pacer has the same limits on every machine, also where it is not the default.
func TestPacerBars(t *testing.T) {
	for _, c := range []struct {
		kind string
		want [3]float64 // at 100, 1,000 and 5,000 a second
	}{
		{"spin", [3]float64{50, 50, 50}},
		{"timerfd", [3]float64{1_000, 100, 100}},
		{"ppoll", [3]float64{}},
		{busyLoop, [3]float64{}},
	} {
		for i, rate := range []int{100, 1_000, 5_000} {
			assert.Equal(t, lateMost(c.kind, rate), c.want[i], "%s at %d/s µs", c.kind, rate)
		}
	}
	// The table has a limit for each row that should have one.
	for _, tab := range []table{pacers(false), pacers(true)} {
		limits := map[string]bool{}
		for _, b := range tab.limits {
			limits[b.row] = true
		}
		for _, kind := range []string{"spin, 100/s", "spin, 1000/s", "spin, 5000/s"} {
			if !limits[kind] {
				t.Errorf("no bar for %s in %v", kind, limits)
			}
		}
		for _, r := range tab.rows {
			if r.name == "timerfd, 100/s" && !limits[r.name] {
				t.Errorf("no bar for %s in %v", r.name, limits)
			}
		}
	}
}
