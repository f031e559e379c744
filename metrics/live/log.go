package live

import (
	"fmt"
	"slices"
	"time"

	"benchtop/metrics"
)

const (
	logKept   = 500
	marksKept = 1000
)

// noteFailure counts a flood of failures in one line, so that it does not push the rest out of the log.
func (v *View) noteFailure(e metrics.LogEntry) {
	if n := len(v.shown.Log); n > 0 && v.flood && e.At-v.shown.Log[n-1].At < time.Second {
		last := &v.shown.Log[n-1]
		last.Count = max(last.Count, 1) + 1
		return
	}
	v.note(e)
	v.flood = true
}

// note keeps the newest entries, and the first entries with a mark.
func (v *View) note(e metrics.LogEntry) {
	v.flood = false
	s := &v.shown
	if e.Mark != "" && len(s.Marks) < marksKept {
		s.Marks = append(s.Marks, e)
	}
	if s.Log = append(s.Log, e); len(s.Log) > 2*logKept {
		s.Log = slices.Clone(s.Log[len(s.Log)-logKept:])
	}
}

// noteLengths logs news about the lengths of answers.
func (v *View) noteLengths(at time.Duration, over bool) {
	for _, e := range v.lengths.Events(v.line.Plan, at, over) {
		v.note(e)
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
