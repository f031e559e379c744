package metrics

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
		t.totals.CachedTokens += r.cached()
		t.totals.OutputTokens += r.OutputTokens
	case r.Failure == Cancelled:
		t.totals.Cancelled++
	default:
		t.totals.Failed++
	}
}

func (t *timeline) succeed(w *Window, r *Request, warming bool) {
	t.count(w, r, atSuccess, warming, +1)
	o := r.latencies()
	met := t.slo.judge(&o)
	met.count(&w.Good, &w.Met)
	if n := r.live.inputTokens; n > 0 && r.InputSource == TokensFromUsage {
		t.templates.n++
		t.templates.tokens += r.InputTokens - n
	}
	t.correct(r)
	w.PromptTokens += r.InputTokens
	if t.plan.Pooling {
		w.InputTokens += r.InputTokens
	}
	w.CachedTokens += r.cached()
	if len(r.Chunks) > 0 {
		t.unseen.ended.count(r, 1)
		t.at(r.Chunks[0].At).Told.tell(r)
		if !warming {
			t.told.tell(r)
		}
	}
	if warming {
		return
	}
	if t.plan.Goodput.judge(&o).good() {
		t.planned++
	}
	met.count(&t.totals.Good, &t.totals.Met)
}

// forget takes the latencies of a request that did not succeed out of the histograms.
func (t *timeline) forget(r *Request, warming bool) {
	if r.Sent != Never {
		t.count(t.at(r.Sent), r, atSent, warming, -1)
	}
	if r.live.answered {
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
		if !t.plan.Pooling {
			t.count(w, r, atFirstChunk, warming, -1)
		}
		w.Waits.count(r, -1)
		if !warming {
			t.waits.count(r, -1)
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
