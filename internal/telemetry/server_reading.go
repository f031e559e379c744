package telemetry

import (
	"bytes"

	"benchtop/metrics"
)

// reading is what one look at a metrics page found, of the first kind of server that it names.
type reading struct {
	engines []engine
	engine  *engine // nil: none of them yet
	said    [figures]tally
}

// tally is a figure, added up over the engines and models of a server.
type tally struct {
	sum   float64
	n     int
	rank  uint8
	rises bool
	atEnd bool
}

// add takes a line of the page in.
func (r *reading) add(line []byte) {
	name, _ := sampleName(line)
	sources := r.sources(name)
	if sources == nil {
		return
	}
	_, value, method, ok := sample(line, "method")
	// A minus one is how some servers say that they do not know.
	if !ok || !(value >= 0 && value <= mostCounted) {
		return
	}
	for _, from := range sources {
		if from.method == "" || from.method == string(method) {
			r.said[from.figure].add(from, value)
		}
	}
}

// sources is what a series gives, nil for nothing that matters.
func (r *reading) sources(name []byte) []source {
	if r.engine != nil {
		return r.engine.sources(name)
	}
	for i := range r.engines {
		if found := r.engines[i].sources(name); found != nil {
			r.engine = &r.engines[i]
			return found
		}
	}
	return nil
}

// sources is nil for a series that is not of this kind of server, "vllm:x" or "vllm_x", or of no interest.
func (e *engine) sources(name []byte) []source {
	n := len(e.prefix)
	if len(name) <= n || name[n] != ':' && name[n] != '_' || string(name[:n]) != e.prefix {
		return nil
	}
	return e.names[string(bytes.TrimSuffix(name[n+1:], []byte("_total")))]
}

func (s *tally) add(from source, value float64) {
	if s.n > 0 && from.rank > s.rank {
		return
	}
	if s.n == 0 || from.rank < s.rank {
		*s = tally{rank: from.rank, rises: from.rises, atEnd: from.atEnd}
	}
	s.sum += value
	s.n++
}

// level is a figure as it stands: the mean of the engines, if it is a share, or their sum.
func (r *reading) level(f figure) float64 {
	s := r.said[f]
	switch {
	case s.n == 0:
		return metrics.Unsaid()
	case f.shared():
		return s.sum / float64(s.n)
	}
	return s.sum
}

// share is a level that is one part of a whole.
func (r *reading) share(f figure) float64 { return min(r.level(f), 1) }

// moved is how a counter moved since the reading before. What was not there then starts at 0: a series may begin with its
// first event.
func (r *reading) moved(before *reading, f figure) float64 {
	if r.said[f].n == 0 {
		return metrics.Unsaid()
	}
	return max(0, r.said[f].sum-before.said[f].sum)
}

// restarted reports whether a counter fell since the reading before, or went away.
func (r *reading) restarted(before *reading) bool {
	if r.engine.kind != before.engine.kind {
		return true
	}
	for f := range figures {
		now, then := r.said[f], before.said[f]
		if !f.counted() || now.rises || then.rises || then.n == 0 {
			continue
		}
		// Sums of fractions may differ in the last place.
		if now.n == 0 || now.sum < then.sum*(1-1e-9) {
			return true
		}
	}
	return false
}
