package panels

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/tui/screen"
	"benchtop/tui/tuitest"
)

// opening opens a request of a run.
func opening(index int) List { return List{Picked: index + 1, Line: 4, Opened: true} }

// indices are those the list shows, in its order.
func indices(s *metrics.Snapshot, l List) []int {
	return metrics.Each(l.rows(s), func(i int) int { return s.Requests[i].Index })
}

func TestListOrders(t *testing.T) {
	s := &metrics.Snapshot{At: 10 * time.Second, Requests: []metrics.RequestRow{
		{Index: 0, State: metrics.StateDone, E2EL: 3 * time.Second, TTFT: 9, TPOT: 5, Due: 1, Sent: 1},
		{Index: 1, State: metrics.StateFailed, E2EL: metrics.Never, TTFT: metrics.Never, TPOT: metrics.Never, Sent: 1,
			Ended: 2},
		{Index: 2, State: metrics.StateRunning, E2EL: metrics.Never, TTFT: 20, TPOT: metrics.Never,
			Sent: 5 * time.Second},
		{Index: 3, State: metrics.StateCancelled, E2EL: 1, TTFT: 3, TPOT: 8},
		{Index: 4, State: metrics.StateHeld, E2EL: metrics.Never, TTFT: metrics.Never, TPOT: metrics.Never,
			Due: time.Second, Sent: metrics.Never},
	}}
	for order, want := range map[listSort][]int{
		newestFirst:  {4, 3, 2, 1, 0},
		slowestFirst: {4, 2, 0, 3, 1}, // held for 9 s, running for 5 s
		ttftFirst:    {2, 0, 3, 4, 1},
		tpotFirst:    {3, 0, 4, 2, 1},
		failedFirst:  {1, 3, 4, 2, 0},
	} {
		assert.Same(t, listOrders[order].name, indices(s, List{Sort: order}), want)
	}
}

func TestListFilter(t *testing.T) {
	s := tuitest.Listed(tuitest.Mid())
	for i := range s.Requests {
		if q := &s.Requests[i]; q.Index == 4305 {
			q.Class, q.Wrong = "occurrence 2, priority 0", "not JSON"
		}
	}
	for _, c := range []struct {
		l    List
		want []int
	}{
		{List{Filter: "occurrence priority"}, []int{4305}},
		{List{Filter: "wrong: not json"}, []int{4305}},
		{List{Filter: "503"}, []int{4312}},
		{List{Filter: "OVERLOADED Queue"}, []int{4312}},
		{List{Filter: "failed"}, []int{4321, 4312}},
		{List{Filter: "truncated"}, []int{4321}},
		{List{Only: ErrorsOnly}, []int{4321, 4312}},
		{List{Only: ErrorsOnly, Filter: "slow"}, nil},
		{List{Filter: "slow"}, []int{4330, 4307}},
		{List{Filter: "cancelled"}, []int{4322}},
		{List{Filter: "7f3a-4305"}, []int{4305}},
		{List{Filter: "#4305"}, []int{4305}},
		{List{Filter: "held"}, []int{4359, 4358}},
		{List{Filter: "queued"}, []int{4359, 4358}},
		{List{Filter: " \t "}, indices(&s, List{})},
	} {
		if diff := cmp.Diff(c.want, indices(&s, c.l)); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c.l, diff)
		}
	}
	assert.Equal(t, len(indices(&s, List{Filter: "running"})), 14, "running")
}

// The chosen request stays chosen, and on its line of the screen, while others come and go.
func TestListKeepsChoice(t *testing.T) {
	s := tuitest.Listed(tuitest.Mid())
	page := Rect{0, 3, 100, 20}
	v := &View{Snapshot: &s}
	l := &List{}
	do := func(all ...Move) {
		for _, a := range all {
			v.List = *l
			l.Move(a, v, page)
		}
	}
	lineOf := func() (int, int) {
		rows := l.rows(&s)
		at := l.place(&s, rows)
		return at, at - l.top(len(rows), listHeight(page, false), at)
	}
	assert.Equal(t, l.Inspect(), metrics.Inspection{Rows: true}, "looks for")
	do(Down, Down, Down)
	assert.Need(t, l.Picked, 4357+1, "chose %d", l.Picked-1)
	for i := range 5 { // five new ones on top
		s.Requests = append(s.Requests, metrics.RequestRow{Index: 4360 + i, State: metrics.StateHeld})
	}
	if at, y := lineOf(); at != 7 || y != 2 || l.Picked != 4358 {
		t.Errorf("row %d on line %d, chose %d", at, y, l.Picked-1)
	}
	do(Up)
	if at, y := lineOf(); at != 6 || y != 1 || l.Picked != 4359 {
		t.Errorf("row %d on line %d, chose %d", at, y, l.Picked-1)
	}
	do(Up, Up, Up) // beyond the top of the screen the list scrolls
	if at, y := lineOf(); at != 3 || y != 0 {
		t.Errorf("row %d on line %d", at, y)
	}
	do(End)
	if at, y := lineOf(); l.Picked != 4301 || at != 64 || y != listHeight(page, false)-1 {
		t.Errorf("the end: chose %d, row %d on line %d", l.Picked-1, at, y)
	}
	do(Down, PageDown)
	assert.Equal(t, l.Picked, 4301, "below the end: %d", l.Picked-1)
	do(PageUp)
	if at, _ := lineOf(); at != 64-listHeight(page, false) {
		t.Errorf("a page up: row %d", at)
	}
	s.Requests = slices.DeleteFunc(s.Requests, func(q metrics.RequestRow) bool { return q.Index == l.Picked-1 })
	if at, _ := lineOf(); at < 0 {
		t.Error("nothing is near a request that went")
	}
	l.Open(v, page)
	if !l.Opened || l.Inspect().Open != l.Picked {
		t.Errorf("opened %v, looks for %+v", l.Opened, l.Inspect())
	}
	if before := l.Picked; true {
		if do(Down); l.Picked == before || l.Inspect().Open != l.Picked {
			t.Errorf("the next one: %d, looks for %+v", l.Picked-1, l.Inspect())
		}
	}
	if l.Close(); l.Opened || l.Picked == 0 {
		t.Error("closing lost the choice")
	}
	if l.Close(); l.Picked != 0 || l.Close() {
		t.Error("nothing is left to close")
	}
	do(End, Top)
	assert.Equal(t, *l, List{}, "the top does not follow the newest: %+v", *l)
	l.NextOrder()
	l.NextPart()
	if l.Sort != slowestFirst || l.Only != ErrorsOnly {
		t.Errorf("%+v", *l)
	}
	s.Requests = nil
	if l.Move(Down, v, page) || l.Open(v, page) {
		t.Error("chose one of none")
	}
}

// The text of the open request scrolls between its ends.
func TestListScrollsText(t *testing.T) {
	s := tuitest.Listed(tuitest.Mid())
	page := Rect{0, 3, 80, 20}
	l := opening(4310)
	v := &View{Snapshot: &s, List: l}
	lines, high := openText(v, page)
	if high < 3 || lines <= high {
		t.Fatalf("%d lines on %d", lines, high)
	}
	do := func(a Move) { v.List = l; l.Move(a, v, page) }
	for range 50 {
		do(PageUp)
	}
	assert.Equal(t, l.Scroll, lines-high, "the beginning is %d lines back, not %d", l.Scroll, lines-high)
	v.List = l
	assert.Has(t, requestPanel.inView(v, 80, 20), "The harbour was quiet")
	do(PageDown)
	assert.Equal(t, l.Scroll, max(0, lines-2*high), "a page down")
	do(End)
	v.List = l
	if got := requestPanel.inView(v, 80, 20); l.Scroll != 0 || !strings.Contains(got, "the wind turned.") {
		t.Errorf("the end:\n%s", got)
	}
}

// The line of time of a request: its wait for a slot, its wait for the first chunk, its chunks, those of one read.
func TestRequestStrip(t *testing.T) {
	const ms = time.Millisecond
	q := &metrics.RequestDetail{RequestRow: metrics.RequestRow{State: metrics.StateDone, Kept: true, Sent: 2200 * ms,
		TTFT: 1000 * ms, Ended: 6000 * ms}, Scheduled: 1000 * ms}
	for _, at := range []time.Duration{3200, 3500, 3800, 5000, 6000} {
		q.Chunks = append(q.Chunks, metrics.Chunk{At: at * ms, Tokens: 1})
	}
	q.Chunks = append(q.Chunks, metrics.Chunk{At: 6000*ms + 40*time.Microsecond, Tokens: 1})
	paced, closed := &metrics.Plan{Rate: 4}, &metrics.Plan{Rate: metrics.Rate(math.Inf(1)), MaxConcurrency: 4}
	for _, c := range []struct {
		plan *metrics.Plan
		want string
	}{
		{paced, `
6 chunks · ITL min 40µs  p50 300ms  max 1.20s · ┃ 1 coalesced
‖‖‖‖‖‖‖‖‖‖‖‖‖‖‖············⡇  ⢸   ⢸              ⡇           ┃
scheduled──────┴sent 1.20s─┴TTFT 1.00s───────────────────5.00s`},
		{closed, `
6 chunks · ITL min 40µs  p50 300ms  max 1.20s · ┃ 1 coalesced
················⡇    ⡇    ⡇                  ⢸               ┃
0───────────────┴TTFT 1.00s──────────────────────────────3.80s`},
	} {
		sf := screen.NewSurface(62, 3)
		drawStrip(sf.All(), &View{Snapshot: &metrics.Snapshot{Plan: c.plan}}, q, "")
		got := "\n" + strings.TrimRight(sf.Render(&screen.Palette{Mono: true}), "\n")
		if got = regexp.MustCompile(` +\n`).ReplaceAllString(got, "\n"); got != c.want {
			t.Errorf("got%s\nwant%s", got, c.want)
		}
	}
}
