package metrics

import "time"

// mostOpened bounds the levels of a run whose journal holds any number of settings.
const mostOpened = 1000

// newLevels lays out the levels of a run: those of its plan until the load was set for the first time, then those that were
// set. ended is the end of the run, or now.
func newLevels(p *Plan, slo SLO, sets []setting, scheduled arrivals, ended time.Duration, r room) levels {
	l := levels{plan: p, slo: slo, steered: len(sets) > 0, last: lastOf(sets), room: r}
	if scheduled.n == 0 {
		return l
	}
	end := scheduled.last + time.Microsecond // the last one counts
	planned := scheduled.n
	l.end = l.ends(end, ended)
	last := l.end
	if l.steered {
		planned, last = scheduled.early, min(l.end, sets[0].at)
	}
	switch {
	case len(p.Stages) > 0:
		l.stages(last)
	case p.Ramp != nil:
		l.slices(last, min(mostLevels, int((last-p.Warmup)/shortestLevel), planned/requestsPerLevel))
	default:
		l.slices(last, 1)
	}
	if last < l.end {
		l.dropShort()
	}
	for _, s := range stretches(sets, l.end) {
		l.stretch(&s)
	}
	return l
}

// arrivals are the moments at which requests were scheduled; early ones came before the load was first set by hand.
type arrivals struct {
	span
	early int
}

func (a *arrivals) add(at time.Duration, sets []setting) {
	a.span.add(at)
	if at != Never && len(sets) > 0 && at < sets[0].at {
		a.early++
	}
}

// dropShort takes away the plan's last level where a load was set before it could tell anything.
func (l *levels) dropShort() {
	if n := len(l.list); n > 0 && l.list[n-1].To-l.list[n-1].From < shortestLevel {
		l.list = l.list[:n-1]
	}
}

// ends is where the last level ends: with the last request that came, or with the run where users come without pause. Where
// their number was set it matters that what is in flight at the end is not counted as load.
func (l *levels) ends(last, ended time.Duration) time.Duration {
	switch p := l.plan; {
	case l.steered && !p.Paced():
		return max(last, min(ended, p.Duration))
	case len(p.Stages) > 0:
		return max(last, min(ended, p.Stages[len(p.Stages)-1].End()))
	case p.Ramp != nil || p.Paced():
		return last
	}
	return max(last, ended)
}

func (l *levels) slices(end time.Duration, n int) {
	n = max(1, n)
	length := min(end-l.plan.Warmup, maxWindows*time.Second)
	at := func(i int) time.Duration { return l.plan.Warmup + length*time.Duration(i)/time.Duration(n) }
	for i := range n {
		l.open(at(i), at(i+1), -1)
	}
}

// stretch opens the levels of a load that was set: one, or slices of a ramp. What was too short to tell anything is none.
func (l *levels) stretch(s *stretch) {
	from := max(s.from, l.plan.Warmup)
	length := s.to - from
	if length < shortestLevel {
		return
	}
	n := 1
	switch {
	case s.load.unnamed() && (l.plan.Ramp != nil || len(l.plan.Stages) > 0):
		n = min(mostLevels, max(1, int(length/(2*shortestLevel)))) // its loads are counted, which takes more requests
	case s.load.ramping():
		n = min(mostLevels, int(length/shortestLevel))
		if !s.load.inUsers() {
			n = min(n, int(s.mean(from, s.to)*length.Seconds()/requestsPerLevel))
		}
		n = max(1, n)
	}
	for i := range n {
		before := len(l.list)
		l.open(from+length*time.Duration(i)/time.Duration(n), from+length*time.Duration(i+1)/time.Duration(n), -1)
		if len(l.list) > before {
			l.list[before].set = s
		}
	}
}

func (l *levels) stages(end time.Duration) {
	last := len(l.plan.Stages) - 1
	for i, s := range l.plan.Stages {
		to := min(s.End(), end)
		if i == last {
			to = end
		}
		l.open(max(s.Start, l.plan.Warmup), to, i)
	}
}

func (l *levels) open(from, to time.Duration, stage int) {
	if to <= from || len(l.list) >= mostOpened {
		return
	}
	v := l.room.level(len(l.list))
	v.From, v.To, v.stage = from, to, stage
	l.list = append(l.list, v)
}
