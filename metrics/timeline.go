package metrics

import "time"

// stage is the stage of a request in flight.
type stage uint8

const (
	stageNone stage = iota
	stageHeld
	stageWaiting
	stageRunning
)

// Timeline turns the four moments of each request into windows and whole-run histograms. The live view and the report
// share it, so that they agree. Share sums up the levels.
//
//	due ──> held ──sent──> waiting ──first token──> running ──done──>
//
// Windows hold the whole run, totals and whole-run histograms leave out the warm-up.
type Timeline struct {
	Plan                   *Plan
	SLO                    SLO // in force, but for workloads with objectives of their own
	Totals                 Counts
	Groups                 Groups
	windows                []*second
	Histograms             Histograms
	TTFTParts              TTFTParts
	Reported               ServerTimes
	unseen                 struct{ first, ended TTFTParts } // since the last sample of the server
	Held, Waiting, Running int                              // levels now
	Client                 ClientHealth
	templates              struct{ n, tokens int } // see TemplateTokens
	dirty                  int                     // windows from here on changed since they were last shared
	packed                 int                     // windows before here were packed
	joined                 int                     // windows before here are minutes
	Past                   []PastSecond            // of these minutes; only grows
	Guessed                int                     // requests in flight whose output tokens are counted by chunk
}

// SecondOf is the number of the window in which a moment lies.
func SecondOf(at time.Duration) int { return int(min(max(0, at)/time.Second, MaxWindows-1)) }

// second is a window with what snapshots do not show.
type second struct {
	Window
	held, waiting, running int  // changes of the levels within it
	shown                  bool // in a snapshot: it is copied before the next change
}

// own is a second that may be changed.
func (t *Timeline) own(k int) *second {
	if s := t.windows[k]; s.shown {
		t.windows[k] = &second{*s.Clone(), s.held, s.waiting, s.running, false}
	}
	return t.windows[k]
}

func (t *Timeline) at(at time.Duration) *Window { return &t.second(at).Window }

func (t *Timeline) second(at time.Duration) *second {
	k := t.place(SecondOf(at))
	t.dirty = min(t.dirty, k)
	for len(t.windows) <= k {
		start := time.Duration(len(t.windows)+t.joined*(perMinute-1)) * time.Second
		t.windows = append(t.windows, &second{Window: Window{Start: start}})
	}
	return t.own(k)
}

func (t *Timeline) move(r *Request, to stage, at time.Duration) {
	t.level(r.progress.stage, at, -1)
	t.level(to, at, +1)
	r.progress.stage = to
}

func (t *Timeline) level(s stage, at time.Duration, by int) {
	switch w := t.second(at); s {
	case stageHeld:
		w.held, t.Held = w.held+by, t.Held+by
	case stageWaiting:
		w.waiting, t.Waiting = w.waiting+by, t.Waiting+by
	case stageRunning:
		w.running, t.Running = w.running+by, t.Running+by
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
	t.group(r, true, false)
	t.count(w, r, atSent, warming, +1)
	t.Client.sent(r, warming)
	t.move(r, stageWaiting, r.Sent)
}

// group puts a request into its groups as far as they are known, and counts it there as in flight if it was sent.
func (t *Timeline) group(r *Request, sent, answered bool) {
	before := r.progress.in
	t.Groups.place(t.Plan, r, answered)
	for kind, g := range t.Groups.Of(r) {
		if g != nil && before[kind] == 0 && sent {
			g.InFlight++
			g.Sent += one(!t.Plan.Warming(r))
		}
	}
}

// Chunk counts the i-th chunk of r.
func (t *Timeline) Chunk(r *Request, i int) {
	c := r.Chunks[i]
	w := t.at(c.At)
	warming := t.Plan.Warming(r)
	if i == 0 {
		if r.Served != nil {
			t.group(r, true, true)
		}
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
		w.TokensIn += r.InputTokens
		r.progress.inputTokens = r.InputTokens
	}
	t.Client.chunk(r, i, warming)
	if r.progress.outputTokens == 0 && c.Tokens > 0 {
		t.Guessed++
	}
	w.TokensOut += int(c.Tokens)
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
	switch {
	case r.Done != Never:
		t.Done(r)
	case !t.Plan.Warming(r): // as in a damaged journal
		t.group(r, r.Sent != Never, true)
		t.end(r, r.Sent != Never, false)
	}
}

func (t *Timeline) Done(r *Request) {
	if r.progress.outputTokens > 0 {
		t.Guessed--
	}
	sent := r.progress.stage == stageWaiting || r.progress.stage == stageRunning
	t.move(r, stageNone, r.Done)
	t.Client.done(r)
	t.group(r, sent, r.Failure != Cancelled)
	warming := t.Plan.Warming(r)
	switch r.Failure {
	case "":
		t.succeed(r, warming)
	case Abandoned: // keeps the latencies that it had; see Latency.Counts
	default:
		t.forget(r, warming)
	}
	t.end(r, sent, warming)
}

// end counts a request that ended in its second, in the run and in its groups.
func (t *Timeline) end(r *Request, sent, warming bool) {
	counts, judged := CountsOf(r), false
	if r.OK() {
		judged = len(t.Plan.ObjectivesFor(r.Class, t.SLO)) > 0
		counts.MetCount.Add(t.Plan.Met(r, t.SLO), r.OutputTokens)
		counts.PlannedGood = one(t.Plan.Met(r, t.Plan.Goodput).Good())
		if t.Plan.Retry != "" {
			counts.GoodUsers = one(t.Plan.Met(r.OfUser(), t.Plan.Goodput).Good())
			counts.GoodTries = one(t.Plan.Met(r.OfLastTry(), t.Plan.Goodput).Good())
		}
	}
	if r.Done != Never {
		w, ends := t.at(r.Done), endsOf(r)
		w.Merge(&counts)
		w.Ends = w.Ends.Merge(&ends)
	}
	if warming {
		t.Totals.WarmedUp++
	} else {
		t.Totals.Merge(&counts)
	}
	if !judged {
		counts.MetCount = MetCount{} // without objectives no request of a group is good
	}
	for i, g := range t.Groups.Of(r) {
		if g == nil {
			continue
		}
		g.InFlight -= one(sent)
		switch {
		case warming:
		case i == ByEndpoint: // has its latencies
			g.Merge(&counts)
		default:
			g.add(r, &counts)
		}
	}
}

func (t *Timeline) succeed(r *Request, warming bool) {
	w := t.at(r.Done)
	t.count(w, r, atSuccess, warming, +1)
	if n := r.progress.inputTokens; n > 0 && r.InputSource == TokensFromUsage {
		t.templates.n++
		t.templates.tokens += r.InputTokens - n
	}
	if !t.Plan.Generates() {
		w.TokensIn += r.InputTokens
	}
	t.correct(r)
	if len(r.Chunks) == 0 {
		return
	}
	t.unseen.ended.Count(r, 1)
	t.at(r.Chunks[0].At).Reported.add(r)
	if !warming {
		t.Reported.add(r)
	}
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
			t.change(w, r, ITL, r.Gap(i), warming, -1)
			t.tokenGap(w, r, i, warming, -1)
		}
	}
}

// correct spreads the token totals of the request over the seconds of its chunks.
func (t *Timeline) correct(r *Request) {
	if r.FirstToken != Never {
		t.at(r.FirstToken).TokensIn += r.InputTokens - r.progress.inputTokens
	}
	if r.OutputTokens == r.progress.outputTokens || len(r.Chunks) == 0 {
		return
	}
	given := 0
	for i, tokens := range r.Spread() {
		t.at(r.Chunks[i].At).TokensOut += tokens - int(r.Chunks[i].Tokens)
		given += tokens
	}
	t.at(r.LastChunk).TokensOut += r.OutputTokens - given
}

// SetObjectives changes the objectives, with the counts of the successes that met them: by the second of their end, and
// in total without the warm-up.
func (t *Timeline) SetObjectives(slo SLO, seconds []MetCount, total MetCount) {
	t.SLO, t.dirty, t.Totals.MetCount = slo, 0, total
	now := make([]MetCount, len(t.windows))
	for k, n := range seconds {
		if at := t.place(k); at < len(now) {
			now[at].Join(n)
		}
	}
	for i := range now {
		if t.windows[i].MetCount != now[i] {
			t.own(i).MetCount = now[i]
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

// TemplateTokens is the average number of tokens by which servers count prompts longer than they were counted before
// sending, as chat templates make them, over the successes; 0 where unknown.
func (t *Timeline) TemplateTokens() float64 { return Share(t.templates.tokens, t.templates.n) }

// count adds the latencies of a request that are known at a moment, in its second and in the whole run, or removes them
// where by is -1.
func (t *Timeline) count(w *Window, r *Request, at moment, warming bool, by int) {
	streams := at == atChunk || t.Plan.Measures(TTFT) // an answer in one piece has one chunk
	for _, l := range knownAt[at] {
		if v := rows[l].of(r); v != Never && (streams || !rows[l].streams) {
			t.change(w, r, l, v, warming, by)
		}
	}
}

// tokenGap adds the gaps of the tokens in the i-th chunk of r, or removes them where by is -1.
func (t *Timeline) tokenGap(w *Window, r *Request, i int, warming bool, by int) {
	if i >= r.CountedChunks {
		return // at once: it is called for each chunk
	}
	if each, tokens := r.TokenGap(i); tokens > 0 {
		t.change(w, r, TokenITL, each, warming, by*tokens)
	}
}

// change adds a latency of r so many times in its second, in the whole run and at its endpoint, or removes it where by
// is negative.
func (t *Timeline) change(w *Window, r *Request, l Latency, v time.Duration, warming bool, by int) {
	if l < NumInWindow {
		w.Histograms[l].change(v, by)
	}
	if warming {
		return
	}
	t.Histograms[l].change(v, by)
	if e := t.Groups.Of(r)[ByEndpoint]; l < NumObjectives && e != nil {
		e.Histograms[l].change(v, by)
	}
}

// packLag is the number of seconds after which few windows change any more.
const packLag = 2 * perMinute

// Pack makes the windows of minutes past small. Those that change later grow again.
func (t *Timeline) Pack() {
	for t.packed+perMinute+packLag <= len(t.windows) {
		t.dirty = min(t.dirty, t.packed)
		for range perMinute {
			w := t.own(t.packed)
			for l := range w.Histograms {
				w.Histograms[l].Pack()
			}
			t.packed++
		}
	}
}

// Share returns the windows up to now that changed since the last call, with levels summed up, and the number of
// unchanged windows before them. before holds all windows of the last call. It visits changed windows only, because
// chunks wait for it and most windows of a long run never change again. The reader may keep the result.
func (t *Timeline) Share(now time.Duration, before []*Window) (same int, changed []*Window) {
	t.at(now)
	same = min(t.dirty, len(before))
	var held, waiting, runs int
	from := same
	if same > t.joined {
		held, waiting, runs = before[same-1].Held, before[same-1].Waiting, before[same-1].Running
	} else {
		from = 0 // the levels of minutes are means
	}
	for i := from; i < len(t.windows); i++ {
		s := t.windows[i]
		held, waiting, runs = held+s.held, waiting+s.waiting, runs+s.running
		if i < same {
			continue
		}
		if i >= t.joined && (s.Held != held || s.Waiting != waiting || s.Running != runs) {
			s = t.own(i)
			s.Held, s.Waiting, s.Running = held, waiting, runs
		}
		s.shown = true
		changed = append(changed, &s.Window)
	}
	t.dirty = len(t.windows)
	return same, changed
}
