package live

import (
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
