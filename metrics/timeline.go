package metrics

import (
	"slices"
	"time"
)

// stage is the stage of a request in flight.
type stage uint8

const (
	stageNone stage = iota
	stageHeld
	stageWaiting
	stageRunning
)

// Timeline turns the four moments of each request into windows and whole-run histograms. The live view and the report share it, so that
// they agree. While it is filled, the levels of a window hold the change within that second; Share sums them up.
//
//	due ──> held ──sent──> waiting ──first token──> running ──done──>
//
// Windows hold the whole run, totals and whole-run histograms leave out the warm-up.
type Timeline struct {
	Plan                   *Plan
	SLO                    SLO // in force, but for workloads with objectives of their own
	Totals                 Totals
	PlannedGood            int // successes that met the objectives of the plan
	windows                []Window
	Histograms             Histograms
	TTFTParts              TTFTParts
	Reported               Reported
	unseen                 struct{ first, ended TTFTParts } // since the last sample of the server
	Held, Waiting, Running int                              // levels now
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
	if n := [...][2]*int{stageNone: {}, stageHeld: {&w.Held, &t.Held}, stageWaiting: {&w.Waiting, &t.Waiting}, stageRunning: {&w.Running, &t.Running}}[s]; n[0] != nil {
		*n[0] += by
		*n[1] += by
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
		t.first(w, r, warming, +1)
		t.unseen.first.Count(r, 1)
	} else {
		gap := r.Gap(i)
		w.Histograms[ITL].Add(gap)
		if !warming {
			t.Histograms[ITL].Add(gap)
		}
		t.tokenGap(w, r, i, warming, +1)
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

// first counts the first chunk of r, or removes it where by is -1.
func (t *Timeline) first(w *Window, r *Request, warming bool, by int) {
	w.TTFTParts.Count(r, by)
	if !warming {
		t.TTFTParts.Count(r, by)
	}
	if t.Plan.Measures(TTFT) {
		t.count(w, r, atFirstChunk, warming, by)
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

func (t *Timeline) Done(r *Request) {
	if r.progress.outputTokens > 0 {
		t.Guessed--
	}
	t.move(r, stageNone, r.Done)
	t.Client.done(r)
	w, warming := t.at(r.Done), t.Plan.Warming(r)
	n, total := &w.Failed, &t.Totals.Failed
	switch r.Failure {
	case "":
		n, total = &w.Done, &t.Totals.Done
		t.succeed(w, r, warming)
	case Cancelled:
		n, total = &w.Cancelled, &t.Totals.Cancelled
		t.forget(r, warming)
	default:
		t.forget(r, warming)
	}
	if warming {
		total = &t.Totals.WarmedUp
	}
	*n++
	*total++
}

func (t *Timeline) succeed(w *Window, r *Request, warming bool) {
	t.count(w, r, atSuccess, warming, +1)
	o := r.Outcome()
	met := t.Plan.ObjectivesFor(r.Class, t.SLO).Judge(&o)
	w.MetCount.Add(met)
	if n := r.progress.inputTokens; n > 0 && r.InputSource == TokensFromUsage {
		t.templates.n++
		t.templates.tokens += r.InputTokens - n
	}
	t.correct(r)
	w.PromptTokens += r.InputTokens
	if !t.Plan.Generates() {
		w.InputTokens += r.InputTokens
	}
	w.Cached.Join(r.Cached())
	w.Ideal.Join(r.Ideal())
	w.Audio += r.Audio
	if len(r.Chunks) > 0 {
		t.unseen.ended.Count(r, 1)
		t.at(r.Chunks[0].At).Reported.add(r)
		if !warming {
			t.Reported.add(r)
		}
	}
	if warming {
		return
	}
	t.Totals.InputTokens += r.InputTokens
	t.Totals.Cached.Join(r.Cached())
	t.Totals.Ideal.Join(r.Ideal())
	t.Totals.Audio += r.Audio
	if r.Refusal {
		t.Totals.Refusals++
	}
	t.Totals.OutputTokens += r.OutputTokens
	if t.Plan.ObjectivesFor(r.Class, t.Plan.Goodput).Judge(&o).Good() {
		t.PlannedGood++
	}
	t.Totals.MetCount.Add(met)
}

// forget removes the latencies of a request without success from the histograms.
func (t *Timeline) forget(r *Request, warming bool) {
	if r.Sent != Never {
		t.count(t.at(r.Sent), r, atSent, warming, -1)
	}
	if r.progress.answered {
		t.count(t.at(r.FirstAnswer), r, atFirstAnswer, warming, -1)
	}
	for i, c := range r.Chunks {
		if w := t.at(c.At); i == 0 {
			t.first(w, r, warming, -1)
		} else {
			t.change(w, ITL, r.Gap(i), warming, -1)
			t.tokenGap(w, r, i, warming, -1)
		}
	}
}

// correct spreads the token totals of the request over the seconds of its chunks.
func (t *Timeline) correct(r *Request) {
	if r.FirstToken != Never {
		t.at(r.FirstToken).InputTokens += r.InputTokens - r.progress.inputTokens
	}
	if r.OutputTokens == r.progress.outputTokens || len(r.Chunks) == 0 {
		return
	}
	given := 0
	for i, tokens := range r.Spread() {
		t.at(r.Chunks[i].At).OutputTokens += tokens - int(r.Chunks[i].Tokens)
		given += tokens
	}
	t.at(r.LastChunk).OutputTokens += r.OutputTokens - given
}

// SetObjectives changes the objectives, with the counts of the successes that met them: by the second of their end, and in total without
// the warm-up.
func (t *Timeline) SetObjectives(slo SLO, seconds []MetCount, total MetCount) {
	t.SLO, t.dirty, t.Totals.MetCount = slo, 0, total
	for i := range t.windows {
		t.windows[i].MetCount = MetCount{}
		if i < len(seconds) {
			t.windows[i].MetCount = seconds[i]
		}
	}
}

// TakeUnseen returns and resets the parts of TTFT since the last sample of the server.
func (t *Timeline) TakeUnseen() (first, ended TTFTParts) {
	first, ended = t.unseen.first, t.unseen.ended
	t.unseen.first, t.unseen.ended = TTFTParts{}, TTFTParts{}
	return first, ended
}

// Verdict on the client, of the run so far.
func (t *Timeline) Verdict() Verdict { return t.Client.Verdict(t.Plan, &t.Histograms[ITL]) }

// Recent is the verdict on the client in the last seconds.
func (t *Timeline) Recent() Verdict { return t.Client.Recent(t.Plan, &t.Histograms[ITL]) }

// TemplateTokens is the average number of tokens by which servers count prompts longer than they were counted before sending, as chat
// templates make them, over the successes; 0 where unknown.
func (t *Timeline) TemplateTokens() float64 { return Share(t.templates.tokens, t.templates.n) }

// count adds the latencies of a request that are known at a moment, in its second and in the whole run, or removes them where by is -1.
func (t *Timeline) count(w *Window, r *Request, at moment, warming bool, by int) {
	for _, l := range knownAt[at] {
		if v := rows[l].of(r); v != Never {
			t.change(w, l, v, warming, by)
		}
	}
}

// tokenGap adds the gaps of the tokens in the i-th chunk of r, or removes them where by is -1.
func (t *Timeline) tokenGap(w *Window, r *Request, i int, warming bool, by int) {
	if i >= r.CountedChunks {
		return // at once: it is called for each chunk
	}
	if each, tokens := r.TokenGap(i); tokens > 0 {
		t.change(w, TokenITL, each, warming, by*tokens)
	}
}

// change adds a latency so many times in its second and in the whole run, or removes it where by is negative.
func (t *Timeline) change(w *Window, l Latency, v time.Duration, warming bool, by int) {
	if l < NumInWindow {
		w.Histograms[l].change(v, by)
	}
	if !warming {
		t.Histograms[l].change(v, by)
	}
}

// Share returns the windows up to now that changed since the last call, with levels summed up, and the number of unchanged windows before
// them. before holds all windows of the last call. It visits changed windows only, because chunks wait for it and most windows of a long
// run never change again. The reader may keep the result.
func (t *Timeline) Share(now time.Duration, before []Window) (same int, changed []Window) {
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
		for l := range c.Histograms {
			c.Histograms[l] = w.Histograms[l].Share()
		}
	}
	t.dirty = len(t.windows)
	return same, changed
}
