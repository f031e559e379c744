package metrics

import (
	"strings"
	"time"
)

// Duration writes a duration as Go does, but without units that are zero at its end: 1m, not 1m0s, and 1h, not 1h0m0s.
func Duration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
