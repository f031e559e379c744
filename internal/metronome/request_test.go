package metronome

import (
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
)

func TestPaceInPath(t *testing.T) {
	for _, p := range []pace{
		{}, {ttft: time.Second}, {itl: 250 * time.Microsecond}, {1500 * time.Microsecond, 1},
		{time.Hour, 90 * time.Second},
	} {
		base := Pace("http://127.0.0.1:1/", p.ttft, p.itl)
		assert.Equal(t, assert.Must(readPace(base))(t), p, "%s reads as", base)
		if strings.ContainsFunc(base, func(r rune) bool { return r >= 0x80 }) || strings.HasSuffix(base, "/") {
			t.Errorf("base URL %q", base)
		}
	}
	if got, err := readPace("/itl=5µs/ttft=1ms/other=3/x"); err != nil ||
		got != (pace{time.Millisecond, 5 * time.Microsecond}) {
		t.Errorf("got %v (%v)", got, err)
	}
}
