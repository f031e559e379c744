package telemetry

import (
	"bytes"
	"math"
	"strconv"
	"time"
)

// field is the i-th field of a line, none if there are fewer.
func field(line []byte, i int) []byte {
	for {
		line = bytes.TrimLeft(line, " \t\n")
		end := bytes.IndexAny(line, " \t\n")
		if end < 0 {
			end = len(line)
		}
		if i == 0 {
			return line[:end]
		}
		if end == len(line) {
			return nil
		}
		i, line = i-1, line[end:]
	}
}

// parseSchedstat reads /proc/PID/task/TID/schedstat, "ran waited slices", and returns how long the thread waited for a
// core since it began.
func parseSchedstat(text []byte) (time.Duration, bool) {
	ns, err := strconv.ParseInt(string(field(text, 1)), 10, 64)
	return time.Duration(ns), err == nil && ns >= 0
}

// parseStatm reads /proc/PID/statm, "size resident shared …" in pages, and returns what is resident, in bytes.
func parseStatm(text []byte, page int) (uint64, bool) {
	pages, err := strconv.ParseUint(string(field(text, 1)), 10, 64)
	if err != nil || page <= 0 || pages > math.MaxInt64/uint64(page) {
		return 0, false
	}
	return pages * uint64(page), true
}

// waitedSince is how long threads waited together, given how long each had waited before and now. A thread that was not
// there before, or that has waited less than before, as its number was given to another, began in between. One that is
// gone takes its last wait with it.
func waitedSince(before, now map[int]time.Duration) time.Duration {
	var sum time.Duration
	for thread, waited := range now {
		if was, there := before[thread]; there && was <= waited {
			waited -= was
		}
		if sum += waited; sum < 0 {
			return math.MaxInt64
		}
	}
	return max(0, sum)
}

// coresAllowed is how many cores a process may use: the least of what is known, 0 being unknown.
func coresAllowed(procs, affinity int, quota float64) float64 {
	cores := float64(procs)
	if affinity > 0 {
		cores = min(cores, float64(affinity))
	}
	if quota > 0 {
		cores = min(cores, quota)
	}
	return cores
}
