package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"benchtop/export"
	"benchtop/internal/files"
	"benchtop/internal/text"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/report"
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

// answerCount is a sink that counts the answers that a tokenizer could count better.
type answerCount struct{ n atomic.Int64 }

func (u *answerCount) Take(e *event.Event) {
	if countable(e.Request) {
		u.n.Add(1)
	}
}

// countAnswers has the server's tokenizer count the answers that came without usage: after the load, since it would
// disturb that, and until the end of the run is asked for. An answer that it does not get to is counted by chunk.
func (r *Run) countAnswers() {
	n := r.uncounted.n.Load()
	if n == 0 || r.patient.Err() != nil {
		return
	}
	ctx, cancel := context.WithTimeoutCause(r.patient, countMost, fmt.Errorf("it took longer than %s", countMost))
	defer cancel()
	r.stream.Tell(metrics.Phase{State: metrics.Counting, DrainBy: metrics.Never})
	r.announce(metrics.Info,
		fmt.Sprintf("%d answers have no usage: the server's tokenizer counts them, for up to %s; Ctrl-C stops that", n,
			countMost))
	told := time.Now()
	counted, err := countTexts(ctx, event.Requests(r.journal.Events()), r.config.Count,
		func(index, tokens, counted int) {
			r.stream.Tell(metrics.Recount{Index: index, Tokens: tokens, Source: metrics.TokensFromServer})
			if time.Since(told) >= countTold {
				told = time.Now()
				r.announce(metrics.Info, fmt.Sprintf("counted %d of %d answers", counted, n))
			}
		})
	if err == nil {
		r.Log(metrics.Info, fmt.Sprintf("the server's tokenizer counted %d answers", counted))
		return
	}
	r.announce(metrics.Warn,
		fmt.Sprintf("the server's tokenizer counted %d of %d answers; the others count as one token per chunk: %s",
			counted, n, text.Clean(r.config.Load.Target.Hide(err.Error()))))
}

var errEnough = errors.New("stopped")

// countTexts counts the texts of requests by count and gives each count to keep, one at a time, with how many there are
// by then. The error says why not all were counted.
func countTexts(ctx context.Context, all iter.Seq2[metrics.Request, error],
	count func(context.Context, string) (int, error), keep func(index, tokens, counted int)) (counted int, err error) {
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

// saveSoFar writes a result of the run so far beside the place of the result to come. The work is done beside the run;
// the log tells how it went.
func (r *Run) saveSoFar() (said string, ok bool) {
	switch {
	case r.config.Files == nil:
		return "this run is not saved (--no-save)", false
	case r.saving:
		return "still saving", false
	}
	r.saving = true
	path, end := strings.TrimSuffix(r.config.Files.Path, ".json")+files.SoFar+".json", r.soFar()
	end.Ended, end.Reason = time.Since(r.start).Round(time.Microsecond), "interim result"
	r.asides.Go(func() {
		defer r.call(func() { r.saving = false })
		if err := r.write(path, end); err != nil {
			r.Log(metrics.Error, "the interim result could not be saved: "+text.Clean(err.Error()))
			return
		}
		r.Log(metrics.Info, "interim result saved to "+path)
	})
	return "saving an interim result", true
}

// write writes a result of the run as if it had ended so.
func (r *Run) write(path string, end metrics.End) error {
	source := r.journal.Source()
	result, err := report.From(func(some event.Pick) event.Events { return event.Followed(source(some), end) })
	if err != nil {
		return fmt.Errorf("reading the journal: %w", err)
	}
	return files.Write(path, func(w io.Writer) error { return export.JSON(w, result) })
}
