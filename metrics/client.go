package metrics

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// How the arrival of chunks is timed.
const (
	// KernelStamps: the kernel notes the arrival of a packet.
	KernelStamps = "kernel"
	// UserStamps: the client notes the return of its read.
	UserStamps = "user"
)

// ClientSecond is a sample of the client over about a second of the run. The upper part is sampled from the process,
// the lower one is counted by the live view.
type ClientSecond struct {
	// At is the end of the second, Took its length: more than a second where the client itself stood still.
	At, Took time.Duration
	// Part of the run whose machine this is, 0 where there is one machine.
	Part int
	// CPU is the number of cores that the process kept busy, of the Cores that it may use. CPUWait is the average
	// number of its threads that waited for a core; 0 where the system does not report it.
	CPU, CPUWait, Cores float64
	// Sched is the 99th percentile of the time that runnable goroutines waited to run. Stall is the greatest lateness
	// of a timer in this second, which is the longest time for which the whole process stood still.
	Sched, Stall time.Duration
	// GCs are the garbage collections that ended, GCPause is the time for which they stopped the process. Memory of the
	// process is in bytes.
	GCs     int
	GCPause time.Duration
	Memory  uint64
	// Sockets to the server that are open, Dialled those opened in this second.
	Sockets, Dialled int
	// ClockStep: the wall clock was set in this second, and its chunks have the time of their read.
	ClockStep bool

	// Sent requests, and their Request.OwnLateness. Redials of the requests that ended.
	Sent, Redials    int
	LateP99, LateMax time.Duration
	// Chunks with output that arrived, Shared those that came in one read with the chunk before, so that they share its
	// stamp, Unstamped those without a stamp of the kernel.
	Chunks, Shared, Unstamped int
	// Delay of chunks between the kernel and the client; Never if no chunk had a stamp of the kernel.
	DelayP50, DelayP99, DelayMax time.Duration
}

// Stamps sums up the timing of the chunks of a run.
type Stamps struct {
	// Chunks with output; Shared and Unstamped of them as in ClientSecond.
	Chunks, Shared, Unstamped int
	// Delay of chunks between the kernel and the client; Never if no chunk had a stamp of the kernel.
	DelayP50, DelayP99, DelayP999, DelayMax time.Duration
}

// Client sums up the health of the client in a run.
type Client struct {
	Verdict Verdict
	// ReadLate: the client read so late that it may have read chunks together.
	ReadLate bool
	// Source is KernelStamps or UserStamps, as planned. Stamps.Unstamped counts the exceptions.
	Source string
	Stamps Stamps
	// CPU in cores: average and highest second; Cores that the process may use.
	CPU, CPUMost, Cores float64
	// StoodStill is the sum of the seconds' stalls of at least StallFrom. Of several stalls in a second the longest
	// counts.
	StoodStill time.Duration
	GCs        int
	GCPause    time.Duration
	// Memory and Sockets are maxima, Dialled counts all connections that were opened during the run.
	Memory           uint64
	Sockets, Dialled int
	ClockSteps       int
	// Seconds of the run, in order of time.
	Seconds []ClientSecond
}

// InOrder are the samples of the machines of a run in order of time: the order in which they are heard is chance.
func (p *Plan) InOrder(seconds []ClientSecond) []ClientSecond {
	if p.Part.N < 2 {
		return seconds
	}
	return slices.SortedStableFunc(slices.Values(seconds), func(a, b ClientSecond) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Part, b.Part))
	})
}

// PartHealth sums up the machine of a part of a run.
type PartHealth struct {
	Part, Sent int
	// Length is the time that has samples, LateP99 the worst second's, CPU the mean of its Cores in use.
	// Last is the end of the newest sample.
	Length, LateP99, Last time.Duration
	CPU, Cores            float64
}

// Parts are the machines of a run of several, by part.
func (c *Client) Parts() (all []PartHealth) {
	for i := range c.Seconds {
		s := &c.Seconds[i]
		if s.Part <= 0 || s.Part > mostParts {
			continue
		}
		for len(all) < s.Part {
			all = append(all, PartHealth{Part: len(all) + 1})
		}
		p := &all[s.Part-1]
		p.CPU += (s.CPU - p.CPU) * s.Took.Seconds() / max(1e-9, (p.Length+s.Took).Seconds())
		p.Sent, p.Length = p.Sent+s.Sent, later(p.Length, s.Took)
		p.Last = max(p.Last, s.At)
		p.LateP99, p.Cores = max(p.LateP99, s.LateP99), max(p.Cores, s.Cores)
	}
	return all
}

// OwnLateness is the lateness of the sending that the client itself caused: Lateness less the wait for a slot and for
// the connection. A redial comes after the sending, and the connection before it was open. Never if the request was not
// sent.
func (r *Request) OwnLateness() time.Duration {
	late := r.Lateness()
	if late == Never {
		return Never
	}
	if r.Tallies[Redials] == 0 {
		late -= max(0, r.Connect)
	}
	return max(0, late-max(0, r.SlotWait()))
}

// The thresholds of the verdict on the client. docs/metrics.md explains them.
const (
	// LateMost is the 99th percentile of the client's own lateness from which on it did not send as planned.
	LateMost = 10 * time.Millisecond
	// SharedMost is the share of chunks with a shared stamp from which on gaps between chunks are doubtful.
	SharedMost = 0.01
	// ReadLate is the 99th percentile of the delay between kernel and client, or of the wait of goroutines without
	// kernel stamps, from which on shared stamps come from a late client rather than from a server that sends chunks
	// together. It is a part of the usual gap, because a chunk is read together with the next one only if it waits that
	// long; and at least ReadLateLeast.
	ReadLate      = 0.5
	ReadLateLeast = time.Millisecond
	// SchedMost is the wait of goroutines from which on stamps of the client itself are wrong.
	SchedMost = 10 * time.Millisecond
	// StallFrom is the lateness of a timer from which on the whole process stood still, StallMost the share of the run
	// for which it may.
	StallFrom = 100 * time.Millisecond
	StallMost = 0.01
	// BusyFrom is the share of its cores, used or waited for, from which on the process has no time left, BusyMost the
	// share of seconds for which it may.
	BusyFrom = 0.9
	BusyMost = 0.1
)

const (
	// fewestJudged is the number of chunks from which on a percentile of them is evidence, and of shared ones from
	// which on they are no accident.
	fewestJudged = 20
	// fewestLate is the number of late requests from which on they count, because the 99th percentile of few is their
	// maximum.
	fewestLate = 3
)

// Verdict lists how the client limited the figures of a run.
type Verdict struct {
	// Why describes each threshold that was exceeded, in a few words, and Touches holds the figures that each makes
	// doubtful.
	Why     []string
	Touches []Figures
}

// Figures are a set of figures that a client can distort.
type Figures uint8

const (
	// OfferedRate is the rate of requests that were sent.
	OfferedRate Figures = 1 << iota
	// FirstTokens are TTFT, Gaps are ITL and TPOT, WholeRequests are E2EL.
	FirstTokens
	Gaps
	WholeRequests
	// WithinSLO are the share within the objectives and all that is counted from the scheduled moment.
	WithinSLO
	// FailureCounts are the failures.
	FailureCounts
)

// String lists the figures for a person, as "TTFT, ITL"; "" for none.
func (f Figures) String() string {
	var names []string
	for i, name := range []string{"offered rate", "TTFT", "ITL", "E2EL", "SLO", "failures"} {
		if f&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// Touched are all figures that are doubtful.
func (v Verdict) Touched() (all Figures) {
	for _, f := range v.Touches {
		all |= f
	}
	return all
}

// Limited reports whether the figures may be those of the client rather than of the server.
func (v Verdict) Limited() bool { return len(v.Why) > 0 }

// String is "ok" or "limited (why)".
func (v Verdict) String() string {
	if !v.Limited() {
		return "ok"
	}
	return "limited (" + strings.Join(v.Why, "; ") + ")"
}

// Evidence holds the figures that a verdict judges, of a run so far or of a part of it.
type Evidence struct {
	paced  bool // requests had scheduled times, so that lateness counts
	kernel bool // chunks are stamped by the kernel

	Over    uint64        // requests sent later than LateMost
	Late    time.Duration // p99 of all
	stamps  Stamps
	gap     time.Duration // median between chunks that were not read together
	Refused uint64        // requests for which the system had no socket
	sched   time.Duration // of the seconds, the worst or a high percentile
	stood   time.Duration
	length  time.Duration
	busy    int // seconds without time left
	n       int // seconds
	// parts have the evidence of each machine of a run of several, by its seconds alone.
	parts []Evidence
}

// of sets the figures that follow from the plan and from the gaps between chunks.
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
	if s.Part > 0 && s.Part <= mostParts {
		e.parts = append(e.parts, make([]Evidence, max(0, s.Part-len(e.parts)))...)
		own := *s
		own.Part = 0
		e.parts[s.Part-1].add(&own)
	}
}

// worstPart is the evidence of the machine that had the least time left, with words for it; of a run of one machine
// all.
func (e *Evidence) worstPart() (worst *Evidence, on string) {
	worst = e
	for i := range e.parts {
		if part := &e.parts[i]; worst == e || part.strain() > worst.strain() {
			worst, on = part, fmt.Sprintf(" on part %d", i+1)
		}
	}
	return worst, on
}

// strain orders machines by how little time they had left.
func (e *Evidence) strain() float64 {
	if e.length <= 0 {
		return 0
	}
	return float64(e.stood)/float64(e.length)/StallMost + float64(e.busy)/float64(max(e.n, 1))/BusyMost
}

// Verdict judges the evidence.
func (e *Evidence) Verdict() Verdict {
	var v Verdict
	bad := func(touches Figures, format string, args ...any) {
		v.Why, v.Touches = append(v.Why, fmt.Sprintf(format, args...)), append(v.Touches, touches)
	}
	const times = FirstTokens | Gaps | WholeRequests | WithinSLO
	worst, on := e.worstPart()
	if worst.stood > 0 && float64(worst.stood) > StallMost*float64(worst.length) {
		bad(OfferedRate|times, "stalled for %s%s", rounded(worst.stood), on)
	}
	if e.Refused > 0 {
		bad(OfferedRate|FailureCounts|WithinSLO, "no socket for %d of the requests", e.Refused)
	}
	if e.paced && e.Over >= fewestLate && e.Late > LateMost {
		bad(OfferedRate|WithinSLO, "p99 send delay %s", rounded(e.Late))
	}
	if e.stamps.Shared >= fewestJudged && Share(e.stamps.Shared, e.stamps.Chunks) > SharedMost && e.readLate() {
		bad(Gaps, "%.1f%% of chunks coalesced before read", 100*Share(e.stamps.Shared, e.stamps.Chunks))
	}
	// Without the kernel's stamps the client's own are used.
	own := !e.kernel || Share(e.stamps.Unstamped, e.stamps.Chunks) > 0.5
	if own && e.stamps.Chunks >= fewestJudged && e.sched > SchedMost {
		bad(times, "p99 read delay %s", rounded(e.sched))
	}
	if worst.n > 1 && worst.busy > 1 && float64(worst.busy) > BusyMost*float64(worst.n) {
		bad(OfferedRate|times, "CPU full for %d of %d s%s", worst.busy, worst.n, on)
	}
	return v
}

// readLate reports whether chunks waited for the client long enough to be read with the next one.
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
