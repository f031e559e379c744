package control

import (
	"math"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"benchtop/internal/assert"
	"benchtop/internal/search"
	"benchtop/metrics"
	"benchtop/metrics/event"
)

// feel is what a request of a trial felt, in milliseconds from when it was due; 0 for not yet.
type feel struct {
	due, held, first, done float64
	tokens                 int
	failure                metrics.Failure
}

func ms(v float64) time.Duration { return time.Duration(v * float64(time.Millisecond)) }

func (f feel) tell(t *Trial, index int) {
	q := metrics.NewRequest(index)
	q.Due = ms(f.due)
	q.Scheduled, q.OutputTokens = q.Due, f.tokens
	take := func(kind event.Kind) { t.Take(&event.Event{Kind: kind, Request: &q}) }
	take(event.Due)
	q.Admitted = q.Due + ms(f.held)
	q.Sent = q.Admitted
	if f.first > 0 {
		q.FirstChunk = q.Due + ms(f.first)
		q.LastChunk = q.FirstChunk
		take(event.Chunk)
		take(event.Chunk) // of the same microsecond
	}
	if f.done > 0 {
		q.LastChunk, q.Done, q.Failure = q.Due+ms(f.done), q.Due+ms(f.done), f.failure
		take(event.Chunk)
		take(event.Done)
	}
}

// verdict of a trial on its first tier.
type verdict string

const open, within, missed verdict = "open", "within", "missed"

func verdictOf(t *Trial, now time.Duration) verdict {
	_, ok := t.Verdicts(now)
	tiers := t.Evidence(now)
	switch {
	case !ok:
		return open
	case tiers[0].Passed():
		return within
	}
	return missed
}

func trialOf(slo metrics.SLO) *Trial {
	return NewTrial(&metrics.Plan{Goodput: slo, Find: &metrics.Find{From: 1, Most: 100}})
}

func TestTrial(t *testing.T) {
	slo := func(texts ...string) (s metrics.SLO) {
		for _, text := range texts {
			o := assert.Must(metrics.ParseObjective(text))(t)
			s = s.With(o)
		}
		return s
	}
	good := feel{due: 1500, first: 100, done: 400, tokens: 4}
	late := feel{due: 1500, first: 900, done: 1000, tokens: 2}
	many := func(f feel, n int) (all []feel) {
		for range n {
			all = append(all, f)
		}
		return all
	}
	queue := func(n int) (all []feel) { // two ms for each that comes in one
		for i := range n {
			at := float64(i) * 1000 / float64(n)
			all = append(all, feel{due: 1000 + at, held: at, first: at + 30, done: at + 60, tokens: 2})
		}
		return all
	}
	for _, c := range []struct {
		name     string
		slo      metrics.SLO
		expected float64
		all      []feel
		now      float64 // ms; the trial is from 1 s to 2 s, with a patience of 5 s
		want     verdict
	}{
		{"nothing yet", slo("ttft:500"), 20, nil, 1500, open},
		{"nothing came at all", slo("ttft:500"), 20, nil, 2500, open},
		{"nothing came, and nobody waits any more", slo("ttft:500"), 20, nil, 7000, missed},
		{"all good, but it is still on", slo("ttft:500"), 20, many(good, 20), 1999, open},
		{"all good", slo("ttft:500"), 20, many(good, 20), 2000, within},
		{"one of twenty is late", slo("ttft:500"), 20, append(many(good, 19), late), 3000, within},
		{"two of twenty are late", slo("ttft:500"), 20, append(many(good, 18), late, late), 3000, missed},
		{"so many are late that the rest does not matter", slo("ttft:500"), 20, many(late, 6), 1800, missed},
		{"but nobody knows how many will come", slo("ttft:500"), 0, many(late, 6), 1800, open},
		{"so few that the load is near the border", slo("ttft:500"), 20, many(late, 3), 1800, open},
		{"first chunks are enough", slo("ttft:500"), 0, many(feel{due: 1500, first: 100}, 5), 2000, within},
		{"not for other objectives", slo("ttft:500", "tpot:50"), 0, many(feel{due: 1500, first: 100}, 5), 2000, open},
		{"unless it takes too long", slo("ttft:500", "tpot:50"), 0, many(feel{due: 1500, first: 100}, 5), 7000, within},
		{"no first chunk, and too late for one", slo("ttft:500"), 0, many(feel{due: 1500}, 5), 2100, missed},
		{"no first chunk, and time enough", slo("ttft:800"), 0, many(feel{due: 1500}, 5), 2100, open},
		{"no end, and too late for one", slo("e2el:700"), 0, many(feel{due: 1500, first: 1}, 5), 2300, missed},
		{"slow tokens", slo("tpot:50"), 0, many(feel{due: 1500, first: 100, done: 400, tokens: 4}, 5), 2300, missed},
		{"quick tokens", slo("tpot:101"), 0, many(feel{due: 1500, first: 100, done: 400, tokens: 4}, 5), 2300, within},
		{"one token has no pace", slo("tpot:1"), 0, many(feel{due: 1500, first: 100, done: 400, tokens: 1}, 5), 2300,
			within},
		{"held too long", slo("ttft:500"), 0, many(feel{due: 1500, held: 450, first: 550, done: 600, tokens: 2}, 5),
			2300, missed},
		{"failed", slo("ttft:500", "e2el:9000"), 0,
			many(feel{due: 1500, first: 100, done: 200, failure: metrics.FailedStatus}, 5), 2300, missed},
		{"cut ones count for nothing", slo("e2el:9000"), 0,
			append(many(feel{due: 1500, first: 100, done: 200, failure: metrics.Cancelled}, 5), good), 2300, within},
		{"held longer and longer, which an objective on TPOT does not see", slo("tpot:200"), 0, queue(60), 9000,
			missed},
		{"others' requests", slo("ttft:500"), 0, append(many(feel{due: 900, first: 900, done: 901}, 9), good,
			feel{due: 2000, first: 900, done: 901}), 2300, within},
	} {
		t.Run(c.name, func(t *testing.T) {
			trial := trialOf(c.slo)
			trial.Begin(time.Second, 2*time.Second, c.expected, 5*time.Second, false)
			for i, f := range c.all {
				f.tell(trial, i)
			}
			assert.Equal(t, verdictOf(trial, ms(c.now)), c.want, "verdictOf")
		})
	}
}

// A load of which less than 95 % is completed does not hold, however few the user's gate wants good.
func TestTrialOfARefusingServer(t *testing.T) {
	plan := metrics.Plan{
		Goodput: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 500}, {Metric: metrics.E2EL, LimitMS: 900}},
		Find:    &metrics.Find{From: 1, Most: 100},
		Gates:   []metrics.Gate{{Metric: "goodput", Op: "<", Limit: 0.8, Percent: true}},
	}
	for refused, want := range map[int]verdict{0: within, 2: missed} {
		trial := NewTrial(&plan)
		trial.Begin(time.Second, 2*time.Second, 0, time.Second, false)
		for i := range 20 {
			f := feel{due: 1500, first: 100, done: 200, tokens: 2}
			if i < refused {
				f.failure = metrics.FailedStatus
			}
			f.tell(trial, i)
		}
		assert.Equal(t, verdictOf(trial, 2*time.Second), want, "%d of 20 refused", refused)
	}
}

// Requests that an earlier trial left behind do not count.
func TestTrialBeginsAnew(t *testing.T) {
	trial := trialOf(metrics.SLO{{Metric: metrics.TTFT, LimitMS: 500}})
	trial.Begin(0, time.Second, 0, time.Second, false)
	feel{}.tell(trial, 1)
	trial.Begin(time.Second, 2*time.Second, 0, time.Second, false)
	q := metrics.NewRequest(1)
	q.Failure = metrics.FailedStatus
	trial.done(&q)
	feel{due: 1200, first: 10, done: 20}.tell(trial, 2)
	assert.Equal(t, verdictOf(trial, 2*time.Second), within, "verdictOf")
	trial.Take(&event.Event{Kind: event.Fact,
		Value: metrics.LogEntry{Objectives: &metrics.SLO{{Metric: metrics.TTFT, LimitMS: 1}}}})
	feel{due: 1200, first: 10, done: 20}.tell(trial, 3)
	assert.Equal(t, verdictOf(trial, 2*time.Second), missed, "after new objectives")
}

// A trial hears from many goroutines at once: for the race detector.
func TestTrialRace(t *testing.T) {
	trial := trialOf(metrics.SLO{{Metric: metrics.TTFT, LimitMS: 500}})
	trial.Begin(0, time.Second, 0, time.Second, false)
	var work sync.WaitGroup
	for i := range 8 {
		work.Go(func() {
			for k := range 30 {
				feel{due: float64(k), first: 10, done: 20}.tell(trial, 30*i+k)
				verdictOf(trial, ms(float64(k)))
			}
		})
	}
	work.Wait()
	assert.Equal(t, verdictOf(trial, time.Second), within, "verdictOf")
}

// BenchmarkTrialChunk is what each chunk costs beside the live view: a comparison, but for the first.
func BenchmarkTrialChunk(b *testing.B) {
	trial := trialOf(metrics.SLO{{Metric: metrics.TTFT, LimitMS: 500}})
	q := metrics.NewRequest(1)
	q.FirstChunk, q.LastChunk = 1, 2
	b.ReportAllocs()
	for b.Loop() {
		trial.chunk(&q)
	}
}

// One trial judges all tiers: each has its own verdict and its own ratio, and the trial is open until the last of them
// is known.
func TestTrialOfTiers(t *testing.T) {
	t.Parallel()
	ttft := func(limit float64) metrics.Objective { return metrics.Objective{Metric: metrics.TTFT, LimitMS: limit} }
	tpot := func(limit float64) metrics.Objective { return metrics.Objective{Metric: metrics.TPOT, LimitMS: limit} }
	gold, silver, bronze := metrics.SLO{ttft(200), tpot(40)}, metrics.SLO{ttft(400)}, metrics.SLO{ttft(4000), tpot(400)}
	plan := &metrics.Plan{Goodput: gold, Tiers: []metrics.Tier{{Name: "gold", SLO: gold}, {Name: "silver", SLO: silver},
		{Name: "bronze", SLO: bronze}}, Find: &metrics.Find{From: 1, Most: 100}}
	trial := NewTrial(plan)
	trial.Begin(time.Second, 2*time.Second, 0, 60*time.Second, false)
	const n = 20
	for i := range n { // the first chunk is too late for gold, the others come each 100 ms
		f := feel{due: 1500, first: 300, tokens: 4}
		if i < n-2 {
			f.done = 600
		}
		f.tell(trial, i)
	}
	if tiers, ok := trial.Verdicts(2 * time.Second); ok {
		t.Errorf("two requests are open for bronze: %+v", tiers)
	}
	for i := n - 2; i < n; i++ {
		q := metrics.NewRequest(i)
		q.Due, q.Scheduled, q.OutputTokens = ms(1500), ms(1500), 4
		q.Sent, q.FirstChunk, q.LastChunk, q.Done = ms(1500), ms(1800), ms(2100), ms(2100)
		if i == n-1 {
			q.Failure = metrics.Cancelled
		}
		trial.Take(&event.Event{Kind: event.Done, Request: &q})
	}
	_, ok := trial.Verdicts(3 * time.Second)
	tiers := trial.Evidence(3 * time.Second)
	want := []search.Evidence{
		{Good: 0, Requests: n, Share: 0.95, Ratio: 1.5},
		{Good: n, Requests: n, Share: 0.95, Ratio: 0.75},
		// the request that was cut counts for the tiers that had judged it
		{Good: n - 1, Requests: n - 1, Share: 0.95, Ratio: 0.25},
	}
	for i := range tiers {
		tiers[i].Effective, tiers[i].Length, tiers[i].Confidence = 0, 0, 0
	}
	if diff := cmp.Diff(want, tiers, cmpopts.EquateApprox(0, 1e-9)); !ok || diff != "" {
		t.Errorf("decided: %t, (-want +got)\n%s", ok, diff)
	}
	if tiers[0].Passed() || !tiers[1].Passed() || !tiers[2].Passed() {
		t.Errorf("verdicts of %+v", tiers)
	}
}

// Requests that are late whatever comes say nothing of how far the load is from the border.
func TestTrialRatio(t *testing.T) {
	t.Parallel()
	slo := metrics.SLO{{Metric: metrics.TTFT, LimitMS: 500}}
	for _, c := range []struct {
		name       string
		late, open int
		want       float64
	}{{"all answered", 0, 0, 0.2}, {"two of twenty late", 2, 0, 1.8}, {"without an answer", 0, 20, math.Inf(1)}} {
		trial := trialOf(slo)
		trial.Begin(time.Second, 2*time.Second, 0, time.Second, false)
		for i := range 20 {
			f := feel{due: 1500, first: 100, done: 400, tokens: 4}
			switch {
			case i < c.late:
				f.first = 900
			case i < c.open:
				f = feel{due: 1500}
			}
			f.tell(trial, i)
		}
		if tiers := trial.Evidence(3 * time.Second); !cmp.Equal(tiers[0].Ratio, c.want, cmpopts.EquateApprox(0, 1e-9)) {
			t.Errorf("%s: %+v, want a ratio of %g", c.name, tiers, c.want)
		}
	}
}
