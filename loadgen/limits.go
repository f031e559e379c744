package loadgen

import (
	"fmt"
	"unsafe"

	"benchtop/metrics"
)

// An answer that never ends must not take all memory, but an answer that was asked for must fit. So the limits of an answer
// grow with its request.
const (
	eventLeast     = 1 << 20 // bytes of an event that always fit
	eventPerToken  = 64
	eventPerBody   = 4 // an error may quote the request, escaped
	chunksLeast    = 1 << 16
	chunksPerToken = 4
	// bufferedMost bounds what all streams of a run hold beyond their own room.
	bufferedMost = 256 << 20
	// Each stream has room of its own: for what it was asked for, within these bounds.
	roomLeast    = 64 << 10
	roomMost     = 4 << 20
	roomPerToken = 2*textPerToken + 2*int(unsafe.Sizeof(metrics.Chunk{}))
	roomStep     = 64 << 10
	// pooledMost is the largest buffer that the next request gets.
	pooledMost = 64 << 10
	// tokensMost is longer than any answer, and keeps the products below from overflowing.
	tokensMost = 1 << 24
)

// limit sets the limits of the answer to a request with a body of so many bytes.
func (x *exchange) limit(maxTokens, body int) {
	x.maxTokens = max(0, min(maxTokens, tokensMost))
	x.sse.most = eventPerToken*x.maxTokens + eventPerBody*body
	x.room = min(max(roomLeast, roomPerToken*x.maxTokens), roomMost)
}

// wholeMost is the most bytes of an answer that never is a stream: vectors for some thousand prompts.
const wholeMost = 64 << 20

// wholeFits refuses an answer in one piece that would have so many bytes.
func (x *exchange) wholeFits(size int) error {
	if x.engine.encoder.traits.Streams {
		return x.sse.check(size)
	}
	if size > wholeMost {
		return fmt.Errorf("the answer has more than %d MiB", wholeMost>>20)
	}
	return nil
}

// oneMore refuses a chunk beyond the most that an answer may have.
func (x *exchange) oneMore() error {
	if most := min(max(chunksLeast, chunksPerToken*x.maxTokens), metrics.MostChunks); len(x.q.Chunks) >= most {
		return fmt.Errorf("the stream has more than %d chunks, which is the most for max_tokens %d", most, x.maxTokens)
	}
	return nil
}

// fits makes sure that there is memory for what the buffers have come to hold: the stream's own room, then a share of what
// all streams have together. It costs additions as long as the room lasts.
func (x *exchange) fits() error {
	held := x.sse.held() + cap(x.whole) + cap(x.text) + cap(x.q.Chunks)*int(unsafe.Sizeof(metrics.Chunk{}))
	if held <= x.room {
		return nil
	}
	more := (held - x.room + roomStep - 1) / roomStep * roomStep
	if !x.engine.borrow(more) {
		return errNoRoom
	}
	x.room += more
	x.borrowed += more
	return nil
}

var errNoRoom = fmt.Errorf("the answer is long, and the long answers of all streams together take more than %d MiB", bufferedMost>>20)

// borrow takes bytes of what all streams have together; false if there are not so many.
func (e *Engine) borrow(n int) bool {
	if e.buffered.Add(int64(n)) <= bufferedMost {
		return true
	}
	e.buffered.Add(-int64(n))
	return false
}

// giveBack frees the share of the other streams' memory, and buffers that a rare answer made large.
func (x *exchange) giveBack() {
	x.engine.buffered.Add(-int64(x.borrowed))
	x.borrowed = 0
	x.sse.shrink(pooledMost)
	x.whole, x.text = shrunk(x.whole, pooledMost), shrunk(x.text, pooledMost)
}

// shrunk is a buffer, or nothing in place of one that is too large to keep.
func shrunk(b []byte, most int) []byte {
	if cap(b) > most {
		return nil
	}
	return b
}
