package calibration

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
)

func TestLoadIsChecked(t *testing.T) {
	for _, c := range []struct {
		name string
		load Load
		want []string // parts of the problems; none for a valid load
	}{
		{"requests at once", Load{Requests: 1, Chunks: 1}, nil},
		{"a rate for a time", Load{Rate: 10, Duration: time.Second, Chunks: 1}, nil},
		{"users for a time", Load{Closed: true, Streams: 3, Duration: time.Second, Chunks: 1}, nil},
		{"users for some requests", Load{Closed: true, Streams: 3, Requests: 10, Chunks: 1}, nil},
		{"nothing", Load{}, []string{"chunks 0", "no end"}},
		{"no users", Load{Closed: true, Requests: 1, Chunks: 1}, []string{"streams 0"}},
		{"all at once for a time", Load{Duration: time.Second, Chunks: 1}, []string{"no end"}},
		{"negative", Load{Streams: -1, Requests: -1, Chunks: -1, Duration: -1},
			[]string{"streams -1", "requests -1", "chunks -1", "negative"}},
		{"no number", Load{Rate: math.NaN(), Requests: 1, Chunks: 1}, []string{"rate NaN"}},
		{"endless rate", Load{Rate: math.Inf(1), Duration: time.Second, Chunks: 1}, []string{"rate +Inf", "more than"}},
		{"too many", Load{Requests: mostRequests + 1, Chunks: 1}, []string{"requests 5000001"}},
		{"too long", Load{Requests: 1, Chunks: 1000, ITL: 2 * time.Second}, []string{"longer than 30m"}},
		{"longer than any time", Load{Requests: 1, Chunks: 1_000_000, ITL: math.MaxInt64}, []string{"longer than 30m"}},
	} {
		err := c.load.Validate()
		if len(c.want) == 0 && err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		for _, words := range c.want {
			assert.Fails(t, c.name, err, words)
		}
		if err != nil && len(strings.Split(err.Error(), "\n")) != len(c.want) {
			t.Errorf("%s: got %d problems, want %d: %v", c.name, len(strings.Split(err.Error(), "\n")), len(c.want),
				err)
		}
	}
}

func TestArrivals(t *testing.T) {
	offsets := func(l Load) []time.Duration { return slices.Collect(l.Arrivals()) }
	assert.EqualAll(t, offsets(Load{Requests: 3}), make([]time.Duration, 3), "at once")
	some := Load{Requests: 1000, Rate: 500, Seed: 4}
	got := offsets(some)
	if len(got) != 1000 || got[999] != 2*time.Second || !slices.IsSorted(got) || got[0] == got[500] {
		t.Errorf("1000 at 500/s: got %d, the last at %s", len(got), got[len(got)-1])
	}
	assert.EqualAll(t, got, offsets(some), "the same seed gave other arrivals")
	some.Seed++
	if slices.Equal(got, offsets(some)) {
		t.Error("another seed gave the same arrivals")
	}
	timed := offsets(Load{Rate: 1000, Duration: 2 * time.Second})
	if n := len(timed); n < 1700 || n > 2300 || timed[n-1] >= 2*time.Second {
		t.Errorf("1000/s for 2 s: got %d", n)
	}
	n := 0
	for range (&Load{Closed: true, Streams: 1}).Arrivals() {
		if n++; n == 10 {
			break
		}
	}
	assert.Equal(t, n, 10, "a closed loop ran out of arrivals")
}

func TestConnectionsAhead(t *testing.T) {
	for _, c := range []struct{ streams, requests, want int }{{0, 5, 5}, {5, 0, 5}, {5, 9, 5}, {9, 5, 5}, {0, 0, 0}} {
		assert.Equal(t, (&Load{Streams: c.streams, Requests: c.requests}).ahead(), c.want, "%+v", c)
	}
}
