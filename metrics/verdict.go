package metrics

import (
	"fmt"
	"strings"
	"time"
)

// The thresholds of the verdict on the client. docs/metrics.md explains them.
const (
	// LateMost is the 99th percentile of the client's own lateness from which on it did not send what was planned.
	LateMost = 10 * time.Millisecond
	// SharedMost is the share of chunks with a shared stamp from which on gaps between chunks are doubtful.
	SharedMost = 0.01
	// ReadLate is the 99th percentile of the time between kernel and client, or of the wait of goroutines where the kernel
	// does not tell, from which on it was the client that read late, and not the server that sent chunks together: a part of
	// the usual gap between chunks, since only what waits until the next one comes is read together with it; and no less than
	// ReadLateLeast.
	ReadLate      = 0.5
	ReadLateLeast = time.Millisecond
	// SchedMost is that wait of goroutines from which on stamps taken by the client itself are wrong.
	SchedMost = 10 * time.Millisecond
	// StallFrom is how late a timer must be to say that the whole process stood still; StallMost the share of the run that
	// it may.
	StallFrom = 100 * time.Millisecond
	StallMost = 0.01
	// BusyFrom is the share of its cores, used or waited for, from which on the process has no time left, BusyMost the share
	// of seconds in which it may be so.
	BusyFrom = 0.9
	BusyMost = 0.1
)

const (
	// fewestJudged is the number of chunks below which a percentile of them is no evidence, and of shared ones below which
	// they are an accident.
	fewestJudged = 20
	// fewestLate requests are needed to say that requests went out late: of few, the 99th percentile is the worst one.
	fewestLate = 3
)

// Verdict says whether the client limited what was measured, and by what.
type Verdict struct {
	// Why holds a few words for each threshold that was exceeded; none means that the client is fine.
	Why []string
}

// Limited reports whether the figures may be the client's rather than the server's.
func (v Verdict) Limited() bool { return len(v.Why) > 0 }

// String is "ok" or "limited (why)".
func (v Verdict) String() string {
	if !v.Limited() {
		return "ok"
	}
	return "limited (" + strings.Join(v.Why, "; ") + ")"
}

// Evidence is what a verdict is made from, of a run so far or of its last seconds.
type Evidence struct {
	paced  bool // requests had times of their own, so that being late has a meaning
	kernel bool // chunks are stamped by the kernel

	Over    uint64        // requests sent later than LateMost
	Late    time.Duration // p99 of all
	stamps  Stamps
	gap     time.Duration // between chunks that came apart, the median
	Refused uint64        // requests for which the system had no socket
	sched   time.Duration // worst of the usual seconds, see clientTally
	stood   time.Duration
	length  time.Duration
	busy    int // seconds without time left
	n       int // seconds
}

func (e *Evidence) Verdict() Verdict {
	var v Verdict
	bad := func(format string, args ...any) { v.Why = append(v.Why, fmt.Sprintf(format, args...)) }
	if e.stood > 0 && float64(e.stood) > StallMost*float64(e.length) {
		bad("stood still for %s", inWords(e.stood))
	}
	if e.Refused > 0 {
		bad("no socket for %d of the requests", e.Refused)
	}
	if e.paced && e.Over >= fewestLate && e.Late > LateMost {
		bad("p99 sent %s late", inWords(e.Late))
	}
	if e.stamps.Shared >= fewestJudged && Share(e.stamps.Shared, e.stamps.Chunks) > SharedMost && e.readLate() {
		bad("%.1f %% of chunks read late and together", 100*Share(e.stamps.Shared, e.stamps.Chunks))
	}
	// Where stamps were asked of the kernel and did not come, they are our own.
	own := !e.kernel || Share(e.stamps.Unstamped, e.stamps.Chunks) > 0.5
	if own && e.stamps.Chunks >= fewestJudged && e.sched > SchedMost {
		bad("p99 read %s late", inWords(e.sched))
	}
	if e.n > 1 && e.busy > 1 && float64(e.busy) > BusyMost*float64(e.n) {
		bad("CPU full for %d of %d s", e.busy, e.n)
	}
	return v
}

// readLate says that chunks waited for the client long enough for the next one to come.
func (e *Evidence) readLate() bool {
	delay := e.sched
	if e.kernel && e.stamps.DelayP99 != Never {
		delay = e.stamps.DelayP99
	}
	return delay >= max(ReadLateLeast, time.Duration(ReadLate*float64(e.gap)))
}

// inWords is a duration with about two figures.
func inWords(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d >= 10*time.Millisecond:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(10 * time.Microsecond).String()
}
