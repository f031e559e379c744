package live

import (
	"cmp"
	"slices"

	"benchtop/metrics"
)

// rowsInFlight are the requests in flight that are shown: the oldest.
const rowsInFlight = 200

// Inspect says what a viewer wants to see of single requests from now on. Publish shows it at once.
func (v *View) Inspect(l metrics.Inspection) {
	v.mu.Lock()
	defer v.mu.Unlock()
	t := &v.tracks
	if t.look == l {
		return
	}
	v.news.Store(true)
	v.hurry()
	if t.look.Open != l.Open {
		t.opened = nil
	}
	t.look = l
}

// viewed is what a snapshot shows of single requests, as far as it has to be taken under the lock.
type viewed struct {
	asked    bool
	inFlight []metrics.RequestRow
	over     []*track
	slowest  []*track
	opened   *track // over
	open     *metrics.RequestDetail
}

// view takes what was asked for. Nobody changes requests that are over, so they can wait.
func (t *tracks) view() viewed {
	v := viewed{asked: t.look.Rows}
	if t.look.Rows || t.look.Open > 0 {
		v.slowest = t.slow()
	}
	if t.look.Rows {
		v.over, v.inFlight = t.over(), make([]metrics.RequestRow, 0, rowsInFlight)
		for _, k := range t.oldest() {
			v.inFlight = append(v.inFlight, k.row())
		}
	}
	if t.look.Open <= 0 {
		return v
	}
	if t.opened == nil {
		t.opened = t.find(t.look.Open - 1)
	}
	switch k := t.opened; {
	case k == nil:
	case k.done:
		v.opened = k
	default:
		open := k.detail() // chunks come with the next one, if they were not kept so far
		v.open = &open
	}
	return v
}

// rows are the requests to list, by index.
func (v *viewed) rows() []metrics.RequestRow {
	if !v.asked {
		return nil
	}
	rows := slices.Grow(v.inFlight, len(v.over))
	seen, slow := make(map[*track]bool, len(v.over)), make(map[*track]bool, len(v.slowest))
	for _, k := range v.slowest {
		slow[k] = true
	}
	for _, k := range v.over {
		if !seen[k] {
			seen[k] = true
			row := k.row()
			row.Slow = slow[k]
			rows = append(rows, row)
		}
	}
	slices.SortStableFunc(rows, func(a, b metrics.RequestRow) int { return cmp.Compare(a.Index, b.Index) })
	return rows
}

// detail is the request that was opened, nil for none.
func (v *viewed) detail() *metrics.RequestDetail {
	if v.opened == nil {
		return v.open
	}
	d := v.opened.detail()
	d.Slow = slices.Contains(v.slowest, v.opened)
	return &d
}

// rowErrorBytes are the bytes of an error that a list shows.
const rowErrorBytes = 240

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
	r.Failure, r.Status, r.Error = q.Failure, q.Status, whole(q.Error, rowErrorBytes)
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
