package run

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"benchtop/export"
	"benchtop/metrics"
	"benchtop/metrics/event"
)

// firstRequests is the number of requests that a server has to refuse before the others are left out.
const firstRequests = 20

// refusing are the statuses of requests that stay wrong however often they are sent.
var refusing = []int{
	http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusUnprocessableEntity,
}

// refusals is a sink that finds out whether the first requests of a run are all refused alike: with one status, and one text but for numbers and ids.
type refusals struct {
	stop func(reason string) // called once at most, and must not block

	mu    sync.Mutex       // guards what follows
	first map[int]struct{} // the first requests that were sent, by index
	ended int              // of these
	shape string           // of the messages
	over  bool             // it is known
}

func (s *refusals) Take(e *event.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := e.Request
	switch {
	case s.over:
	case e.Kind == event.Sent:
		if len(s.first) < firstRequests {
			s.first[q.Index] = struct{}{}
		}
	case q.Failure != metrics.FailedStatus || !slices.Contains(refusing, q.Status):
		s.over = true
	default:
		s.refused(q)
	}
}

// refused counts a request with such a status.
func (s *refusals) refused(q *metrics.Request) {
	shape := fmt.Sprint(q.Status, metrics.ErrorShape(q.Message()))
	if s.shape == "" {
		s.shape = shape
	}
	if _, ok := s.first[q.Index]; ok {
		s.ended++
	}
	if s.over = s.shape != shape || s.ended == firstRequests; s.shape == shape && s.over {
		words := fmt.Sprintf("%s %d requests alike: HTTP %d: %s", metrics.RefusedByServer, firstRequests, q.Status, export.Clean(q.Message()))
		s.stop(strings.TrimSuffix(words, ": "))
	}
}
