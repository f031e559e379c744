package metrics

import (
	"testing"
	"time"

	"benchtop/internal/assert"
)

func TestDuration(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0s": 0, "10s": 10 * time.Second, "1m": time.Minute, "1m30s": 90 * time.Second, "1h": time.Hour,
		"1h0m10s": time.Hour + 10*time.Second,
		"10m":     10 * time.Minute, "1h30m": 90 * time.Minute, "250ms": 250 * time.Millisecond,
		"-2m": -2 * time.Minute,
	} {
		assert.Equal(t, Duration(d), want, "Duration")
	}
}
