package saturation_test

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"time"

	"benchtop/metrics"
)

func yield(all []metrics.Request) iter.Seq2[metrics.Request, error] {
	return func(yield func(metrics.Request, error) bool) {
		for _, q := range all {
			if !yield(q, nil) {
				return
			}
		}
	}
}

// simple is a success that is sent at a moment, with a TTFT and equal gaps.
func simple(index int, sent, ttft, gap time.Duration, tokens int) metrics.Request {
	q := metrics.NewRequest(index)
	q.Scheduled, q.Due, q.Admitted, q.Sent = sent, sent, sent, sent
	for i := range tokens {
		q.Add(metrics.Chunk{At: sent + ttft + gap*time.Duration(i), Tokens: 1})
	}
	q.InputTokens, q.OutputTokens, q.Done = 10, tokens, q.LastChunk
	return q
}

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
