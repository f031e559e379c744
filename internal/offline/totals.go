// Package offline measures what vLLM's offline benchmarks measure, over HTTP: how long a server takes for a whole set
// of requests (throughput), and for one batch again and again (latency). It leaves out their command lines and where
// the results are saved.
package offline

import (
	"sync"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/event"
)

// Span is the time that a set of requests takes, in times of the run.
type Span struct {
	FirstSent, LastSent time.Duration // the first byte of the first request, of the last one; metrics.Never before it
	Ended               time.Duration // the last byte of the last answer
}

// SpanSink is a sink that measures the span of a set of requests.
type SpanSink struct {
	// Requests is their number; AllSent, if not nil, is called once when all were sent or have failed. It must not
	// block.
	Requests int
	AllSent  func()

	mu   sync.Mutex
	sent int
	span Span
}

// Take files an event.
func (s *SpanSink) Take(e *event.Event) {
	if e.Kind != event.Sent && e.Kind != event.Done {
		return
	}
	s.mu.Lock()
	before := s.sent
	switch unsent := e.Request.Sent == metrics.Never; {
	case e.Kind == event.Sent:
		if s.sent == 0 || e.At < s.span.FirstSent {
			s.span.FirstSent = e.At
		}
		s.span.LastSent = max(s.span.LastSent, e.At)
		s.sent++
	case unsent:
		s.sent++
	default:
		s.span.Ended = max(s.span.Ended, e.Request.Done)
	}
	all := s.sent == s.Requests && before < s.sent
	s.mu.Unlock()
	if all && s.AllSent != nil {
		s.AllSent()
	}
}

// Span returns the span so far.
func (s *SpanSink) Span() Span {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.span
}
