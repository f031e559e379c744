package saturation

import (
	"math"
	"time"

	"benchtop/metrics"
)

// finish computes the figures of each level.
func (l *Levels) finish() {
	planned := l.planned()
	for i := range l.list {
		v := &l.list[i]
		seconds := (v.To - v.From).Seconds()
		v.Sent, v.Done = metrics.PerSecond(float64(v.sent), seconds), metrics.PerSecond(float64(v.done), seconds)
		users := l.users(v)
		switch {
		case users > 0:
			v.Offered, v.Users = float64(users), true
		case planned[i] > 0:
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
	}
}

// limitedBy says how this client limited what was measured in a level, by the rules of its verdict on a run.
func (l *Levels) limitedBy(v *level) []string {
	e := metrics.EvidenceBetween(l.plan, l.Client, v.From, v.To, &v.itl)
	e.Refused = uint64(v.noSocket)
	e.Over = uint64(len(v.late))
	if late, rest := v.late.sorted(), v.pace.succeeded/100; rest < len(late) { // a hundredth of all may be later than the 99th percentile
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

// planned is the mean rate the plan has for each level. It is better than counting, because a level of twenty requests
// would be off by a fifth by chance alone; but it is 0 for all, so that counts are taken, where the requests did not come as
// planned. Where the load was set, each level stands for itself.
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
