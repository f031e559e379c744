package metrics

func (t *Timeline) Done(r *Request) {
	if r.progress.outputTokens > 0 {
		t.Guessed--
	}
	t.move(r, stageNone, r.Done)
	t.Client.done(r)
	w := t.at(r.Done)
	warming := t.Plan.Warming(r)
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
		t.Totals.WarmedUp++
	case r.Failure == "":
		t.Totals.Done++
		t.Totals.InputTokens += r.InputTokens
		t.Totals.CachedTokens += r.cached()
		t.Totals.OutputTokens += r.OutputTokens
	case r.Failure == Cancelled:
		t.Totals.Cancelled++
	default:
		t.Totals.Failed++
	}
}

func (t *Timeline) succeed(w *Window, r *Request, warming bool) {
	t.count(w, r, atSuccess, warming, +1)
	o := r.Outcome()
	met := t.SLO.Judge(&o)
	w.MetCount.Add(met)
	if n := r.progress.inputTokens; n > 0 && r.InputSource == TokensFromUsage {
		t.templates.n++
		t.templates.tokens += r.InputTokens - n
	}
	t.correct(r)
	w.PromptTokens += r.InputTokens
	if t.Plan.Pooling {
		w.InputTokens += r.InputTokens
	}
	w.CachedTokens += r.cached()
	if len(r.Chunks) > 0 {
		t.unseen.ended.Count(r, 1)
		t.at(r.Chunks[0].At).Told.tell(r)
		if !warming {
			t.Told.tell(r)
		}
	}
	if warming {
		return
	}
	if t.Plan.Goodput.Judge(&o).Good() {
		t.PlannedGood++
	}
	t.Totals.MetCount.Add(met)
}

// forget takes the latencies of a request that did not succeed out of the histograms.
func (t *Timeline) forget(r *Request, warming bool) {
	if r.Sent != Never {
		t.count(t.at(r.Sent), r, atSent, warming, -1)
	}
	if r.progress.answered {
		t.count(t.at(r.FirstAnswer), r, atFirstAnswer, warming, -1)
	}
	for i, c := range r.Chunks {
		w := t.at(c.At)
		if i > 0 {
			for _, l := range knownAt[atChunk] {
				t.countOne(w, l, rows[l].gap(r, i), warming, -1)
			}
			continue
		}
		if !t.Plan.Pooling {
			t.count(w, r, atFirstChunk, warming, -1)
		}
		w.Waits.Count(r, -1)
		if !warming {
			t.Waits.Count(r, -1)
		}
	}
}

// correct spreads the request's own token totals over the seconds in which its chunks came.
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

// SetObjectives changes the objectives, with what successes met of them: by the second of their end, and in all but the warm-up.
func (t *Timeline) SetObjectives(slo SLO, seconds []MetCount, total MetCount) {
	t.SLO, t.dirty, t.Totals.MetCount = slo, 0, total
	for i := range t.windows {
		t.windows[i].MetCount = MetCount{}
		if i < len(seconds) {
			t.windows[i].MetCount = seconds[i]
		}
	}
}

// Seen are the waits since the last look at the server, which it begins anew.
func (t *Timeline) Seen() (first, ended Waits) {
	first, ended = t.unseen.first, t.unseen.ended
	t.unseen.first, t.unseen.ended = Waits{}, Waits{}
	return first, ended
}

// TemplateTokens is by how many tokens servers counted a prompt longer than it was counted before it was sent, on average over
// the successes, as a chat template makes it; 0 where that is not known.
func (t *Timeline) TemplateTokens() float64 { return Share(t.templates.tokens, t.templates.n) }
