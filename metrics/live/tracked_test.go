package live

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/metrics/event"
)

const (
	ms     = time.Millisecond
	second = time.Second
	minute = time.Minute
)

// ttft are objectives of one limit.
func ttft(ms float64) metrics.SLO { return metrics.SLO{{Metric: metrics.TTFT, LimitMS: ms}} }

// exchange passes the events of a request to a view.
type exchange struct {
	rec *View
	q   metrics.Request
}

func (x *exchange) due(at time.Duration) {
	x.q.Scheduled, x.q.Due = at, at
	x.rec.Take(&event.Event{Kind: event.Due, Request: &x.q})
}
func (x *exchange) sent(at time.Duration) {
	x.q.Admitted, x.q.Sent = at, at
	x.rec.Take(&event.Event{Kind: event.Sent, Request: &x.q})
}
func (x *exchange) chunk(at time.Duration, text string) {
	x.q.Add(metrics.Chunk{At: at, Tokens: 1, Answer: true})
	x.q.Piece = []byte(text)
	x.rec.Take(&event.Event{Kind: event.Chunk, Request: &x.q})
}
func (x *exchange) done(at time.Duration, f metrics.Failure) {
	x.q.Done, x.q.Failure, x.q.OutputTokens = at, f, len(x.q.Chunks)
	x.rec.Take(&event.Event{Kind: event.Done, Request: &x.q})
}

func begun(rec *View, index int, at time.Duration) *exchange {
	x := &exchange{rec, metrics.NewRequest(index)}
	x.q.InputTokens = 10 + index
	x.due(at)
	return x
}

// A request in flight has missed an objective once its first chunk came too late, or did not come in time. Its end, or
// a chunk that came in time and is read late, takes it back.
func TestMissedInFlight(t *testing.T) {
	plan := &metrics.Plan{Warmup: second,
		Goodput: append(ttft(100), metrics.Objective{Metric: metrics.E2EL, LimitMS: 300},
			metrics.Objective{Metric: metrics.TPOT, LimitMS: 1})}
	rec := NewView(time.Now(), plan)
	see := func(at time.Duration, all, ttft, e2el int) {
		t.Helper()
		want := metrics.MissCount{Any: all, Of: metrics.MetObjectives{metrics.TTFT: ttft, metrics.E2EL: e2el}}
		assert.Equal(t, rec.SnapshotAt(at).Missed, want, "at %s", at)
	}
	warming := begun(rec, 0, 900*ms)
	warming.sent(900 * ms)
	var all []*exchange
	for i := range 5 {
		all = append(all, begun(rec, 1+i, 2*second))
		if i < 4 { // the last one waits for a slot
			all[i].sent(2 * second)
		}
	}
	see(2100*ms, 0, 0, 0)
	all[0].chunk(2050*ms, "")
	all[1].chunk(2200*ms, "")
	see(2300*ms, 1, 1, 0)
	see(3100*ms, 3, 3, 2)
	all[2].chunk(2090*ms, "")
	see(3110*ms, 2, 2, 1)
	all[1].done(3120*ms, "")
	see(3120*ms, 1, 1, 1)
	rec.setObjectives(ttft(1500))
	see(3130*ms, 0, 0, 0)
	see(4200*ms, 1, 1, 0)
	all[3].done(4200*ms, metrics.Cancelled)
	see(4200*ms, 0, 0, 0)
}

func TestRowsOfARequest(t *testing.T) {
	rec := NewView(time.Now(), &metrics.Plan{Goodput: ttft(19)})
	see := func() (metrics.RequestRow, *metrics.RequestDetail) {
		s := rec.Snapshot()
		assert.Need(t, len(s.Requests), 1, "rows")
		return s.Requests[0], s.Opened
	}
	if s := rec.Snapshot(); s.Requests != nil || s.Opened != nil {
		t.Error("rows that nobody asked for")
	}
	rec.Inspect(metrics.Inspection{Rows: true, Open: 5})
	x := begun(rec, 4, 10*ms)
	want := metrics.RequestRow{Index: 4, State: metrics.StateHeld, Due: 10 * ms, Sent: metrics.Never,
		Ended: metrics.Never, SlotWait: metrics.Never, TTFT: metrics.Never,
		TPOT: metrics.Never, E2EL: metrics.Never, InputTokens: 14, Kept: true,
		ServerQueue: metrics.Never, ServerPrefill: metrics.Never}
	check := func(when string, held, waiting, running int) *metrics.RequestDetail {
		t.Helper()
		row, open := see()
		if s := rec.Snapshot(); s.Held != held || s.Waiting != waiting || s.Running != running {
			t.Errorf("%s: %d held, %d waiting, %d running", when, s.Held, s.Waiting, s.Running)
		}
		assert.Equal(t, row, want, "%s", when)
		if open == nil || open.RequestRow != want {
			t.Errorf("%s: opened %+v", when, open)
			return &metrics.RequestDetail{}
		}
		return open
	}
	check("held", 1, 0, 0)
	x.q.Prompt = "Say hello"
	x.sent(30 * ms)
	want.State, want.Sent, want.SlotWait = metrics.StateWaiting, 30*ms, 20*ms
	check("waiting", 0, 1, 0)
	x.chunk(50*ms, "Hel")
	x.chunk(60*ms, "lo")
	want.State, want.TTFT, want.OutputTokens = metrics.StateRunning, 20*ms, 2
	if d := check("running", 0, 0, 1); len(d.Chunks) != 2 || d.Text != "Hello" || d.TextCut || d.Prompt != "Say hello" {
		t.Errorf("opened: %+v", d)
	}
	x.q.Finish, x.q.ServerQueue = "stop", 3*ms
	x.done(70*ms, "")
	want.State, want.Ended, want.TPOT, want.E2EL = metrics.StateDone, 70*ms, 10*ms, 30*ms
	want.Finish, want.ServerQueue, want.Missed[metrics.TTFT] = "stop", 3*ms, true
	if d := check("done", 0, 0, 0); len(d.Chunks) != 2 || d.Text != "Hello" || d.Prompt != "Say hello" ||
		x.q.Prompt != "" {
		t.Errorf("opened: %+v", d)
	}
	rec.setObjectives(ttft(20)) // requests that are over are judged again
	want.Missed[metrics.TTFT] = false
	check("judged again", 0, 0, 0)
	rec.Inspect(metrics.Inspection{})
	if s := rec.Snapshot(); s.Requests != nil || s.Opened != nil {
		t.Error("rows after nobody asked for them any more")
	}
}

// A request that failed has no time of a whole answer, and the tokens that came.
func TestRowOfAFailure(t *testing.T) {
	rec := NewView(time.Now(), &metrics.Plan{})
	rec.Inspect(metrics.Inspection{Rows: true})
	x := begun(rec, 0, 0)
	x.sent(0)
	for i := range 3 {
		x.chunk(time.Duration(i+1)*10*ms, "word ")
	}
	x.done(40*ms, metrics.FailedReset)
	r := rec.Snapshot().Requests[0]
	if r.State != metrics.StateFailed || r.TTFT != 10*ms || r.TPOT != metrics.Never || r.E2EL != metrics.Never ||
		r.OutputTokens != 3 || r.Failure != metrics.FailedReset {
		t.Errorf("%+v", r)
	}
}

// The kept requests are bounded, and contain the first and last failures and the slowest.
func TestRowsAreBounded(t *testing.T) {
	rec := NewView(time.Now(), &metrics.Plan{})
	const n = 3000
	text := strings.Repeat("ö", textKept/2+1)
	for i := range n {
		x := begun(rec, i, 0)
		x.sent(0)
		failure, took := metrics.Failure(""), second
		switch {
		case i%10 == 0:
			failure = metrics.FailedReset
		case i%100 == 1:
			took += time.Duration(i) * second
		}
		x.chunk(took, text)
		x.done(took, failure)
	}
	for i := range 500 {
		begun(rec, n+i, 0).sent(0)
	}
	rec.Inspect(metrics.Inspection{Rows: true, Open: n + 1})
	s := rec.Snapshot()
	has := map[int]metrics.RequestRow{}
	for _, r := range s.Requests {
		if _, twice := has[r.Index]; twice {
			t.Errorf("request %d is there twice", r.Index)
		}
		has[r.Index] = r
	}
	if !slices.IsSortedFunc(s.Requests, func(a, b metrics.RequestRow) int { return a.Index - b.Index }) {
		t.Error("rows are not by index")
	}
	for _, c := range []struct {
		what  string
		index int
		there bool
	}{
		{"first failure", 0, true}, {"hundredth failure", 990, true}, {"a failure in between", 1000, false},
		{"last failure", 2990, true}, {"slowest", 2901, true}, {"a quick one of before", 2002, false},
		{"the last", 2999, true},
		{"the oldest in flight", n, true}, {"the 200th in flight", n + 199, true},
		{"the 201st in flight", n + 200, false},
	} {
		if _, there := has[c.index]; there != c.there {
			t.Errorf("%s, %d: there %v, want %v", c.what, c.index, there, c.there)
		}
	}
	if !has[2901].Slow || has[2999].Slow || has[2990].State != metrics.StateFailed {
		t.Errorf("%+v, %+v", has[2901], has[2999])
	}
	if len(s.Requests) > 650 || s.Waiting != 500 {
		t.Errorf("%d rows, %d waiting", len(s.Requests), s.Waiting)
	}
	rec.Inspect(metrics.Inspection{Open: 2902})
	if d := rec.Snapshot().Opened; d == nil || len(d.Text) > textKept || !d.TextCut || !utf8.ValidString(d.Text) {
		t.Errorf("opened %.500q", fmt.Sprint(d))
	}
	rec.Inspect(metrics.Inspection{Open: 1003})
	if d := rec.Snapshot().Opened; d != nil {
		t.Errorf("opened what was not kept: request %d", d.Index)
	}
}

// A request without a slot shows all its chunks once it is open.
func TestOpenedWithoutASlot(t *testing.T) {
	rec := NewView(time.Now(), &metrics.Plan{})
	for i := range slotsMost {
		begun(rec, 1000+i, 0).sent(0)
	}
	var late []*exchange
	for i := range 10 { // in flight beyond the slots, due before all others
		x := &exchange{rec, metrics.NewRequest(i)}
		late = append(late, x)
	}
	// end them, so that the late ones are shown; the slots are free again
	for old := rec.tracks.oldest(); len(old) > 0; old = rec.tracks.oldest() {
		for _, k := range old {
			k.q.Done, k.q.Failure = second, metrics.Cancelled
			rec.Take(&event.Event{Kind: event.Done, Request: k.q})
		}
	}
	assert.Equal(t, rec.tracks.slots, 0, "slots are taken")
	rec.tracks.slots = slotsMost
	late[3].due(0)
	late[3].sent(0)
	late[3].chunk(second, "a")
	rec.Inspect(metrics.Inspection{Open: 4})
	if d := rec.Snapshot().Opened; d == nil || len(d.Chunks) != 0 || !d.TextCut {
		t.Errorf("opened %+v", d)
	}
	late[3].chunk(2*second, "b")
	d := rec.Snapshot().Opened
	if len(d.Chunks) != 2 || d.Text != "" || !d.TextCut {
		t.Errorf("opened %+v", d)
	}
	late[3].chunk(3*second, "c")
	assert.Equal(t, len(d.Chunks), 2, "a snapshot changed")
	for range chunksKept + 5 {
		late[3].chunk(3*second, "c")
	}
	late[3].q.Text = "abc"
	late[3].done(3*second, "")
	if d := rec.Snapshot().Opened; len(d.Chunks) != chunksKept || d.Text != "abc" || d.TextCut {
		t.Errorf("%d chunks, text %q", len(d.Chunks), d.Text)
	}
}

// Viewers, judgements and requests run together for the race detector.
func TestManyHands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := NewView(time.Now(), &metrics.Plan{Rate: 100, Goodput: ttft(50)})
		var work sync.WaitGroup
		stop := make(chan struct{})
		for i, view := range []func(n int){
			func(n int) { rec.Inspect(metrics.Inspection{Rows: n%2 == 0, Open: n % 50}) },
			func(n int) {
				s := rec.Snapshot()
				_ = fmt.Sprint(s.Requests, s.Opened, s.SplitOver(0, s.At), s.Endpoints)
			},
			func(n int) { rec.setObjectives(metrics.SLO{{Metric: metrics.TTFT, LimitMS: float64(n % 100)}}) },
			func(n int) { rec.Judge() },
			func(n int) { rec.fact(0, metrics.ServerSecond{At: time.Duration(n)}); rec.fact(0, metrics.GPUSecond{}) },
		} {
			work.Go(func() {
				for n := 0; ; n++ {
					select {
					case <-stop:
						return
					case <-time.After(time.Duration(7+i) * ms):
						view(n)
					}
				}
			})
		}
		var requests sync.WaitGroup
		begin := time.Now()
		for i := range 40 {
			requests.Go(func() {
				for k := range 10 {
					x := begun(rec, i*10+k, time.Since(begin))
					time.Sleep(3 * ms)
					x.sent(time.Since(begin))
					for range 20 {
						time.Sleep(5 * ms)
						x.chunk(time.Since(begin), "word ")
					}
					x.done(time.Since(begin), []metrics.Failure{"", metrics.FailedReset, ""}[k%3])
				}
			})
		}
		requests.Wait()
		close(stop)
		work.Wait()
		rec.setObjectives(nil)
		if s := rec.Snapshot(); s.Totals.Good != s.Totals.Completed || s.Totals.Completed != 280 {
			t.Errorf("%+v", s.Totals)
		}
	})
}

// A long answer is cut for viewers, and its rest is freed.
func TestLongAnswersAreLetGo(t *testing.T) {
	rec := NewView(time.Now(), &metrics.Plan{})
	q := metrics.NewRequest(0)
	q.Due, q.Sent = 0, 0
	rec.Take(&event.Event{Kind: event.Due, Request: &q})
	for range 3 * chunksKept {
		q.Add(metrics.Chunk{At: second, Tokens: 1})
	}
	q.Text, q.Done = strings.Repeat("a", 3*textKept), 2*second
	rec.Take(&event.Event{Kind: event.Done, Request: &q})
	k := rec.tracks.find(0)
	if len(q.Chunks) != 3*chunksKept || len(q.Text) != 3*textKept {
		t.Error("the request itself was cut")
	}
	if cap(k.q.Chunks) > chunksKept || len(k.q.Text) != textKept {
		t.Errorf("%d chunks and %d bytes of text are held", cap(k.q.Chunks), len(k.q.Text))
	}
	if d := k.detail(&metrics.Plan{}, nil); len(d.Chunks) != chunksKept || d.Text != q.Text[:textKept] || !d.TextCut {
		t.Errorf("%d chunks, %d bytes of text, cut %v", len(d.Chunks), len(d.Text), d.TextCut)
	}
}
