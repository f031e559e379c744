package eventtest

import (
	"bytes"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/event"
)

// Each yields requests as a journal does.
func Each(all []metrics.Request) iter.Seq2[metrics.Request, error] {
	return func(yield func(metrics.Request, error) bool) {
		for _, q := range all {
			if !yield(q, nil) {
				return
			}
		}
	}
}

// Simple is a success that is sent at a moment, with a TTFT and equal gaps.
func Simple(index int, sent, ttft, gap time.Duration, tokens int) metrics.Request {
	q := metrics.NewRequest(index)
	q.Scheduled, q.Due, q.Admitted, q.Sent = sent, sent, sent, sent
	for i := range tokens {
		q.Add(metrics.Chunk{At: sent + ttft + gap*time.Duration(i), Tokens: 1})
	}
	q.InputTokens, q.OutputTokens, q.Done = 10, tokens, q.LastChunk
	return q
}

// Busy is a request that the server refuses with the status 503.
func Busy(index int, sent time.Duration, words string) metrics.Request {
	q := metrics.NewRequest(index)
	q.Scheduled, q.Due, q.Admitted, q.Sent = sent, sent, sent, sent
	q.Failure, q.Status, q.Error, q.Done = metrics.FailedStatus, 503, words, sent+time.Millisecond
	return q
}

// DrawRun makes up a run with successes, failures of every stage, held, cancelled and abandoned requests, and retries.
func DrawRun(seed uint64, n int) []metrics.Request {
	r := rand.New(rand.NewPCG(seed, 1))
	aside, habits := rand.New(rand.NewPCG(seed, 2)), rand.New(rand.NewPCG(seed, 3))
	var all []metrics.Request
	at := time.Duration(0)
	for i := range n {
		q := metrics.NewRequest(i)
		at += upTo(r, 200_000)
		q.Scheduled, q.Due = at, at+upTo(r, 300)
		q.InputTokens, q.InputSource, q.MaxTokens = r.IntN(2000), metrics.TokensFromEstimate, 64
		fate := r.IntN(10)
		if fate == 0 { // dropped while it was held
			q.Failure, q.Done = metrics.Cancelled, q.Due+upTo(r, 2_000_000)
			all = append(all, q)
			continue
		}
		q.Admitted = q.Due + upTo(r, 1_500_000)
		q.Connect = upTo(aside, 500)
		mute := aside.IntN(8) // chunks before the answer: a role, reasoning
		if fate == 1 {
			q.Failure, q.Error, q.Done = metrics.FailedConnect, "connection refused", q.Admitted+upTo(r, 1000)
			all = append(all, q)
			continue
		}
		q.Sent = q.Admitted + upTo(r, 500)
		t := q.Sent + upTo(r, 1_200_000)
		tokens := 0
		for k := range 1 + r.IntN(40) {
			c := metrics.Chunk{At: t, Tokens: int32(r.IntN(3)), Answer: k >= mute}
			if k == 0 && r.IntN(2) == 0 {
				c.Tokens = 0
			}
			tokens += int(c.Tokens)
			q.Add(c)
			t += upTo(r, 150_000)
		}
		q.CountedChunks = aside.IntN(len(q.Chunks) + 1)
		q.Done = q.LastChunk + upTo(r, 3000)
		switch fate {
		case 2:
			q.Failure, q.Error = metrics.FailedTruncated, "cut"
		case 3:
			q.Failure, q.Status, q.Error = metrics.FailedStatus, 503, fmt.Sprint("busy ", i)
			q.Chunks, q.FirstChunk, q.FirstToken, q.FirstAnswer, q.LastChunk = nil, metrics.Never, metrics.Never,
				metrics.Never, metrics.Never
		case 4:
			q.Failure = metrics.Cancelled
		default:
			q.InputTokens += 7
			q.OutputTokens, q.OutputSource = tokens+r.IntN(30), metrics.TokensFromUsage
			drawUsage(&q, aside)
		}
		drawHabits(&q, tokens, habits)
		all = append(all, q)
	}
	return all
}

// drawHabits has the users of some cancelled requests leave, and some users try again.
func drawHabits(q *metrics.Request, tokens int, r *rand.Rand) {
	if leaves := r.IntN(2) == 0; leaves && q.Failure == metrics.Cancelled {
		if q.Failure, q.OutputTokens = metrics.Abandoned, tokens; r.IntN(3) == 0 {
			q.Chunks, q.FirstChunk, q.FirstToken, q.FirstAnswer, q.LastChunk, q.OutputTokens = nil, metrics.Never,
				metrics.Never, metrics.Never, metrics.Never, 0
		}
	}
	if again := r.IntN(4) == 0; again {
		q.Tallies[metrics.TooManyRequests+r.IntN(3)] = 1 + r.IntN(3)
		q.LastTry = q.Sent
		if len(q.Chunks) > 0 {
			q.LastTry += ((q.FirstChunk - q.Sent) / 2).Truncate(time.Microsecond)
		}
	}
}

// drawUsage makes up what a server may say at the end of an answer.
func drawUsage(q *metrics.Request, r *rand.Rand) {
	if q.CachedKnown = r.IntN(3) > 0; q.CachedKnown {
		q.CachedTokens = r.IntN(q.InputTokens + 1)
	}
	for _, of := range []*time.Duration{&q.ServerQueue, &q.ServerPrefill} {
		if r.IntN(3) > 0 {
			*of = upTo(r, 300_000)
		}
	}
}

// upTo is a time of up to so many microseconds.
func upTo(r *rand.Rand, most int) time.Duration {
	return time.Duration(r.IntN(most)) * time.Microsecond
}

// moment is an event of a request, to be passed on.
type moment struct {
	at   time.Duration
	pass func()
}

// story has the events of requests in order of time. Successes count so many tokens fewer in their prompts until they
// end.
func story(sink event.Sink, all []metrics.Request, fewer int) []moment {
	var story []moment
	for i := range all {
		as := &all[i]
		q := metrics.NewRequest(as.Index)
		q.Class, q.Conversation, q.Turn, q.Turns = as.Class, as.Conversation, as.Turn, as.Turns
		q.ID, q.Model, q.InputSource = as.ID, as.Model, as.InputSource
		if q.InputTokens = as.InputTokens; as.OK() {
			q.InputTokens -= fewer
		}
		story = append(story,
			moment{as.Due, func() { q.Scheduled, q.Due = as.Scheduled, as.Due; Step(sink, event.Due, &q) }})
		if as.Sent != metrics.Never {
			story = append(story, moment{as.Sent, func() {
				q.Admitted, q.Sent, q.Connect = as.Admitted, as.Sent, as.Connect
				q.Tallies, q.LastTry = as.Tallies, as.LastTry
				Step(sink, event.Sent, &q)
			}})
		}
		for i, c := range as.Chunks {
			story = append(story, moment{c.At, func() {
				q.Served = as.Served
				q.Add(c)
				q.CountedChunks = min(i+1, as.CountedChunks)
				if as.FirstAnswer == c.At {
					q.FirstAnswer = c.At
				}
				Step(sink, event.Chunk, &q)
			}})
		}
		story = append(story, moment{as.Done, func() { q.End(*as); Step(sink, event.Done, &q) }})
	}
	slices.SortStableFunc(story, func(a, b moment) int { return int(a.at - b.at) })
	return story
}

// Play passes the events of requests to a view in order of time. The server counts the tokens of prompts at the end.
func Play(rec interface {
	event.Sink
	Snapshot() metrics.Snapshot
}, all []metrics.Request) {
	for i, m := range story(rec, all, 7) {
		m.pass()
		if i%37 == 0 { // a viewer on the way must not change the end
			rec.Snapshot()
		}
	}
}

// Again passes the events of a past run to a sink in order of time, until a moment.
func Again(sink event.Sink, all []metrics.Request, until time.Duration) {
	for _, m := range story(sink, all, 0) {
		if m.at <= until {
			m.pass()
		}
	}
}

// LastDone is the end of the last request.
func LastDone(all []metrics.Request) time.Duration {
	var last time.Duration
	for i := range all {
		last = max(last, all[i].Done)
	}
	return last
}

// SameHistogram reports whether two histograms are equal.
func SameHistogram(a, b metrics.Histogram) bool {
	x, _ := a.MarshalBinary()
	y, _ := b.MarshalBinary()
	return bytes.Equal(x, y)
}

// Gates reads gates.
func Gates(t *testing.T, texts ...string) []metrics.Gate {
	t.Helper()
	var all []metrics.Gate
	for _, text := range texts {
		g, err := metrics.ParseGate(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, g)
	}
	return all
}
