package metrics

// rowWords are the bytes of an error that a list shows.
const rowWords = 240

// row shows a request in flight, under the recorder's lock, or one that is over.
func (k *track) row() RequestRow {
	q := k.q
	r := RequestRow{
		Index: q.Index, ID: q.ID, Model: q.Model, State: k.state(), Due: q.Due, Sent: k.sent, Ended: Never,
		SlotWait: k.slotWait, TTFT: since(k.sent, k.first), TPOT: Never, E2EL: Never,
		InputTokens: k.input, OutputTokens: q.live.outputTokens, Kept: true,
	}
	if !k.done {
		return r
	}
	r.Sent, r.Ended, r.SlotWait, r.TTFT, r.InputTokens = q.Sent, q.Done, q.SlotWait(), q.TTFT(), q.InputTokens
	if q.OK() {
		r.TPOT, r.E2EL, r.OutputTokens = q.TPOT(), q.E2EL(), q.OutputTokens
	}
	r.Failure, r.Status, r.Error = q.Failure, q.Status, whole(q.Error, rowWords)
	return r
}

func (k *track) state() RequestState {
	switch q := k.q; {
	case !k.done && q.live.stage == stageHeld:
		return StateHeld
	case !k.done && q.live.stage == stageRunning:
		return StateRunning
	case !k.done:
		return StateWaiting
	case q.Failure == Cancelled:
		return StateCancelled
	case q.Failure != "":
		return StateFailed
	}
	return StateDone
}

// detail shows all of a request.
func (k *track) detail() RequestDetail {
	q, n := k.q, min(k.n, chunksKept)
	d := RequestDetail{
		RequestRow: k.row(), Scheduled: q.Scheduled, Encode: k.encode, Connect: k.connect,
		ServerQueue: Never, ServerPrefill: Never, Chunks: k.chunks[:n:n], Text: string(k.text), TextCut: k.cut,
	}
	if !k.done {
		d.TextCut = k.cut || !k.slot
		return d
	}
	d.Encode, d.Connect, d.CachedTokens, d.Redials = q.Encode, q.Connect, q.CachedTokens, q.Redials
	d.ServerQueue, d.ServerPrefill, d.Finish, d.Whole = q.ServerQueue, q.ServerPrefill, q.Finish, q.Error
	if d.Text == "" {
		d.Text = q.Text
	}
	return d
}
