package live

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

// play passes the events of requests to a view in order of time.
func play(rec *View, all []metrics.Request) {
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
		story = append(story, moment{final.Due, func() {
			q.Scheduled, q.Due = final.Scheduled, final.Due
			rec.Take(&event.Event{Kind: event.Due, Request: &q})
		}})
		if final.Sent != metrics.Never {
			story = append(story, moment{final.Sent, func() {
				q.Admitted, q.Sent, q.Connect = final.Admitted, final.Sent, final.Connect
				rec.Take(&event.Event{Kind: event.Sent, Request: &q})
			}})
		}
		for _, c := range final.Chunks {
			story = append(story, moment{c.At, func() { q.Add(c); rec.Take(&event.Event{Kind: event.Chunk, Request: &q}) }})
		}
		story = append(story, moment{final.Done, func() {
			q.End(final)
			rec.Take(&event.Event{Kind: event.Done, Request: &q})
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

func lastDone(all []metrics.Request) time.Duration {
	var last time.Duration
	for i := range all {
		last = max(last, all[i].Done)
	}
	return last
}

// again passes the events of a past run to a view in order of time, until a moment.
func again(rec *View, all []metrics.Request, until time.Duration) {
	type moment struct {
		at time.Duration
		do func()
	}
	var story []moment
	for i := range all {
		as := &all[i]
		q := metrics.NewRequest(as.Index)
		q.Scheduled, q.Due, q.InputTokens = as.Scheduled, as.Due, as.InputTokens
		story = append(story, moment{as.Due, func() { rec.Take(&event.Event{Kind: event.Due, Request: &q}) }})
		if as.Sent != metrics.Never {
			story = append(story, moment{as.Sent, func() {
				q.Admitted, q.Sent, q.Connect = as.Admitted, as.Sent, as.Connect
				rec.Take(&event.Event{Kind: event.Sent, Request: &q})
			}})
		}
		for _, c := range as.Chunks {
			story = append(story, moment{c.At, func() {
				q.Add(c)
				if as.FirstAnswer == c.At {
					q.FirstAnswer = c.At
				}
				rec.Take(&event.Event{Kind: event.Chunk, Request: &q})
			}})
		}
		story = append(story, moment{as.Done, func() { q.End(*as); rec.Take(&event.Event{Kind: event.Done, Request: &q}) }})
	}
	slices.SortStableFunc(story, func(a, b moment) int { return int(a.at - b.at) })
	for _, m := range story {
		if m.at <= until {
			m.do()
		}
	}
}

func compareHistograms(a, b metrics.Histogram) bool {
	x, _ := a.MarshalBinary()
	y, _ := b.MarshalBinary()
	return bytes.Equal(x, y)
}

func gates(t *testing.T, texts ...string) []metrics.Gate {
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

func yield(all []metrics.Request) iter.Seq2[metrics.Request, error] {
	return func(yield func(metrics.Request, error) bool) {
		for _, q := range all {
			if !yield(q, nil) {
				return
			}
		}
	}
}
