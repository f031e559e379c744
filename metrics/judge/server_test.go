package judge_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/judge"
	"benchtop/metrics/live"
	"benchtop/metrics/report"
)

const (
	ms     = time.Millisecond
	second = time.Second
	minute = time.Minute
)

// inf is the rate of requests that are due at once.
var inf = metrics.Rate(math.Inf(1))

func perSecond(rate float64) metrics.Load { return metrics.RequestsPerSecond.Of(rate) }

func usersOf(n float64) metrics.Load { return metrics.Users.Of(n) }

// server is a made-up server with slots that a request takes for its service time. Requests without a slot wait in
// order. Its capacity is slots / service.
type server struct {
	slots   int
	service time.Duration // in its place
	first   time.Duration // until the first chunk, of service
	jitter  float64       // share by which service varies, both ways
	room    int           // requests that may wait; one more is refused. 0: any number
	stallAt time.Duration // for stallFor nothing begins
	stall   time.Duration
}

// one serves a request at a time, many thirty-two of them, wide two hundred for six seconds each.
var (
	one  = server{slots: 1, service: 32 * ms, first: 32 * ms}
	many = server{slots: 32, service: second, first: 60 * ms, jitter: 0.8}
	wide = server{slots: 200, service: 6400 * ms, first: 100 * ms, jitter: 0.8}
)

func (s server) capacity() float64 { return float64(s.slots) / s.service.Seconds() }

func (s server) with(change func(*server)) server {
	change(&s)
	return s
}

// serve answers requests that come at these moments.
func (s server) serve(arrivals []time.Duration, r *rand.Rand) []metrics.Request {
	free := make([]time.Duration, s.slots)
	var starts []time.Duration // of those that waited or wait
	var all []metrics.Request
	for i, at := range arrivals {
		q := metrics.NewRequest(i)
		q.Scheduled, q.Due, q.Admitted, q.Sent = at, at, at, at
		waiting := 0
		for k := len(starts) - 1; k >= 0 && starts[k] > at; k-- {
			waiting++
		}
		if s.room > 0 && waiting >= s.room {
			q.Failure, q.Status, q.Error, q.Done = metrics.FailedStatus, 503, "busy", at+ms
			all = append(all, q)
			continue
		}
		k := slices.Index(free, slices.Min(free))
		start := max(at, free[k])
		if s.stall > 0 && start >= s.stallAt && start < s.stallAt+s.stall {
			start = s.stallAt + s.stall
		}
		starts = append(starts, start)
		service := time.Duration(float64(s.service) * (1 + s.jitter*(2*r.Float64()-1)))
		free[k] = start + service
		for _, at := range []time.Duration{start + s.first, start + service} {
			q.Add(metrics.Chunk{At: at.Round(time.Microsecond), Tokens: 1})
		}
		q.OutputTokens, q.Done = 2, q.LastChunk
		all = append(all, q)
	}
	return all
}

// poisson draws arrivals at the ramp's rate.
func poisson(ramp metrics.Ramp, r *rand.Rand) []time.Duration {
	most := max(ramp.From, ramp.To)
	var all []time.Duration
	for at := time.Duration(0); ; {
		at += time.Duration(r.ExpFloat64() / most * float64(second))
		if at >= ramp.Over {
			return all
		}
		if r.Float64()*most < ramp.RateAt(at) {
			all = append(all, at.Round(time.Microsecond))
		}
	}
}

func linear(from, to float64, over time.Duration) metrics.Ramp {
	return metrics.Ramp{Strategy: "linear", From: from, To: to, Over: over}
}

func ttft(ms float64) metrics.SLO { return metrics.SLO{{Metric: metrics.TTFT, LimitMS: ms}} }

func rampPlan(ramp metrics.Ramp) metrics.Plan {
	return metrics.Plan{Ramp: &ramp, Rate: inf, Burstiness: 1}
}

// stagesOf is a plan of rates for the same time each, with its arrivals.
func stagesOf(length time.Duration, r *rand.Rand, rates ...float64) (metrics.Plan, []time.Duration) {
	plan := metrics.Plan{Rate: inf, Burstiness: 1, Goodput: ttft(500)}
	var arrivals []time.Duration
	for i, rate := range rates {
		start := length * time.Duration(i)
		plan.Stages = append(plan.Stages, metrics.Stage{Start: start, Length: length, Load: perSecond(rate)})
		for _, at := range poisson(linear(rate, rate, length), r) {
			arrivals = append(arrivals, start+at)
		}
	}
	return plan, arrivals
}

// closedLoop plays users without pause against a server that gets slower beyond so many.
func closedLoop(stages []metrics.Stage, service time.Duration, full int) []metrics.Request {
	var all []metrics.Request
	for _, s := range stages {
		took := service * time.Duration(max(s.Users(), full)) / time.Duration(full)
		for user := range s.Users() {
			for at := s.Start + time.Duration(user)*ms; at < s.End(); at += took {
				q := metrics.NewRequest(len(all))
				q.Scheduled, q.Due, q.Admitted, q.Sent = at, at, at, at
				q.Add(metrics.Chunk{At: at + took/2, Tokens: 1})
				q.Add(metrics.Chunk{At: at + took, Tokens: 1})
				q.OutputTokens, q.Done = 2, q.LastChunk
				all = append(all, q)
			}
		}
	}
	return all
}

func userStages(length time.Duration, users ...int) (all []metrics.Stage) {
	for i, n := range users {
		all = append(all, metrics.Stage{Start: time.Duration(i) * length, Length: length, Load: usersOf(float64(n))})
	}
	return all
}

func usersPlan(stages []metrics.Stage) metrics.Plan {
	return metrics.Plan{Rate: inf, MaxConcurrency: 1, Stages: stages}
}

func setTo(seconds int, l metrics.LoadSetting) metrics.LogEntry {
	return metrics.LogEntry{At: time.Duration(seconds) * second, Set: &l}
}

// steered draws arrivals as they come when the load is set.
func steered(sets []metrics.LogEntry, end time.Duration, r *rand.Rand) []time.Duration {
	var all []time.Duration
	for _, s := range judge.Parts(sets, end) {
		for _, at := range poisson(linear(s.Begin, s.End, s.To-s.From), r) {
			all = append(all, at+s.From)
		}
	}
	return all
}

// reported is the report of requests.
func reported(t *testing.T, plan metrics.Plan, all []metrics.Request, events ...metrics.LogEntry) metrics.Report {
	t.Helper()
	return reportOf(t, all, metrics.Run{Plan: plan, Events: events})
}

func reportOf(t *testing.T, all []metrics.Request, run metrics.Run) metrics.Report {
	t.Helper()
	run.Plan.Requests, run.Ended = len(all), eventtest.LastDone(all)
	r := assert.Must(report.Summarize(eventtest.Each(all), run))(t)
	checkAnswer(t, &r)
	return r
}

// checkAnswer looks for parts of an answer that contradict each other, and for numbers that nothing may have.
func checkAnswer(t *testing.T, r *metrics.Report) {
	t.Helper()
	for tier := range 1 + len(r.Answer.Others) {
		a := r.Answer.Tier(tier)
		e := &a.Estimate
		if !(a.Confidence >= 0 && a.Confidence <= metrics.MostConfidence) {
			t.Errorf("a confidence of %v", a.Confidence)
		}
		if a.Proven > 0 && (a.Confidence < metrics.EnoughConfidence || a.None) ||
			(a.Proven > 0) != (a.ProvenLevel >= 0) {
			t.Errorf("contradiction: %+v", a)
		}
		if c := &r.Answer.Capacity; r.Answer.Saturates && c.Known() && a.Proven > c.High {
			t.Errorf("%v is proven above the capacity of %+v", a.Proven, *c)
		}
		if e.Known() && !(e.Low <= e.Load && (e.High == 0 || e.Load <= e.High)) ||
			e.Known() && e.High > 0 && e.High < a.Proven {
			t.Errorf("an estimate of %+v with %v proven", *e, a.Proven)
		}
		if r.Judges() && a.Proven == 0 && !e.Known() && !a.None && a.Why == "" {
			t.Errorf("nothing is said, and no reason: %+v", a)
		}
	}
	if a := &r.Answer; a.Saturates && (a.To > 0 && a.From >= a.To || a.Why != "") || !a.Saturates && a.Why == "" {
		t.Errorf("saturation between %v and %v, %q", a.From, a.To, a.Why)
	}
	for i := range r.Levels {
		for tier := range 1 + len(r.Levels[i].Others) {
			v := r.Levels[i].Tier(tier)
			if v.Standing == metrics.LevelUnknown && v.Why == "" ||
				!(v.Confidence >= 0 && v.Confidence <= metrics.MostConfidence) || v.Missing < 0 || v.Good > v.Requests {
				t.Errorf("level %d: %+v", i, v)
			}
			if r.Levels[i].To-r.Levels[i].From < 58*second && v.Confidence >= metrics.EnoughConfidence {
				t.Errorf("%v sure after %s", v.Confidence, r.Levels[i].To-r.Levels[i].From)
			}
		}
	}
}

// liveAt is the view of the run at a moment.
func liveAt(plan metrics.Plan, all []metrics.Request, at time.Duration, events ...metrics.LogEntry) metrics.Snapshot {
	rec := live.NewView(time.Now(), &plan)
	for _, e := range events {
		if e.At <= at {
			eventtest.Tell(rec, e)
		}
	}
	eventtest.Again(rec, all, at)
	rec.JudgeAt(at)
	return rec.SnapshotAt(at)
}
