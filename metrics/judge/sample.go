package judge

import (
	"cmp"
	"math"
	"time"

	"benchtop/metrics"
)

// Sample judges one load by its requests, as Levels judge those of a run: a load of a search, or the run of a sweep at
// one load.
type Sample struct {
	// RequestTime is about the time of a request without a queue, 0 if only the sample itself can tell.
	RequestTime time.Duration
	// Running is how many requests have their first chunk and no end yet, of which about a half of the work is done.
	Running int
	levels  Levels
	level   *level        // the one of levels; nil for a load of no time
	until   time.Duration // the last event
}

// Test is a condition on a share of the requests of a load.
type Test struct {
	// Enough is the share that has to be good, of 1.
	Enough float64
	// Looks: the load may be ended because of what is seen of it.
	Looks bool
}

// NewSample is of the load that is in force between two moments.
func NewSample(from, to time.Duration, unit metrics.Unit, tests ...Test) *Sample {
	s := &Sample{levels: Levels{plan: &metrics.Plan{}, end: to, now: to, sampled: tests}}
	s.levels.tiers = make([]metrics.Tier, len(tests))
	s.levels.work.reset(min(to+sampleDrain, metrics.MaxWindows*time.Second))
	s.levels.open(max(0, from), to, -1, nil)
	if len(s.levels.list) > 0 {
		s.level = &s.levels.list[0]
		s.level.Unit = unit
	}
	return s
}

// sampleDrain is the time after a load for which work is counted.
const sampleDrain = 10 * time.Minute

// Arrived counts a request that was due at a moment.
func (s *Sample) Arrived(at time.Duration) {
	s.levels.work.arrive(at)
	if v := s.levels.at(at); v != nil {
		v.arrived(at)
	}
}

// Judge counts the ratio of a request that arrived at a moment to the limit of a test; NaN where it has none. It may be
// called before the request has ended, and is called once for each request and test.
func (s *Sample) Judge(at time.Duration, test int, ratio float64) {
	v := s.levels.at(at)
	if v == nil {
		return
	}
	if math.IsNaN(ratio) {
		v.tests[test].without++
		return
	}
	of := v.verdict(test)
	of.Requests++
	if ratio <= 1 {
		of.Good++
	}
	v.tests[test].add(v.bin(at), ratios{ratio, ratio, ratio})
}

// Ended counts the work of a request that arrived. One that was cut counts as without an end.
func (s *Sample) Ended(f *Summary) {
	s.until = max(s.until, f.Done)
	switch {
	case f.Cancelled:
		return
	case f.OK, f.Left:
		s.levels.work.answer(f.LoadTime, f.First, f.Last, f.Output)
	default:
		s.levels.work.count(s.levels.work.failed, f.LoadTime)
	}
	if v := s.levels.at(f.LoadTime); v != nil {
		v.over++
		switch {
		case f.OK:
			v.succeed(f)
		case !f.Left:
			v.failed++
		}
	}
}

// Verdicts are those of the tests at a moment.
func (s *Sample) Verdicts(now time.Duration) []metrics.LevelVerdict {
	l, v := &s.levels, s.level
	if v == nil {
		return make([]metrics.LevelVerdict, len(l.tiers))
	}
	l.now, l.Live = max(now, s.until), now < v.To
	l.work.sum()
	v.sort()
	l.running = float64(s.Running)
	v.behind = l.lagOf(v, s.base())
	l.stand(v)
	return append([]metrics.LevelVerdict{v.LevelVerdict}, v.Others...)
}

func (s *Sample) base() time.Duration { return cmp.Or(max(0, s.RequestTime), s.Base()) }

// Base is about the time of a request when the load began, 0 if it is not known yet.
func (s *Sample) Base() time.Duration {
	if s.level == nil {
		return 0
	}
	return s.level.base()
}

// Capacity is the rate of work of a server that is surely behind, by the last Verdicts; the zero value for another, and
// while the load is in force.
func (s *Sample) Capacity() metrics.Range {
	l, v := &s.levels, s.level
	if v == nil || l.now < v.To || !v.behind.isBehind() || v.To-v.From < requestTimes*s.base() {
		return metrics.Range{}
	}
	from := v.From + min(2*s.base(), (v.To-v.From)/3)
	r := l.work.doneRate(from, v.To)
	open := l.running / (v.To - from).Seconds() // of which little may be left to do, or much
	r.Load, r.High = r.Load+open/2, r.High+open
	return r
}

// Left is the part of the work that was asked for and that the server left undone, with its standard errors, by the
// last Verdicts; 0 where it keeps up as far as can be seen.
func (s *Sample) Left() (share, errors float64) {
	if s.level == nil || s.level.behind.clear {
		return 0, 0
	}
	return s.level.behind.share, s.level.behind.errors
}
