package run

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"benchtop/internal/text"
	"benchtop/metrics"
	"benchtop/metrics/event"
)

// firstRequests is the number of requests that a server has to refuse before the others are left out.
const firstRequests = 20

// refusing are the statuses of requests that stay wrong however often they are sent.
var refusing = []int{400, 401, 403, 404, 405, 422}

// refusals is a sink that finds out whether the first requests of a run are all refused alike: with one status, and one
// text but for numbers and ids.
type refusals struct {
	stop func(reason string) // called once at most, and must not block

	mu    sync.Mutex // guards what follows
	first []int      // the first requests that were sent, by index
	ended int        // of these
	shape string     // of the answers
	over  bool       // it is known
}

func (s *refusals) Take(e *event.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := e.Request
	if s.over || e.Kind == event.Sent {
		if len(s.first) < firstRequests {
			s.first = append(s.first, q.Index)
		}
		return
	}
	shape := fmt.Sprint(q.Status, metrics.ErrorShape(q.Message()))
	s.shape = cmp.Or(s.shape, shape)
	if slices.Contains(s.first, q.Index) {
		s.ended++
	}
	alike := q.Failure == metrics.FailedStatus && slices.Contains(refusing, q.Status) && shape == s.shape
	if s.over = !alike || s.ended == firstRequests; s.over && alike {
		words := fmt.Sprintf("%s: HTTP %d: %s", metrics.RefusedByServer, q.Status, text.Clean(q.Message()))
		s.stop(strings.TrimSuffix(words, ": "))
	}
}
