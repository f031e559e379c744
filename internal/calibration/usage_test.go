package calibration

import (
	"testing"
	"time"

	"benchtop/internal/assert"
)

func TestPlateau(t *testing.T) {
	// A reading every half second.
	readings := func(open ...int64) *meter {
		m := &meter{}
		for i, n := range open {
			k := time.Duration(i)
			m.used = append(m.used,
				usage{at: k * time.Second / 2, cpu: k * k, objects: uint64(10 * i), chunks: int64(i), open: n})
		}
		return m
	}
	for _, c := range []struct {
		name     string
		open     []int64
		from, to int // the readings that bound it
	}{
		{"all open", []int64{0, 50, 96, 100, 100, 100, 95, 20, 0}, 3, 5},
		{"all open too short", []int64{0, 50, 96, 100, 97, 95, 20, 0}, 2, 5},
		{"the longer of two", []int64{100, 100, 100, 0, 100, 100, 100, 100, 0}, 4, 7},
		{"to the last reading", []int64{0, 100, 100, 100}, 1, 3},
		{"too short", []int64{0, 100, 100, 0, 0}, 0, 4},
		{"none", []int64{0, 0, 0}, 0, 2},
		{"one reading", []int64{0}, 0, 0},
	} {
		m := readings(c.open...)
		got, found := m.plateau(100)
		if want := difference(m.used[c.from : c.to+1]); got != want || found != (c.from > 0) {
			t.Errorf("%s: got %+v, %v, want %+v", c.name, got, found, want)
		}
	}
	if got, found := (&meter{}).plateau(1); got != (usage{}) || found {
		t.Errorf("without readings: %+v, %v", got, found)
	}
}

func TestGrown(t *testing.T) {
	m := meter{used: []usage{{resident: 100}, {resident: 180}, {resident: 120}}}
	assert.Equal(t, m.grown(90), 90, "grown")
	assert.Equal(t, m.grown(500), 0, "less than before")
}
