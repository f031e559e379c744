package metrics

import (
	"slices"
	"time"
)

// Window is one second of a run.
type Window struct {
	// Start is the beginning of the second, from the start of the run.
	Start time.Duration
	// Due, Sent, Done, Failed and Cancelled count what happened to requests in this second; Done are the successes.
	Due, Sent, Done, Failed, Cancelled int
	// Of the successes that ended in this second, Good met every objective of the plan, and MetTTFT, MetTPOT and MetE2EL
	// the one of that name; all of them where there is no such objective.
	Good, MetTTFT, MetTPOT, MetE2EL int
	// InputTokens of requests whose first token came in this second; OutputTokens that arrived in it, whatever became of
	// their request. Output tokens are counted by chunk until the request's own total is known, then corrected.
	InputTokens, OutputTokens int
	// Held, Waiting and Running are levels at the end of the second.
	Held, Waiting, Running int
	// TTFT and ITL were seen in this second, TPOT and E2EL belong to requests that ended in it. Requests that failed
	// are taken out again.
	TTFT, TPOT, ITL, E2EL Histogram
	// FirstAnswer was seen in this second; HeldTime belongs to requests sent in it, Scheduled to requests that ended in it: see
	// the methods of Request. Requests that failed are taken out again.
	FirstAnswer, HeldTime, Scheduled Histogram
	// Waits of the first chunks that came in this second.
	Waits Waits
}

// maxWindows bounds a timeline to a week, so that a damaged journal cannot ask for all memory; what is later counts in
// the last window.
const maxWindows = 7 * 24 * 3600

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
	plan                  *Plan
	totals                Totals
	windows               []Window
	ttft, tpot, itl, e2el Histogram
	queue, queued         Histogram
	held, waiting, runs   int // levels now
	client                clientTally
	dirty                 int // windows from here on changed since they were last shared
}

func (t *timeline) at(at time.Duration) *Window {
	k := int(min(max(0, at)/time.Second, maxWindows-1))
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
	t.at(r.Sent).Sent++
	t.client.sent(r, t.plan.Warming(r))
	t.move(r, stageWaiting, r.Sent)
}

// chunk counts the i-th chunk of r.
func (t *timeline) chunk(r *Request, i int) {
	c := r.Chunks[i]
	w := t.at(c.At)
	warming := t.plan.Warming(r)
	if i == 0 {
		w.TTFT.Add(r.TTFT())
		if !warming {
			t.ttft.Add(r.TTFT())
		}
	} else {
		gap := c.At - r.Chunks[i-1].At
		w.ITL.Add(gap)
		if !warming {
			t.itl.Add(gap)
		}
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

func (t *timeline) done(r *Request) {
	t.move(r, stageNone, r.Done)
	t.client.done(r)
	w := t.at(r.Done)
	warming := t.plan.Warming(r)
	switch r.Failure {
	case "":
		w.Done++
		t.succeed(w, r, warming)
	case Cancelled:
		w.Cancelled++
		t.forget(r, warming)
	default:
		w.Failed++
		t.forget(r, warming)
	}
	switch {
	case warming:
		t.totals.WarmedUp++
	case r.Failure == "":
		t.totals.Done++
		t.totals.InputTokens += r.InputTokens
		t.totals.OutputTokens += r.OutputTokens
	case r.Failure == Cancelled:
		t.totals.Cancelled++
	default:
		t.totals.Failed++
	}
}

func (t *timeline) succeed(w *Window, r *Request, warming bool) {
	w.E2EL.Add(r.E2EL())
	tpot := r.TPOT()
	if tpot != Never {
		w.TPOT.Add(tpot)
	}
	o := r.latencies()
	met := t.plan.Goodput.judge(&o)
	met.count(&w.Good, &w.MetTTFT, &w.MetTPOT, &w.MetE2EL)
	t.correct(r)
	if warming {
		return
	}
	met.count(&t.totals.Good, &t.totals.MetTTFT, &t.totals.MetTPOT, &t.totals.MetE2EL)
	t.e2el.Add(r.E2EL())
	if tpot != Never {
		t.tpot.Add(tpot)
	}
	held := max(0, r.Held())
	t.queue.Add(held)
	t.queued.Add(r.E2EL() + held)
}

// forget takes the latencies of a request that did not succeed out of the histograms.
func (t *timeline) forget(r *Request, warming bool) {
	for i, c := range r.Chunks {
		if i == 0 {
			t.at(c.At).TTFT.Remove(r.TTFT())
			if !warming {
				t.ttft.Remove(r.TTFT())
			}
			continue
		}
		gap := c.At - r.Chunks[i-1].At
		t.at(c.At).ITL.Remove(gap)
		if !warming {
			t.itl.Remove(gap)
		}
	}
}

// correct spreads the request's own token totals over the seconds in which its chunks came.
func (t *timeline) correct(r *Request) {
	if r.FirstToken != Never {
		t.at(r.FirstToken).InputTokens += r.InputTokens - r.live.inputTokens
	}
	if r.OutputTokens == r.live.outputTokens || len(r.Chunks) == 0 {
		return
	}
	given := 0
	for i, tokens := range r.spread(r.live.outputTokens) {
		t.at(r.Chunks[i].At).OutputTokens += tokens - int(r.Chunks[i].Tokens)
		given += tokens
	}
	t.at(r.LastChunk).OutputTokens += r.OutputTokens - given
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

// share returns the windows up to now that changed since the last call, with levels summed up, and the number of those
// before them that did not. before is what the last call made: all windows it knew of. Most windows of a long run never
// change again, and chunks wait while this works, so it looks at no others. The reader may keep what it gets.
func (t *timeline) share(now time.Duration, before []Window) (same int, changed []Window) {
	t.at(now)
	same = min(t.dirty, len(before))
	var held, waiting, runs int
	if same > 0 {
		held, waiting, runs = before[same-1].Held, before[same-1].Waiting, before[same-1].Running
	}
	changed = slices.Clone(t.windows[same:])
	for i := range changed {
		w := &t.windows[same+i]
		held, waiting, runs = held+w.Held, waiting+w.Waiting, runs+w.Running
		c := &changed[i]
		c.Held, c.Waiting, c.Running = held, waiting, runs
		c.TTFT, c.TPOT, c.ITL, c.E2EL = w.TTFT.share(), w.TPOT.share(), w.ITL.share(), w.E2EL.share()
	}
	t.dirty = len(t.windows)
	return same, changed
}
