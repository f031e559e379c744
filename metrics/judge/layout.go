package judge

import (
	"cmp"
	"math"
	"slices"
	"time"

	"benchtop/metrics"
)

// mostOpened bounds the levels of a run whose journal holds any number of settings.
const mostOpened = 1000

// New lays out the levels of a run: those of its plan until the load was set for the first time, then those of the
// settings. ended is the end of the run, or now.
func New(p *metrics.Plan, slo metrics.SLO, sets []Setting, scheduled Arrivals, ended time.Duration, r Scratch) Levels {
	l := Levels{plan: p, SLO: slo, tiers: p.TiersUnder(slo), steered: len(sets) > 0, Scratch: r}
	if scheduled.N == 0 {
		return l
	}
	l.end = l.ends(scheduled.Last+time.Microsecond, ended) // so that the last request counts
	l.now = max(l.end, ended)
	l.work.reset(min(l.now, metrics.MaxWindows*time.Second))
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

// ends is the end of the last level: that of the last arrival, or that of the run where users send without pause.
// Requests in flight after the end must not count as load where the number of users was set.
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
		if s.load.Unit != metrics.Users {
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
	if n := len(l.tiers); n > 1 {
		v.Others = make([]metrics.LevelVerdict, n-1) // a snapshot keeps it
	}
	bins := min(max(1, int((to-from)/binLeast)), binsMost)
	v.width = (to - from + time.Duration(bins) - 1) / time.Duration(bins)
	v.arrivals = slices.Grow(v.arrivals[:0], bins)[:bins]
	clear(v.arrivals)
	v.tests = slices.Grow(v.tests[:0], len(l.tiers))[:len(l.tiers)]
	for k := range v.tests {
		v.tests[k].reset(bins)
	}
	l.list = append(l.list, v)
}

// MostSettings bounds the settings of a run, since a journal may hold any number.
const MostSettings = 10_000

// Setting is a load that was set at a moment.
type Setting struct {
	At time.Duration
	metrics.LoadSetting
}

// mostLoad bounds loads that come from a file, in requests per second or users.
const mostLoad = 1e9

// sensible is a load within the bounds of arithmetic.
func sensible(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return min(max(0, v), mostLoad)
}

// Settings are the loads that were set during the run, in order of time.
func Settings(events []metrics.LogEntry) []Setting {
	var all []Setting
	for i := range events {
		e := &events[i]
		if e.Set != nil && len(all) < MostSettings {
			s := Setting{At: min(max(0, e.At), metrics.MaxWindows*time.Second), LoadSetting: *e.Set}
			s.Value, s.RampTo = sensible(s.Value), sensible(s.RampTo)
			all = append(all, s)
		}
	}
	slices.SortStableFunc(all, func(a, b Setting) int { return cmp.Compare(a.At, b.At) })
	return all
}

// unnamed reports whether the setting only ends a pause, so that the load of the plan goes on.
func unnamed(s *metrics.LoadSetting) bool {
	return !s.Paused && !(s.Value > 0) && !s.Ramping()
}

// stretch is a part of the run with one setting in force. Its load is constant or ramps all the time.
type stretch struct {
	from, to time.Duration
	load     metrics.LoadSetting
	since    time.Duration // when the load was set
}

// stretches are the parts of a run from the first setting to end, without pauses. A setting of the load in force begins
// no stretch. A ramp is a stretch, and the load after it is another.
func stretches(sets []Setting, end time.Duration) []stretch {
	var all []stretch
	add := func(s stretch) {
		if s.to <= s.from || s.load.Paused {
			return
		}
		if n := len(all); n > 0 && all[n-1].continues(&s) {
			all[n-1].to = s.to
			return
		}
		all = append(all, s)
	}
	for i, set := range sets {
		to := end
		if i+1 < len(sets) {
			to = min(to, sets[i+1].At)
		}
		s := stretch{from: set.At, to: to, load: set.LoadSetting, since: set.At}
		if set.Ramping() {
			top := set.At + min(set.RampOver, metrics.MaxWindows*time.Second)
			add(stretch{from: s.from, to: min(top, to), load: s.load, since: s.since})
			s.from, s.load = top, arrived(&set.LoadSetting)
		}
		add(s)
	}
	return all
}

// arrived is the load after a ramp.
func arrived(s *metrics.LoadSetting) metrics.LoadSetting {
	to := s.RampTo
	if s.Unit == metrics.Users {
		to = math.Round(to)
	}
	return metrics.LoadSetting{By: s.By, Load: s.Unit.Of(to)}
}

// continues reports whether another stretch goes on with the same steady load.
func (s *stretch) continues(o *stretch) bool {
	return s.to == o.from && !s.load.Ramping() && !o.load.Ramping() && s.load.Load == o.load.Load
}

// mean is the average load of a part of the stretch.
func (s *stretch) mean(from, to time.Duration) float64 {
	return s.load.LoadAt(from/2 + to/2 - s.since) // the load is linear in a stretch
}

// planned is the mean rate of the plan in each level. It is better than a count, because a level of twenty requests is
// off by a fifth by chance. Where requests did not arrive as planned it is 0 for all levels, or, where the load was
// set, for the level, and the counts are used.
func (l *Levels) planned() []float64 {
	out := make([]float64, len(l.list))
	for i := range l.list {
		v := &l.list[i]
		rate := sensible(l.rate(v))
		expected := rate * (v.To - v.From).Seconds()
		spread := expected / min(1, max(l.plan.Burstiness, 0.01))
		if !(rate > 0) || math.Abs(float64(v.scheduled)-expected) > 1+4*math.Sqrt(spread) {
			if l.steered {
				continue
			}
			return make([]float64, len(l.list))
		}
		out[i] = rate
	}
	return out
}

// rate is the mean rate of the plan in a level, 0 for none.
func (l *Levels) rate(v *level) float64 {
	const steps = 100
	switch r := l.plan.Ramp; {
	case v.set != nil:
		return v.set.mean(v.From, v.To)
	case v.stage >= 0:
		return l.plan.Stages[v.stage].Rate()
	case r == nil && l.plan.Rate.Unlimited():
		return 0
	case r == nil:
		return float64(l.plan.Rate)
	case r.Over == 0:
		return metrics.PerSecond(float64(v.scheduled), v.gaps.Seconds())
	default:
		var sum float64
		for i := range steps {
			sum += r.RateAt(v.From + (v.To-v.From)*time.Duration(2*i+1)/(2*steps))
		}
		return sum / steps
	}
}
