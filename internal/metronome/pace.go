package metronome

import (
	"fmt"
	"net/url"
	"strings"
	"time"
)

// pace is when the chunks of an answer are due. An itl of 0 means as fast as the client takes them.
type pace struct{ ttft, itl time.Duration }

// slowest keeps due times of the longest answer within an int64.
const slowest = time.Hour

// Pace returns the base URL under which a metronome at base answers at that pace: the first chunk comes ttft after the
// request was read whole, the others one itl apart. A pace of 0 is left out: then there is no wait.
func Pace(base string, ttft, itl time.Duration) string {
	base = strings.TrimRight(base, "/")
	for _, p := range []struct {
		name string
		wait time.Duration
	}{{"ttft", ttft}, {"itl", itl}} {
		if p.wait > 0 {
			// Microseconds in ASCII, for a URL.
			base += "/" + p.name + "=" + strings.ReplaceAll(p.wait.String(), "µ", "u")
		}
	}
	return base
}

// readPace finds the pace among the segments of a path. Other segments mean nothing.
func readPace(path string) (pace, error) {
	var p pace
	for segment := range strings.SplitSeq(path, "/") {
		name, value, ok := strings.Cut(segment, "=")
		if !ok {
			continue
		}
		var wait *time.Duration
		switch name {
		case "ttft":
			wait = &p.ttft
		case "itl":
			wait = &p.itl
		default:
			continue
		}
		plain, err := url.PathUnescape(value)
		if err == nil {
			*wait, err = time.ParseDuration(plain)
		}
		if err != nil || *wait < 0 || *wait > slowest {
			return pace{}, fmt.Errorf("%s=%s in the path: expected a time such as 10ms, at most %s", name, value, slowest)
		}
	}
	return p, nil
}
