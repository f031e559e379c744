package metrics

import (
	"fmt"
	"strings"
	"time"
)

// How the arrival of chunks is timed.
const (
	// KernelStamps: the kernel notes when a packet arrived, whenever we come to read it.
	KernelStamps = "kernel"
	// UserStamps: the time at which our read returned.
	UserStamps = "user"
)

// ClientSecond is what the client saw of itself in about a second of the run. The upper part is sampled from the process,
// the lower one counted by the recorder.
type ClientSecond struct {
	// At is the end of the second, Took its length: more than a second where the client itself stood still.
	At, Took time.Duration
	// CPU is how many cores the process kept busy, of Cores it may use. CPUWait is how many of its threads waited for a
	// core, on average: 0 where the system does not tell.
	CPU, CPUWait, Cores float64
	// Sched is the 99th percentile of how long goroutines that could run waited to run; Stall the longest time a timer
	// was late in this second, which is how long the whole process stood still at a stretch.
	Sched, Stall time.Duration
	// GCs are garbage collections that ended, GCPause the time they stopped everything for. Memory is what the process
	// holds, in bytes.
	GCs     int
	GCPause time.Duration
	Memory  uint64
	// Sockets to the server that are open, Dialled those opened in this second.
	Sockets, Dialled int
	// ClockStep: the wall clock was set in this second; the chunks in question got the time of their read.
	ClockStep bool

	// Sent requests, and how late: see Request.OwnLateness. Redials of the requests that ended.
	Sent, Redials    int
	LateP99, LateMax time.Duration
	// Chunks with output that arrived, Shared those that came in one read with the chunk before, so that they share its
	// stamp, Unstamped those without a stamp of the kernel.
	Chunks, Shared, Unstamped int
	// How long chunks waited between the kernel and us; Never if no chunk had a stamp of the kernel.
	DelayP50, DelayP99, DelayMax time.Duration
}

// Stamps sums up how the chunks of a run were timed.
type Stamps struct {
	// Chunks with output; Shared and Unstamped of them as in ClientSecond.
	Chunks, Shared, Unstamped int
	// How long chunks waited between the kernel and us; Never if no chunk had a stamp of the kernel.
	DelayP50, DelayP99, DelayP999, DelayMax time.Duration
}

// Client is what a run shows of the client that measured it.
type Client struct {
	Verdict Verdict
	// ReadLate: what the client read late may have been read together with the next chunk for that reason.
	ReadLate bool
	// Source is KernelStamps or UserStamps: what the run set out to use. Stamps.Unstamped says where it could not.
	Source string
	Stamps Stamps
	// CPU in cores: average and highest second; Cores that the process may use.
	CPU, CPUMost, Cores float64
	// StoodStill is the sum of the seconds' stalls of at least StallFrom. Of several stalls in a second the longest counts.
	StoodStill time.Duration
	GCs        int
	GCPause    time.Duration
	// Memory and Sockets are the most there were, Dialled all connections that were opened while the run was on.
	Memory           uint64
	Sockets, Dialled int
	ClockSteps       int
	// Seconds of the run, in order of time.
	Seconds []ClientSecond
}

// OwnLateness is how much later the request was sent than it could have been, through nobody's fault but the client's:
// Lateness less the wait for a slot and for the connection. A redial comes after the sending, and the connection before it
// was open already. Never if it was not sent.
func (r *Request) OwnLateness() time.Duration {
	late := r.Lateness()
	if late == Never {
		return Never
	}
	if r.Redials == 0 {
		late -= max(0, r.Connect)
	}
	return max(0, late-max(0, r.SlotWait()))
}

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

// of notes what is judged by the plan, and by the gaps between the chunks of the time.
func (e *Evidence) of(p *Plan, itl *Histogram) {
	e.gap, e.paced, e.kernel = usualGap(itl), p.Paced(), p.Timestamps == KernelStamps
}

// add counts the sample of a second.
func (e *Evidence) add(s *ClientSecond) {
	e.length = later(e.length, s.Took)
	if s.whole() {
		e.n++
		e.sched = max(e.sched, s.Sched)
	}
	if s.Stall >= StallFrom {
		e.stood = later(e.stood, s.Stall)
	}
	if s.full() {
		e.busy++
	}
}

// Verdict on the client by what is known.
func (e *Evidence) Verdict() Verdict {
	var v Verdict
	bad := func(format string, args ...any) { v.Why = append(v.Why, fmt.Sprintf(format, args...)) }
	if e.stood > 0 && float64(e.stood) > StallMost*float64(e.length) {
		bad("stood still for %s", rounded(e.stood))
	}
	if e.Refused > 0 {
		bad("no socket for %d of the requests", e.Refused)
	}
	if e.paced && e.Over >= fewestLate && e.Late > LateMost {
		bad("p99 sent %s late", rounded(e.Late))
	}
	if e.stamps.Shared >= fewestJudged && Share(e.stamps.Shared, e.stamps.Chunks) > SharedMost && e.readLate() {
		bad("%.1f %% of chunks read late and together", 100*Share(e.stamps.Shared, e.stamps.Chunks))
	}
	// Where stamps were asked of the kernel and did not come, they are our own.
	own := !e.kernel || Share(e.stamps.Unstamped, e.stamps.Chunks) > 0.5
	if own && e.stamps.Chunks >= fewestJudged && e.sched > SchedMost {
		bad("p99 read %s late", rounded(e.sched))
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

// rounded is a duration with about two figures.
func rounded(d time.Duration) string {
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
