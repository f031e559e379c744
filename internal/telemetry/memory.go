package telemetry

import (
	"math"
	"os"
	"runtime/debug"
)

// gcPercent makes collections four times as rare as usual. A collection takes time from the goroutines that read: with
// half a kilobyte allocated for each chunk, chunks were up to 2.8 ms late at the usual 100, and 0.24 ms at 400.
const gcPercent = 400

// TuneMemory sets the garbage collector up for a client that must be punctual: it collects less often, but does not let
// the heap grow beyond half of the memory there is. What the user set by GOGC or GOMEMLIMIT stays.
func TuneMemory() {
	percent, limit := chooseMemory(os.Getenv("GOGC"), os.Getenv("GOMEMLIMIT"), memoryThere())
	if percent != 0 {
		debug.SetGCPercent(percent)
	}
	if limit != 0 {
		debug.SetMemoryLimit(limit)
	}
}

// thriftyPercent keeps the heap close to what is in use.
const thriftyPercent = 25

// SaveMemory sets the garbage collector up for work on large files that nothing waits for: it collects more often. What the
// user set by GOGC stays.
func SaveMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(thriftyPercent)
	}
}

// chooseMemory chooses from the user's settings and the bytes of memory there are, 0 if unknown. A result of 0 means to
// leave that setting as it is.
func chooseMemory(gogc, gomemlimit string, there uint64) (percent int, limit int64) {
	if gogc == "" {
		percent = gcPercent
	}
	if gomemlimit == "" {
		limit = int64(min(there/2, math.MaxInt64))
	}
	return percent, limit
}

// lessMemory is the less of two amounts of memory, 0 being unknown.
func lessMemory(a, b uint64) uint64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
