package metrics

import (
	"math"
	"slices"
	"sort"
	"strconv"
	"time"
)

// ClientHealth accumulates the health of the client. The timeline feeds it with requests and chunks, facts with samples
// of seconds.
type ClientHealth struct {
	run, now timing         // of the run without its warm-up, and of the current second
	sampled  Evidence       // of the seconds so far
	sched    Histogram      // one value a second
	refused  uint64         // requests for which the system had no socket
	redials  int            // in the current second
	cpu      float64        // core seconds
	Seconds  []ClientSecond // only grows, since snapshots share it
}

// timing accumulates the lateness of requests and the delay of chunks.
type timing struct {
	sent   int
	late   Histogram // own lateness of requests
	latest time.Duration
	counts Stamps
	delay  Histogram // of chunks; live only, since the journal holds the result
	worst  time.Duration
}

func (t *timing) request(late time.Duration) {
	t.sent++
	t.late.Add(late)
	t.latest = max(t.latest, late)
}

func (t *timing) chunk(shared bool, delay time.Duration) {
	t.counts.Chunks++
	if shared {
		t.counts.Shared++
	}
	if delay == Never {
		t.counts.Unstamped++
		return
	}
	t.delay.Add(delay)
	t.worst = max(t.worst, delay)
}

// stamps are the counts with the delays known so far.
func (t *timing) stamps() Stamps {
	s := t.counts
	s.DelayP50, s.DelayP99, s.DelayP999, s.DelayMax = Never, Never, Never, Never
	if t.delay.Count() > 0 {
		at := func(q float64) time.Duration { return min(t.delay.Quantile(q), t.worst) } // an estimate
		s.DelayP50, s.DelayP99, s.DelayP999, s.DelayMax = at(0.5), at(0.99), at(0.999), t.worst
	}
	return s
}

func (t *timing) reset() {
	t.late.Reset()
	t.delay.Reset()
	*t = timing{late: t.late, delay: t.delay}
}

// sent counts a request whose first byte went out.
func (c *ClientHealth) sent(r *Request, warming bool) {
	late := r.OwnLateness()
	if late == Never {
		return
	}
	c.now.request(late)
	if !warming {
		c.run.request(late)
	}
}

// chunk counts the i-th chunk of r if it has output. Chunks of one read share a stamp, and two reads of a stream never
// do.
func (c *ClientHealth) chunk(r *Request, i int, warming bool) {
	k := &r.Chunks[i]
	if k.Tokens <= 0 {
		return
	}
	shared := i > 0 && r.Chunks[i-1].Tokens > 0 && r.Chunks[i-1].At == k.At
	c.now.chunk(shared, r.ReadDelay)
	if !warming {
		c.run.chunk(shared, r.ReadDelay)
	}
}

// done counts the connections of a request that ended.
func (c *ClientHealth) done(r *Request) {
	c.redials += r.Tallies[Redials]
	if r.Failure == FailedNoSocket {
		c.refused++
	}
}

// Complete adds the counts since the last sample to the sample of a second.
func (c *ClientHealth) Complete(s ClientSecond) ClientSecond {
	n, stamps := &c.now, c.now.stamps()
	s.Sent, s.Redials = n.sent, c.redials
	s.Chunks, s.Shared, s.Unstamped = stamps.Chunks, stamps.Shared, stamps.Unstamped
	s.LateP99, s.LateMax = min(n.late.Quantile(0.99), n.latest), n.latest // the quantile is an estimate
	s.DelayP50, s.DelayP99, s.DelayMax = stamps.DelayP50, stamps.DelayP99, stamps.DelayMax
	c.redials = 0
	n.reset()
	return s
}

// File files the sample of a second.
func (c *ClientHealth) File(s ClientSecond) {
	c.Seconds = append(c.Seconds, s)
	c.cpu += s.CPU * s.Took.Seconds()
	c.sampled.add(&s)
	if s.whole() {
		c.sched.Add(s.Sched)
	}
}

// later is a + b, at most the longest duration: both may come from a file.
func later(a, b time.Duration) time.Duration {
	if b > math.MaxInt64-a {
		return math.MaxInt64
	}
	return a + b
}

// whole reports whether the sample covers enough of a second. The last one of a run may be so short that its rates are
// chance.
func (s *ClientSecond) whole() bool { return s.Took >= time.Second/2 }

// full reports whether the process had no time left in the second: its threads ran or waited for a core.
func (s *ClientSecond) full() bool {
	return s.whole() && s.Cores > 0 && s.CPU+s.CPUWait >= BusyFrom*s.Cores
}

// Stamps are those of the run so far.
func (c *ClientHealth) Stamps() Stamps { return c.run.stamps() }

// Verdict on the whole run so far.
func (c *ClientHealth) Verdict(p *Plan, itl *Histogram) Verdict {
	e := c.evidence(p, c.Stamps(), itl)
	return e.Verdict()
}

// evidence of the whole run so far. stamps are those of the run, itl its gaps between chunks.
func (c *ClientHealth) evidence(p *Plan, stamps Stamps, itl *Histogram) Evidence {
	e := c.sampled
	e.of(p, itl)
	e.Refused, e.stamps, e.sched = c.refused, stamps, c.sched.Quantile(0.95)
	e.Over, e.Late = c.run.late.Count()-c.run.late.Below(LateMost), c.run.late.Quantile(0.99)
	return e
}

// recentSeconds is the number of seconds of a live verdict.
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

// Recent is the verdict on the last seconds. Requests without a socket always count, because their cause lasts.
func (c *ClientHealth) Recent(p *Plan, itl *Histogram) Verdict {
	recent := c.Seconds[max(0, len(c.Seconds)-recentSeconds*max(p.Part.N, 1)):]
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

// partMissing is the time without samples from which on it is not known what a part of a run sent.
const partMissing = 2500 * time.Millisecond

// MissingParts are the parts of a run of which samples lack, given the samples of a time. Samples come at the end of
// their second.
func (p *Plan) MissingParts(seconds []ClientSecond) (missing []string) {
	if p.Part.N < 2 {
		return nil
	}
	sampled := make([]time.Duration, min(p.Part.N, mostParts))
	for i := range seconds {
		if s := &seconds[i]; s.Part > 0 && s.Part <= len(sampled) {
			sampled[s.Part-1] = later(sampled[s.Part-1], s.Took)
		}
	}
	for i, most := 0, slices.Max(sampled); i < len(sampled); i++ {
		if lack := most - sampled[i]; lack > max(partMissing, most/10) || lack > 0 && sampled[i] == 0 {
			missing = append(missing, strconv.Itoa(i+1))
		}
	}
	return missing
}

// EvidenceBetween is the evidence of the seconds that overlap the time between two moments, by the worst of them. The
// caller adds Refused, Over and Late.
func EvidenceBetween(p *Plan, seconds []ClientSecond, from, to time.Duration, itl *Histogram) Evidence {
	first := sort.Search(len(seconds), func(i int) bool { return seconds[i].At > from })
	last := first
	for last < len(seconds) && seconds[last].At-seconds[last].Took < to {
		last++
	}
	return evidenceOf(p, seconds[first:last], itl)
}

func evidenceOf(p *Plan, seconds []ClientSecond, itl *Histogram) (e Evidence) {
	e.of(p, itl)
	e.stamps.DelayP99 = Never
	for i := range seconds {
		s := &seconds[i]
		e.add(s)
		e.stamps.Chunks += s.Chunks
		e.stamps.Shared += s.Shared
		e.stamps.Unstamped += s.Unstamped
		e.stamps.DelayP99 = max(e.stamps.DelayP99, s.DelayP99)
	}
	return e
}

// Report sums up the health for the report. stamps are nil where the end of the run is not known; then the seconds
// stand in.
func (c *ClientHealth) Report(p *Plan, stamps *Stamps, itl *Histogram) Client {
	out := Client{Source: p.Timestamps, StoodStill: c.sampled.stood, Seconds: c.Seconds}
	if out.Source == "" {
		out.Source = UserStamps // in older journals
	}
	known := Stamps{DelayP50: Never, DelayP99: Never, DelayP999: Never, DelayMax: Never}
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
		if s.At > p.Warmup { // no figure counts the warm-up
			known.Unstamped = min(known.Unstamped+max(0, s.Unstamped), c.run.counts.Chunks)
			known.DelayP50, known.DelayP99 = max(known.DelayP50, s.DelayP50), max(known.DelayP99, s.DelayP99)
			known.DelayMax = max(known.DelayMax, s.DelayMax)
		}
	}
	if length := c.sampled.length; length > 0 {
		out.CPU = c.cpu / length.Seconds()
		out.CPUMost = max(out.CPUMost, out.CPU) // of a run too short for a whole second
	}
	if stamps != nil {
		known = *stamps
	}
	known.Chunks, known.Shared = c.run.counts.Chunks, c.run.counts.Shared
	out.Stamps = known
	e := c.evidence(p, known, itl)
	out.Verdict, out.ReadLate = e.Verdict(), e.readLate()
	return out
}
