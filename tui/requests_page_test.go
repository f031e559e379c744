package tui

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/muesli/termenv"

	"benchtop/metrics"
	"benchtop/tui/screen"
)

// listed is a run with requests of every state, request 4310 open.
func listed(s metrics.Snapshot) metrics.Snapshot {
	for i := range 60 {
		q := metrics.RequestRow{
			Index: 4300 + i, ID: fmt.Sprintf("bench-7f3a-%d", 4300+i), State: metrics.StateDone, Kept: true,
			Due: s.At - 20*time.Second + time.Duration(i)*333*time.Millisecond, InputTokens: 400 + 7*i, OutputTokens: 128, Status: 200,
			TTFT: time.Duration(180+i*i) * time.Millisecond, TPOT: time.Duration(2100+30*(i%7)) * 10 * time.Microsecond,
			SlotWait: time.Duration(max(0, i-30)) * 12 * time.Millisecond,
		}
		q.Sent = q.Due + q.SlotWait
		q.E2EL = q.TTFT + 127*q.TPOT
		q.Ended = q.Sent + q.E2EL
		switch {
		case i >= 58:
			q.State, q.Sent, q.SlotWait = metrics.StateHeld, metrics.Never, metrics.Never
		case i >= 50:
			q.State = metrics.StateWaiting
		case i >= 36:
			q.State, q.OutputTokens, q.TTFT = metrics.StateRunning, 140-2*i, 300*time.Millisecond
		case i == 12:
			q.State, q.Failure, q.Status = metrics.StateFailed, metrics.FailedStatus, 503
			q.Error = `{"error": "overloaded: the queue is full, try again later"}`
		case i == 21:
			q.State, q.Failure, q.Error = metrics.StateFailed, metrics.FailedTruncated, "the stream ended before its finish"
			q.OutputTokens = 31
		case i == 22:
			q.State, q.Failure = metrics.StateCancelled, metrics.Cancelled
		case i == 7, i == 30:
			q.Slow, q.E2EL = true, q.E2EL+9*time.Second
		case i == 5:
			q.Kept = false
		}
		if !over(q.State) {
			q.E2EL, q.TPOT, q.Ended, q.Status = metrics.Never, metrics.Never, metrics.Never, 0
		}
		if q.Failure != "" || q.State == metrics.StateWaiting || q.State == metrics.StateHeld {
			q.TTFT, q.TPOT = metrics.Never, metrics.Never
		}
		if q.State == metrics.StateWaiting || q.State == metrics.StateHeld || q.Status == 503 {
			q.OutputTokens = 0
		}
		s.Requests = append(s.Requests, q)
	}
	s.Opened = detail(s.Requests[10])
	return s
}

// detail is a request with a chunk every 23 ms and a pause of half a second in the middle.
func detail(q metrics.RequestRow) *metrics.RequestDetail {
	d := &metrics.RequestDetail{
		RequestRow: q, Scheduled: q.Due - time.Millisecond, Encode: 40 * time.Microsecond, Connect: 1200 * time.Microsecond,
		CachedTokens: 128, ServerQueue: 90 * time.Millisecond, ServerPrefill: 130 * time.Millisecond, Finish: "length",
		Text: "The harbour was quiet when the first boats came in. " + strings.Repeat("Nets were drying on the wall, and somebody "+
			"had painted the number of each boat on a stone beside it. ", 12) + "\n\nIn the evening the wind turned.",
	}
	at := q.Sent + q.TTFT
	for i := range 128 {
		d.Chunks = append(d.Chunks, metrics.Chunk{At: at, Tokens: 1, Answer: true})
		if at += 23 * time.Millisecond; i == 70 {
			at += 500 * time.Millisecond
		}
	}
	d.Ended = at
	d.E2EL = at - q.Sent
	return d
}

// opening opens a request of a run.
func opening(index int) listState { return listState{picked: index + 1, line: 4, opened: true} }

func TestRequestsPage(t *testing.T) {
	failed := listed(mid())
	failed.Opened = detail(failed.Requests[12])
	failed.Opened.Chunks, failed.Opened.Text, failed.Opened.Finish = nil, "", ""
	failed.Opened.Whole = failed.Opened.Error + strings.Repeat(" and much more of it", 20)
	for _, st := range []struct {
		name string
		s    metrics.Snapshot
		l    listState
	}{
		{"list", listed(mid()), listState{}},
		{"failed_first", listed(mid()), listState{sort: failedFirst, picked: 4313, line: 1}},
		{"filtered", listed(mid()), listState{filter: "503", errorsOnly: true}},
		{"none_match", listed(mid()), listState{filter: "nowhere"}},
		{"open", listed(mid()), opening(4310)},
		{"open_failed", failed, opening(4312)},
		{"open_not_kept", listed(mid()), opening(4305)},
		{"open_gone", listed(mid()), opening(17)},
		{"empty", young(), listState{}},
	} {
		for _, size := range sizes[1:] {
			name := fmt.Sprintf("requests_%s_%dx%d.txt", st.name, size[0], size[1])
			t.Run(name, func(t *testing.T) {
				m := showing(t, st.s, "Requests", size[0], size[1])
				m.list = st.l
				m.show()
				whole(t, m, name)
				golden(t, "screens/"+name, m.View()+"\n")
			})
		}
	}
}

func TestRequestsPageColours(t *testing.T) {
	m := showing(t, listed(mid()), "Requests", 120, 40)
	m.list, m.palette = opening(4310), screen.NewPalette(termenv.ANSI256)
	m.show()
	whole(t, m, "colours")
	golden(t, "colours/requests_120x40.txt", strings.ReplaceAll(m.View(), "\x1b", "␛")+"\n")
}

// indices are those the list shows, in its order.
func indices(s *metrics.Snapshot, l listState) (out []int) {
	for _, i := range l.rows(s) {
		out = append(out, s.Requests[i].Index)
	}
	return out
}

func TestListOrders(t *testing.T) {
	s := &metrics.Snapshot{At: 10 * time.Second, Requests: []metrics.RequestRow{
		{Index: 0, State: metrics.StateDone, E2EL: 3 * time.Second, TTFT: 9, TPOT: 5, Due: 1, Sent: 1},
		{Index: 1, State: metrics.StateFailed, E2EL: metrics.Never, TTFT: metrics.Never, TPOT: metrics.Never, Sent: 1, Ended: 2},
		{Index: 2, State: metrics.StateRunning, E2EL: metrics.Never, TTFT: 20, TPOT: metrics.Never, Sent: 5 * time.Second},
		{Index: 3, State: metrics.StateCancelled, E2EL: 1, TTFT: 3, TPOT: 8},
		{Index: 4, State: metrics.StateHeld, E2EL: metrics.Never, TTFT: metrics.Never, TPOT: metrics.Never, Due: time.Second, Sent: metrics.Never},
	}}
	for order, want := range map[listSort][]int{
		newestFirst:  {4, 3, 2, 1, 0},
		slowestFirst: {4, 2, 0, 3, 1}, // held for 9 s, running for 5 s
		ttftFirst:    {2, 0, 3, 4, 1},
		tpotFirst:    {3, 0, 4, 2, 1},
		failedFirst:  {1, 3, 4, 2, 0},
	} {
		if diff := cmp.Diff(want, indices(s, listState{sort: order})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", order.name(), diff)
		}
	}
}

func TestListFilter(t *testing.T) {
	s := listed(mid())
	for _, c := range []struct {
		l    listState
		want []int
	}{
		{listState{filter: "503"}, []int{4312}},
		{listState{filter: "OVERLOADED Queue"}, []int{4312}},
		{listState{filter: "failed"}, []int{4321, 4312}},
		{listState{filter: "truncated"}, []int{4321}},
		{listState{errorsOnly: true}, []int{4321, 4312}},
		{listState{errorsOnly: true, filter: "slow"}, nil},
		{listState{filter: "slow"}, []int{4330, 4307}},
		{listState{filter: "cancelled"}, []int{4322}},
		{listState{filter: "7f3a-4305"}, []int{4305}},
		{listState{filter: "#4305"}, []int{4305}},
		{listState{filter: "held"}, []int{4359, 4358}},
		{listState{filter: " \t "}, indices(&s, listState{})},
	} {
		if diff := cmp.Diff(c.want, indices(&s, c.l)); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c.l, diff)
		}
	}
	if n := len(indices(&s, listState{filter: "running"})); n != 14 {
		t.Errorf("%d running", n)
	}
}

// The chosen request stays chosen, and on its line of the screen, while others come and go.
func TestListKeepsChoice(t *testing.T) {
	s := listed(mid())
	page := rect{0, 3, 100, 20}
	v := &view{s: &s}
	l := &listState{}
	do := func(all ...listAction) {
		for _, a := range all {
			v.list = *l
			l.act(a, v, page)
		}
	}
	lineOf := func() (int, int) {
		rows := l.rows(&s)
		at := l.place(&s, rows)
		return at, at - l.top(len(rows), listHeight(page, false), at)
	}
	if l.look() != (metrics.Look{Rows: true}) {
		t.Errorf("looks for %+v", l.look())
	}
	do(listDown, listDown, listDown)
	if l.picked != 4357+1 {
		t.Fatalf("chose %d", l.picked-1)
	}
	for i := range 5 { // five new ones on top
		s.Requests = append(s.Requests, metrics.RequestRow{Index: 4360 + i, State: metrics.StateHeld})
	}
	if at, y := lineOf(); at != 7 || y != 2 || l.picked != 4358 {
		t.Errorf("row %d on line %d, chose %d", at, y, l.picked-1)
	}
	do(listUp)
	if at, y := lineOf(); at != 6 || y != 1 || l.picked != 4359 {
		t.Errorf("row %d on line %d, chose %d", at, y, l.picked-1)
	}
	do(listUp, listUp, listUp) // beyond the top of the screen the list scrolls
	if at, y := lineOf(); at != 3 || y != 0 {
		t.Errorf("row %d on line %d", at, y)
	}
	do(listEnd)
	if at, y := lineOf(); l.picked != 4301 || at != 64 || y != listHeight(page, false)-1 {
		t.Errorf("the end: chose %d, row %d on line %d", l.picked-1, at, y)
	}
	do(listDown, listPageDown)
	if l.picked != 4301 {
		t.Errorf("below the end: %d", l.picked-1)
	}
	do(listPageUp)
	if at, _ := lineOf(); at != 64-listHeight(page, false) {
		t.Errorf("a page up: row %d", at)
	}
	s.Requests = slices.DeleteFunc(s.Requests, func(q metrics.RequestRow) bool { return q.Index == l.picked-1 })
	if at, _ := lineOf(); at < 0 {
		t.Error("nothing is near a request that went")
	}
	do(listOpen)
	if !l.opened || l.look().Open != l.picked {
		t.Errorf("opened %v, looks for %+v", l.opened, l.look())
	}
	if before := l.picked; true {
		if do(listDown); l.picked == before || l.look().Open != l.picked {
			t.Errorf("the next one: %d, looks for %+v", l.picked-1, l.look())
		}
	}
	if do(listClose); l.opened || l.picked == 0 {
		t.Error("closing lost the choice")
	}
	if do(listClose); l.picked != 0 || l.act(listClose, v, page) {
		t.Error("nothing is left to close")
	}
	do(listEnd, listTop)
	if *l != (listState{}) {
		t.Errorf("the top does not follow the newest: %+v", *l)
	}
	do(listSortNext, listErrors)
	if l.sort != slowestFirst || !l.errorsOnly {
		t.Errorf("%+v", *l)
	}
	s.Requests = nil
	if l.act(listDown, v, page) || l.act(listOpen, v, page) {
		t.Error("chose one of none")
	}
}

// The text of the open request scrolls between its ends.
func TestListScrollsText(t *testing.T) {
	s := listed(mid())
	page := rect{0, 3, 80, 20}
	l := opening(4310)
	v := &view{s: &s, list: l}
	lines, high := openText(v, page)
	if high < 3 || lines <= high {
		t.Fatalf("%d lines on %d", lines, high)
	}
	do := func(a listAction) { v.list = l; l.act(a, v, page) }
	for range 50 {
		do(listPageUp)
	}
	if l.scroll != lines-high {
		t.Errorf("the beginning is %d lines back, not %d", l.scroll, lines-high)
	}
	v.list = l
	if got := requestPanel.inView(v, 80, 20); !strings.Contains(got, "The harbour was quiet") {
		t.Errorf("the beginning:\n%s", got)
	}
	do(listPageDown)
	if l.scroll != max(0, lines-2*high) {
		t.Errorf("a page down: %d", l.scroll)
	}
	do(listEnd)
	v.list = l
	if got := requestPanel.inView(v, 80, 20); l.scroll != 0 || !strings.Contains(got, "the wind turned.") {
		t.Errorf("the end:\n%s", got)
	}
}

// inView draws a panel alone.
func (p panel) inView(v *view, w, h int) string {
	sf := screen.NewSurface(w, h)
	sf.Terminal = v.Terminal
	p.frame(sf.All(), v, false)
	return sf.Render(screen.NewPalette(termenv.Ascii))
}

func TestFold(t *testing.T) {
	for _, c := range []struct {
		in   string
		w    int
		want []string
	}{
		{"", 10, nil},
		{"\n\n \n", 10, nil},
		{"one two three", 7, []string{"one two", "three"}},
		{"one two three", 8, []string{"one two", "three"}},
		{"abcdefghij", 4, []string{"abcd", "efgh", "ij"}},
		{"ab cdefghij kl", 4, []string{"ab", "cdef", "ghij", "kl"}},
		{"a\n\n\nb\x1b[2J", 4, []string{"a", "", "b"}},
		{"漢字漢字", 5, []string{"漢字", "漢字"}},
		{"漢", 1, []string{"漢"}},
		{"éa e\u0301e\u0301", 2, []string{"éa", "e\u0301e\u0301"}},
		{"a b", 0, []string{"a", "b"}},
	} {
		if diff := cmp.Diff(c.want, fold(c.in, c.w)); diff != "" {
			t.Errorf("fold(%q, %d) (-want +got):\n%s", c.in, c.w, diff)
		}
	}
	if got := fold(strings.Repeat("word ", 100_000), 10); len(got) != foldMost {
		t.Errorf("%d lines", len(got))
	}
	for _, l := range fold(strings.Repeat("漢字 mixed with words é and so on ", 50), 17) {
		if screen.Width(l) > 17 {
			t.Errorf("%q is %d wide", l, screen.Width(l))
		}
	}
}

// crazy is everything a page could choke on.
func crazy() metrics.Snapshot {
	s := listed(watched(monstrous(), 3))
	evil := strings.Repeat("漢\x1b[2J\x07\u202e🤖e\u0301\u0301\u0301\n", 12)
	numbers := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300, -1e300, 0, -1}
	times := []time.Duration{math.MinInt64, math.MaxInt64, 0, metrics.Never, 1, 1e18}
	for i := range s.Server {
		x, y, d := numbers[i%len(numbers)], numbers[(i/3)%len(numbers)], times[i%len(times)]
		l := metrics.ServerLatency{N: y, Mean: d}
		at, took := s.Server[i].At, s.Server[i].Took
		if i%5 == 0 {
			took = d
		}
		s.Server[i] = metrics.ServerSecond{
			At: at, Took: took, Running: x, Waiting: y, KVUsage: x, Preemptions: y, PrefixQueries: x, PrefixHits: y, HitRate: x,
			PromptTokens: x, OutputTokens: y, DraftTokens: y, AcceptedTokens: x, TTFT: l, Queue: l, Prefill: l,
		}
		s.GPUs[i].Took = took
		for k := range s.GPUs[i].GPUs {
			s.GPUs[i].GPUs[k] = metrics.GPU{
				Index: []int{math.MinInt, math.MaxInt, 3}[k], Name: evil, Use: x, MemoryUsed: y, MemoryTotal: x,
				Power: y, PowerLimit: x, Temperature: y, Clock: x,
			}
		}
	}
	s.ServerKind, s.ServerAbsent, s.GPUsAbsent = evil, evil, evil
	plan := *s.Plan
	plan.GPUPrice = math.Inf(1)
	s.Plan = &plan
	s.Report.Split = metrics.TTFTSplit{N: 1, SlotWait: math.MaxInt64, Connect: math.MinInt64, Queue: math.MaxInt64, Prefill: -7, Source: metrics.SplitSource(evil)}
	s.Report.GPUs = &metrics.GPUReport{Energy: math.Inf(1), JoulesPerToken: 1e300, CostPerMillion: -1}
	for i := range s.Requests {
		q := &s.Requests[i]
		q.ID, q.Model, q.Error = evil, evil, evil
		q.Due, q.Sent, q.Ended = times[i%6], times[i/2%6], times[i/3%6]
		q.SlotWait, q.TTFT, q.TPOT, q.E2EL = times[i/4%6], times[i/5%6], times[i/6%6], times[i/7%6]
		q.InputTokens, q.OutputTokens, q.Status = math.MinInt, math.MaxInt, math.MinInt
		if i%11 == 0 {
			q.State, q.Failure = metrics.RequestState(evil), metrics.Failure(evil)
		}
	}
	s.Requests[3].Index, s.Requests[4].Index, s.Requests[5].Index = math.MinInt, math.MaxInt-1, -1
	s.Opened = detail(s.Requests[10])
	s.Opened.Text, s.Opened.Whole, s.Opened.Finish, s.Opened.Redials = evil, evil, evil, math.MaxInt
	for i := range s.Opened.Chunks {
		s.Opened.Chunks[i].At = times[i%6]
	}
	return s
}

// TestCrazyServerAndRequests draws the pages and each of their panels with anything in them.
func TestCrazyServerAndRequests(t *testing.T) {
	s := crazy()
	lists := []listState{
		{}, opening(4310), opening(math.MaxInt - 1), {sort: 200, filter: "漢\x1b"}, {picked: math.MinInt, line: math.MaxInt, opened: true},
		{picked: 4311, opened: true, scroll: math.MaxInt}, {picked: 4311, line: -5, scroll: -5, opened: true}, {sort: ttftFirst, picked: 1},
	}
	turn := 0
	for _, w := range []int{0, 1, 4, 17, 40, 79, 80, 109, 110, 120, 180, 230} {
		for _, h := range []int{0, 1, 4, 10, 16, 24, 34, 40, 60} {
			if turn++; leftOut(turn, 5) {
				continue
			}
			m := showing(t, s, []string{"Server", "Requests"}[turn%2], w, h)
			m.list = lists[turn/2%len(lists)]
			m.whole, m.span = turn%3 == 0, turn%6
			whole(t, m, m.mode(turn%len(modes)))
		}
	}
	for _, name := range []string{
		"server queue", "kv", "server tokens", "server ttft", "cache", "gpu", "why ttft", "requests", "request",
	} {
		p, ok := panelNamed(name)
		if !ok {
			t.Fatalf("no panel %q", name)
		}
		for w := 0; w < 40; w += 3 {
			for h := range 12 {
				if turn++; leftOut(turn, 5) {
					continue
				}
				v := &view{s: &s, list: lists[turn%len(lists)], Terminal: screen.Terminal{Mono: true, ASCII: turn%2 == 0}, whole: turn%3 == 0}
				got := p.inView(v, w, h)
				exact(t, got, w, h, name)
				if strings.Contains(got, "chart error") {
					t.Fatalf("%s at %dx%d:\n%s", name, w, h, got)
				}
			}
		}
	}
}

func FuzzRequestsPage(f *testing.F) {
	f.Add("bench-1", "model", "HTTP 503", "some text\nof two lines", "503 failed", []byte{0, 1, 2, 8, 3, 9}, uint8(120), uint8(40))
	f.Add("漢\x1b[2J", "\u202e", "🤖\x07", strings.Repeat("é ", 200), "\xff\xfe", []byte{8, 4, 5, 6, 7, 3}, uint8(80), uint8(24))
	f.Fuzz(func(t *testing.T, id, model, words, said, filter string, keys []byte, w, h uint8) {
		h %= 64 // the layout of higher ones is no other
		s := listed(mid())
		s.Requests = slices.Clone(s.Requests)
		for i := range s.Requests {
			s.Requests[i].ID, s.Requests[i].Model, s.Requests[i].Error = id, model, words
		}
		s.Opened = detail(s.Requests[10])
		s.Opened.Text, s.Opened.Whole = said, words
		m := showing(t, s, "Requests", int(w), int(h))
		m.list.setFilter(filter)
		page := rect{0, 3, int(w), max(0, int(h)-4)}
		for i, k := range keys[:min(len(keys), 32)] {
			v := &view{s: &s, list: m.list}
			m.list.act(listAction(k)%(listClose+1), v, page)
			if i%4 == 0 {
				m.list.setFilter("")
				s.Opened = detail(s.Requests[int(k)%len(s.Requests)])
			}
		}
		m.mode(len(keys) % len(modes))
		whole(t, m, "fuzz")
	})
}

// many is a list as long as lists may get.
func many(n int) metrics.Snapshot {
	s := listed(mid())
	first := s.Requests
	s.Requests = nil
	for i := range n {
		q := first[i%len(first)]
		q.Index = i
		s.Requests = append(s.Requests, q)
	}
	return s
}

func BenchmarkRequestsPage(b *testing.B) {
	s := many(10_000)
	for _, filter := range []string{"", "503"} {
		b.Run("filter="+filter, func(b *testing.B) {
			sf := screen.NewSurface(120, 35)
			b.ReportAllocs()
			for b.Loop() {
				v := &view{s: &s, list: listState{filter: filter, sort: slowestFirst}}
				requestsPanel.frame(sf.All(), v, false)
			}
		})
	}
}

func BenchmarkServerPage(b *testing.B) {
	s := watched(mid(), 8)
	sf := screen.NewSurface(200, 55)
	b.ReportAllocs()
	for b.Loop() {
		v := &view{s: &s, span: time.Minute}
		for _, bx := range serverPage(rect{0, 0, 200, 55}, v) {
			p, _ := panelNamed(bx.name)
			p.frame(bx.rect.of(sf.All()), v, false)
		}
	}
}
