package metrics

import (
	"math"
	"sort"
	"time"
)

// ClientHealth collects what a run shows of its client. The timeline feeds it with requests and chunks, the rest are the
// samples of the seconds.
type ClientHealth struct {
	late    Histogram // own lateness of requests, the warm-up aside
	counts  Stamps    // counts only
	delay   Histogram // of chunks; live only, the journal has the result
	worst   time.Duration
	sched   Histogram // one value a second
	refused uint64    // requests for which the system had no socket
	stood   time.Duration
	busy, n int     // seconds without time left, of so many
	cpu     float64 // core seconds
	sampled time.Duration
	Seconds []ClientSecond // only ever appended to: snapshots share it

	now       ClientSecond // the second that is going on; its counts only
	nowLate   Histogram
	nowDelay  Histogram
	nowLatest time.Duration
	nowWorst  time.Duration
}

// sent counts a request whose first byte went out.
func (c *ClientHealth) sent(r *Request, warming bool) {
	late := r.OwnLateness()
	if late == Never {
		return
	}
	if !warming {
		c.late.Add(late)
	}
	c.now.Sent++
	c.nowLate.Add(late)
	c.nowLatest = max(c.nowLatest, late)
}

// chunk counts the i-th chunk of r if it has output. Chunks of one read have one stamp, and two reads of a stream are never
// so close that they get the same.
func (c *ClientHealth) chunk(r *Request, i int, warming bool) {
	k := &r.Chunks[i]
	if k.Tokens <= 0 {
		return
	}
	counted := 1
	if warming {
		counted = 0
	}
	c.counts.Chunks += counted
	c.now.Chunks++
	if i > 0 && r.Chunks[i-1].Tokens > 0 && r.Chunks[i-1].At == k.At {
		c.counts.Shared += counted
		c.now.Shared++
	}
	if r.ReadDelay == Never {
		c.counts.Unstamped += counted
		c.now.Unstamped++
		return
	}
	if !warming {
		c.delay.Add(r.ReadDelay)
		c.worst = max(c.worst, r.ReadDelay)
	}
	c.nowDelay.Add(r.ReadDelay)
	c.nowWorst = max(c.nowWorst, r.ReadDelay)
}

// done counts what a request that ended took of connections.
func (c *ClientHealth) done(r *Request) {
	c.now.Redials += r.Redials
	if r.Failure == FailedNoSocket {
		c.refused++
	}
}

// Complete completes the sample of a second with what was counted since the last one.
func (c *ClientHealth) Complete(s ClientSecond) ClientSecond {
	s.Sent, s.Redials, s.Chunks, s.Shared, s.Unstamped = c.now.Sent, c.now.Redials, c.now.Chunks, c.now.Shared, c.now.Unstamped
	s.LateP99, s.LateMax = min(c.nowLate.Quantile(0.99), c.nowLatest), c.nowLatest // the one is an estimate
	s.DelayP50, s.DelayP99, s.DelayMax = Never, Never, Never
	if c.nowDelay.Count() > 0 {
		s.DelayMax = c.nowWorst
		s.DelayP50, s.DelayP99 = min(c.nowDelay.Quantile(0.5), s.DelayMax), min(c.nowDelay.Quantile(0.99), s.DelayMax)
	}
	c.now, c.nowLatest, c.nowWorst = ClientSecond{}, 0, 0
	c.nowLate.Reset()
	c.nowDelay.Reset()
	return s
}

// File takes the sample of a second as it is.
func (c *ClientHealth) File(s ClientSecond) {
	c.Seconds = append(c.Seconds, s)
	c.cpu += s.CPU * s.Took.Seconds()
	c.sampled = later(c.sampled, s.Took)
	if s.whole() {
		c.n++
		c.sched.Add(s.Sched)
	}
	if s.Stall >= StallFrom {
		c.stood = later(c.stood, s.Stall)
	}
	if s.full() {
		c.busy++
	}
}

// later is a + b, at most the longest duration: both may come from a file.
func later(a, b time.Duration) time.Duration {
	if b > math.MaxInt64-a {
		return math.MaxInt64
	}
	return a + b
}

// whole reports whether the sample covers enough time to be called a second; the last one of a run may be a moment, in which
// any figure per second is chance.
func (s *ClientSecond) whole() bool { return s.Took >= time.Second/2 }

// full reports whether the process had no time left in the second: its threads ran, or could have and got no core.
func (s *ClientSecond) full() bool {
	return s.whole() && s.Cores > 0 && s.CPU+s.CPUWait >= BusyFrom*s.Cores
}

// Stamps is the stamps with the delays known so far.
func (c *ClientHealth) Stamps() Stamps {
	s := c.counts
	s.DelayP50, s.DelayP99, s.DelayP999, s.DelayMax = Never, Never, Never, Never
	if c.delay.Count() > 0 {
		at := func(q float64) time.Duration { return min(c.delay.Quantile(q), c.worst) } // an estimate
		s.DelayP50, s.DelayP99, s.DelayP999, s.DelayMax = at(0.5), at(0.99), at(0.999), c.worst
	}
	return s
}

// Verdict on the whole run so far.
func (c *ClientHealth) Verdict(p *Plan, itl *Histogram) Verdict {
	e := c.evidence(p, c.Stamps(), itl)
	return e.Verdict()
}

// evidence of the whole run so far. stamps are those of the run, itl its gaps between chunks.
func (c *ClientHealth) evidence(p *Plan, stamps Stamps, itl *Histogram) Evidence {
	return Evidence{
		gap: usualGap(itl), Refused: c.refused,
		paced: p.Paced(), kernel: p.Timestamps == KernelStamps,
		Over: c.late.Count() - c.late.Below(LateMost), Late: c.late.Quantile(0.99), stamps: stamps, sched: c.sched.Quantile(0.95),
		stood: c.stood, length: c.sampled, busy: c.busy, n: c.n,
	}
}

// recentSeconds are those that a live verdict looks at.
const recentSeconds = 5

// usualGap is the median of the gaps that are not 0.
func usualGap(itl *Histogram) time.Duration {
	n := itl.Count()
	if n == 0 {
		return 0
	}
	together := float64(itl.Below(time.Microsecond))
	return itl.Quantile((together + (float64(n)-together)/2) / float64(n))
}

// Recent is the verdict on the last seconds alone. A request without a socket stays in it: that is no passing trouble.
func (c *ClientHealth) Recent(p *Plan, itl *Histogram) Verdict {
	recent := c.Seconds[max(0, len(c.Seconds)-recentSeconds):]
	e := evidenceOf(p, recent, itl)
	e.Refused = c.refused
	for _, s := range recent {
		if s.LateP99 > LateMost {
			e.Over += uint64(s.Sent) // at least some of them
		}
		e.Late = max(e.Late, s.LateP99)
	}
	return e.Verdict()
}

// EvidenceBetween is what the seconds of a part of the run tell, by the worst of them; how many requests had no socket and how late they went out
// is for the caller to say.
func EvidenceBetween(p *Plan, seconds []ClientSecond, from, to time.Duration, itl *Histogram) Evidence {
	return evidenceOf(p, between(seconds, from, to), itl)
}

// between are the seconds that any part of lies between two moments.
func between(seconds []ClientSecond, from, to time.Duration) []ClientSecond {
	first := sort.Search(len(seconds), func(i int) bool { return seconds[i].At > from })
	last := first
	for last < len(seconds) && seconds[last].At-seconds[last].Took < to {
		last++
	}
	return seconds[first:last]
}

// evidenceOf is what the samples of some seconds tell, by the worst of them; how late requests went out is for the caller to say.
func evidenceOf(p *Plan, seconds []ClientSecond, itl *Histogram) Evidence {
	e := Evidence{gap: usualGap(itl), paced: p.Paced(), kernel: p.Timestamps == KernelStamps}
	e.stamps.DelayP99 = Never
	for _, s := range seconds {
		e.stamps.Chunks += s.Chunks
		e.stamps.Shared += s.Shared
		e.stamps.Unstamped += s.Unstamped
		e.stamps.DelayP99 = max(e.stamps.DelayP99, s.DelayP99)
		e.length = later(e.length, s.Took)
		if s.whole() {
			e.n++
			e.sched = max(e.sched, s.Sched)
		}
		if s.Stall >= StallFrom {
			e.stood += s.Stall
		}
		if s.full() {
			e.busy++
		}
	}
	return e
}

// Report sums up for the report. stamps may be nil where the run's end is not known; then the seconds say what they can.
func (c *ClientHealth) Report(p *Plan, stamps *Stamps, itl *Histogram) Client {
	out := Client{Source: p.Timestamps, StoodStill: c.stood, Seconds: c.Seconds}
	if out.Source == "" {
		out.Source = UserStamps // journals from before there was a choice
	}
	known := c.counts
	known.Unstamped, known.DelayP50, known.DelayP99, known.DelayP999, known.DelayMax = 0, Never, Never, Never, Never
	for i := range c.Seconds {
		s := &c.Seconds[i]
		if out.Cores = max(out.Cores, s.Cores); s.whole() {
			out.CPUMost = max(out.CPUMost, s.CPU)
		}
		out.GCs += s.GCs
		out.GCPause += s.GCPause
		out.Memory, out.Sockets = max(out.Memory, s.Memory), max(out.Sockets, s.Sockets)
		out.Dialled += s.Dialled
		if s.ClockStep {
			out.ClockSteps++
		}
		if s.At > p.Warmup { // the others are in no figure
			known.Unstamped = min(known.Unstamped+max(0, s.Unstamped), known.Chunks)
			known.DelayP50, known.DelayP99 = max(known.DelayP50, s.DelayP50), max(known.DelayP99, s.DelayP99)
			known.DelayMax = max(known.DelayMax, s.DelayMax)
		}
	}
	if c.sampled > 0 {
		out.CPU = c.cpu / c.sampled.Seconds()
		out.CPUMost = max(out.CPUMost, out.CPU) // of a run too short for a whole second
	}
	if stamps != nil {
		known.Unstamped, known.DelayP50, known.DelayP99 = stamps.Unstamped, stamps.DelayP50, stamps.DelayP99
		known.DelayP999, known.DelayMax = stamps.DelayP999, stamps.DelayMax
	}
	out.Stamps = known
	e := c.evidence(p, known, itl)
	out.Verdict, out.ReadLate = e.Verdict(), e.readLate()
	return out
}
