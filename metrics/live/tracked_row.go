package live

import "benchtop/metrics"

// rowWords are the bytes of an error that a list shows.
const rowWords = 240

// row shows a request in flight, under the recorder's lock, or one that is over.
func (k *track) row() metrics.RequestRow {
	q := k.q
	r := metrics.RequestRow{
		Index: q.Index, ID: q.ID, Model: q.Model, State: q.State(), Due: q.Due, Sent: k.sent, Ended: metrics.Never,
		SlotWait: k.slotWait, TTFT: metrics.Since(k.sent, k.first), TPOT: metrics.Never, E2EL: metrics.Never,
		InputTokens: k.input, OutputTokens: q.Counted(), Kept: true,
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

// detail shows all of a request.
func (k *track) detail() metrics.RequestDetail {
	q, n := k.q, min(k.n, chunksKept)
	d := metrics.RequestDetail{
		RequestRow: k.row(), Scheduled: q.Scheduled, Encode: k.encode, Connect: k.connect,
		ServerQueue: metrics.Never, ServerPrefill: metrics.Never, Chunks: k.chunks[:n:n], Text: string(k.text), TextCut: k.cut,
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
