package live

import (
	"fmt"
	"slices"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/saturation"
)

const (
	logKept   = 500
	marksKept = 1000
)

// Log adds an event to the log. Objectives that it says are in force from here on are set.
func (r *View) Log(e metrics.LogEntry) {
	if e.Objectives != nil {
		r.SetObjectives(*e.Objectives)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.news.Store(true)
	if e.Set != nil && len(r.beside.sets) < saturation.MostSettings {
		r.beside.sets = append(r.beside.sets, e)
	}
	r.note(e)
}

// noteFailure makes one line with a count of a flood of failures, so that it cannot push the rest out of the log.
func (r *View) noteFailure(e metrics.LogEntry) {
	if n := len(r.log); n > 0 && r.flood && e.At-r.log[n-1].At < time.Second {
		last := &r.log[n-1]
		last.Count = max(last.Count, 1) + 1
		return
	}
	r.note(e)
	r.flood = true
}

// note keeps the newest events, and the marks of the first ones that have one.
func (r *View) note(e metrics.LogEntry) {
	r.flood = false
	if e.Mark != "" && len(r.marks) < marksKept {
		r.marks = append(r.marks, e)
	}
	r.log = append(r.log, e)
	if len(r.log) > 2*logKept {
		r.log = slices.Clone(r.log[len(r.log)-logKept:])
	}
}

func failureEvent(q *metrics.Request) metrics.LogEntry {
	what := string(q.Failure)
	if q.Failure == metrics.FailedStatus {
		what = fmt.Sprintf("HTTP %d", q.Status)
	}
	text := fmt.Sprintf("request %d: %s", q.Index, what)
	if q.Sent != metrics.Never {
		text += fmt.Sprintf(" after %s", (q.Done - q.Sent).Round(time.Millisecond))
	}
	if q.Error != "" {
		text += ": " + q.Error
	}
	return metrics.LogEntry{At: q.Done, Level: metrics.Error, Text: text}
}
