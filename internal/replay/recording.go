package replay

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"benchtop/metrics"
)

// endless is after everything.
const endless = time.Duration(math.MaxInt64)

// longestRun bounds the length, because a journal may hold any number; the windows of a recorder go as far.
const longestRun = 7 * 24 * time.Hour

// recording is a run as it lies in memory. Nobody changes it once it is made.
type recording struct {
	run      metrics.Run
	requests []metrics.Request // without their chunks
	chunks   []packed          // of the same requests
	moments  []moment          // in order of time
	length   time.Duration
	count    int // of chunks
}

// moment is when something happens, but for chunks.
type moment struct {
	at    time.Duration
	index int32 // of the thing, in its list
	kind  kind
}

type kind uint8

const (
	isDue kind = iota
	isSent
	isDone
	isEvent
	isClient
	isServer
	isGPU
	serverEnds // after its last word
	gpusEnd
)

// record reads a run.
func record(run metrics.Run, requests iter.Seq2[metrics.Request, error]) (*recording, error) {
	r := &recording{run: run}
	latest := longestRun
	if run.Ended != metrics.Never {
		latest = min(max(0, run.Ended), longestRun) + time.Hour
	}
	for q, err := range requests {
		if err != nil {
			if len(r.requests) == 0 {
				return nil, err
			}
			break // as in a report, the run is what could be read
		}
		if !within(&q, latest) {
			r.run.Damaged++
			continue
		}
		r.add(q)
	}
	if n := r.run.Damaged - run.Damaged; n > 0 {
		text := fmt.Sprintf("%d requests whose times lie far behind the end of the run were left out", n)
		r.run.Events = append(slices.Clone(run.Events), metrics.Event{At: max(0, run.Ended), Level: metrics.Warn, Text: text})
	}
	r.beside()
	slices.SortStableFunc(r.moments, func(a, b moment) int { return cmp.Compare(a.at, b.at) })
	r.length = run.Ended
	if r.length == metrics.Never {
		for i := range r.requests {
			r.length = max(r.length, r.requests[i].Done)
		}
	}
	r.length = min(max(0, r.length), longestRun)
	return r, nil
}

// within says that nothing of q came later. A damaged journal may hold any number, and a time line that goes so far costs
// gigabytes.
func within(q *metrics.Request, latest time.Duration) bool {
	last := max(q.Due, q.Sent, q.FirstChunk, q.FirstToken, q.FirstAnswer, q.LastChunk, q.Done)
	for i := range q.Chunks {
		last = max(last, q.Chunks[i].At)
	}
	return last <= latest
}

// add files a request. In a damaged journal its moments may stand in any order; here they come one after the other.
func (r *recording) add(q metrics.Request) {
	i := int32(len(r.requests))
	r.chunks = append(r.chunks, pack(q.Chunks))
	r.count += len(q.Chunks)
	q.Chunks, q.Piece = nil, nil
	r.requests = append(r.requests, q)
	last := time.Duration(0)
	for k, at := range []time.Duration{isDue: q.Due, isSent: q.Sent, isDone: q.Done} {
		if at != metrics.Never {
			last = max(last, at)
			r.moments = append(r.moments, moment{last, i, kind(k)})
		}
	}
}

// beside files what is known beside the requests.
func (r *recording) beside() {
	run := &r.run
	for i := range run.Events {
		r.moments = append(r.moments, moment{run.Events[i].At, int32(i), isEvent})
	}
	for i := range run.Client {
		r.moments = append(r.moments, moment{run.Client[i].At, int32(i), isClient})
	}
	last := time.Duration(0)
	for i := range run.Server {
		last = max(last, run.Server[i].At)
		r.moments = append(r.moments, moment{run.Server[i].At, int32(i), isServer})
	}
	r.moments = append(r.moments, moment{last, 0, serverEnds})
	last = 0
	for i := range run.GPUs {
		last = max(last, run.GPUs[i].At)
		r.moments = append(r.moments, moment{run.GPUs[i].At, int32(i), isGPU})
	}
	r.moments = append(r.moments, moment{last, 0, gpusEnd})
}

// all yields the requests as they were read, until ctx ends.
func (r *recording) all(ctx context.Context) iter.Seq2[metrics.Request, error] {
	return func(yield func(metrics.Request, error) bool) {
		for i := range r.requests {
			if err := ctx.Err(); err != nil {
				yield(metrics.Request{}, err)
				return
			}
			q := r.requests[i]
			q.Chunks = r.chunks[i].unpack()
			if !yield(q, nil) {
				return
			}
		}
	}
}

// report is computed in the background.
type report struct {
	ready chan struct{} // closed when the next is set, or ctx has ended
	value *metrics.Report
}

func (r *recording) summarize(ctx context.Context) *report {
	out := &report{ready: make(chan struct{})}
	go func() {
		defer close(out.ready)
		if v, err := metrics.Summarize(r.all(ctx), r.run); err == nil {
			out.value = &v
		}
	}()
	return out
}

// now is the report if it is computed, else nil.
func (r *report) now() *metrics.Report {
	select {
	case <-r.ready:
		return r.value
	default:
		return nil
	}
}
