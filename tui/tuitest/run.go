package tuitest

import (
	"container/heap"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/event/eventtest"
	liveview "benchtop/metrics/live"
	"benchtop/metrics/report"
)

// RampPlan is of a run that climbs from 4 to 80 requests per second within a minute against a server that is full at
// about 48: first requests wait at the server, then, when 160 are in flight, in the client.
func RampPlan() *metrics.Plan {
	return &metrics.Plan{
		BaseURL: "http://127.0.0.1:8000", Backend: "openai-chat", ModelID: "Qwen/Qwen3-32B", Dataset: "sharegpt 10k",
		Load: "ramp 4→80 req/s over 60s, at most 160", Duration: 2 * time.Minute, Rate: 80, MaxConcurrency: 160,
		Ramp:        &metrics.Ramp{Strategy: "linear", From: 4, To: 80, Over: time.Minute},
		Percentiles: []float64{90, 95, 99},
	}
}

// Times are when places will be free, as a heap.
type Times []time.Duration

func (t Times) Len() int { return len(t) }

func (t Times) Less(i, j int) bool { return t[i] < t[j] }

func (t Times) Swap(i, j int) { t[i], t[j] = t[j], t[i] }

func (t *Times) Push(x any) { *t = append(*t, x.(time.Duration)) }

func (t *Times) Pop() any { o := *t; x := o[len(o)-1]; *t = o[:len(o)-1]; return x }

// Free is when one of n places is free for a request that comes at a moment.
func (t *Times) Free(at time.Duration, n int) time.Duration {
	for t.Len() > 0 && (*t)[0] <= at {
		heap.Pop(t)
	}
	if t.Len() < n {
		return at
	}
	return heap.Pop(t).(time.Duration)
}

// RampRequests returns the requests that are due before the end, finished, with all their chunks.
func RampRequests(end time.Duration, failures bool) []*metrics.Request {
	const slots, limit = 96, 160
	rnd := rand.New(rand.NewPCG(1, 2))
	plan := RampPlan()
	var out []*metrics.Request
	var flying, running Times
	for at := time.Duration(0); at < end; {
		at += time.Duration(rnd.ExpFloat64() / plan.Target(at) * float64(time.Second)).Round(time.Microsecond)
		q := metrics.NewRequest(len(out))
		q.Scheduled, q.Due = at, at
		q.Sent = flying.Free(at, limit)
		q.Admitted = q.Sent
		q.InputTokens, q.InputSource = int(80+200*math.Exp(0.6*rnd.NormFloat64())), metrics.TokensFromIDs
		prefill := time.Duration(30*math.Exp(0.35*rnd.NormFloat64())) * time.Millisecond
		begin := running.Free(q.Sent, slots)
		share := float64(running.Len()) / slots
		now := begin + prefill + time.Duration(float64(60*time.Millisecond)*share*rnd.Float64())
		n := 16 + rnd.IntN(64)
		for i := range n {
			if i > 0 {
				gap := (11 + 28*share) * math.Exp(0.12*rnd.NormFloat64())
				if rnd.IntN(40) == 0 {
					gap *= 2.5
				}
				now += time.Duration(gap * float64(time.Millisecond))
			}
			q.Add(metrics.Chunk{At: now.Round(time.Microsecond), Tokens: 1, Answer: true})
		}
		q.Done = now.Round(time.Microsecond)
		q.OutputTokens, q.OutputSource = n, metrics.TokensFromChunks
		if q.Finish = "stop"; n >= 48 {
			q.Finish = "length"
		}
		if k := rnd.IntN(250); failures && k < 3 && at > 15*time.Second {
			fail(&q, k)
		}
		heap.Push(&flying, q.Done)
		heap.Push(&running, q.Done)
		out = append(out, &q)
	}
	return out
}

func fail(q *metrics.Request, how int) {
	switch how {
	case 0:
		q.Failure, q.Status, q.Error = metrics.FailedStatus, 503, "overloaded: the waiting queue is full"
		q.Chunks, q.FirstChunk, q.FirstToken, q.FirstAnswer, q.LastChunk = nil, metrics.Never, metrics.Never,
			metrics.Never, metrics.Never
		q.Done = q.Sent + 12*time.Millisecond
	case 1:
		q.Failure, q.Error = metrics.FailedTruncated, "stream ended after 212 tokens without [DONE]"
	default:
		q.Failure, q.Error = metrics.FailedStall, "nothing arrived for 60s"
	}
}

// Play gives a view the events of requests until a moment.
func Play(view *liveview.View, all []*metrics.Request, until time.Duration) {
	values := make([]metrics.Request, len(all))
	for i, q := range all {
		values[i] = *q
	}
	eventtest.Again(view, values, until)
}

// each yields requests as a journal does.
func each(all []*metrics.Request) iter.Seq2[metrics.Request, error] {
	return func(yield func(metrics.Request, error) bool) {
		for _, q := range all {
			if !yield(*q, nil) {
				return
			}
		}
	}
}

// Reasons as a verdict gives them.
var (
	Late     = []string{"p99 send delay 31ms", "CPU full for 3 of 5 s"}
	Together = []string{"1.3% of chunks coalesced before read"}
)

// Sampled gives a snapshot the samples of its seconds, and verdicts on the whole run and on its last seconds.
func Sampled(s metrics.Snapshot, whole, recent []string) metrics.Snapshot {
	s.Client = nil
	for at := time.Second; at <= s.At; at += time.Second {
		s.Client = append(s.Client, metrics.ClientSecond{
			At: at, Took: time.Second, CPU: 0.4, Cores: 8, Sched: 40 * time.Microsecond, Memory: 96 << 20, Sockets: 160,
			Sent: 40, LateP99: 80 * time.Microsecond, LateMax: time.Millisecond,
			Chunks: 2000, DelayP50: 9 * time.Microsecond, DelayP99: 120 * time.Microsecond,
			DelayMax: 2 * time.Millisecond,
		})
	}
	s.Verdict, s.Recent = metrics.Verdict{Why: whole}, metrics.Verdict{Why: recent}
	if s.Report != nil {
		r := *s.Report
		r.Client = metrics.Client{Verdict: s.Verdict, Source: metrics.KernelStamps, Seconds: s.Client}
		r.Client.Stamps.Chunks, r.Client.CPU, r.Client.Cores = 2000*len(s.Client), 0.4, 8
		r.Statistics[metrics.OwnLateness] = metrics.Statistic{N: 40 * len(s.Client), Max: 1,
			Percentiles: []metrics.Percentile{{P: 99, Value: 0.08}}}
		s.Report = &r
	}
	return s
}

// Judge gives a snapshot objectives, gates, stages with their marks and a warm-up, and successes that keep the
// objectives ever less often.
func Judge(s metrics.Snapshot) metrics.Snapshot {
	plan := *s.Plan
	plan.Goodput = metrics.SLO{{Metric: metrics.TTFT, LimitMS: 500}, {Metric: metrics.TPOT, LimitMS: 40}}
	plan.Gates = []metrics.Gate{
		{Metric: "goodput", Op: "<", Limit: 0.9, Percent: true}, {Metric: "p99_ttft_ms", Op: ">", Limit: 2000},
	}
	plan.Load = "stages 16, 32, 48, 64, 80 req/s"
	plan.Warmup = 10 * time.Second
	s.Marks = nil
	if s.At >= plan.Warmup {
		s.Marks = append(s.Marks, metrics.LogEntry{At: plan.Warmup, Mark: "warm-up over"})
	}
	for i := range 5 {
		const length = 15 * time.Second
		stage := metrics.Stage{Start: time.Duration(i) * length, Length: length,
			Load: metrics.Load{Value: float64(16 * (i + 1))}}
		plan.Stages = append(plan.Stages, stage)
		if i > 0 && s.At >= stage.Start {
			s.Marks = append(s.Marks, metrics.LogEntry{At: stage.Start, Mark: fmt.Sprintf("stage %d", i+1)})
		}
	}
	s.Plan = &plan
	s.Windows = metrics.Each(s.Windows, (*metrics.Window).Clone)
	t := &s.Totals
	t.Good, t.Met[metrics.TTFT], t.Met[metrics.TPOT], t.Met[metrics.E2EL] = 0, 0, 0, 0
	for i := range s.Windows {
		w := s.Windows[i]
		w.Met[metrics.TTFT], w.Met[metrics.TPOT], w.Met[metrics.E2EL] = w.Completed, w.Completed*49/50, w.Completed
		if i > 45 {
			w.Met[metrics.TTFT] = w.Completed / 2
		}
		w.Good = min(w.Met[metrics.TTFT], w.Met[metrics.TPOT])
		t.Good, t.Met[metrics.TTFT] = t.Good+w.Good, t.Met[metrics.TTFT]+w.Met[metrics.TTFT]
		t.Met[metrics.TPOT], t.Met[metrics.E2EL] = t.Met[metrics.TPOT]+w.Met[metrics.TPOT],
			t.Met[metrics.E2EL]+w.Met[metrics.E2EL]
	}
	if s.At < plan.Warmup { // all of it was warm-up
		t.WarmedUp = t.Completed + t.Failed + t.Cancelled
		*t = metrics.Counts{Due: t.Due, Sent: t.Sent, WarmedUp: t.WarmedUp}
		for _, l := range mainLatencies {
			s.Histograms[l] = metrics.Histogram{}
		}
	}
	if s.Report != nil {
		r := *s.Report
		r.Plan = plan
		good := float64(t.Good) / float64(t.Completed+t.Failed)
		r.Gates = []metrics.GateResult{
			{Gate: plan.Gates[0], Value: good, Known: true, Missed: good < 0.9},
			{Gate: plan.Gates[1], Value: 1566.4, Known: true},
		}
		s.Report = &r
	}
	return s
}

// Pooled is a run whose answers come in one piece: 8 requests a second of 100 tokens, 250 ms each.
func Pooled(finished bool) metrics.Snapshot {
	const end = 20 * time.Second
	plan := metrics.Plan{Backend: "openai-embeddings", Pooling: true, ModelID: "org/E", Load: "8 req/s", Rate: 8,
		Percentiles: []float64{99},
		Goodput:     metrics.SLO{{Metric: metrics.E2EL, LimitMS: 500}}}
	rec := liveview.NewView(time.Now().Add(-end), &plan)
	var all []*metrics.Request
	for i := range 150 {
		q := metrics.NewRequest(i)
		q.Scheduled = time.Duration(i) * time.Second / 8
		q.Due, q.Admitted, q.Sent = q.Scheduled, q.Scheduled, q.Scheduled
		q.InputTokens, q.InputSource = 100, metrics.TokensFromUsage
		q.Add(metrics.Chunk{At: q.Sent + 250*time.Millisecond})
		q.Done = q.LastChunk
		all = append(all, &q)
	}
	Play(rec, all, end)
	if finished {
		report, err := report.Summarize(each(all), metrics.Run{Plan: plan, End: metrics.End{Ended: end}})
		if err != nil {
			panic(err)
		}
		rec.Finish(&report)
	}
	return rec.SnapshotAt(end)
}
