package tui

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"time"

	"benchtop/metrics"
	liveview "benchtop/metrics/live"
)

// ramp is a run that climbs from 4 to 80 requests per second within a minute against a server that is full at about 48:
// first requests wait at the server, then, when 160 are in flight, in the client.
func rampPlan() *metrics.Plan {
	return &metrics.Plan{
		BaseURL: "http://127.0.0.1:8000", Backend: "openai-chat", ModelID: "Qwen/Qwen3-32B", Dataset: "sharegpt 10k",
		Load: "ramp 4→80 req/s over 60s, at most 160", Duration: 2 * time.Minute, Rate: 80, MaxConcurrency: 160,
		Ramp:        &metrics.Ramp{Strategy: "linear", From: 4, To: 80, Over: time.Minute},
		Percentiles: []float64{90, 95, 99},
	}
}

type times []time.Duration

func (t times) Len() int           { return len(t) }
func (t times) Less(i, j int) bool { return t[i] < t[j] }
func (t times) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }
func (t *times) Push(x any)        { *t = append(*t, x.(time.Duration)) }
func (t *times) Pop() any          { o := *t; x := o[len(o)-1]; *t = o[:len(o)-1]; return x }

// free is when a place is free for someone who comes at a moment, with n places.
func (t *times) free(at time.Duration, n int) time.Duration {
	for t.Len() > 0 && (*t)[0] <= at {
		heap.Pop(t)
	}
	if t.Len() < n {
		return at
	}
	return heap.Pop(t).(time.Duration)
}

// rampRequests returns the requests that are due before the end, finished, with all their chunks.
func rampRequests(end time.Duration, failures bool) []*metrics.Request {
	const slots, limit = 96, 160
	rnd := rand.New(rand.NewPCG(1, 2))
	plan := rampPlan()
	var out []*metrics.Request
	var flying, running times
	for at := time.Duration(0); at < end; {
		at += time.Duration(rnd.ExpFloat64() / plan.Target(at) * float64(time.Second)).Round(time.Microsecond)
		q := metrics.NewRequest(len(out))
		q.Scheduled, q.Due = at, at
		q.Sent = flying.free(at, limit)
		q.Admitted = q.Sent
		q.InputTokens, q.InputSource = int(80+200*math.Exp(0.6*rnd.NormFloat64())), metrics.TokensFromIDs
		prefill := time.Duration(30*math.Exp(0.35*rnd.NormFloat64())) * time.Millisecond
		begin := running.free(q.Sent, slots)
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
		q.Chunks, q.FirstChunk, q.FirstToken, q.FirstAnswer, q.LastChunk = nil, metrics.Never, metrics.Never, metrics.Never, metrics.Never
		q.Done = q.Sent + 12*time.Millisecond
	case 1:
		q.Failure, q.Error = metrics.FailedTruncated, "stream ended after 212 tokens without [DONE]"
	default:
		q.Failure, q.Error = metrics.FailedStall, "nothing arrived for 60s"
	}
}

// play tells a recorder what of the requests has happened by a moment.
func play(rec *liveview.View, all []*metrics.Request, by time.Duration) {
	for _, r := range all {
		q := metrics.NewRequest(r.Index)
		q.Scheduled, q.InputTokens, q.InputSource = r.Scheduled, r.InputTokens, r.InputSource
		if r.Due > by {
			continue
		}
		q.Due = r.Due
		rec.Due(&q)
		if r.Sent > by {
			continue
		}
		q.Admitted, q.Sent = r.Admitted, r.Sent
		rec.Sent(&q)
		for _, c := range r.Chunks {
			if c.At > by {
				break
			}
			q.Add(c)
			rec.Chunk(&q)
		}
		if r.Done > by {
			continue
		}
		q.Done, q.Failure, q.Status, q.Error = r.Done, r.Failure, r.Status, r.Error
		q.OutputTokens, q.OutputSource = len(q.Chunks), r.OutputSource
		rec.Done(&q)
	}
}
