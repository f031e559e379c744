package metrics

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// steered draws arrivals as they come when the load is set.
func steered(sets []LogEntry, end time.Duration, r *rand.Rand) []time.Duration {
	var all []time.Duration
	for _, s := range stretches(settings(sets), end) {
		from := s.load.LoadAt(s.from - s.since)
		ramp := linear(from, s.load.LoadAt(s.to-s.since), s.to-s.from)
		for _, at := range poisson(ramp, r) {
			all = append(all, at+s.from)
		}
	}
	return all
}

func setTo(seconds int, l LoadSetting) LogEntry {
	return LogEntry{At: time.Duration(seconds) * time.Second, Set: &l}
}

func summarizeSteered(t *testing.T, plan Plan, all []Request, events []LogEntry) Report {
	t.Helper()
	plan.Requests = len(all)
	r, err := Summarize(yield(all), Run{Plan: plan, Ended: lastDone(all), Events: events})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Levels are cut where the load was set; pauses, and what was too short to tell, are none.
func TestSteeredLevels(t *testing.T) {
	events := []LogEntry{
		{At: 1, Text: "no setting"},
		setTo(0, LoadSetting{Rate: 10}),
		setTo(20, LoadSetting{Rate: 10, Paused: true}),
		setTo(30, LoadSetting{Rate: 20}),
		setTo(40, LoadSetting{Rate: 20, By: ByHand}), // which it was
		setTo(50, LoadSetting{Rate: 99}),
		setTo(51, LoadSetting{Rate: 10, RampTo: 30, RampOver: 20 * time.Second}),
		setTo(71, LoadSetting{Rate: 30}),
		setTo(91, LoadSetting{Paused: true}),
	}
	r := rand.New(rand.NewPCG(1, 7))
	all := many.serve(steered(events, 100*time.Second, r), r)
	report := summarizeSteered(t, Plan{Rate: 12, Burstiness: 1}, all, events)
	type level struct {
		from, to int
		offered  float64
	}
	var got []level
	for _, l := range report.Levels {
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
	if report.Steered != len(events)-1 {
		t.Errorf("steered %d times, want %d", report.Steered, len(events)-1)
	}
}

// What the plan had before the load was set stays, and saturation may be found in what came after.
func TestSaturationOfASteeredRun(t *testing.T) {
	plan := rampPlan(linear(4, 10, time.Minute))
	plan.Goodput = SLO{{TTFT, 200}}
	var events []LogEntry
	for i, rate := range []float64{16, 22, 28, 40, 10} {
		events = append(events, setTo(30+15*i, LoadSetting{Rate: rate, By: ByHand}))
	}
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 7))
		arrivals := poisson(linear(4, 7, 30*time.Second), r)
		arrivals = append(arrivals, steered(events, 105*time.Second, r)...)
		report := summarizeSteered(t, plan, many.serve(arrivals, r), events)
		a := report.Answer
		if !a.Saturates || middle(&a) < 22 || middle(&a) > 36 || a.SaturatedAt != report.Levels[a.After].From || a.SaturatedAt < 60*time.Second {
			t.Errorf("seed %d: %+v, capacity %.1f", seed, a, many.capacity())
		}
		if !a.Within || a.Highest < 20 || a.Highest > many.capacity() || a.Sure <= 0.5 {
			t.Errorf("seed %d: highest %v, %v sure", seed, a.Highest, a.Sure)
		}
	}
}

// What was sent in a level is counted by its own length, however short it is and wherever in a second it begins. What the client
// held back counts where it went out.
func TestSentInLevels(t *testing.T) {
	const ms = time.Millisecond
	var all []Request
	add := func(n int, from, every, held time.Duration) {
		for i := range n {
			at := from + every*time.Duration(i)
			q := simple(len(all), at+held+30*time.Microsecond, 40*ms, 10*ms, 3)
			q.Scheduled, q.Due = at, at
			all = append(all, q)
		}
	}
	add(83, 0, 125*ms, 0)                    // 8 a second until 10.4 s
	add(6, 10400*ms, 335*ms, 0)              // 6 in 2.01 s
	add(10, 12410*ms, 310*ms, 0)             // 10 in 3.1 s, the last of them 310 ms before its end
	add(12, 15510*ms, 250*ms, 3*time.Second) // of 4 a second, those that went out in their last second
	events := []LogEntry{
		{At: 10400 * ms, Set: &LoadSetting{Rate: 3}}, {At: 12410 * ms, Set: &LoadSetting{Rate: 3.2}},
		{At: 15510 * ms, Set: &LoadSetting{Rate: 4}}, {At: 18510 * ms, Set: &LoadSetting{Rate: 5}},
	}
	add(15, 18510*ms, 200*ms, 0) // 15 of its own, and 12 of before
	report := summarizeSteered(t, Plan{Rate: 8, Burstiness: 1}, all, events)
	var got []float64
	for _, l := range report.Levels {
		got = append(got, math.Round(10*l.Sent)/10)
	}
	if want := []float64{8, 3, 3.2, 0, 9.6}; !slices.Equal(got, want) {
		t.Errorf("sent/s %v, want %v\n%+v", got, want, report.Levels)
	}
}

// A search goes past saturation and back: levels that only suffered from its tries are not held against their load.
func TestSearchedLoad(t *testing.T) {
	var events []LogEntry
	at := 0
	for _, s := range []struct {
		rate float64
		took int
	}{{10, 10}, {16, 10}, {24, 10}, {44, 10}, {24, 10}, {27, 15}, {40, 10}, {22, 15}, {26, 40}} {
		events = append(events, setTo(at, LoadSetting{Rate: s.rate, By: BySearch}))
		at += s.took
	}
	plan := Plan{Rate: 10, Burstiness: 1, Goodput: SLO{{TTFT, 400}}, Find: &Find{From: 10}}
	for seed := range uint64(5) {
		r := rand.New(rand.NewPCG(seed, 7))
		calm := many.with(func(s *server) { s.jitter = 0.1 })
		report := summarizeSteered(t, plan, calm.serve(steered(events, time.Duration(at)*time.Second, r), r), events)
		if a := report.Answer; !a.Within || a.Highest < 24 || a.Highest > 27 || a.Sure < 0.3 {
			t.Errorf("seed %d: %+v\n%+v", seed, a, report.Levels)
		}
	}
}

// Users that are set are levels of users.
func TestSteeredUsers(t *testing.T) {
	stages := userStages(1, 8, 16, 64, 128)
	events := []LogEntry{setTo(10, LoadSetting{Users: 8}), setTo(20, LoadSetting{Users: 16}), setTo(30, LoadSetting{Users: 64}),
		setTo(40, LoadSetting{Users: 128})}
	report := summarizeSteered(t, Plan{Rate: Rate(math.Inf(1)), MaxConcurrency: 1, Duration: 50 * time.Second}, closedLoop(stages, time.Second/2, 16), events)
	a := report.Answer
	if len(report.Levels) != 5 || !a.Saturates || a.From != 16 || !a.Users || a.SaturatedAt != 30*time.Second {
		t.Errorf("%+v\n%+v", a, report.Levels)
	}
}

// No setting that a journal can hold breaks the report.
func TestNonsenseSettings(t *testing.T) {
	times := []time.Duration{Never, 0, 1, time.Second, 9 * time.Second, time.Minute, math.MaxInt64, math.MinInt64}
	figures := []float64{0, -1, 1, 50, 1e300, math.Inf(1), math.NaN(), math.Inf(-1)}
	r := rand.New(rand.NewPCG(3, 3))
	anyTime := func() time.Duration { return times[r.IntN(len(times))] }
	figure := func() float64 { return figures[r.IntN(len(figures))] }
	for range 300 {
		plan := rampPlan(linear(4, 44, time.Minute))
		if r.IntN(2) == 0 {
			plan = Plan{Rate: Rate(math.Inf(1)), MaxConcurrency: r.IntN(3), Find: &Find{From: figure(), Users: r.IntN(2) == 0}}
		}
		run := Run{Plan: plan, Ended: times[r.IntN(6)]} // a timeline of weeks takes its time
		for range r.IntN(9) {
			run.Events = append(run.Events, LogEntry{At: anyTime(), Objectives: []*SLO{nil, {{TTFT, figure()}}, {}}[r.IntN(3)],
				Set: &LoadSetting{figure(), r.IntN(5) - 2, r.IntN(4) == 0, figure(), anyTime(), "?"}})
			run.Server = append(run.Server, ServerSecond{At: anyTime(), Took: anyTime(), Running: figure(),
				Queue: ServerLatency{figure(), anyTime()}, PrefixHits: figure(), PrefixQueries: figure()})
			run.GPUs = append(run.GPUs, GPUSecond{At: anyTime(), Took: anyTime(), GPUs: []GPU{{Index: r.IntN(5) - 1, Power: figure()}}})
		}
		report, err := Summarize(yield(drawRun(uint64(r.IntN(5)), 60)), run)
		if err != nil || len(report.Levels) > mostOpened {
			t.Errorf("%v, %d levels", err, len(report.Levels))
		}
		for _, v := range []float64{report.Server.mean(), report.Answer.Sure, report.Answer.Highest} {
			if math.IsInf(v, 0) {
				t.Errorf("an infinity in the report: %+v", report.Answer)
			}
		}
	}
}

func (r *ServerReport) mean() float64 {
	if r == nil {
		return 0
	}
	return r.RunningMean + r.HitRate
}

func TestEndpoints(t *testing.T) {
	rec := NewRecorder(time.Now(), &Plan{})
	ask := func(model string, f Failure) {
		x := &exchange{rec, NewRequest(0)}
		x.q.Model = model
		x.due(0)
		x.sent(0)
		x.chunk(time.Second, "")
		if f != "open" {
			x.done(time.Second, f)
		}
	}
	for range 3 {
		ask("a", "")
		ask("b", FailedReset)
	}
	ask("b", Cancelled)
	ask("a", "open")
	for i := range 100 {
		ask(string(rune('A'+i)), "")
	}
	all := rec.Snapshot().Endpoints
	if len(all) != mostEndpoints {
		t.Fatalf("%d endpoints, want %d", len(all), mostEndpoints)
	}
	a, b, others := all[0], all[1], all[mostEndpoints-1]
	for _, c := range []struct {
		got  Endpoint
		want [5]int
		ttft uint64
	}{{a, [5]int{4 + 1, 3 + 1, 0, 1, 3 + 1}, 5}, {b, [5]int{4 + 1, 1, 3, 0, 1}, 1}, {others, [5]int{37, 37, 0, 0, 37}, 37}} {
		if got := [5]int{c.got.Sent, c.got.Done, c.got.Failed, c.got.InFlight, c.got.OutputTokens}; got != c.want || c.got.FirstWait.Count() != c.ttft {
			t.Errorf("%s: sent, done, failed, in flight, tokens %v, want %v; %d TTFTs, want %d", c.got.Model, got, c.want, c.got.FirstWait.Count(), c.ttft)
		}
	}
	if others.Model != otherModels {
		t.Errorf("the last one is %q", others.Model)
	}
}

// Requests of the warm-up are in flight, but in no figure.
func TestEndpointsOfTheWarmUp(t *testing.T) {
	rec := NewRecorder(time.Now(), &Plan{Warmup: 2 * time.Second})
	for i, f := range []Failure{"", FailedReset, "open", ""} {
		x := &exchange{rec, NewRequest(i)}
		x.due(time.Duration(i) * time.Second)
		x.sent(time.Duration(i) * time.Second)
		x.chunk(4*time.Second, "")
		if f != "open" {
			x.done(5*time.Second, f)
		}
	}
	all := rec.Snapshot().Endpoints
	if len(all) != 1 {
		t.Fatalf("%d endpoints", len(all))
	}
	e := all[0]
	if got := [5]int{e.Sent, e.Done, e.Failed, e.InFlight, int(e.FirstWait.Count())}; got != [5]int{2, 1, 0, 1, 2} {
		t.Errorf("sent, done, failed, in flight, TTFTs %v", got)
	}
}
