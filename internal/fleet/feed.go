package fleet

import (
	"encoding/binary"
	"sync"
	"time"

	"benchtop/export/journal"
	"benchtop/metrics"
	"benchtop/metrics/event"
)

// feed is a sink that tells what happens to requests in flight, for the screen of the machine that leads the run. What
// it tells may be lost: the journal has all of it once the request has ended. A record is one of
//
//	d, s    due, sent: the length of a line of the journal, and the line of the request as it is then
//	c       chunk: index of the request, number of the chunk, microseconds, tokens and whether it is of the answer
//	t       the state of the sending: the length of it in JSON, and that
type feed struct {
	live func(record []byte) // does not keep it

	mu sync.Mutex // guards the following
	b  []byte
	of []byte
}

// Take tells of an event.
func (f *feed) Take(e *event.Event) {
	if e.Kind == event.Done || e.Kind == event.Fact {
		return // the journal has them
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.b = f.b[:0]
	q := e.Request
	if e.Kind == event.Chunk {
		c := &q.Chunks[len(q.Chunks)-1]
		held := uint64(max(0, c.Tokens)) << 1
		if c.Answer {
			held |= 1
		}
		f.b = append(f.b, 'c')
		for _, v := range []uint64{uint64(q.Index), uint64(len(q.Chunks) - 1), uint64(c.At.Microseconds()), held} {
			f.b = binary.AppendUvarint(f.b, v)
		}
	} else {
		f.of = journal.AppendRequest(f.of[:0], q)
		kind := byte('d')
		if e.Kind == event.Sent {
			kind = 's'
		}
		f.b = append(binary.AppendUvarint(append(f.b, kind), uint64(len(f.of))), f.of...)
	}
	f.live(f.b)
}

// state tells how far the sending is.
func (f *feed) state(s state) {
	b := encode(s)
	f.live(append(binary.AppendUvarint([]byte{'t'}, uint64(len(b))), b...))
}

// record is what a feed tells.
type record struct {
	kind  event.Kind
	line  []byte // of a request that is due or sent, or the state of the sending, which is a fact
	index int    // of the request of a chunk
	n     int    // number of the chunk
	chunk metrics.Chunk
}

// records reads a feed, and drops the rest of one that is damaged.
func records(b []byte, yield func(record)) {
	number := func(most uint64) (v uint64, ok bool) {
		v, size := binary.Uvarint(b)
		if ok = size > 0 && v <= most; ok {
			b = b[size:]
		}
		return v, ok
	}
	for len(b) > 0 {
		kind := b[0]
		b = b[1:]
		switch kind {
		case 'd', 's', 't':
			n, ok := number(metrics.LargestCount)
			if !ok || n > uint64(len(b)) {
				return
			}
			r := record{kind: event.Due, line: b[:n]}
			switch kind {
			case 's':
				r.kind = event.Sent
			case 't':
				r.kind = event.Fact
			}
			b = b[n:]
			yield(r)
		case 'c':
			var values [4]uint64
			for i, most := range []uint64{metrics.LargestCount, metrics.MostChunks,
				uint64(metrics.LongestRun / time.Microsecond), 1 << 31} {
				var ok bool
				if values[i], ok = number(most); !ok {
					return
				}
			}
			yield(record{kind: event.Chunk, index: int(values[0]), n: int(values[1]), chunk: metrics.Chunk{
				At:     time.Duration(values[2]) * time.Microsecond,
				Tokens: int32(values[3] >> 1), Answer: values[3]&1 != 0,
			}})
		default:
			return
		}
	}
}
