package metrics_test

import (
	"bytes"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/live"
	"benchtop/metrics/report"
)

// drawRun makes up a run with successes, failures of every stage, held and cancelled requests.
func drawRun(seed uint64, n int) []metrics.Request {
	r := rand.New(rand.NewPCG(seed, 1))
	aside := rand.New(rand.NewPCG(seed, 2))
	us := func(most int) time.Duration { return time.Duration(r.IntN(most)) * time.Microsecond }
	var all []metrics.Request
	at := time.Duration(0)
	for i := range n {
		q := metrics.NewRequest(i)
		at += us(200_000)
		q.Scheduled, q.Due = at, at+us(300)
		q.InputTokens, q.InputSource, q.MaxTokens = r.IntN(2000), metrics.TokensFromEstimate, 64
		fate := r.IntN(10)
		if fate == 0 { // dropped while it was held
			q.Failure, q.Done = metrics.Cancelled, q.Due+us(2_000_000)
			all = append(all, q)
			continue
		}
		q.Admitted = q.Due + us(1_500_000)
		q.Connect = time.Duration(aside.IntN(500)) * time.Microsecond
		mute := aside.IntN(8) // chunks before the answer: a role, reasoning
		if fate == 1 {
			q.Failure, q.Error, q.Done = metrics.FailedConnect, "connection refused", q.Admitted+us(1000)
			all = append(all, q)
			continue
		}
		q.Sent = q.Admitted + us(500)
		t := q.Sent + us(1_200_000)
		tokens := 0
		for k := range 1 + r.IntN(40) {
			c := metrics.Chunk{At: t, Tokens: int32(r.IntN(3)), Answer: k >= mute}
			if k == 0 && r.IntN(2) == 0 {
				c.Tokens = 0
			}
			tokens += int(c.Tokens)
			q.Add(c)
			t += us(150_000)
		}
		q.CountedChunks = aside.IntN(len(q.Chunks) + 1)
		q.Done = q.LastChunk + us(3000)
		switch fate {
		case 2:
			q.Failure, q.Error = metrics.FailedTruncated, "cut"
		case 3:
			q.Failure, q.Status, q.Error = metrics.FailedStatus, 503, fmt.Sprint("busy ", i)
			q.Chunks, q.FirstChunk, q.FirstToken, q.FirstAnswer, q.LastChunk = nil, metrics.Never, metrics.Never, metrics.Never, metrics.Never
		case 4:
			q.Failure = metrics.Cancelled
		default:
			q.InputTokens += 7
			q.OutputTokens, q.OutputSource = tokens+r.IntN(30), metrics.TokensFromUsage
			if q.CachedKnown = aside.IntN(3) > 0; q.CachedKnown {
				q.CachedTokens = aside.IntN(q.InputTokens + 1)
			}
			if aside.IntN(3) > 0 {
				q.ServerQueue = time.Duration(aside.IntN(300_000)) * time.Microsecond
			}
			if aside.IntN(3) > 0 {
				q.ServerPrefill = time.Duration(aside.IntN(300_000)) * time.Microsecond
			}
		}
		all = append(all, q)
	}
	return all
}

// play passes the events of requests to a view in order of time.
func play(rec *live.View, all []metrics.Request) {
	type moment struct {
		at time.Duration
		do func()
	}
	var story []moment
	for i := range all {
		final := all[i]
		q := metrics.NewRequest(final.Index)
		q.InputTokens = final.InputTokens
		if final.OK() {
			q.InputTokens -= 7 // the server's own count comes at the end
		}
		story = append(story, moment{final.Due, func() { q.Scheduled, q.Due = final.Scheduled, final.Due; eventtest.Step(rec, event.Due, &q) }})
		if final.Sent != metrics.Never {
			story = append(story, moment{final.Sent, func() {
				q.Admitted, q.Sent, q.Connect = final.Admitted, final.Sent, final.Connect
				eventtest.Step(rec, event.Sent, &q)
			}})
		}
		for i, c := range final.Chunks {
			story = append(story, moment{c.At, func() {
				q.Add(c)
				q.CountedChunks = min(i+1, final.CountedChunks)
				eventtest.Step(rec, event.Chunk, &q)
			}})
		}
		story = append(story, moment{final.Done, func() {
			q.End(final)
			eventtest.Step(rec, event.Done, &q)
		}})
	}
	slices.SortStableFunc(story, func(a, b moment) int { return int(a.at - b.at) })
	for i, m := range story {
		m.do()
		if i%37 == 0 { // a viewer on the way must not change the end
			rec.Snapshot()
		}
	}
}

func yield(all []metrics.Request) iter.Seq2[metrics.Request, error] {
	return func(yield func(metrics.Request, error) bool) {
		for _, q := range all {
			if !yield(q, nil) {
				return
			}
		}
	}
}

func compareHistograms(a, b metrics.Histogram) bool {
	x, _ := a.MarshalBinary()
	y, _ := b.MarshalBinary()
	return bytes.Equal(x, y)
}

// The live view and the report of the same requests agree.
func TestSnapshotEqualsReport(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			all := drawRun(seed, 150)
			plan := metrics.Plan{Percentiles: []float64{99}, Goodput: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 700}, {Metric: metrics.TPOT, LimitMS: 60}}}
			if seed%2 == 1 {
				plan.Warmup = 4 * time.Second
			}
			rec := live.NewView(time.Now(), &plan)
			play(rec, all)
			ended := slices.MaxFunc(all, func(a, b metrics.Request) int { return int(a.Done - b.Done) }).Done
			summary, err := report.Summarize(yield(all), metrics.Run{Plan: plan, End: metrics.End{Ended: ended}})
			if err != nil {
				t.Fatal(err)
			}
			rec.Finish(&summary)
			s := rec.Snapshot()
			if diff := cmp.Diff(summary.Timeline, s.Windows, cmp.Comparer(compareHistograms)); diff != "" {
				t.Errorf("seed %d: timeline (-report +snapshot):\n%s", seed, diff)
			}
			for l := range metrics.NumInWindow {
				a, b := summary.Histograms[l], s.Histograms[l]
				if a.Count() == 0 {
					t.Errorf("seed %d: no %s", seed, l.Naming().Title)
				}
				if !compareHistograms(a, b) {
					t.Errorf("seed %d: histograms of %s differ", seed, l.Naming().Title)
				}
			}
			met := s.Totals.Met
			met[metrics.E2EL] = summary.Completed
			got := metrics.Totals{Due: 150, Sent: s.Totals.Sent, Done: summary.Completed, Failed: summary.Failed,
				Cancelled: summary.Interrupted.Cancelled + summary.Interrupted.Unsent, WarmedUp: summary.WarmedUp,
				InputTokens: summary.InputTokens, OutputTokens: summary.OutputTokens, Cached: summary.Cached,
				MetCount: metrics.MetCount{Good: summary.Good, Met: met}}
			if n := got.Done + got.Failed + got.Cancelled + got.WarmedUp; n != 150 {
				t.Errorf("seed %d: %d requests ended, want 150", seed, n)
			}
			if warm := seed%2 == 1; warm != (summary.WarmedUp > 10) {
				t.Errorf("seed %d: %d requests of the warm-up", seed, summary.WarmedUp)
			}
			if got != s.Totals {
				t.Errorf("seed %d: report totals %+v, snapshot %+v", seed, got, s.Totals)
			}
			if diff := cmp.Diff(summary.Split, s.SplitOver(plan.Warmup, ended+time.Second)); diff != "" && plan.Warmup == 0 {
				t.Errorf("seed %d: split (-report +snapshot):\n%s", seed, diff)
			}
			if n := summary.Histograms[metrics.FirstAnswer].Count(); n != uint64(summary.Statistics[metrics.FirstAnswer].N) {
				t.Errorf("seed %d: %d first answers, the statistic has %d", seed, n, summary.Statistics[metrics.FirstAnswer].N)
			}
			if n := summary.Histograms[metrics.TokenITL].Count(); n != uint64(summary.Statistics[metrics.TokenITL].N) {
				t.Errorf("seed %d: %d per-token ITLs, the statistic has %d", seed, n, summary.Statistics[metrics.TokenITL].N)
			}
			if n := summary.Histograms[metrics.ScheduledLatency].Count(); n != uint64(summary.Statistics[metrics.ScheduledLatency].N) {
				t.Errorf("seed %d: %d scheduled latencies, the statistic has %d", seed, n, summary.Statistics[metrics.ScheduledLatency].N)
			}
			if s.PlannedGood != summary.Good {
				t.Errorf("seed %d: %d good by the plan, want %d", seed, s.PlannedGood, summary.Good)
			}
			if s.Held != 0 || s.Waiting != 0 || s.Running != 0 || !s.OutputExact {
				t.Errorf("seed %d: after the end: held %d, waiting %d, running %d, exact %v", seed, s.Held, s.Waiting, s.Running, s.OutputExact)
			}
			if diff := cmp.Diff(summary.Failures, s.Failures); diff != "" {
				t.Errorf("seed %d: failures (-report +snapshot):\n%s", seed, diff)
			}
		})
	}
}

func TestSummarizeDoesNotCareAboutOrder(t *testing.T) {
	all := drawRun(3, 400)
	plan := metrics.Plan{
		Percentiles: []float64{1, 50, 99, 99.9}, Goodput: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 500}, {Metric: metrics.TPOT, LimitMS: 60}}, Warmup: 2 * time.Second,
		Requests: 400, Ramp: &metrics.Ramp{Strategy: "linear", From: 5, To: 20},
		Gates: []metrics.Gate{{Metric: "p97.5_itl_ms", Op: ">", Limit: 1}},
	}
	run := metrics.Run{Plan: plan, End: metrics.End{Ended: time.Hour}}
	want, err := report.Summarize(yield(all), run)
	if err != nil {
		t.Fatal(err)
	}
	if len(want.FailedRequests) < 10 || len(want.Levels) < 5 || len(want.RateSteps) < 5 {
		t.Fatalf("%d errors, %d levels, %d steps: too few to compare", len(want.FailedRequests), len(want.Levels), len(want.RateSteps))
	}
	r := rand.New(rand.NewPCG(9, 9))
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	got, err := report.Summarize(yield(all), run)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(compareHistograms)); diff != "" {
		t.Errorf("(-in order +shuffled):\n%s", diff)
	}
}

// A snapshot does not change after it was taken.
func TestSnapshotIsImmutable(t *testing.T) {
	rec := live.NewView(time.Now(), &metrics.Plan{})
	all := drawRun(1, 60)
	play(rec, all[:30])
	s := rec.Snapshot()
	before := fmt.Sprint(s.Windows, slices.Collect(s.Histograms[metrics.TTFT].Buckets()), slices.Collect(s.Histograms[metrics.ITL].Buckets()), s.Failures)
	play(rec, all[30:])
	if after := fmt.Sprint(s.Windows, slices.Collect(s.Histograms[metrics.TTFT].Buckets()), slices.Collect(s.Histograms[metrics.ITL].Buckets()), s.Failures); before != after {
		t.Errorf("the snapshot changed from\n%s\nto\n%s", before, after)
	}
}

func TestTokensAreSpreadOverTheirSeconds(t *testing.T) {
	q := metrics.NewRequest(0)
	q.Scheduled, q.Due, q.Admitted, q.Sent = 0, 0, 0, 0
	for i := range 4 { // one chunk a second, counted as one token each; the server says ten in all
		q.Add(metrics.Chunk{At: time.Duration(i)*time.Second + 500*time.Millisecond, Tokens: 1})
	}
	q.OutputTokens, q.InputTokens, q.Done = 10, 33, 4*time.Second
	r, err := report.Summarize(yield([]metrics.Request{q}), metrics.Run{End: metrics.End{Ended: 4 * time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	var out, in []int
	for _, w := range r.Timeline[:4] {
		out, in = append(out, w.OutputTokens), append(in, w.InputTokens)
	}
	if want := []int{2, 3, 2, 3}; !slices.Equal(out, want) {
		t.Errorf("output tokens by second = %v, want %v", out, want)
	}
	if want := []int{33, 0, 0, 0}; !slices.Equal(in, want) {
		t.Errorf("input tokens by second = %v, want %v", in, want)
	}
}
