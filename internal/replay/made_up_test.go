package replay

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/live"
)

// drawRun makes up a run of that length: requests of every fate, with the client, the server and the accelerators
// looked at each second, and objectives and load set on the way.
func drawRun(seed uint64, n int, length time.Duration) (metrics.Run, []metrics.Request) {
	r := rand.New(rand.NewPCG(seed, 1))
	us := func(most time.Duration) time.Duration {
		return time.Duration(r.Int64N(int64(most/time.Microsecond))) * time.Microsecond
	}
	var all []metrics.Request
	for i := range n {
		q := metrics.NewRequest(i)
		q.ID, q.Model, q.Turn = fmt.Sprint("r-", i), []string{"", "a"}[r.IntN(2)], r.IntN(2)
		q.Scheduled = us(length * 9 / 10)
		q.Due = q.Scheduled + us(300*time.Microsecond)
		q.InputTokens, q.InputSource, q.MaxTokens = r.IntN(2000), metrics.TokensFromUsage, 64
		q.DatasetTokens = q.InputTokens
		fate := r.IntN(12)
		q.Admitted = q.Due + us(time.Second)
		switch fate {
		case 0: // dropped while it was held
			q.Admitted = metrics.Never
			q.Failure, q.Done = metrics.Cancelled, q.Due+us(time.Second)
			all = append(all, q)
			continue
		case 1:
			q.Failure, q.Error, q.Done = metrics.FailedConnect, "connection refused", q.Admitted+us(time.Millisecond)
			all = append(all, q)
			continue
		}
		q.Encode, q.Connect = us(time.Millisecond), us(time.Millisecond)
		q.Sent = q.Admitted + q.Encode + q.Connect
		q.Tallies[metrics.Redials] = r.IntN(20) / 19
		at, tokens := q.Sent+us(time.Second), 0
		for range 1 + r.IntN(30) {
			c := metrics.Chunk{At: at, Tokens: int32(r.IntN(3)), Answer: r.IntN(4) > 0}
			tokens += int(c.Tokens)
			q.Add(c)
			at += us(60 * time.Millisecond)
		}
		q.Done = q.LastChunk + us(3*time.Millisecond)
		q.ServerQueue, q.ServerPrefill = us(time.Second), us(time.Second)
		q.CachedTokens, q.Finish = r.IntN(100), "length"
		q.Audio = us(time.Minute)
		q.OutputTokens, q.OutputSource = tokens+r.IntN(9), metrics.TokensFromUsage
		switch fate {
		case 2:
			q.Failure, q.Error = metrics.FailedTruncated, "cut"
		case 3:
			q.Failure, q.Status, q.Error = metrics.FailedStatus, 503, fmt.Sprint("busy ", i)
			q.Chunks, q.FirstChunk, q.FirstToken, q.FirstAnswer, q.LastChunk = nil, metrics.Never, metrics.Never,
				metrics.Never, metrics.Never
		case 4:
			q.Failure = metrics.Cancelled
		}
		all = append(all, q)
	}
	slices.SortFunc(all, func(a, b metrics.Request) int { return int(a.Done - b.Done) }) // as a journal has them
	run := metrics.Run{End: metrics.End{Ended: length},
		Telemetry: metrics.Telemetry{ServerKind: "vLLM", GPUsAbsent: "no tool", ServerAbsent: "gone"}}
	run.Plan = metrics.Plan{
		Percentiles: []float64{99}, Warmup: length / 10, Timestamps: metrics.KernelStamps, Requests: n, Rate: 10,
		Goodput: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 700}, {Metric: metrics.TPOT, LimitMS: 60}},
	}
	slo := metrics.SLO{{Metric: metrics.TTFT, LimitMS: 300}}
	run.Events = []metrics.LogEntry{
		{At: length / 3, Level: metrics.Info, Text: "stage", Mark: "stage 2"},
		{At: length / 2, Level: metrics.Info, Text: "objectives", Objectives: &slo},
		{At: length * 2 / 3, Level: metrics.Info, Text: "set", Mark: "20/s",
			Set: &metrics.LoadSetting{Load: metrics.Load{Value: 20}, By: metrics.ByUser}},
	}
	for at := time.Second; at <= length; at += time.Second {
		run.Client = append(run.Client, metrics.ClientSecond{At: at, Took: time.Second, CPU: r.Float64(), Cores: 2,
			DelayP50: us(time.Millisecond), DelayP99: 2 * time.Millisecond, DelayMax: 3 * time.Millisecond})
		if at < length/2 {
			run.Server = append(run.Server,
				metrics.ServerSecond{At: at, Took: time.Second, Running: r.Float64(), KVUsage: metrics.Unsaid()})
		}
		run.GPUs = append(run.GPUs,
			metrics.GPUSecond{At: at, Took: time.Second, GPUs: []metrics.GPU{{Name: "X", Power: 300 * r.Float64()}}})
	}
	return run, all
}

// shownOf is what a live view showed when the run was on, moment by moment, at the given times.
func shownOf(t *testing.T, run metrics.Run, all []metrics.Request, look metrics.Inspection,
	times []time.Duration) (shown []metrics.Snapshot) {
	t.Helper()
	// on a busy machine an answer would rest
	synctest.Test(t, func(*testing.T) { shown = shownInTime(run, all, look, times) })
	return shown
}

func shownInTime(run metrics.Run, all []metrics.Request, look metrics.Inspection,
	times []time.Duration) (shown []metrics.Snapshot) {
	type moment struct {
		at time.Duration
		do func()
	}
	view := live.NewView(time.Now(), &run.Plan)
	view.Inspect(look)
	var story []moment
	tell := func(at time.Duration, do func()) { story = append(story, moment{at, do}) }
	for _, e := range eventtest.Facts(run) {
		tell(e.At, func() { view.Take(&e) })
	}
	for i := range all {
		past := &all[i]
		q := new(metrics.Request)
		*q = *past
		q.Chunks, q.Failure, q.Status, q.Error, q.OutputTokens, q.CachedTokens = nil, "", 0, "", 0, 0
		q.Due, q.Admitted, q.Sent, q.Done = metrics.Never, metrics.Never, metrics.Never, metrics.Never
		q.FirstChunk, q.FirstToken, q.FirstAnswer, q.LastChunk = metrics.Never, metrics.Never, metrics.Never,
			metrics.Never
		q.ServerQueue, q.ServerPrefill, q.Finish, q.OutputSource = metrics.Never, metrics.Never, "", ""
		tell(past.Due, func() { q.Due = past.Due; eventtest.Step(view, event.Due, q) })
		if past.Sent != metrics.Never {
			tell(past.Sent,
				func() { q.Admitted, q.Sent = past.Admitted, past.Sent; eventtest.Step(view, event.Sent, q) })
		}
		for _, c := range past.Chunks {
			tell(c.At, func() { q.Add(c); q.ReadDelay = time.Millisecond; eventtest.Step(view, event.Chunk, q) })
		}
		tell(past.Done, func() {
			q.Admitted, q.Done, q.Failure, q.Status, q.Error = past.Admitted, past.Done, past.Failure, past.Status,
				past.Error
			q.OutputTokens, q.OutputSource, q.CachedTokens = past.OutputTokens, past.OutputSource, past.CachedTokens
			q.ServerQueue, q.ServerPrefill, q.Finish = past.ServerQueue, past.ServerPrefill, past.Finish
			eventtest.Step(view, event.Done, q)
		})
	}
	slices.SortStableFunc(story, func(a, b moment) int { return int(a.at - b.at) })
	for _, at := range times {
		for len(story) > 0 && story[0].at <= at {
			story[0].do()
			story = story[1:]
		}
		view.JudgeAt(at)
		shown = append(shown, view.SnapshotAt(at))
	}
	return shown
}

// same compares snapshots but for what says that one is a replay, and what the client saw of its reads.
func same(was, is metrics.Snapshot) string {
	was.Replay, is.Replay = nil, nil
	was.Client, is.Client = nil, nil
	was.Verdict, is.Verdict, was.Recent, is.Recent = metrics.Verdict{}, metrics.Verdict{}, metrics.Verdict{},
		metrics.Verdict{}
	return difference(was, is)
}

// difference compares what a view shows, with histograms by their buckets.
func difference(was, is any) string {
	return cmp.Diff(was, is, cmp.Comparer(func(a, b metrics.Histogram) bool {
		return a.Count() == b.Count() && slices.Equal(slices.Collect(a.Buckets()), slices.Collect(b.Buckets()))
	}), cmp.Comparer(func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }))
}

// playing runs f with a player that stands still at the beginning, in virtual time, and waits for its end.
func playing(t *testing.T, run metrics.Run, all []metrics.Request, f func(p *Player, next func() metrics.Snapshot)) {
	t.Helper()
	playingEvents(t, eventtest.Of(run, eventtest.Each(all)), f)
}

func playingEvents(t *testing.T, events event.Events, f func(p *Player, next func() metrics.Snapshot)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p, err := New(events)
		assert.Fine(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		shown := p.Run(ctx)
		f(p, func() metrics.Snapshot {
			synctest.Wait()
			s, ok := <-shown
			if !ok {
				t.Fatal("the channel is closed")
			}
			return s
		})
		cancel()
		for range shown {
		}
	})
}
