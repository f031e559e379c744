package metrics

import (
	"strings"
	"time"
)

// Duration formats a duration as Go does, without trailing units of zero: 1m for 1m0s, and 1h for 1h0m0s.
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
