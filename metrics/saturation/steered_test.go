package saturation_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/metrics"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/report"
	"benchtop/metrics/saturation"
)

// steered draws arrivals as they come when the load is set.
func steered(sets []metrics.LogEntry, end time.Duration, r *rand.Rand) []time.Duration {
	var all []time.Duration
	for _, s := range saturation.Parts(sets, end) {
		for _, at := range poisson(linear(s.Begin, s.End, s.To-s.From), r) {
			all = append(all, at+s.From)
		}
	}
	return all
}

func setTo(seconds int, l metrics.LoadSetting) metrics.LogEntry {
	return metrics.LogEntry{At: time.Duration(seconds) * time.Second, Set: &l}
}

func summarizeSteered(t *testing.T, plan metrics.Plan, all []metrics.Request, events []metrics.LogEntry) metrics.Report {
	t.Helper()
	plan.Requests = len(all)
	r, err := report.Summarize(eventtest.Each(all), metrics.Run{Plan: plan, End: metrics.End{Ended: eventtest.LastDone(all)}, Events: events})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Levels are cut at settings of the load. Pauses and stretches that are too short are no levels.
func TestSteeredLevels(t *testing.T) {
	events := []metrics.LogEntry{
		{At: 1, Text: "no setting"},
		setTo(0, metrics.LoadSetting{Rate: 10}),
		setTo(20, metrics.LoadSetting{Rate: 10, Paused: true}),
		setTo(30, metrics.LoadSetting{Rate: 20}),
		setTo(40, metrics.LoadSetting{Rate: 20, By: metrics.ByUser}), // which it was
		setTo(50, metrics.LoadSetting{Rate: 99}),
		setTo(51, metrics.LoadSetting{Rate: 10, RampTo: 30, RampOver: 20 * time.Second}),
		setTo(71, metrics.LoadSetting{Rate: 30}),
		setTo(91, metrics.LoadSetting{Paused: true}),
	}
	r := rand.New(rand.NewPCG(1, 7))
	all := many.serve(steered(events, 100*time.Second, r), r)
	summary := summarizeSteered(t, metrics.Plan{Rate: 12, Burstiness: 1}, all, events)
	type level struct {
		from, to int
		offered  float64
	}
	var got []level
	for _, l := range summary.Levels {
		got = append(got, level{int(l.From.Round(time.Second).Seconds()), int(l.To.Round(time.Second).Seconds()), math.Round(l.Offered)})
	}
	want := []level{{0, 20, 10}, {30, 50, 20}}
	for i := range 10 {
		want = append(want, level{51 + 2*i, 53 + 2*i, 11 + 2*float64(i)})
	}
	want = append(want, level{71, 91, 30})
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(level{})); diff != "" {
		t.Errorf("levels (-want +got):\n%s", diff)
	}
	if summary.Steered != len(events)-1 {
		t.Errorf("steered %d times, want %d", summary.Steered, len(events)-1)
	}
}

// Levels of the plan before a setting stay, and saturation may be found after it.
func TestSaturationOfASteeredRun(t *testing.T) {
	plan := rampPlan(linear(4, 10, time.Minute))
	plan.Goodput = metrics.SLO{{Metric: metrics.TTFT, LimitMS: 200}}
	var events []metrics.LogEntry
	for i, rate := range []float64{16, 22, 28, 40, 10} {
		events = append(events, setTo(30+15*i, metrics.LoadSetting{Rate: rate, By: metrics.ByUser}))
	}
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 7))
		arrivals := poisson(linear(4, 7, 30*time.Second), r)
		arrivals = append(arrivals, steered(events, 105*time.Second, r)...)
		summary := summarizeSteered(t, plan, many.serve(arrivals, r), events)
		a := summary.Answer
		if !a.Saturates || middle(&a) < 22 || middle(&a) > 36 || a.SaturatedAt != summary.Levels[a.After].From || a.SaturatedAt < 60*time.Second {
			t.Errorf("seed %d: %+v, capacity %.1f", seed, a, many.capacity())
		}
		if !a.Within || a.Highest < 20 || a.Highest > many.capacity() || a.Confidence <= 0.5 {
			t.Errorf("seed %d: highest %v, %v sure", seed, a.Highest, a.Confidence)
		}
	}
}

// The sent rate of a level is by its own length, however short it is and wherever in a second it begins. Requests that the client held back
// count in the level in which they were sent.
func TestSentInLevels(t *testing.T) {
	const ms = time.Millisecond
	var all []metrics.Request
	add := func(n int, from, every, held time.Duration) {
		for i := range n {
			at := from + every*time.Duration(i)
			q := eventtest.Simple(len(all), at+held+30*time.Microsecond, 40*ms, 10*ms, 3)
			q.Scheduled, q.Due = at, at
			all = append(all, q)
		}
	}
	add(83, 0, 125*ms, 0)                    // 8 a second until 10.4 s
	add(6, 10400*ms, 335*ms, 0)              // 6 in 2.01 s
	add(10, 12410*ms, 310*ms, 0)             // 10 in 3.1 s, the last of them 310 ms before its end
	add(12, 15510*ms, 250*ms, 3*time.Second) // of 4 a second, those that went out in their last second
	events := []metrics.LogEntry{
		{At: 10400 * ms, Set: &metrics.LoadSetting{Rate: 3}}, {At: 12410 * ms, Set: &metrics.LoadSetting{Rate: 3.2}},
		{At: 15510 * ms, Set: &metrics.LoadSetting{Rate: 4}}, {At: 18510 * ms, Set: &metrics.LoadSetting{Rate: 5}},
	}
	add(15, 18510*ms, 200*ms, 0) // 15 of its own, and 12 of before
	summary := summarizeSteered(t, metrics.Plan{Rate: 8, Burstiness: 1}, all, events)
	var got []float64
	for _, l := range summary.Levels {
		got = append(got, math.Round(10*l.Sent)/10)
	}
	if want := []float64{8, 3, 3.2, 0, 9.6}; !slices.Equal(got, want) {
		t.Errorf("sent/s %v, want %v\n%+v", got, want, summary.Levels)
	}
}

// A search goes past saturation and back. Levels with the queue of a higher load do not count against their own load.
func TestSearchedLoad(t *testing.T) {
	var events []metrics.LogEntry
	at := 0
	for _, s := range []struct {
		rate float64
		took int
	}{{10, 10}, {16, 10}, {24, 10}, {44, 10}, {24, 10}, {27, 15}, {40, 10}, {22, 15}, {26, 40}} {
		events = append(events, setTo(at, metrics.LoadSetting{Rate: s.rate, By: metrics.BySearch}))
		at += s.took
	}
	plan := metrics.Plan{Rate: 10, Burstiness: 1, Goodput: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 400}}, Find: &metrics.Find{From: 10}}
	for seed := range uint64(5) {
		r := rand.New(rand.NewPCG(seed, 7))
		calm := many.with(func(s *server) { s.jitter = 0.1 })
		summary := summarizeSteered(t, plan, calm.serve(steered(events, time.Duration(at)*time.Second, r), r), events)
		if a := summary.Answer; !a.Within || a.Highest < 24 || a.Highest > 27 || a.Confidence < 0.3 {
			t.Errorf("seed %d: %+v\n%+v", seed, a, summary.Levels)
		}
	}
}

// Users that are set are levels of users.
func TestSteeredUsers(t *testing.T) {
	stages := userStages(1, 8, 16, 64, 128)
	events := []metrics.LogEntry{setTo(10, metrics.LoadSetting{Users: 8}), setTo(20, metrics.LoadSetting{Users: 16}), setTo(30, metrics.LoadSetting{Users: 64}),
		setTo(40, metrics.LoadSetting{Users: 128})}
	summary := summarizeSteered(t, metrics.Plan{Rate: metrics.Rate(math.Inf(1)), MaxConcurrency: 1, Duration: 50 * time.Second}, closedLoop(stages, time.Second/2, 16), events)
	a := summary.Answer
	if len(summary.Levels) != 5 || !a.Saturates || a.From != 16 || !a.Users || a.SaturatedAt != 30*time.Second {
		t.Errorf("%+v\n%+v", a, summary.Levels)
	}
}

// No setting that a journal can hold breaks the report.
func TestNonsenseSettings(t *testing.T) {
	times := []time.Duration{metrics.Never, 0, 1, time.Second, 9 * time.Second, time.Minute, math.MaxInt64, math.MinInt64}
	figures := []float64{0, -1, 1, 50, 1e300, math.Inf(1), math.NaN(), math.Inf(-1)}
	r := rand.New(rand.NewPCG(3, 3))
	anyTime := func() time.Duration { return times[r.IntN(len(times))] }
	figure := func() float64 { return figures[r.IntN(len(figures))] }
	for range 300 {
		plan := rampPlan(linear(4, 44, time.Minute))
		if r.IntN(2) == 0 {
			plan = metrics.Plan{Rate: metrics.Rate(math.Inf(1)), MaxConcurrency: r.IntN(3), Find: &metrics.Find{From: figure(), Users: r.IntN(2) == 0}}
		}
		run := metrics.Run{Plan: plan, End: metrics.End{Ended: times[r.IntN(6)]}} // a timeline of weeks takes its time
		for range r.IntN(9) {
			run.Events = append(run.Events, metrics.LogEntry{At: anyTime(), Objectives: []*metrics.SLO{nil, {{Metric: metrics.TTFT, LimitMS: figure()}}, {}}[r.IntN(3)],
				Set: &metrics.LoadSetting{Rate: figure(), Users: r.IntN(5) - 2, Paused: r.IntN(4) == 0, RampTo: figure(), RampOver: anyTime(), By: "?"}})
			run.Server = append(run.Server, metrics.ServerSecond{At: anyTime(), Took: anyTime(), Running: figure(),
				Queue: metrics.ServerLatency{N: figure(), Mean: anyTime()}, PrefixHits: figure(), PrefixQueries: figure()})
			run.GPUs = append(run.GPUs, metrics.GPUSecond{At: anyTime(), Took: anyTime(), GPUs: []metrics.GPU{{Index: r.IntN(5) - 1, Power: figure()}}})
		}
		summary, err := report.Summarize(eventtest.Each(many.with(func(s *server) { s.room = 10 }).serve(poisson(linear(1, 60, 2*time.Second), r), r)), run)
		if err != nil || len(summary.Levels) > saturation.MostOpened {
			t.Errorf("%v, %d levels", err, len(summary.Levels))
		}
		for _, v := range []float64{meanOf(summary.Server), summary.Answer.Confidence, summary.Answer.Highest} {
			if math.IsInf(v, 0) {
				t.Errorf("an infinity in the report: %+v", summary.Answer)
			}
		}
	}
}

func meanOf(r *metrics.ServerReport) float64 {
	if r == nil {
		return 0
	}
	return r.RunningMean + r.HitRate
}
