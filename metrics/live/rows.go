package live

import (
	"cmp"
	"slices"
	"time"

	"benchtop/metrics"
)

// rowsInFlight is the number of requests in flight that a list shows: the oldest.
const rowsInFlight = 200

// Inspect selects the single requests in the snapshots from now on. Publish sends one at once.
func (v *View) Inspect(l metrics.Inspection) {
	v.mu.Lock()
	defer v.mu.Unlock()
	t := &v.tracks
	if t.inspection == l {
		return
	}
	v.news.Store(true)
	v.hurry()
	if t.inspection.Open != l.Open {
		t.opened = nil
	}
	t.inspection = l
}

// viewed holds the requests of a snapshot, as far as they must be read under the lock.
type viewed struct {
	asked    bool
	inFlight []metrics.RequestRow
	over     []*track
	slowest  []*track
	opened   *track // over
	open     *metrics.RequestDetail
}

// view takes the requests that were selected. Finished requests do not change, so their rows are made outside the lock.
func (t *tracks) view() viewed {
	v := viewed{asked: t.inspection.Rows}
	if t.inspection.Rows || t.inspection.Open > 0 {
		v.slowest = t.slow()
	}
	if t.inspection.Rows {
		v.over, v.inFlight = t.over(), make([]metrics.RequestRow, 0, rowsInFlight)
		for _, k := range t.oldest() {
			v.inFlight = append(v.inFlight, k.row())
		}
	}
	if t.inspection.Open <= 0 {
		return v
	}
	if t.opened == nil {
		t.opened = t.find(t.inspection.Open - 1)
	}
	switch k := t.opened; {
	case k == nil:
	case k.done:
		v.opened = k
	default:
		open := k.detail() // chunks that were not kept come with the next chunk
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

// detail is the request that is open, nil for none.
func (v *viewed) detail() *metrics.RequestDetail {
	if v.opened == nil {
		return v.open
	}
	d := v.opened.detail()
	d.Slow = slices.Contains(v.slowest, v.opened)
	return &d
}

// rowErrorBytes is the length at which a list cuts an error.
const rowErrorBytes = 240

// row is the row of a request: of one in flight under the lock of the view, or of a finished one.
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

// detail is the request in full.
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

// mostEndpoints bounds the endpoints; the last one counts all others.
const (
	mostEndpoints = 64
	otherModels   = "others"
)

// endpoints count requests by endpoint. Requests of the warm-up count only as in flight.
type endpoints struct {
	list  []*metrics.Endpoint
	named map[string]*metrics.Endpoint
}

// of is the endpoint of requests for a model.
func (e *endpoints) of(model string) *metrics.Endpoint {
	if p := e.named[model]; p != nil {
		return p
	}
	if len(e.list) >= mostEndpoints-1 && model != otherModels {
		return e.of(otherModels)
	}
	if e.named == nil {
		e.named = map[string]*metrics.Endpoint{}
	}
	p := &metrics.Endpoint{Model: model}
	e.list, e.named[model] = append(e.list, p), p
	return p
}

func (e *endpoints) sent(q *metrics.Request, warming bool) {
	p := e.of(q.Model)
	p.InFlight++
	if !warming {
		p.Sent++
	}
}

// first counts the first chunk.
func (e *endpoints) first(q *metrics.Request, warming bool) {
	if p := e.of(q.Model); !warming {
		p.FirstWait.Add(q.TTFT())
	}
}

func (e *endpoints) done(q *metrics.Request, warming bool) {
	p := e.of(q.Model)
	if q.Sent != metrics.Never {
		p.InFlight--
	}
	if warming {
		return
	}
	switch q.Failure {
	case "":
		p.Done++
		p.OutputTokens += q.OutputTokens
		return
	case metrics.Cancelled:
	default:
		p.Failed++
	}
	if len(q.Chunks) > 0 {
		p.FirstWait.Remove(q.TTFT())
	}
}

// share returns the endpoints for a reader, in the order of their first requests.
func (e *endpoints) share() []metrics.Endpoint {
	out := make([]metrics.Endpoint, len(e.list))
	for i, p := range e.list {
		out[i] = *p
		out[i].FirstWait = p.FirstWait.Share()
	}
	return out
}

// firstTokens detects a server that sends a chunk before its first token.
type firstTokens struct {
	chunk, token metrics.Histogram
	reported     bool
}

// firstTokensEvery is the number of requests between two checks.
const firstTokensEvery = 20

// later adds a success. It reports once that the first token comes later than the first chunk, by the rule of the report.
func (f *firstTokens) later(q *metrics.Request) bool {
	if f.reported || q.FirstToken == metrics.Never {
		return false
	}
	f.chunk.Add(q.TTFT())
	f.token.Add(q.FirstTokenLatency())
	if f.chunk.Count()%firstTokensEvery != 0 {
		return false
	}
	f.reported = metrics.TokenAfterChunk(float64(f.token.Quantile(0.5)), float64(f.chunk.Quantile(0.5)))
	return f.reported
}

func tokenAfterChunkEvent(at time.Duration) metrics.LogEntry {
	return metrics.LogEntry{At: at, Level: metrics.Warn, Text: "the first chunk comes before the first token: TTFT is to the chunk, as vLLM counts"}
}
