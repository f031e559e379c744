package metrics

import (
	"math"
	"sort"
	"time"
)

const (
	mostLevels       = 20
	shortestLevel    = 2 * time.Second
	requestsPerLevel = 20
	longestGap       = 1e6 // seconds
)

// levels sorts requests into the loads of a run by when they were scheduled, not by when they were served: a queue is the
// work of the load that made it grow.
type levels struct {
	plan *Plan
	list []level
}

// level is what a LoadLevel is computed from.
type level struct {
	LoadLevel
	stage     int           // of the plan, -1 for none
	scheduled int           // requests, whatever became of them
	gaps      time.Duration // that the ramp's rates leave between them; whole numbers add up alike in any order
	succeeded int
	done      int // successes that ended in the level, whenever they were scheduled
	ttft      sample
	itl       Histogram // there are so many gaps that exact counts would cost more than all the rest
	// wait is how long a user waited for the first chunk, TTFT and the wait for a client slot; whole how long for the last
	// one. Both are apart for the requests of the first and of the second half of the level.
	wait, whole [2]sample
	// firsts are the moments of the first chunks.
	firsts []time.Duration
}

// newLevels lays out the levels of a plan. scheduled are the moments at which its requests were scheduled, ended is the end
// of the run.
func newLevels(p *Plan, scheduled span, ended time.Duration) levels {
	l := levels{plan: p}
	if scheduled.n == 0 {
		return l
	}
	end := scheduled.last + time.Microsecond // the last one counts
	switch {
	case len(p.Stages) > 0:
		l.stages(max(end, min(ended, p.Stages[len(p.Stages)-1].End())))
	case p.Ramp != nil:
		l.slices(end, min(mostLevels, int((end-p.Warmup)/shortestLevel), scheduled.n/requestsPerLevel))
	case p.paced():
		l.slices(end, 1)
	default:
		l.slices(max(end, ended), 1)
	}
	return l
}

func (l *levels) slices(end time.Duration, n int) {
	n = max(1, n)
	length := min(end-l.plan.Warmup, maxWindows*time.Second)
	at := func(i int) time.Duration { return l.plan.Warmup + length*time.Duration(i)/time.Duration(n) }
	for i := range n {
		l.open(at(i), at(i+1), -1)
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
	if to <= from {
		return
	}
	l.list = append(l.list, level{
		LoadLevel: LoadLevel{From: from, To: to}, stage: stage,
		ttft: sample{}, wait: [2]sample{{}, {}}, whole: [2]sample{{}, {}},
	})
}

// at finds the level a moment lies in, nil for none.
func (l *levels) at(at time.Duration) *level {
	i := sort.Search(len(l.list), func(i int) bool { return at < l.list[i].To })
	if at == Never || i == len(l.list) || at < l.list[i].From {
		return nil
	}
	return &l.list[i]
}

// add counts a request.
func (l *levels) add(q *Request) {
	if q.OK() {
		if at := l.at(q.Done); at != nil {
			at.done++
		}
	}
	cause := l.cause(q)
	v := l.at(cause)
	if v == nil {
		return
	}
	v.scheduled++
	if r := l.plan.Ramp; r != nil && r.Over == 0 {
		gap := min(1/l.plan.rampRate(q.Index), longestGap)
		v.gaps += time.Duration(gap * float64(time.Second))
	}
	if q.Failure == Cancelled {
		return
	}
	v.Requests++
	if q.OK() {
		v.succeed(q, cause, l.plan.Goodput)
	}
}

// cause is the moment that decides to which load a request belongs: a user of a closed loop comes when a slot is free.
func (l *levels) cause(q *Request) time.Duration {
	if !l.plan.paced() {
		return q.Due
	}
	return q.Scheduled
}

func (v *level) succeed(q *Request, cause time.Duration, slo SLO) {
	o := q.latencies()
	v.succeeded++
	if slo.judge(&o).good() {
		v.Good++
	}
	v.ttft.add(o.ttft)
	half := 0
	if cause-v.From >= v.To-cause {
		half = 1
	}
	held := max(0, q.Held())
	v.wait[half].add((q.TTFT() + held).Seconds())
	v.whole[half].add((q.E2EL() + held).Seconds())
	v.firsts = append(v.firsts, q.FirstChunk)
	for i := 1; i < len(q.Chunks); i++ {
		v.itl.Add(q.Chunks[i].At - q.Chunks[i-1].At)
	}
}

// finish computes the figures of each level.
func (l *levels) finish() []LoadLevel {
	planned := l.planned()
	var out []LoadLevel
	for i := range l.list {
		v := &l.list[i]
		seconds := (v.To - v.From).Seconds()
		v.Done = perSecond(float64(v.done), seconds)
		users := l.users(v)
		switch {
		case users > 0:
			v.Offered, v.Users = float64(users), true
		case planned != nil:
			v.Offered = planned[i]
		default:
			v.Offered = perSecond(float64(v.scheduled), seconds)
		}
		ttft := v.ttft.statistic([]float64{50, 99})
		v.TTFTp50, v.TTFTp99 = ttft.Percentiles[0].Value, ttft.Percentiles[1].Value
		v.ITLp99 = milliseconds(v.itl.Quantile(0.99))
		out = append(out, v.LoadLevel)
	}
	return out
}

// users is the number of users of a level, 0 where its load is a rate.
func (l *levels) users(v *level) int {
	switch {
	case v.stage >= 0:
		return l.plan.Stages[v.stage].Users
	case l.plan.ClosedLoop():
		return l.plan.MaxConcurrency
	}
	return 0
}

// planned is the mean rate the plan has for each level. It is better than counting, because a level of twenty requests
// would be off by a fifth by chance alone; but it is nil, so that counts are taken, where the requests did not come as
// planned: somebody steered the load.
func (l *levels) planned() []float64 {
	var out []float64
	for i := range l.list {
		v := &l.list[i]
		rate := l.rate(v)
		expected := rate * (v.To - v.From).Seconds()
		spread := expected / min(1, max(l.plan.Burstiness, 0.01))
		if !(rate > 0) || math.Abs(float64(v.scheduled)-expected) > 1+4*math.Sqrt(spread) {
			return nil
		}
		out = append(out, rate)
	}
	return out
}

// rate is the mean rate of the plan in a level, 0 for none.
func (l *levels) rate(v *level) float64 {
	const steps = 100
	switch r := l.plan.Ramp; {
	case v.stage >= 0:
		return l.plan.Stages[v.stage].Rate
	case r == nil && l.plan.Rate.Unlimited():
		return 0
	case r == nil:
		return float64(l.plan.Rate)
	case r.Over == 0:
		return perSecond(float64(v.scheduled), v.gaps.Seconds())
	default:
		var sum float64
		for i := range steps {
			sum += r.RateAt(v.From + (v.To-v.From)*time.Duration(2*i+1)/(2*steps))
		}
		return sum / steps
	}
}
