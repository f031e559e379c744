package metrics

import "time"

// stage is where a request is on its way.
type stage uint8

const (
	stageNone stage = iota
	stageHeld
	stageWaiting
	stageRunning
)

// timeline turns the four moments of each request into windows and whole-run histograms. The recorder feeds it live,
// Summarize from the journal: one piece of code, so both tell the same story. While it is filled, the levels of a window
// hold the change within that second; snapshot sums them up.
//
//	due ──> held ──sent──> waiting ──first token──> running ──done──>
//
// Windows hold the whole run, totals and whole-run histograms leave out the warm-up.
type timeline struct {
	plan                *Plan
	slo                 SLO // in force
	totals              Totals
	planned             int // successes that met the plan's own objectives
	windows             []Window
	histograms          Histograms
	waits               Waits
	told                Told
	unseen              struct{ first, ended Waits } // since the last look at the server
	held, waiting, runs int                          // levels now
	client              clientTally
	templates           struct{ n, tokens int } // see Recorder.TemplateTokens
	dirty               int                     // windows from here on changed since they were last shared
}

// secondOf is the number of the window in which a moment lies.
func secondOf(at time.Duration) int { return int(min(max(0, at)/time.Second, maxWindows-1)) }

func (t *timeline) at(at time.Duration) *Window {
	k := secondOf(at)
	t.dirty = min(t.dirty, k)
	for len(t.windows) <= k {
		t.windows = append(t.windows, Window{Start: time.Duration(len(t.windows)) * time.Second})
	}
	return &t.windows[k]
}

func (t *timeline) move(r *Request, to stage, at time.Duration) {
	t.level(r.live.stage, at, -1)
	t.level(to, at, +1)
	r.live.stage = to
}

func (t *timeline) level(s stage, at time.Duration, by int) {
	w := t.at(at)
	switch s {
	case stageHeld:
		w.Held += by
		t.held += by
	case stageWaiting:
		w.Waiting += by
		t.waiting += by
	case stageRunning:
		w.Running += by
		t.runs += by
	}
}

func (t *timeline) due(r *Request) {
	t.totals.Due++
	t.at(r.Due).Due++
	t.move(r, stageHeld, r.Due)
}

func (t *timeline) sent(r *Request) {
	t.totals.Sent++
	w := t.at(r.Sent)
	w.Sent++
	warming := t.plan.Warming(r)
	t.count(w, r, atSent, warming, +1)
	t.client.sent(r, warming)
	t.move(r, stageWaiting, r.Sent)
}

// chunk counts the i-th chunk of r.
func (t *timeline) chunk(r *Request, i int) {
	c := r.Chunks[i]
	w := t.at(c.At)
	warming := t.plan.Warming(r)
	if i == 0 {
		t.first(w, r, warming)
	} else {
		t.countGap(w, r, i, warming)
	}
	if !r.live.answered && r.FirstAnswer == c.At {
		r.live.answered = true
		t.count(w, r, atFirstAnswer, warming, +1)
	}
	if r.live.stage == stageWaiting && c.Tokens > 0 {
		t.move(r, stageRunning, c.At)
		w.InputTokens += r.InputTokens
		r.live.inputTokens = r.InputTokens
	}
	t.client.chunk(r, i, warming)
	w.OutputTokens += int(c.Tokens)
	r.live.outputTokens += int(c.Tokens)
}

// first counts the first chunk of r.
func (t *timeline) first(w *Window, r *Request, warming bool) {
	w.Waits.count(r, 1)
	t.unseen.first.count(r, 1)
	if !warming {
		t.waits.count(r, 1)
	}
	if !t.plan.Pooling {
		t.count(w, r, atFirstChunk, warming, +1)
	}
}

// replay runs a finished request through the timeline.
func (t *timeline) replay(r *Request) {
	r.live = liveState{}
	if r.Due != Never {
		t.due(r)
	}
	if r.Sent != Never {
		t.sent(r)
	}
	for i := range r.Chunks {
		t.chunk(r, i)
	}
	if r.Done != Never {
		t.done(r)
	}
}
