package panels

import (
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/metrics"
)

// A run of known length has the whole axis, unless it is long; that of a long or endless run grows with it.
func TestAxisOfARun(t *testing.T) {
	for _, c := range []struct{ length, end, want time.Duration }{
		{time.Minute, time.Second, time.Minute}, {15 * time.Minute, time.Second, 15 * time.Minute},
		{2 * time.Hour, time.Second, 30 * time.Second}, {2 * time.Hour, 50 * time.Second, time.Minute},
		{100 * time.Minute, 95 * time.Minute, 100 * time.Minute}, {0, time.Second, 30 * time.Second},
		{0, 61 * time.Second, 90 * time.Second}, {time.Minute, 70 * time.Second, 90 * time.Second},
	} {
		v := &View{Snapshot: &metrics.Snapshot{Plan: &metrics.Plan{Duration: c.length}, At: c.end}}
		assert.Equal(t, v.timeShown(c.end), c.want, "%v of %v", c.end, c.length)
	}
}
