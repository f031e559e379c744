package report

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/metrics/event/eventtest"
)

func closedPlan(users int) metrics.Plan {
	return metrics.Plan{Rate: metrics.Rate(math.Inf(1)), MaxConcurrency: users, Percentiles: []float64{25, 99}}
}

func TestSteadyState(t *testing.T) {
	const s = second
	// Two in flight from 1 s to 4 s, one after that; at 3 s one ends and another starts.
	all := []metrics.Request{
		eventtest.Simple(0, 0, s/2, s/2, 6),   // 0 to 3 s, tokens at 0.5, 1, 1.5, 2, 2.5, 3
		eventtest.Simple(1, 1*s, s/2, s/2, 6), // 1 to 4 s, tokens at 1.5 to 4
		eventtest.Simple(2, 3*s, s/2, s/2, 5), // 3 to 5.5 s
		eventtest.Simple(3, 5500*ms, s, 0, 1), // alone
		eventtest.Busy(4, 2*s, "busy"),
	}
	all[1].OutputTokens = 12 // the server counts two tokens a chunk
	plan := closedPlan(2)
	plan.SteadyState.MinWindow = 3 * s
	r := summarize(t, all, runOf(plan, 7*s))
	got := r.SteadyState
	if got == nil {
		t.Fatal("no steady state")
	}
	if got.Start != 1*s || got.End != 4*s || got.Target != 2 || got.Threshold != 0.95 || got.ThresholdAbs != 2 ||
		got.Peak != 2 {
		t.Errorf("%+v", got)
	}
	if got.Started != 2 || got.Completed != 1 || got.Total != 4 || got.Warning != "" {
		t.Errorf("%d started, %d completed of %d, warning %q; want 2, 1, 4, none", got.Started, got.Completed,
			got.Total, got.Warning)
	}
	// Tokens from 1 s on and before 4 s: 5 of the first, 10 of the second (its last two come at 4 s), 1 of the third.
	for what, pair := range map[string][2]float64{
		"requests": {got.RequestThroughput, 1. / 3}, "input": {got.InputThroughput, 20. / 3},
		"output": {got.OutputThroughput, 16. / 3}, "total": {got.TotalThroughput, 36. / 3},
		"mean TTFT": {got.TTFT.Mean, 500}, "mean TPOT": {got.TPOT.Mean, (2500./11 + 500) / 2},
	} {
		if !near(pair[0], pair[1]) {
			t.Errorf("%s: %v, want %v", what, pair[0], pair[1])
		}
	}
	if got.TTFT.Percentiles[0].P != 25 || got.TPOT.Percentiles[0].P != 90 || got.TPOT.Percentiles[1].P != 99 ||
		got.TPOT.N != 2 {
		t.Errorf("percentiles %v, %v", got.TTFT.Percentiles, got.TPOT.Percentiles)
	}
}

func TestSteadyStateWhen(t *testing.T) {
	all := []metrics.Request{eventtest.Simple(0, 0, second, second, 3), eventtest.Simple(1, 0, second, second, 3)}
	for name, c := range map[string]struct {
		change func(*metrics.Run)
		abs    int // 0 for none
	}{
		"closed loop":       {func(*metrics.Run) {}, 2},
		"lower threshold":   {func(r *metrics.Run) { r.Plan.SteadyState.Threshold = 0.5 }, 1},
		"never reached":     {func(r *metrics.Run) { r.Plan.MaxConcurrency = 3 }, 0},
		"reached by 2 of 3": {func(r *metrics.Run) { r.Plan.MaxConcurrency, r.Plan.SteadyState.Threshold = 3, 0.6 }, 2},
		"absurd threshold":  {func(r *metrics.Run) { r.Plan.SteadyState.Threshold = 1e300 }, 0},
		"no number":         {func(r *metrics.Run) { r.Plan.SteadyState.Threshold = math.NaN() }, 2},
		"off":               {func(r *metrics.Run) { r.Plan.SteadyState.Off = true }, 0},
		"a rate":            {func(r *metrics.Run) { r.Plan.Rate = 5 }, 0},
		"no limit":          {func(r *metrics.Run) { r.Plan.MaxConcurrency = 0 }, 0},
		"a ramp":            {func(r *metrics.Run) { r.Plan.Ramp = &metrics.Ramp{From: 1, To: 2, Over: second} }, 0},
		"stages": {func(r *metrics.Run) {
			r.Plan.Stages = []metrics.Stage{{Length: second, Load: metrics.Users.Of(2)}}
		}, 0},
		"steered": {func(r *metrics.Run) {
			r.Events = []metrics.LogEntry{{At: 1, Set: &metrics.LoadSetting{By: metrics.ByUser}}}
		}, 0},
		"all in the warm-up": {func(r *metrics.Run) { r.Plan.Warmup = second }, 0},
	} {
		run := runOf(closedPlan(2), 3*second)
		c.change(&run)
		r := summarize(t, all, run)
		abs := 0
		if r.SteadyState != nil {
			abs = r.SteadyState.ThresholdAbs
		}
		assert.Equal(t, abs, c.abs, "%s: threshold", name)
	}
	if r := summarize(t, nil, runOf(closedPlan(2), second)); r.SteadyState != nil {
		t.Errorf("without requests: %+v", r.SteadyState)
	}
}

func TestSteadyStateWarns(t *testing.T) {
	for _, c := range []struct {
		length, ended, least time.Duration
		want                 string
	}{
		{9 * second, 20 * second, 0, "full load lasted only 9s, less than 10s; the figures may be noisy"},
		{10 * second, 20 * second, 0, ""},
		{15 * second, 200 * second, 0, "full load lasted only 15s, less than 20s; the figures may be noisy"},
		{15 * second, 200 * second, 12 * second, ""},
	} {
		plan := closedPlan(1)
		plan.SteadyState.MinWindow = c.least
		r := summarize(t, []metrics.Request{eventtest.Simple(0, second, c.length/2, c.length/2, 2)},
			runOf(plan, c.ended))
		assert.Equal(t, r.SteadyState.Warning, c.want, "%s of %s", c.length, c.ended)
	}
}

// The sweep against counting at every moment.
func TestOverlapSweep(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 200 {
		var o overlap
		most := 1 + r.IntN(5)
		type interval struct{ from, to time.Duration }
		var all []interval
		for range 1 + r.IntN(20) {
			from := time.Duration(r.IntN(30))
			to := from + time.Duration(r.IntN(10))
			o.add(from, to)
			all = append(all, interval{from, to})
		}
		level := func(at time.Duration) int {
			n := 0
			for _, v := range all {
				if v.from <= at && at < v.to {
					n++
				}
			}
			return n
		}
		var full []time.Duration
		peak := 0
		for at := range time.Duration(50) {
			peak = max(peak, level(at))
			if level(at) >= most {
				full = append(full, at)
			}
		}
		begin, end, top, reached := o.full(most)
		if reached != (len(full) > 0) || top != peak || o.mostWith(&overlap{}) != peak {
			t.Fatalf("%v, at least %d: reached %v, peak %d, want %v, %d", all, most, reached, top, full, peak)
		}
		if reached && (begin != full[0] || end != full[len(full)-1]+1) {
			t.Fatalf("%v, at least %d: from %d to %d, want %v", all, most, begin, end, full)
		}
	}
}

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		chunks []int32
		output int
		want   []int
	}{
		{[]int32{1, 1, 1}, 3, []int{1, 1, 1}}, {[]int32{1, 1, 1, 1}, 10, []int{2, 3, 2, 3}},
		{[]int32{0, 2, 2}, 2, []int{0, 1, 1}},
		{[]int32{0, 0}, 7, []int{0, 7}}, {nil, 7, nil},
	} {
		q := metrics.NewRequest(0)
		for i, n := range c.chunks {
			q.Add(metrics.Chunk{At: time.Duration(i), Tokens: n})
		}
		q.OutputTokens = c.output
		var got []int
		for _, n := range q.Spread() {
			got = append(got, n)
		}
		assert.EqualAll(t, got, c.want, "%v of %d", c.chunks, c.output)
	}
}

// A load of 30 s has a steady part with its figures, unless it changes to the end.
func TestSteadyLevels(t *testing.T) {
	open := func(length int, e2el func(i int) time.Duration) metrics.Report {
		var all []metrics.Request
		for i := range length {
			all = append(all, eventtest.Simple(i, time.Duration(i)*second, 100*ms, (e2el(i)-100*ms)/4, 5))
		}
		plan := metrics.Plan{Rate: 1, Percentiles: []float64{99}, Metrics: []metrics.Latency{metrics.TTFT}}
		return summarize(t, all, runOf(plan, time.Duration(length+40)*second))
	}
	fast := func(int) time.Duration { return 500 * ms }
	for _, c := range []struct {
		name     string
		length   int
		e2el     func(i int) time.Duration
		from, to time.Duration
		share    float64
	}{
		{"all of it", 31, fast, 0, 30 * second, 1}, // and the moment of the last request
		{"after a slow start", 41, func(i int) time.Duration {
			if i < 8 {
				return 900 * ms
			}
			return 500 * ms
		}, 8 * second, 40 * second, 0.8},
		{"never", 41, func(i int) time.Duration { return 500*ms + time.Duration(i*i)*10*ms }, 0, 0, 0},
	} {
		r := open(c.length, c.e2el)
		if len(r.Levels) != 1 || r.Levels[0].Steady == nil {
			t.Fatalf("%s: %+v", c.name, r.Levels)
		}
		s := r.Levels[0].Steady
		if s.Start != c.from || s.End.Round(ms) != c.to || math.Abs(s.Share-c.share) > 1e-6 {
			t.Errorf("%s: from %s to %s, %v of the level; want %s, %s, %v", c.name, s.Start, s.End, s.Share, c.from,
				c.to, c.share)
		}
		if about := func(got, want float64) bool { return math.Abs(got-want) < .1 }; c.share > 0 &&
			!(about(s.RequestThroughput, 1) && about(s.OutputThroughput, 5) && about(s.TTFT.Mean, 100)) {
			t.Errorf("%s: %+v", c.name, s)
		}
	}
	if r := open(15, fast); r.Levels[0].Steady != nil {
		t.Errorf("15 s: %+v", r.Levels[0].Steady)
	}
	ramp := metrics.Plan{Ramp: &metrics.Ramp{Strategy: "linear", From: 1, To: 1.1, Over: 60 * second}}
	if steadyLevels(&metrics.Report{Plan: ramp, Levels: make([]metrics.LoadLevel, 1)}, nil) != nil {
		t.Error("a ramp has a steady part")
	}
}
