package live

import (
	"cmp"
	"container/heap"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"benchtop/metrics"
)

// What of single requests is kept for viewers.
const (
	slotsMost  = 256 // requests in flight whose text is kept
	lastKept   = 200 // that ended last
	slowKept   = 50  // that took longest
	failedKept = 100 // that failed first, and as many that failed last
	chunksKept = 4096
	textKept   = 8 << 10 // bytes
)

// track is what a viewer may see of a request. The request itself belongs to its goroutine until it is done, so what changes
// until then is copied here.
type track struct {
	q          *metrics.Request // before it is done only what was set when it was due, and live
	prev, next *track           // in flight, by when they were due

	slotWait, encode, connect time.Duration
	sent, first               time.Duration
	input                     int
	chunks                    []metrics.Chunk // room of the request's, which only ever appends
	n                         int             // that came
	text                      []byte
	slot, cut, done           bool
	unjudged                  bool  // it came when the ledger was full
	endpoint                  uint8 // its number in the recorder, plus one
}

// trackOf is the track of a request in flight, nil for none.
func trackOf(q *metrics.Request) *track {
	k, _ := q.Live.(*track)
	return k
}

// tracks are the requests that viewers may see.
type tracks struct {
	look        metrics.Look
	opened      *track
	oldest      *track // of those due and not done
	newest      *track
	slots       int
	last        ring
	slowest     slowest
	succeeded   int
	failedFirst []*track
	failedLast  ring
}

func (t *tracks) due(q *metrics.Request) {
	k := &track{q: q, prev: t.newest, slotWait: metrics.Never, sent: metrics.Never, first: metrics.Never, input: q.InputTokens}
	if t.newest == nil {
		t.oldest = k
	} else {
		t.newest.next = k
	}
	t.newest, q.Live = k, k
}

func (t *tracks) sent(q *metrics.Request) {
	k := trackOf(q)
	if k == nil {
		return
	}
	k.sent, k.slotWait, k.encode, k.connect = q.Sent, max(0, q.SlotWait()), q.Encode, q.Connect
	if t.slots < slotsMost {
		t.slots++
		k.slot = true
	}
}

// first hears of the first chunk.
func (t *tracks) first(q *metrics.Request) {
	if k := trackOf(q); k != nil {
		k.first, k.connect = q.FirstChunk, q.Connect
	}
}

// follow keeps the last chunk and its text.
func (k *track) follow(q *metrics.Request) {
	k.n = len(q.Chunks)
	if cap(k.chunks) != cap(q.Chunks) { // a write of a pointer costs more than all the rest
		k.chunks = q.Chunks
	}
	if k.slot && len(q.Piece) > 0 && !k.cut {
		if k.text == nil {
			k.text = make([]byte, 0, min(max(textKept/16, 8*q.MaxTokens), textKept))
		}
		room := textKept - len(k.text)
		k.text = append(k.text, whole(q.Piece, room)...)
		k.cut = len(q.Piece) > room
	}
}

// whole is the beginning of a text that fits into so many bytes, without half a letter at its end.
func whole[T string | []byte](text T, room int) T {
	if len(text) <= room {
		return text
	}
	end := max(0, room)
	for cut := end; cut > max(0, end-utf8.UTFMax); cut-- {
		if utf8.RuneStart(text[cut]) {
			return text[:cut]
		}
	}
	return text[:end]
}

func (t *tracks) done(q *metrics.Request) {
	k := trackOf(q)
	if k == nil {
		k = &track{}
	} else {
		t.unlink(k)
	}
	if k.slot {
		t.slots--
	}
	q.Live = nil
	k.done = true
	k.keep(*q)
	t.last.add(k, lastKept)
	switch {
	case q.OK():
		t.slowest.add(k)
		t.succeeded++
	case q.Failure != "" && q.Failure != metrics.Cancelled:
		if len(t.failedFirst) < failedKept {
			t.failedFirst = append(t.failedFirst, k)
		} else {
			t.failedLast.add(k, failedKept)
		}
	}
}

func (t *tracks) unlink(k *track) {
	if k.prev == nil {
		t.oldest = k.next
	} else {
		k.prev.next = k.next
	}
	if k.next == nil {
		t.newest = k.prev
	} else {
		k.next.prev = k.prev
	}
	k.prev, k.next = nil, nil
}

// keep holds on to a request that is over, but not to all that a long answer brought.
func (k *track) keep(q metrics.Request) {
	q.Chunks = kept(q.Chunks)
	if text := whole(q.Text, textKept); len(text) < len(q.Text) {
		q.Text = strings.Clone(text)
		k.cut = k.cut || len(k.text) == 0
	}
	k.q, k.chunks, k.n = &q, q.Chunks, len(q.Chunks)
}

// kept are the first chunks of a request that is over. Of very long ones they are copied, so that the rest can go.
func kept(all []metrics.Chunk) []metrics.Chunk {
	if len(all) <= chunksKept {
		return all[:len(all):len(all)]
	}
	return append(make([]metrics.Chunk, 0, chunksKept), all[:chunksKept]...)
}

// ring holds the newest of what was added.
type ring struct {
	list []*track
	next int // the oldest, once it is full
}

func (r *ring) add(k *track, most int) {
	if len(r.list) < most {
		r.list = append(r.list, k)
		return
	}
	r.list[r.next] = k
	r.next = (r.next + 1) % most
}

// slowest holds those that took longest, as a heap with the quickest of them first.
type slowest []*track

func (s *slowest) add(k *track) {
	switch {
	case len(*s) < slowKept:
		heap.Push(s, k)
	case k.q.E2EL() > (*s)[0].q.E2EL():
		(*s)[0] = k
		heap.Fix(s, 0)
	}
}

func (s slowest) Len() int           { return len(s) }
func (s slowest) Less(a, b int) bool { return s[a].q.E2EL() < s[b].q.E2EL() }
func (s slowest) Swap(a, b int)      { s[a], s[b] = s[b], s[a] }
func (s *slowest) Push(k any)        { *s = append(*s, k.(*track)) }
func (s *slowest) Pop() any {
	last := (*s)[len(*s)-1]
	*s = (*s)[:len(*s)-1]
	return last
}

// slowPart: of so many successes one counts as slow, so that early in a run not every other one does.
const slowPart = 20

// slow are those that count as among the slowest.
func (t *tracks) slow() []*track {
	all := slices.Clone(t.slowest)
	slices.SortFunc(all, func(a, b *track) int { return cmp.Compare(b.q.E2EL(), a.q.E2EL()) })
	return all[:min(len(all), t.succeeded/slowPart)]
}

// over are the requests that ended and can be shown.
func (t *tracks) over() []*track {
	return slices.Concat(t.last.list, t.slowest, t.failedFirst, t.failedLast.list)
}

// find looks for a request among those that can be shown, nil for none.
func (t *tracks) find(index int) *track {
	k := t.oldest
	for range rowsInFlight {
		if k == nil {
			break
		}
		if k.q.Index == index {
			return k
		}
		k = k.next
	}
	for _, k := range t.over() {
		if k.q.Index == index {
			return k
		}
	}
	return nil
}
