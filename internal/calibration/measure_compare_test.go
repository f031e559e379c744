package calibration

import (
	"testing"
	"time"

	"benchtop/internal/metronome"
)

func TestCompare(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(us int) time.Time { return start.Add(time.Duration(us) * time.Microsecond) }
	log := []metronome.Entry{
		{ID: "twice", Arrived: at(0), Writes: []time.Time{at(1)}}, // its connection broke, and it was sent again
		{ID: "twice", Arrived: at(100), Writes: []time.Time{at(1100), at(2100), at(3100)}},
		{ID: "early", Arrived: at(0), Writes: []time.Time{at(1000), at(2000)}},
		{ID: "cut", Arrived: at(0), Writes: []time.Time{at(1000)}},
		{ID: "somebody else's", Arrived: at(0), Writes: []time.Time{at(5)}},
	}
	seen := []Seen{
		{ID: "twice", Sent: 90 * time.Microsecond, Chunks: []int32{1020, 2020, 3220}, Late: time.Millisecond, Connect: 70},
		{ID: "early", Sent: 0, Chunks: []int32{994, 1995}},
		{ID: "cut", Sent: 0, Chunks: []int32{1, 2}},
		{ID: "unknown", Sent: 0, Chunks: []int32{1}},
	}
	c := compare(seen, log, start)
	// Errors: 10, 10, 210 and -6, -5.
	if want := (Quantiles{5, 10_000, 210_000, 210_000, 210_000}); c.stampError != want {
		t.Errorf("stamp error %+v, want %+v", c.stampError, want)
	}
	if c.early != 1 || c.unmatched != 2 || c.chunks != 8 {
		t.Errorf("%d early, %d unmatched, %d chunks; want 1, 2, 8", c.early, c.unmatched, c.chunks)
	}
	if c.late.N != 4 || c.late.Max != time.Millisecond || c.connect.N != 1 || c.connect.P50 != 70 {
		t.Errorf("late %+v, connect %+v", c.late, c.connect)
	}
	// TTFT: 1020 against 1000, 994 against 1000.
	if got := c.ttftError.average(); got != 7*time.Microsecond {
		t.Errorf("TTFT error %s, want 7µs", got)
	}
	if got := c.serverITL.deviation(); got != 0 {
		t.Errorf("the server's own gaps vary by %s", got)
	}
	// Gaps: 1000, 1200, 1001.
	if c.itl.n != 3 || c.itl.average() != 1067*time.Microsecond || c.itl.deviation() != c.itlMismatch.deviation() {
		t.Errorf("ITL: %d of %s, deviations %s and %s", c.itl.n, c.itl.average(), c.itl.deviation(), c.itlMismatch.deviation())
	}
}

func TestWallOf(t *testing.T) {
	before := time.Now().Round(0)
	start := time.Now()
	wall := wallOf(start)
	after := time.Now().Round(0)
	if wall.Before(before.Add(-EarlyFrom)) || wall.After(after) {
		t.Errorf("%s is not between %s and %s", wall, before, after)
	}
}
