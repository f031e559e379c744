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
	w.E2EL.Add(r.E2EL())
	tpot := r.TPOT()
	if tpot != Never {
		w.TPOT.Add(tpot)
	}
	o := r.latencies()
	met := t.slo.judge(&o)
	met.count(&w.Good, &w.MetTTFT, &w.MetTPOT, &w.MetE2EL)
	scheduled := r.ScheduledLatency()
	if scheduled != Never {
		w.Scheduled.Add(scheduled)
	}
	if n := r.live.inputTokens; n > 0 && r.InputSource == TokensFromUsage {
		t.templates.n++
		t.templates.tokens += r.InputTokens - n
	}
	t.correct(r)
	w.PromptTokens += r.InputTokens
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
	if scheduled != Never {
		t.scheduled.Add(scheduled)
	}
	if t.plan.Goodput.judge(&o).good() {
		t.planned++
	}
	met.count(&t.totals.Good, &t.totals.MetTTFT, &t.totals.MetTPOT, &t.totals.MetE2EL)
	t.e2el.Add(r.E2EL())
	if tpot != Never {
		t.tpot.Add(tpot)
	}
	t.queued.Add(r.E2EL() + max(0, r.Held()))
}

// forget takes the latencies of a request that did not succeed out of the histograms.
func (t *timeline) forget(r *Request, warming bool) {
	if r.Sent != Never {
		held := max(0, r.Held())
		t.at(r.Sent).HeldTime.Remove(held)
		if !warming {
			t.queue.Remove(held)
		}
	}
	if r.live.answered {
		t.at(r.FirstAnswer).FirstAnswer.Remove(r.FirstAnswerLatency())
		if !warming {
			t.answer.Remove(r.FirstAnswerLatency())
		}
	}
	for i, c := range r.Chunks {
		if i == 0 {
			w := t.at(c.At)
			w.TTFT.Remove(r.TTFT())
			w.Waits.count(r, -1)
			if !warming {
				t.ttft.Remove(r.TTFT())
				t.waits.count(r, -1)
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
