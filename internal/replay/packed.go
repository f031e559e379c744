package replay

import (
	"encoding/binary"
	"time"

	"benchtop/metrics"
)

// packed are the chunks of a request in about three bytes each, where they take sixteen in the open. First their number and
// the unit of time, 0 for microseconds and 1 for nanoseconds; then for each chunk how much later it came than the one before, shifted by one. The lowest bit is set where it is not one token
// of the visible answer; what it is follows: tokens, shifted by one, and a bit for the answer.
type packed []byte

// furthest bounds times, because a journal may hold any number.
const furthest = 1 << 60

func pack(chunks []metrics.Chunk) packed {
	if len(chunks) == 0 {
		return nil
	}
	unit, name := time.Microsecond, byte(0)
	for i := range chunks {
		if chunks[i].At%time.Microsecond != 0 {
			unit, name = time.Nanosecond, 1
		}
	}
	out := binary.AppendUvarint(make(packed, 0, 4+4*len(chunks)), uint64(len(chunks)))
	out = append(out, name)
	last := time.Duration(0)
	for _, c := range chunks {
		at := min(max(c.At, -furthest), furthest) / unit
		later := int64(at-last) << 1
		last = at
		if c.Tokens == 1 && c.Answer {
			out = binary.AppendVarint(out, later)
			continue
		}
		out = binary.AppendVarint(out, later|1)
		what := int64(c.Tokens) << 1
		if c.Answer {
			what |= 1
		}
		out = binary.AppendVarint(out, what)
	}
	return append(packed(nil), out...) // as long as it has to be
}

// unpack returns the chunks. They are the caller's.
func (p packed) unpack() []metrics.Chunk {
	if len(p) == 0 {
		return nil
	}
	count, n := binary.Uvarint(p)
	unit := time.Microsecond
	if p[n] == 1 {
		unit = time.Nanosecond
	}
	out := make([]metrics.Chunk, 0, count)
	last := int64(0)
	for p = p[n+1:]; len(p) > 0; {
		v, n := binary.Varint(p)
		p = p[n:]
		last += v >> 1
		c := metrics.Chunk{At: time.Duration(last) * unit, Tokens: 1, Answer: true}
		if v&1 != 0 {
			what, n := binary.Varint(p)
			p = p[n:]
			c.Tokens, c.Answer = int32(what>>1), what&1 != 0
		}
		out = append(out, c)
	}
	return out
}
