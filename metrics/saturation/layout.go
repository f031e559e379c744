package saturation

import (
	"time"

	"benchtop/metrics"
)

// mostOpened bounds the levels of a run whose journal holds any number of settings.
const mostOpened = 1000

// New lays out the levels of a run: those of its plan until the load was set for the first time, then those of the settings. ended
// is the end of the run, or now.
func New(p *metrics.Plan, slo metrics.SLO, sets []Setting, scheduled Arrivals, ended time.Duration, r Scratch) Levels {
	l := Levels{plan: p, SLO: slo, steered: len(sets) > 0, last: lastOf(sets), Scratch: r}
	if scheduled.N == 0 {
		return l
	}
	l.end = l.ends(scheduled.Last+time.Microsecond, ended) // so that the last request counts
	planned, last := scheduled.N, l.end
	if l.steered {
		planned, last = scheduled.early, min(l.end, sets[0].At)
	}
	n := 1
	if p.Ramp != nil {
		n = max(1, min(mostLevels, int((last-p.Warmup)/shortestLevel), planned/requestsPerLevel))
	}
	if len(p.Stages) > 0 {
		l.stages(last)
	} else {
		l.slices(p.Warmup, min(last-p.Warmup, metrics.MaxWindows*time.Second), n, nil)
	}
	if n := len(l.list); last < l.end && n > 0 && l.list[n-1].To-l.list[n-1].From < shortestLevel {
		l.list = l.list[:n-1] // the plan's last level was cut too short by a setting
	}
	for _, s := range stretches(sets, l.end) {
		l.stretch(&s)
	}
	return l
}

// Span counts events, and holds the first and the last of them.
type Span struct {
	N           int
	First, Last time.Duration
}

func (s *Span) Add(at time.Duration) {
	if at == metrics.Never {
		return
	}
	if s.N == 0 {
		s.First, s.Last = at, at
	}
	s.N++
	s.First, s.Last = min(s.First, at), max(s.Last, at)
}

// Rate is the number of gaps between the events per second; 0 for fewer than two events.
func (s *Span) Rate() float64 { return metrics.PerSecond(float64(s.N-1), (s.Last - s.First).Seconds()) }

// Arrivals are the load times of requests; early ones came before the first setting.
type Arrivals struct {
	Span
	early int
}

func (a *Arrivals) Add(at time.Duration, sets []Setting) {
	a.Span.Add(at)
	if at != metrics.Never && len(sets) > 0 && at < sets[0].At {
		a.early++
	}
}

// ends is the end of the last level: that of the last arrival, or that of the run where users send without pause. Requests in flight
// after the end must not count as load where the number of users was set.
func (l *Levels) ends(last, ended time.Duration) time.Duration {
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

// slices opens n levels of the same length. set is their setting, nil for those of the plan.
func (l *Levels) slices(from, length time.Duration, n int, set *stretch) {
	at := func(i int) time.Duration { return from + length*time.Duration(i)/time.Duration(n) }
	for i := range n {
		l.open(at(i), at(i+1), -1, set)
	}
}

// stretch opens the levels of a load that was set: one, or slices of a ramp. A stretch that is too short opens none.
func (l *Levels) stretch(s *stretch) {
	from := max(s.from, l.plan.Warmup)
	length := s.to - from
	if length < shortestLevel {
		return
	}
	n := 1
	switch {
	case unnamed(&s.load) && (l.plan.Ramp != nil || len(l.plan.Stages) > 0):
		n = min(mostLevels, int(length/(2*shortestLevel))) // its loads are counted, which needs more requests
	case s.load.Ramping():
		n = min(mostLevels, int(length/shortestLevel))
		if !inUsers(&s.load) {
			n = min(n, int(s.mean(from, s.to)*length.Seconds()/requestsPerLevel))
		}
	}
	l.slices(from, length, max(1, n), s)
}

func (l *Levels) stages(end time.Duration) {
	last := len(l.plan.Stages) - 1
	for i, s := range l.plan.Stages {
		to := end
		if i < last {
			to = min(s.End(), end)
		}
		l.open(max(s.Start, l.plan.Warmup), to, i, nil)
	}
}

func (l *Levels) open(from, to time.Duration, stage int, set *stretch) {
	if to <= from || len(l.list) >= mostOpened {
		return
	}
	v := l.Scratch.level(len(l.list))
	v.From, v.To, v.stage, v.set, v.index = from, to, stage, set, len(l.list)
	l.list = append(l.list, v)
}
