package run

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"benchtop/export"
	"benchtop/metrics"
	"benchtop/metrics/event"
)

// Bounds of what is asked of the server's tokenizer after a run.
const (
	countMost     = 30 * time.Second // for all answers
	countAtOnce   = 8
	countFailures = 3 // after so many it is not asked any more
	countTold     = 5 * time.Second
)

// countable reports whether the text of an answer is all there is to count its tokens by.
func countable(q *metrics.Request) bool {
	return q.Failure == "" && q.OutputSource == metrics.TokensFromChunks && q.Text != "" && !q.TextPart
}

// uncounted is a sink that counts the answers that a tokenizer could count better.
type uncounted struct{ n atomic.Int64 }

func (u *uncounted) Take(e *event.Event) {
	if countable(e.Request) {
		u.n.Add(1)
	}
}

// countAnswers has the server's tokenizer count the answers that came without usage: after the load, since it would disturb that,
// and until the end of the run is asked for. An answer that it does not get to is counted by chunk.
func (r *Run) countAnswers() {
	n := r.uncounted.n.Load()
	if n == 0 || r.patient.Err() != nil {
		return
	}
	ctx, cancel := context.WithTimeoutCause(r.patient, countMost, fmt.Errorf("that took longer than %s", countMost))
	defer cancel()
	r.stream.Tell(metrics.Phase{State: metrics.Counting, DrainBy: metrics.Never})
	r.announce(metrics.Info, fmt.Sprintf("no usage came with %d answers: the server's tokenizer counts their text, for up to %s; Ctrl-C ends that", n, countMost))
	told := time.Now()
	counted, err := countTexts(ctx, event.Requests(r.journal.Events()), r.config.Count, func(index, tokens, counted int) {
		r.stream.Tell(metrics.Recount{Index: index, Tokens: tokens, Source: metrics.TokensFromServer})
		if time.Since(told) >= countTold {
			told = time.Now()
			r.announce(metrics.Info, fmt.Sprintf("%d of %d answers are counted", counted, n))
		}
	})
	if err == nil {
		r.Log(metrics.Info, fmt.Sprintf("the server's tokenizer counted %d answers", counted))
		return
	}
	r.announce(metrics.Warn, fmt.Sprintf("the server's tokenizer counted %d of %d answers, the others count as one token per chunk: %s",
		counted, n, export.Clean(r.config.Load.Target.Hide(err.Error()))))
}

var errEnough = errors.New("it was stopped")

// countTexts counts the texts of requests by count and gives each count to keep, one at a time, with how many there are by then.
// The error says why not all were counted.
func countTexts(ctx context.Context, all iter.Seq2[metrics.Request, error], count func(context.Context, string) (int, error), keep func(index, tokens, counted int)) (counted int, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	texts := make(chan metrics.Request)
	var work sync.WaitGroup
	var mu sync.Mutex // guards counted, failures and err, and is held for keep
	failures := 0
	one := func(q metrics.Request) {
		tokens, problem := count(ctx, q.Text)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case ctx.Err() != nil:
		case problem != nil:
			err = problem
			if failures++; failures >= countFailures {
				cancel(problem)
			}
		case tokens > 0:
			counted++
			keep(q.Index, tokens, counted)
		}
	}
	for range countAtOnce {
		work.Go(func() {
			for q := range texts {
				one(q)
			}
		})
	}
	for q, damage := range all {
		if damage != nil || ctx.Err() != nil {
			break // a damaged journal is told of by the report
		}
		if !countable(&q) {
			continue
		}
		select {
		case texts <- q:
		case <-ctx.Done():
		}
	}
	close(texts)
	work.Wait()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return counted, err
}
