package simulator

import (
	"slices"
	"time"
)

// observations is what the engine has counted since it was made, for the metrics page. Guarded by engine.mu.
type observations struct {
	promptTokens     int
	generationTokens int
	ends             map[string]int // sequences ended, by reason
	speculation      speculation

	// Tokens of prompts looked up in the prefix cache, and those of them that were there.
	prefixQueries, prefixHits int

	firstToken histogram
	interToken histogram
	endToEnd   histogram
	queued     histogram
	prefill    histogram
}

// endReasons are the reasons a sequence may end for, in the order in which they are shown.
func endReasons() []string { return []string{"stop", "length", "abort"} }

func newObservations(specTokens int) observations {
	// The bounds are vLLM's, so that dashboards made for it fit.
	request := []float64{
		0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680,
	}
	return observations{
		ends:        make(map[string]int),
		speculation: speculation{accepted: make([]int, specTokens)},
		firstToken: newHistogram(
			0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560),
		interToken: newHistogram(
			0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80),
		endToEnd: newHistogram(request...),
		queued:   newHistogram(request...),
		prefill:  newHistogram(request...),
	}
}

// admitted files what a sequence found in the cache when it was first admitted.
func (o *observations) admitted(seq *sequence) {
	if seq.names != nil {
		o.prefixQueries += seq.prompt
		o.prefixHits += seq.cached
	}
}

// tokens files n tokens of seq that came out at the end of a step. It is called before seq.lastToken moves.
func (o *observations) tokens(seq *sequence, n int, end time.Time) {
	if !seq.pooled {
		o.generationTokens += n
	}
	if !seq.lastToken.IsZero() {
		o.interToken.add(end.Sub(seq.lastToken))
		return
	}
	o.promptTokens += seq.prompt
	o.firstToken.add(end.Sub(seq.arrived))
}

// finished files a sequence that was not aborted. As in vLLM, its waits are observed only now.
func (o *observations) finished(seq *sequence, end time.Time) {
	o.endToEnd.add(end.Sub(seq.arrived))
	o.queued.add(seq.admitted.Sub(seq.arrived))
	o.prefill.add(seq.firstToken.Sub(seq.admitted))
	o.ended(seq.reason)
}

func (o *observations) ended(reason string) { o.ends[reason]++ }

// snapshot is the state of the engine at one moment.
type snapshot struct {
	observations
	running, waiting int
	cacheUsage       float64 // 0 to 1
	preemptions      int
}

// snapshot copies what the metrics page shows. Sequences that arrived during the step in hand are waiting, too.
func (e *engine) snapshot() snapshot {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := snapshot{
		observations: e.observed,
		running:      len(e.sched.running),
		waiting:      len(e.sched.waiting) + len(e.pending),
		cacheUsage:   e.sched.pool.usage(),
		preemptions:  e.sched.preemptions,
	}
	s.speculation.accepted = slices.Clone(e.observed.speculation.accepted)
	s.ends = make(map[string]int)
	for reason, n := range e.observed.ends {
		s.ends[reason] = n
	}
	for _, h := range []*histogram{&s.firstToken, &s.interToken, &s.endToEnd, &s.queued, &s.prefill} {
		*h = h.clone()
	}
	return s
}
