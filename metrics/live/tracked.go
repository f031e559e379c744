package live

import (
	"container/list"
	"slices"
	"sort"
	"strings"
	"time"
	"unicode/utf8"

	"benchtop/metrics"
)

// Bounds of the requests that are kept for viewers.
const (
	slotsMost  = 256 // requests in flight whose text is kept
	lastKept   = 200 // that ended last
	slowKept   = 50  // that took longest
	failedKept = 100 // that failed first, and as many that failed last
	chunksKept = 4096
	textKept   = 8 << 10 // bytes
)

// track is the view of a request. The request belongs to its goroutine until it is done, so fields that change until
// then are copied here.
type track struct {
	q     *metrics.Request // until it is done, only fields that were set when it was due
	place *list.Element    // among those in flight

	slotWait, encode, connect time.Duration
	sent, first               time.Duration
	input                     int
	chunks                    []metrics.Chunk // the request's own memory, to which it only appends
	n                         int             // chunks so far
	text                      []byte
	prompt                    string
	slot, cut, done           bool
	unjudged                  bool                     // the request index was full when it was due
	missed                    metrics.ObjectivesMissed // in flight, whatever comes
}

// trackOf is the track of a request in flight, nil for none.
func trackOf(q *metrics.Request) *track {
	k, _ := q.Live.(*track)
	return k
}

// tracks are the requests that viewers may see.
type tracks struct {
	inspection  metrics.Inspection
	opened      *track
	inFlight    list.List // by when they were due
	slots       int
	last        []*track
	slowest     []*track // the slowest first
	succeeded   int
	failedFirst []*track
	failedLast  []*track
	missed      metrics.MissCount // by those in flight
	judged      time.Duration     // when all of them were judged
}

func (t *tracks) due(q *metrics.Request) {
	k := &track{q: q, slotWait: metrics.Never, sent: metrics.Never, first: metrics.Never, input: q.InputTokens}
	k.place, q.Live = t.inFlight.PushBack(k), k
}

func (t *tracks) sent(q *metrics.Request) {
	k := trackOf(q)
	if k == nil {
		return
	}
	k.sent, k.slotWait, k.encode, k.connect = q.Sent, max(0, q.SlotWait()), q.Encode, q.Connect
	k.prompt = q.Prompt
	if t.slots < slotsMost {
		t.slots++
		k.slot = true
	}
}

// first files the first chunk.
func (t *tracks) first(p *metrics.Plan, slo metrics.SLO, q *metrics.Request) {
	if k := trackOf(q); k != nil {
		k.first, k.connect = q.FirstChunk, q.Connect
		t.judge(k, p, slo, q.FirstChunk)
	}
}

// judge judges a request in flight at a moment.
func (t *tracks) judge(k *track, p *metrics.Plan, slo metrics.SLO, now time.Duration) {
	t.missed.Add(k.missed, -1)
	if k.first != metrics.Never {
		now = k.first
	}
	k.missed = p.MissedInFlight(k.q, slo, metrics.Since(k.sent, now))
	t.missed.Add(k.missed, +1)
}

// missing counts the requests in flight that have missed an objective. It looks at all of them once a second.
func (t *tracks) missing(p *metrics.Plan, slo metrics.SLO, now time.Duration) metrics.MissCount {
	if now-t.judged >= time.Second {
		t.judged = now
		for e := t.inFlight.Front(); e != nil; e = e.Next() {
			t.judge(e.Value.(*track), p, slo, now)
		}
	}
	return t.missed
}

// follow keeps the last chunk and its text.
func (k *track) follow(q *metrics.Request) {
	k.n = len(q.Chunks)
	if cap(k.chunks) != cap(q.Chunks) { // writing a pointer costs more than the rest
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

// whole cuts a text to so many bytes, at a rune boundary.
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

// answering is when the oldest request in flight that is being answered was sent, Never for none.
func (t *tracks) answering() time.Duration {
	for e := t.inFlight.Front(); e != nil; e = e.Next() {
		if k := e.Value.(*track); k.first != metrics.Never {
			return k.sent
		}
	}
	return metrics.Never
}

func (t *tracks) done(q *metrics.Request) {
	k := trackOf(q)
	if k == nil {
		k = &track{}
	} else {
		t.inFlight.Remove(k.place)
		t.missed.Add(k.missed, -1)
	}
	if k.slot {
		t.slots--
	}
	q.Live = nil
	k.done, k.place = true, nil
	k.keep(*q)
	t.last = newest(t.last, k, lastKept)
	switch {
	case q.OK():
		t.succeeded++
		i := sort.Search(len(t.slowest), func(i int) bool { return t.slowest[i].q.E2EL() < k.q.E2EL() })
		if t.slowest = slices.Insert(t.slowest, i, k); len(t.slowest) > slowKept {
			t.slowest = slices.Delete(t.slowest, slowKept, slowKept+1)
		}
	case q.State() == metrics.StateFailed:
		if len(t.failedFirst) < failedKept {
			t.failedFirst = append(t.failedFirst, k)
		} else {
			t.failedLast = newest(t.failedLast, k, failedKept)
		}
	}
}

// newest appends to a list and keeps its last entries, at most so many.
func newest(list []*track, k *track, most int) []*track {
	list = append(list, k)
	over := max(0, len(list)-most)
	clear(list[:over])
	return list[over:]
}

// keep stores a finished request, with long answers cut.
func (k *track) keep(q metrics.Request) {
	q.Chunks = kept(q.Chunks)
	if text := whole(q.Text, textKept); len(text) < len(q.Text) {
		q.Text = strings.Clone(text)
		k.cut = k.cut || len(k.text) == 0
	}
	k.q, k.chunks, k.n, k.prompt = &q, q.Chunks, len(q.Chunks), q.Prompt
}

// kept are the first chunks of a finished request. Those of a long answer are copied, so that the rest can be freed.
func kept(all []metrics.Chunk) []metrics.Chunk {
	if len(all) <= chunksKept {
		return all[:len(all):len(all)]
	}
	return append(make([]metrics.Chunk, 0, chunksKept), all[:chunksKept]...)
}

// slowPart: one of so many successes counts as slow, so that few do early in a run.
const slowPart = 20

// slow are the requests that count as slow.
func (t *tracks) slow() []*track {
	return slices.Clone(t.slowest[:min(len(t.slowest), t.succeeded/slowPart)])
}

// over are the finished requests that are kept.
func (t *tracks) over() []*track {
	return slices.Concat(t.last, t.slowest, t.failedFirst, t.failedLast)
}

// find finds a request among those that are kept, nil for none.
func (t *tracks) find(index int) *track {
	for _, k := range append(t.oldest(), t.over()...) {
		if k.q.Index == index {
			return k
		}
	}
	return nil
}

// oldest are the requests in flight that are shown.
func (t *tracks) oldest() []*track {
	all := make([]*track, 0, rowsInFlight)
	for e := t.inFlight.Front(); e != nil && len(all) < rowsInFlight; e = e.Next() {
		all = append(all, e.Value.(*track))
	}
	return all
}
