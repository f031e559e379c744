// Package saturation sorts the requests of a run into levels of load, and reads from these the answer of the run: the load at which
// the server saturates, and the highest that was within the objectives. The live view and the report judge by it alike.
package saturation

import (
	"math"
	"sort"
	"time"

	"benchtop/metrics"
)

const (
	mostLevels       = 20
	shortestLevel    = 2 * time.Second
	requestsPerLevel = 20
	longestGap       = 1e6 // seconds
)

// Levels sorts requests into levels of load by the time at which they were scheduled rather than served, because a queue belongs to the
// load that made it grow.
type Levels struct {
	plan *metrics.Plan
	SLO  metrics.SLO // in force, but for workloads with objectives of their own
	// tiers are judged beside one another: that of SLO first.
	tiers []metrics.Tier
	list  []level
	// steered: the load was set during the run. Live: the run is on, and requests are in flight.
	// Settled: live, but the request index is full and all its requests have ended.
	steered, Live, Settled bool
	Client                 []metrics.ClientSecond
	last                   lastSet
	outages                outages
	end                    time.Duration // of the last level
	Scratch
}

// Scratch is memory of earlier levels for reuse.
type Scratch struct {
	levels []level
	merged figures
	firsts []time.Duration
}

// Used returns the memory of levels that are not needed any more.
func (l *Levels) Used() Scratch {
	r := l.Scratch
	if copy(r.levels, l.list) < len(l.list) {
		r.levels = l.list
	}
	return r
}

// level returns an empty level.
func (r *Scratch) level(i int) level {
	if i >= len(r.levels) {
		return level{}
	}
	v := &r.levels[i]
	v.itl.Reset()
	v.pace.Empty()
	return level{ttft: v.ttft[:0], itl: v.itl, late: v.late[:0], pace: v.pace, firsts: v.firsts[:0]}
}

// level holds the requests from which a LoadLevel is computed.
type level struct {
	metrics.LoadLevel
	index     int           // in order of time
	waits     levelWaits    // of its users
	past      int           // past saturation by this factor: 0 for not, longer or muchLonger
	stage     int           // of the plan, -1 for none
	set       *stretch      // the setting of a load that was set during the run, else nil
	scheduled int           // requests, whatever their outcome
	over      int           // requests of those that ended in any way
	gaps      time.Duration // between requests, by the ramp's rates; integers, so that their order does not matter
	noSocket  int           // of Requests
	lost      int           // of Requests, in outages
	sent      int           // requests sent in the level, whenever they were scheduled; see Plan.SentTime
	done      int           // successes that ended in the level, whenever they were scheduled
	ttft      figures
	itl       metrics.Histogram // gaps are too many for exact counts
	pace      Pace
	late      figures // lateness of successes beyond LateMost
	// unanswered: too many requests were lost in outages.
	unanswered bool
	// firsts are the moments of the first chunks.
	firsts []time.Duration
}

// at finds the level of a moment, nil for none.
func (l *Levels) at(at time.Duration) *level {
	i := sort.Search(len(l.list), func(i int) bool { return at < l.list[i].To })
	if at == metrics.Never || i == len(l.list) || at < l.list[i].From {
		return nil
	}
	return &l.list[i]
}

// Add counts a request.
func (l *Levels) Add(q *metrics.Request) {
	f := Summarize(l.plan, q)
	l.Arrived(f.LoadTime, q.Index)
	l.Sent(l.plan.SentTime(q))
	v := l.Ended(&f)
	if v == nil || !f.OK {
		return
	}
	for i := 1; i < len(q.Chunks); i++ {
		v.itl.Add(q.Gap(i))
	}
}

// Arrived counts an arrival, whatever its outcome.
func (l *Levels) Arrived(cause time.Duration, index int) {
	v := l.at(cause)
	if v == nil {
		return
	}
	v.scheduled++
	if r := l.plan.Ramp; r != nil && r.Over == 0 && v.set == nil {
		gap := min(1/l.plan.RampRate(index), longestGap)
		v.gaps += time.Duration(gap * float64(time.Second))
	}
}

// Sent counts a request by the time of its sending, Never for none.
func (l *Levels) Sent(at time.Duration) {
	if v := l.at(at); v != nil {
		v.sent++
	}
}

// Ended counts the outcome of a request, and returns its level.
func (l *Levels) Ended(f *Summary) *level {
	if f.Answered != metrics.Never {
		l.outages.answered(f.Sent, f.Answered)
	}
	if !f.OK && !f.Cancelled {
		l.outages.failed = append(l.outages.failed, failure{f.LoadTime, f.Done, f.Unreached})
	}
	if f.OK {
		if at := l.at(f.Done); at != nil {
			at.done++
		}
	}
	v := l.at(f.LoadTime)
	if v == nil {
		return nil
	}
	v.over++
	if f.Cancelled {
		return v
	}
	v.Requests++
	for i := range v.Others {
		v.Others[i].Requests++
	}
	if f.NoSocket {
		v.noSocket++
	}
	if !f.OK {
		v.pace.Fail()
		return v
	}
	o := f.outcome()
	if l.plan.ObjectivesFor(f.Class, l.SLO).Judge(&o).Good() {
		v.Good++
	}
	for i := range v.Others {
		if l.tiers[i+1].SLO.Judge(&o).Good() {
			v.Others[i].Good++
		}
	}
	v.succeed(f)
	return v
}

func (v *level) succeed(f *Summary) {
	v.ttft.add(f.TTFT.Seconds())
	v.pace.Add(f.LoadTime, v.From, v.To, f.Wait, f.Whole)
	if f.Late > metrics.LateMost {
		v.late.add(f.Late.Seconds())
	}
	v.firsts = append(v.firsts, f.First)
}

// Gaps takes the gaps between chunks from windows, where they are not known for single requests.
func (l *Levels) Gaps(windows []metrics.Window) {
	for i := range l.list {
		v := &l.list[i]
		for k := metrics.SecondOf(v.From); k < len(windows) && windows[k].Start < v.To; k++ {
			v.itl.Merge(&windows[k].Histograms[metrics.ITL])
		}
	}
}

// finish computes the figures of each level.
func (l *Levels) finish() {
	planned := l.planned()
	l.outage()
	for i := range l.list {
		v := &l.list[i]
		seconds := (v.To - v.From).Seconds()
		v.Sent, v.Done = metrics.PerSecond(float64(v.sent), seconds), metrics.PerSecond(float64(v.done), seconds)
		users := l.users(v)
		switch {
		case users > 0:
			v.Offered, v.Users = float64(users), true
		case planned[i] > 0 && l.plan.Conversations == nil: // whose turns come on top of the arrivals
			v.Offered = planned[i]
		default:
			v.Offered = metrics.PerSecond(float64(v.scheduled), seconds)
		}
		ttft := v.ttft.statistic([]float64{50, 99})
		v.TTFTp50, v.TTFTp99 = ttft.Percentiles[0].Value, ttft.Percentiles[1].Value
		v.WaitP99 = l.merge(v.pace.wait).statistic([]float64{99}).Percentiles[0].Value
		v.ITLp99 = metrics.Milliseconds(v.itl.Quantile(0.99))
		if v.Completed = v.pace.Succeeded(); !v.Users {
			v.Completed = v.pace.Completed(v.To - v.From)
		}
		v.Limited = l.limitedBy(v)
		l.judged(v)
	}
}

// limitedBy lists how this client limited a level, by the rules of its verdict on a run.
func (l *Levels) limitedBy(v *level) []string {
	e := metrics.EvidenceBetween(l.plan, l.Client, v.From, v.To, &v.itl)
	e.Refused = uint64(v.noSocket)
	e.Over = uint64(len(v.late))
	if late, rest := v.late.sorted(), v.pace.succeeded/100; rest < len(late) { // a hundredth of all lies beyond the 99th percentile
		e.Late = time.Duration(late[len(late)-1-rest] * float64(time.Second))
	}
	return e.Verdict().Why
}

// users is the number of users of a level, 0 where its load is a rate.
func (l *Levels) users(v *level) int {
	switch {
	case v.set != nil && inUsers(&v.set.load):
		return int(math.Round(v.set.mean(v.From, v.To)))
	case v.set != nil && !(unnamed(&v.set.load) && l.plan.ClosedLoop()):
		return 0
	case v.stage >= 0:
		return l.plan.Stages[v.stage].Users
	case l.plan.ClosedLoop():
		return l.plan.MaxConcurrency
	}
	return 0
}

// planned is the mean rate of the plan in each level. It is better than a count, because a level of twenty requests is off by a fifth by
// chance. Where requests did not arrive as planned it is 0 for all levels, or, where the load was set, for the level, and the counts
// are used.
func (l *Levels) planned() []float64 {
	out := make([]float64, len(l.list))
	for i := range l.list {
		v := &l.list[i]
		rate := l.rate(v)
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
		return l.plan.Stages[v.stage].Rate
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
