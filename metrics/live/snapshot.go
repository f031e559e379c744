package live

import (
	"cmp"
	"context"
	"slices"
	"time"

	"benchtop/metrics"
)

// Snapshot returns the run so far.
func (v *View) Snapshot() metrics.Snapshot {
	v.sharing.Lock()
	defer v.sharing.Unlock()
	return v.now()
}

// SnapshotAt returns the snapshot at a moment of a past run.
func (v *View) SnapshotAt(now time.Duration) metrics.Snapshot {
	v.sharing.Lock()
	defer v.sharing.Unlock()
	return v.at(now)
}

// at makes a snapshot. The caller holds sharing.
func (v *View) at(now time.Duration) metrics.Snapshot {
	s, same, changed, viewed := v.capture(now)
	v.shared = slices.Concat(v.shared[:same], changed) // the bulk of a long run is copied outside of mu
	s.Windows = v.shared
	v.minutes = v.minutes.Follow(&s, same)
	s.Minutes = v.minutes
	s.Requests, s.Opened = viewed.rows(), viewed.detail()
	return s
}

// join replaces seconds long past by their minutes, in the snapshots after s, the last one. A past run keeps them, so
// that its charts can go back to its start. The caller holds sharing.
func (v *View) join(s metrics.Snapshot) {
	v.mu.Lock()
	defer v.mu.Unlock()
	joined := v.line.Join(s.Minutes.Windows)
	if joined == nil {
		return
	}
	s.Pass()
	v.shown.Before = s.Before
	to := len(v.line.Past) / 60
	from := to - len(joined)
	v.shared = slices.Concat(v.shared[:from], joined, v.shared[from+60*len(joined):])
	v.minutes.Windows = slices.Concat(v.minutes.Windows[:from], joined, v.minutes.Windows[to:])
	v.shown.Telemetry.Join(metrics.Minutes{Server: v.minutes.Server[:to], GPUs: v.minutes.GPUs[:to]}, s.Plan.Warmup)
}

// capture takes the snapshot without the windows that did not change since the last one.
func (v *View) capture(now time.Duration) (s metrics.Snapshot, same int, changed []*metrics.Window,
	viewed requestSelection) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.shown.Report != nil {
		now = v.shown.Report.Ended
	}
	v.outages.Pass(now)
	l := &v.line
	l.Pack()
	same, changed = l.Share(now, v.shared)
	s = v.shown
	s.At, s.Totals, s.Objectives = now, l.Totals, l.SLO
	s.Missed = v.tracks.missing(l.Plan, l.SLO, now)
	s.Garbage = v.garbage.Sorted()
	s.Held, s.Waiting, s.Running, s.OutputExact = l.Held, l.Waiting, l.Running, l.Guessed == 0
	s.Histograms, s.Failures, s.Endpoints = l.Histograms.Share(), v.failures.Counts(), l.Groups.Endpoints()
	s.Classes, s.Turns = l.Groups.Ended()
	s.Places = l.Groups.Axes(l.Plan)
	s.Sessions = v.sessions.share()
	s.Search = v.search.At(now, l.Plan)
	s.Verdict, s.Recent, s.Outage = l.Verdict(), l.Recent(), v.outages.Now()
	s.Log = slices.Clone(s.Log[max(0, len(s.Log)-logKept):])
	s.Marks, s.Client = slices.Clip(s.Marks), slices.Clip(l.Client.Seconds)
	s.Server, s.GPUs = slices.Clip(s.Server), slices.Clip(s.GPUs)
	return s, same, changed, v.tracks.view(l.Plan, l.SLO)
}

// How often snapshots are made. Viewers share one, and the next one waits in proportion to the time that it took, which
// is that of copying places of 86,400 windows after a day.
const (
	recentFor  = 100 * time.Millisecond // snapshots up to this age are shared
	oldest     = 400 * time.Millisecond // no snapshot of this age is shared
	wakeAfter  = 50 * time.Millisecond  // minimum time before a snapshot that was requested
	seldomness = 10                     // snapshots are shared for so many times the time that one takes
)

// recent is the last snapshot of this moment.
type recent struct {
	snapshot metrics.Snapshot
	made     time.Time
	took     time.Duration
}

// Recent is Snapshot for callers that poll. They share the last snapshot while it is less than 100 ms old, or, where
// snapshots take long, younger than ten times the time that one takes, at most 400 ms. All facts are in it, except for
// the latest samples of client, server and accelerators.
func (v *View) Recent() metrics.Snapshot { return v.within(0) }

// within returns a snapshot of at most this age, or of the age that Recent allows.
func (v *View) within(age time.Duration) metrics.Snapshot {
	v.sharing.Lock()
	defer v.sharing.Unlock()
	age = max(age, recentFor, min(seldomness*v.last.took, oldest))
	if !v.last.made.IsZero() && time.Since(v.last.made) < age && !v.news.Load() {
		return v.last.snapshot
	}
	return v.now()
}

// now makes a snapshot of this moment. The caller holds sharing.
func (v *View) now() metrics.Snapshot {
	began := time.Now()
	v.news.Store(false) // a fact that comes from here on may be in the snapshot or not
	s := v.at(time.Since(v.start))
	v.join(s)
	v.last = recent{s, began, time.Since(began)}
	return s
}

// pause is the time to wait before a snapshot that was requested.
func (v *View) pause() time.Duration {
	v.sharing.Lock()
	defer v.sharing.Unlock()
	return max(wakeAfter, seldomness/2*v.last.took) - time.Since(v.last.made)
}

// Publish sends a snapshot now, then at the interval, and soon after a call of Inspect. When the run is over it sends
// only the latter. When ctx ends it sends a last one and closes the channel. The channel holds one snapshot, and a
// newer one replaces it, so that the view never waits for a viewer.
func (v *View) Publish(ctx context.Context, every time.Duration) <-chan metrics.Snapshot {
	out := make(chan metrics.Snapshot, 1)
	tick := time.NewTicker(every)
	put := func(s metrics.Snapshot) {
		select {
		case <-out:
		default:
		}
		out <- s // only this goroutine sends, so there is room
		if s.State == metrics.Finished {
			tick.Stop()
		}
	}
	put(v.Snapshot())
	go func() {
		defer close(out)
		defer tick.Stop()
		for v.nextIsDue(ctx, tick.C) {
			put(v.Recent())
		}
		put(v.Snapshot())
	}()
	return out
}

// nextIsDue waits for the tick or for a request; it is false when ctx has ended.
func (v *View) nextIsDue(ctx context.Context, tick <-chan time.Time) bool {
	select {
	case <-ctx.Done():
		return false
	case <-tick:
		return true
	case <-v.wake:
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(v.pause()):
		return true
	}
}

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

// requestSelection holds the requests of a snapshot, as far as they must be read under the lock.
type requestSelection struct {
	asked    bool
	inFlight []metrics.RequestRow
	over     []*track
	slowest  []*track
	opened   *track // over
	open     *metrics.RequestDetail
	plan     *metrics.Plan
	slo      metrics.SLO // in force
}

// view takes the requests that were selected. Finished requests do not change, so their rows are made outside the lock.
func (t *tracks) view(p *metrics.Plan, slo metrics.SLO) requestSelection {
	v := requestSelection{asked: t.inspection.Rows, plan: p, slo: slo}
	if t.inspection.Rows || t.inspection.Open > 0 {
		v.slowest = t.slow()
	}
	if t.inspection.Rows {
		v.over, v.inFlight = t.over(), make([]metrics.RequestRow, 0, rowsInFlight)
		for _, k := range t.oldest() {
			v.inFlight = append(v.inFlight, k.row(p, slo))
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
		open := k.detail(p, slo) // chunks that were not kept come with the next chunk
		v.open = &open
	}
	return v
}

// rows are the requests to list, by index.
func (v *requestSelection) rows() []metrics.RequestRow {
	if !v.asked {
		return nil
	}
	rows := slices.Grow(v.inFlight, len(v.over))
	seen := make(map[*track]bool, len(v.over))
	for _, k := range v.over {
		if !seen[k] {
			seen[k] = true
			row := k.row(v.plan, v.slo)
			row.Slow = slices.Contains(v.slowest, k)
			rows = append(rows, row)
		}
	}
	slices.SortStableFunc(rows, func(a, b metrics.RequestRow) int { return cmp.Compare(a.Index, b.Index) })
	return rows
}

// detail is the request that is open, nil for none.
func (v *requestSelection) detail() *metrics.RequestDetail {
	if v.opened == nil {
		return v.open
	}
	d := v.opened.detail(v.plan, v.slo)
	d.Slow = slices.Contains(v.slowest, v.opened)
	return &d
}

// rowErrorBytes is the length at which a list cuts an error.
const rowErrorBytes = 240

// row is the row of a request: of one in flight under the lock of the view, or of a finished one, judged by the
// objectives in force.
func (k *track) row(p *metrics.Plan, slo metrics.SLO) metrics.RequestRow {
	q := k.q
	r := metrics.RequestRow{
		Index: q.Index, ID: q.ID, Model: q.Model, Class: q.Class, State: q.State(),
		Due: q.Due, Sent: k.sent, Ended: metrics.Never, SlotWait: k.slotWait,
		TTFT: metrics.Since(k.sent, k.first), TPOT: metrics.Never, E2EL: metrics.Never,
		InputTokens: k.input, OutputTokens: q.Counted(), Kept: true, Session: q.Session, Turn: q.Turn, Turns: q.Turns,
		ServerQueue: metrics.Never, ServerPrefill: metrics.Never,
	}
	if !k.done {
		return r
	}
	r.Sent, r.Ended, r.SlotWait, r.TTFT, r.InputTokens = q.Sent, q.Done, q.SlotWait(), q.TTFT(), q.InputTokens
	if q.OK() {
		r.TPOT, r.E2EL, r.OutputTokens = q.TPOT(), q.E2EL(), q.OutputTokens
		for l, met := range p.Met(q, slo) {
			r.Missed[l] = !met
		}
	}
	r.CachedTokens, r.ServerQueue, r.ServerPrefill, r.Finish = q.CachedTokens, q.ServerQueue, q.ServerPrefill, q.Finish
	r.Wrong = cmp.Or(q.Judgement.Wrong, q.Garbage.Reason)
	r.Failure, r.Status, r.Error = q.Failure, q.Status, whole(metrics.ErrorMessage(q.Error), rowErrorBytes)
	return r
}

// detail is the request in full.
func (k *track) detail(p *metrics.Plan, slo metrics.SLO) metrics.RequestDetail {
	q, n := k.q, min(k.n, chunksKept)
	d := metrics.RequestDetail{
		RequestRow: k.row(p, slo), Scheduled: q.Scheduled, Encode: k.encode, Connect: k.connect,
		Prompt: k.prompt, Chunks: k.chunks[:n:n], Text: string(k.text), TextCut: k.cut,
	}
	if !k.done {
		d.TextCut = k.cut || !k.slot
		return d
	}
	d.Encode, d.Connect, d.Redials, d.Audio, d.Whole = q.Encode, q.Connect, q.Tallies[metrics.Redials], q.Audio, q.Error
	d.Text = cmp.Or(d.Text, q.Text)
	return d
}

// firstTokens detects a server that sends a chunk before its first token.
type firstTokens struct {
	chunk, token metrics.Histogram
	reported     bool
}

// firstTokensEvery is the number of requests between two checks.
const firstTokensEvery = 20

// later adds a success. It reports once that the first token comes later than the first chunk, by the rule of the
// report.
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

const tokenAfterChunk = "the first chunk arrives before the first token; TTFT is to the chunk, as in vLLM"
