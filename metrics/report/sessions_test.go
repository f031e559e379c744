package report

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/metrics"
	"benchtop/metrics/event/eventtest"
)

// turn is a request of a conversation, under way from a second to another one.
func turn(conversation, turn, turns int, from, to float64) metrics.Request {
	at := func(s float64) time.Duration { return time.Duration(s * float64(second)) }
	q := eventtest.Simple(100*conversation+turn, at(from), 100*ms, 10*ms, 5)
	q.Conversation, q.Turn, q.Turns, q.Done = conversation, turn, turns, at(to)
	q.InputTokens, q.CachedTokens, q.CachedKnown = 100, 20*turn, true
	return q
}

// queued is a request that waited a second for its slot.
func queued(q metrics.Request) metrics.Request {
	q.Admitted += second
	return q
}

func unsent(q metrics.Request) metrics.Request {
	q.Failure, q.Admitted, q.Sent = metrics.Cancelled, metrics.Never, metrics.Never
	return q
}

func failed(q metrics.Request, as metrics.Failure) metrics.Request {
	q.Failure = as
	return q
}

// Turns that are under way at once count once, pauses and waits for a slot do not; failed turns end a conversation, and
// the end of the run leaves it unfinished.
func TestSessions(t *testing.T) {
	all := []metrics.Request{
		// 1 to 3, 5 to 10 and 12 to 13: 8 s of 12; a sub-agent inside another, and one that overlaps two.
		turn(1, 0, 6, 1, 3), turn(1, 1, 6, 5, 7), turn(1, 2, 6, 5.5, 6), turn(1, 3, 6, 8, 10), turn(1, 4, 6, 6.5, 8.5),
		turn(1, 5, 6, 12, 13),
		// A pause of 2 s, and a wait for the slot before each turn, the first of which is before the conversation.
		queued(turn(2, 0, 2, -1, 1)), queued(turn(2, 1, 2, 2, 4)),
		// The second turn fails: two of four are not sent.
		turn(3, 0, 4, 0, 1), failed(turn(3, 1, 4, 2, 3), metrics.FailedStatus),
		// The run ends in the third turn, and before the second.
		turn(4, 0, 3, 0, 1), turn(4, 1, 3, 2, 3), failed(turn(4, 2, 3, 4, 5), metrics.Cancelled),
		turn(5, 0, 3, 0, 1),
		// The run ends before the slot of the first turn.
		unsent(turn(8, 0, 3, 0, 1)),
		// Of its own, and a conversation of one turn, as a mixture has them.
		turn(6, 0, 0, 0, 9), turn(7, 0, 1, 0, 9),
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		got := summarize(t, all,
			metrics.Run{Plan: metrics.Plan{Percentiles: []float64{50}}, End: metrics.End{Ended: 14 * second}})
		s := got.Sessions
		counts := metrics.Sessions{Conversations: 5, Completed: 2, Failed: 1, Unfinished: 2, Turns: 12.0 / 5,
			Planned: 18.0 / 5, NotSent: 2,
			Makespan: s.Makespan, Waiting: s.Waiting, CachedShare: s.CachedShare}
		if diff := cmp.Diff(&counts, s); diff != "" {
			t.Fatal(diff)
		}
		for name, c := range map[string]struct {
			got         metrics.Statistic
			least, most float64
		}{"makespan": {s.Makespan, 4000, 12000}, "waiting": {s.Waiting, 2000, 8000},
			"cached share": {s.CachedShare, .1, .5}} {
			if c.got.N != 2 || !nearly(c.got.Min, c.least) || !nearly(c.got.Max, c.most) {
				t.Errorf("%s: %d from %g to %g, want 2 from %g to %g", name, c.got.N, c.got.Min, c.got.Max, c.least,
					c.most)
			}
		}
	}
}

func nearly(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }

// A conversation that began in the warm-up is left out; its later turns are in the figures by turn.
func TestSessionsOfWarmup(t *testing.T) {
	all := []metrics.Request{turn(1, 0, 2, 0, 1), turn(1, 1, 2, 3, 4), turn(2, 0, 2, 2, 3), turn(2, 1, 2, 4, 5),
		turn(3, 0, 2, 0, 1)}
	r := summarize(t, all, runOf(metrics.Plan{Warmup: 2 * second}, 6*second))
	if s := r.Sessions; s.Conversations != 1 || s.Completed != 1 || s.Makespan.Mean != 3000 {
		t.Errorf("%+v", s)
	}
	if len(r.Turns) != 2 || r.Turns[0].Completed != 1 || r.Turns[1].Completed != 2 {
		t.Errorf("%+v", r.Turns)
	}
}

// Each of the first turns has a group, further ones share ranges that double; requests of their own, and those alone in
// their conversation, have none.
func TestTurns(t *testing.T) {
	var all []metrics.Request
	for k := range 500 {
		q := turn(1, k, 500, float64(k), float64(k)+.5)
		q.IdealTokens, q.IdealKnown = 90, k%2 == 0
		all = append(all, q)
	}
	all = append(all, failed(turn(2, 0, 2, 0, 1), metrics.FailedStatus), turn(3, 0, 0, 0, 1), turn(4, 0, 1, 0, 1))
	r := summarize(t, all, runOf(metrics.Plan{}, 600*second))
	names := metrics.Each(r.Turns, func(g metrics.Group) string { return g.Name() })
	if want := []string{"31", "32", "33-64", "65-128", "129-256", "257-512"}; len(names) != 36 ||
		!slices.Equal(names[30:], want) {
		t.Errorf("%q", names)
	}
	sizes := metrics.Each(r.Turns, func(g metrics.Group) int { return g.Completed })
	if !slices.Equal(sizes[31:], []int{1, 32, 64, 128, 244}) || r.Turns[0].Completed != 1 || r.Turns[0].Failed != 1 {
		t.Errorf("%d; first %+v", sizes, r.Turns[0])
	}
	want := metrics.TokenShare{Tokens: 32 * 45, Requests: 16, Of: 1600}
	if g := r.Turns[32]; g.Ideal != want || g.Ideal.Rate() != .9 || g.Cached.Requests != 32 {
		t.Errorf("%+v, want %+v", g, want)
	}
	if r.Ideal.Requests != 250 || r.Sessions.Completed != 1 {
		t.Errorf("%+v, %+v", r.Ideal, r.Sessions)
	}
}

// Requests of a workload with objectives of its own are judged by them everywhere.
func TestObjectivesOfWorkloads(t *testing.T) {
	var all []metrics.Request
	for i, c := range []struct {
		class string
		ttft  time.Duration
	}{{"chat", 300}, {"chat", 100}, {"rag", 300}, {"rag", 900}, {"code", 300}, {"none", 9000}} {
		q := eventtest.Simple(i, time.Duration(i)*second, c.ttft*ms, 10*ms, 5)
		q.Class = c.class
		all = append(all, q)
	}
	plan := metrics.Plan{Rate: 1, Goodput: ttft(200), Workloads: []metrics.Workload{{Name: "chat"},
		{Name: "rag", Goodput: ttft(500)}, {Name: "none", Goodput: metrics.SLO{}}}}
	for name, c := range map[string]struct {
		own, planned metrics.SLO
		changed      *metrics.SLO
		tiers        []metrics.Tier
		good         int
		classes      []int // chat, code, none, rag
	}{
		"of the run": {planned: ttft(200), good: 2, classes: []int{1, 0, 0, 1}},
		"changed": {planned: ttft(200), changed: &metrics.SLO{{Metric: metrics.TTFT, LimitMS: 1000}}, good: 4,
			classes: []int{2, 1, 0, 1}},
		"of workloads": {good: 5, classes: []int{0, 0, 0, 1}},
		"tiers judge all": {planned: ttft(200), tiers: []metrics.Tier{{Name: "gold", SLO: ttft(200)}}, good: 1,
			classes: []int{1, 0, 0, 0}},
		"a limit for none": {planned: ttft(10), good: 1, classes: []int{0, 0, 0, 1}},
	} {
		p := plan
		p.Goodput, p.Tiers = c.planned, c.tiers
		run := runOf(p, 20*second)
		if c.changed != nil {
			run.Events = []metrics.LogEntry{{At: second, Objectives: c.changed}}
		}
		r := summarize(t, all, run)
		classes := metrics.Each(r.Classes, func(g metrics.Group) int { return g.Good })
		if r.Good != c.good || r.Goodput == nil || r.Levels[0].Good != c.good || !slices.Equal(classes, c.classes) {
			t.Errorf("%s: %d good, %d in levels, want %d; classes %d, want %d", name, r.Good, r.Levels[0].Good, c.good,
				classes, c.classes)
		}
	}
}
