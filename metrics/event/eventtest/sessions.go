package eventtest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"benchtop/metrics"
)

// DrawSessions makes up a run of conversations in classes, from requests of DrawRun: some have one turn, some many,
// some run several turns at once. A conversation ends with its first turn that is no success. Turns after the first are
// mostly in the prefix cache.
func DrawSessions(seed uint64, conversations int) []metrics.Request {
	r := rand.New(rand.NewPCG(seed, 3))
	pool := DrawRun(seed, 40*conversations)
	var all []metrics.Request
	for c := range conversations {
		turns := 1 + r.IntN(3)*r.IntN(20)
		at := time.Duration(r.IntN(20_000)) * time.Millisecond
		for turn := range turns {
			q := pool[40*c+turn]
			if q.Failure != "" && r.IntN(4) > 0 {
				q = Simple(0, time.Second, 50*time.Millisecond, 10*time.Millisecond, 20)
			}
			shift(&q, at-q.Due)
			q.Index, q.Conversation, q.Turn, q.Turns = len(all), c, turn, turns
			if q.Class = ""; c%4 > 0 {
				q.Class = fmt.Sprint("class ", c%4)
			}
			if q.OK() {
				q.IdealKnown, q.IdealTokens = c%3 > 0, turn*q.InputTokens/(turn+1)
			}
			all = append(all, q)
			if q.Failure != "" {
				break
			}
			at = q.Done + time.Duration(r.IntN(500))*time.Millisecond
			if r.IntN(5) == 0 { // beside the last one
				at = q.Due + ((q.Done - q.Due) / 2).Truncate(time.Microsecond)
			}
		}
	}
	return all
}

// shift moves a request in time.
func shift(q *metrics.Request, by time.Duration) {
	for _, at := range []*time.Duration{&q.Scheduled, &q.Due, &q.Admitted, &q.Sent, &q.FirstChunk, &q.FirstToken,
		&q.FirstAnswer, &q.LastChunk, &q.Done} {
		if *at != metrics.Never {
			*at += by
		}
	}
	for i := range q.Chunks {
		q.Chunks[i].At += by
	}
}
