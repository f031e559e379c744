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

// Timeline turns the four moments of each request into windows and whole-run histograms. The recorder feeds it live,
// Summarize from the journal: one piece of code, so both tell the same story. While it is filled, the levels of a window
// hold the change within that second; snapshot sums them up.
//
//	due ──> held ──sent──> waiting ──first token──> running ──done──>
//
// Windows hold the whole run, totals and whole-run histograms leave out the warm-up.
type Timeline struct {
	Plan                   *Plan
	SLO                    SLO // in force
	Totals                 Totals
	PlannedGood            int // successes that met the plan's own objectives
	windows                []Window
	Histograms             Histograms
	Waits                  Waits
	Told                   Told
	unseen                 struct{ first, ended Waits } // since the last look at the server
	Held, Waiting, Running int                          // levels now
	Client                 ClientHealth
	templates              struct{ n, tokens int } // see TemplateTokens
	dirty                  int                     // windows from here on changed since they were last shared
	Guessed                int                     // requests in flight whose output tokens are counted by chunk
}

// SecondOf is the number of the window in which a moment lies.
func SecondOf(at time.Duration) int { return int(min(max(0, at)/time.Second, MaxWindows-1)) }

func (t *Timeline) at(at time.Duration) *Window {
	k := SecondOf(at)
	t.dirty = min(t.dirty, k)
	for len(t.windows) <= k {
		t.windows = append(t.windows, Window{Start: time.Duration(len(t.windows)) * time.Second})
	}
	return &t.windows[k]
}

func (t *Timeline) move(r *Request, to stage, at time.Duration) {
	t.level(r.progress.stage, at, -1)
	t.level(to, at, +1)
	r.progress.stage = to
}

func (t *Timeline) level(s stage, at time.Duration, by int) {
	w := t.at(at)
	switch s {
	case stageHeld:
		w.Held += by
		t.Held += by
	case stageWaiting:
		w.Waiting += by
		t.Waiting += by
	case stageRunning:
		w.Running += by
		t.Running += by
	}
}

func (t *Timeline) Due(r *Request) {
	t.Totals.Due++
	t.at(r.Due).Due++
	t.move(r, stageHeld, r.Due)
}

func (t *Timeline) Sent(r *Request) {
	t.Totals.Sent++
	w := t.at(r.Sent)
	w.Sent++
	warming := t.Plan.Warming(r)
	t.count(w, r, atSent, warming, +1)
	t.Client.sent(r, warming)
	t.move(r, stageWaiting, r.Sent)
}

// Chunk counts the i-th chunk of r.
func (t *Timeline) Chunk(r *Request, i int) {
	c := r.Chunks[i]
	w := t.at(c.At)
	warming := t.Plan.Warming(r)
	if i == 0 {
		t.first(w, r, warming)
	} else {
		t.countGap(w, r, i, warming)
	}
	if !r.progress.answered && r.FirstAnswer == c.At {
		r.progress.answered = true
		t.count(w, r, atFirstAnswer, warming, +1)
	}
	if r.progress.stage == stageWaiting && c.Tokens > 0 {
		t.move(r, stageRunning, c.At)
		w.InputTokens += r.InputTokens
		r.progress.inputTokens = r.InputTokens
	}
	t.Client.chunk(r, i, warming)
	if r.progress.outputTokens == 0 && c.Tokens > 0 {
		t.Guessed++
	}
	w.OutputTokens += int(c.Tokens)
	r.progress.outputTokens += int(c.Tokens)
}

// first counts the first chunk of r.
func (t *Timeline) first(w *Window, r *Request, warming bool) {
	w.Waits.Count(r, 1)
	t.unseen.first.Count(r, 1)
	if !warming {
		t.Waits.Count(r, 1)
	}
	if !t.Plan.Pooling {
		t.count(w, r, atFirstChunk, warming, +1)
	}
}

// Replay runs a finished request through the timeline.
func (t *Timeline) Replay(r *Request) {
	r.progress = progress{}
	if r.Due != Never {
		t.Due(r)
	}
	if r.Sent != Never {
		t.Sent(r)
	}
	for i := range r.Chunks {
		t.Chunk(r, i)
	}
	if r.Done != Never {
		t.Done(r)
	}
}
