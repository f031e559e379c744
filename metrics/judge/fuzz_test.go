package judge_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"benchtop/internal/ci"
	"benchtop/metrics"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/judge"
	"benchtop/metrics/report"
)

// nonsense draws times and numbers that no run has, from bytes.
type nonsense struct {
	data []byte
	rand *rand.Rand
}

func (n *nonsense) pick(of int) int {
	if len(n.data) == 0 {
		return n.rand.IntN(of)
	}
	b := int(n.data[0])
	n.data = n.data[1:]
	return b % of
}

func (n *nonsense) time() time.Duration {
	all := []time.Duration{metrics.Never, 0, 1, second, 3 * second, 9 * second, minute, 1000 * time.Hour,
		math.MaxInt64 / 2, math.MaxInt64, math.MinInt64}
	return all[n.pick(len(all))]
}

// near is a time that does not make a timeline of weeks.
func (n *nonsense) near() time.Duration {
	return []time.Duration{metrics.Never, 0, 1, second, 3 * second, 9 * second, minute}[n.pick(7)]
}

func (n *nonsense) number() float64 {
	all := []float64{0, -1, 0.001, 1, 20, 100, 1e300, math.Inf(1), math.Inf(-1), math.NaN()}
	return all[n.pick(len(all))]
}

func (n *nonsense) plan() metrics.Plan {
	p := metrics.Plan{
		Rate: metrics.Rate(n.number()), Burstiness: n.number(), MaxConcurrency: n.pick(4) - 1, Warmup: n.time(),
		Duration: n.time(), Percentiles: []float64{50},
		Goodput: metrics.SLO{{Metric: metrics.TTFT, LimitMS: n.number()}, {Metric: metrics.TPOT, LimitMS: n.number()},
			{Metric: metrics.NumLatencies, LimitMS: n.number()}},
		Gates: []metrics.Gate{{Metric: "goodput", Op: []string{"<", "?"}[n.pick(2)], Limit: n.number(),
			Percent: true}},
	}
	if n.pick(2) == 0 {
		p.Ramp = &metrics.Ramp{Strategy: []string{"linear", "exponential", "?"}[n.pick(3)], From: n.number(),
			To: n.number(), Over: n.time()}
	}
	for range n.pick(4) {
		p.Stages = append(p.Stages, metrics.Stage{Start: n.time(), Length: n.time(), Load: n.load()})
	}
	for range n.pick(3) {
		p.Tiers = append(p.Tiers,
			metrics.Tier{Name: "t", SLO: metrics.SLO{{Metric: metrics.TTFT, LimitMS: n.number()}}})
	}
	return p
}

func (n *nonsense) request(i int) metrics.Request {
	q := eventtest.Simple(i, time.Duration(n.pick(60_000))*ms, time.Duration(n.pick(3))*100*ms, 10*ms, n.pick(4))
	if n.pick(3) == 0 {
		q = metrics.NewRequest(i)
		q.Scheduled, q.Admitted, q.Due, q.Sent, q.Done = n.time(), n.time(), n.near(), n.near(), n.near()
	}
	if n.pick(4) == 0 {
		q.Add(metrics.Chunk{At: n.near(), Tokens: int32(n.pick(256)) << 24})
		q.OutputTokens = n.pick(256) << 55
	}
	if n.pick(4) == 0 {
		q.Failure = []metrics.Failure{metrics.Cancelled, metrics.FailedStatus, metrics.FailedConnect,
			metrics.FailedTruncated, metrics.FailedNoSocket, "?"}[n.pick(6)]
	}
	return q
}

func (n *nonsense) load() metrics.Load {
	if users := n.pick(5) - 2; users > 0 {
		return metrics.Users.Of(float64(users))
	}
	return metrics.Load{Value: n.number()}
}

func (n *nonsense) settings() (all []metrics.LogEntry) {
	for range n.pick(9) {
		all = append(all, metrics.LogEntry{At: n.time(), Set: &metrics.LoadSetting{
			Load: n.load(), Paused: n.pick(4) == 0, RampTo: n.number(), RampOver: n.time(),
			By: []string{metrics.ByUser, metrics.BySearch, "?"}[n.pick(3)]}})
	}
	return all
}

// FuzzJudge: whatever a journal holds, the answer comes soon, has no impossible number, and a reason for what it does
// not say. The order of requests does not count.
func FuzzJudge(f *testing.F) {
	for seed := range uint64(40) {
		f.Add([]byte(nil), seed)
	}
	f.Add([]byte("a few bytes"), uint64(1))
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		n := nonsense{data, rand.New(rand.NewPCG(seed, 3))}
		run := metrics.Run{Plan: n.plan(), Events: n.settings(), End: metrics.End{Ended: n.near()}}
		for range n.pick(9) {
			run.Client = append(run.Client, metrics.ClientSecond{At: n.time(), Took: n.time(), DelayP99: n.time(),
				Sched: n.time(), Stall: n.time()})
		}
		all := make([]metrics.Request, n.pick(120))
		for i := range all {
			all[i] = n.request(i)
		}
		began := time.Now()
		r, err := report.Summarize(eventtest.Each(all), run)
		if took := time.Since(began); err != nil || took > 20*second {
			t.Fatalf("%v after %s", err, took)
		}
		if len(r.Levels) > judge.MostOpened {
			t.Errorf("%d levels", len(r.Levels))
		}
		checkAnswer(t, &r)
		a := r.Answer
		for _, v := range []float64{a.Proven, a.Estimate.Load, a.Estimate.Low, a.Estimate.High, a.Capacity.Load,
			a.Capacity.Low, a.Capacity.High, a.From, a.To, a.LowestTried, a.HighestTried} {
			if math.IsInf(v, 0) || math.IsNaN(v) || v < 0 {
				t.Errorf("%v in %+v", v, a)
			}
		}
		n.rand.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
		if again, _ := report.Summarize(eventtest.Each(all), run); fmt.Sprintf("%+v",
			again.Answer) != fmt.Sprintf("%+v", a) {
			t.Errorf("in another order %+v\n%+v", again.Answer, a)
		}
	})
}

// What nothing can be said of is unknown, with a reason; any number of settings and stages takes a bounded time.
func TestNothingToSay(t *testing.T) {
	ci.SkipUnderRace(t)
	t.Parallel()
	mixed := metrics.Plan{Rate: 10, Goodput: ttft(500), Stages: userStages(10*second, 4, 4)}
	mixed.Stages[1].Load = metrics.Load{Value: 4}
	var sets []metrics.LogEntry
	for i := range 200_000 {
		sets = append(sets, metrics.LogEntry{At: time.Duration(i) * 3 * second,
			Set: &metrics.LoadSetting{Load: metrics.Load{Value: float64(1 + i%40)}}})
	}
	stages := metrics.Plan{Rate: metrics.Rate(math.Inf(1)), Burstiness: 1, Goodput: ttft(500)}
	for i := range 200_000 {
		stages.Stages = append(stages.Stages, metrics.Stage{Start: time.Duration(i) * 3 * second, Length: 3 * second,
			Load: metrics.Load{Value: float64(1 + i%40)}})
	}
	for range 2 {
		stages.Tiers = append(stages.Tiers, metrics.Tier{Name: "t", SLO: ttft(500)})
	}
	busy := steady(0, 4000*second, 100*ms, noisy(3, 1))
	for name, c := range map[string]struct {
		plan metrics.Plan
		all  []metrics.Request
		sets []metrics.LogEntry
		why  string
	}{
		"no arrivals": {metrics.Plan{Rate: 10, Goodput: ttft(500)}, nil, nil, "too few requests"},
		"one request": {metrics.Plan{Rate: 10, Goodput: ttft(500)}, busy[:1], nil, "too few requests"},
		"rates and users": {mixed, closedLoop(userStages(10*second, 4, 4), second/2, 4), nil,
			"rate stages and user stages mixed"},
		"a rate of NaN": {metrics.Plan{Rate: metrics.Rate(math.NaN()), Goodput: ttft(500)}, busy[:100], nil,
			"steady load"},
		"many settings": {metrics.Plan{Rate: 10, Burstiness: 1, Goodput: ttft(500)}, busy, sets, ""},
		"many stages":   {stages, busy, nil, ""},
	} {
		began := time.Now()
		s := reported(t, c.plan, c.all, c.sets...)
		if took := time.Since(began); took > 30*second {
			t.Errorf("%s: it took %s", name, took)
		} else if testing.Verbose() {
			t.Logf("%s: %s", name, took)
		}
		if a := s.Answer; c.why != "" && a.Why != c.why || a.Proven > 0 || a.None {
			t.Errorf("%s: %+v, want %q", name, a, c.why)
		}
	}
}
