package parquet

import (
	"encoding/binary"
	"errors"
)

var errRuns = errors.New("its runs of numbers break off")

// hybrid reads small numbers, such as levels, that are stored as runs: of one number that repeats, or of numbers of so
// many bits each.
type hybrid struct {
	b      []byte // what is left
	width  int    // bits of a number
	run    int    // numbers left in the run
	repeat uint32 // the number of a run of one
	packed []byte // of a run of several; nil for a run of one
	at     int    // bits of packed that have been read
}

// next is the next number.
func (h *hybrid) next() (uint32, error) {
	for h.run == 0 {
		if err := h.begin(); err != nil {
			return 0, err
		}
	}
	h.run--
	if h.packed == nil {
		return h.repeat, nil
	}
	v := bitsAt(h.packed, h.at, h.width)
	h.at += h.width
	return uint32(v), nil
}

// skip passes over n numbers. It returns how many of them are equal to v.
func (h *hybrid) skip(n int, v uint32) (equal int, err error) {
	for n > 0 {
		if h.run == 0 {
			if err := h.begin(); err != nil {
				return equal, err
			}
			continue
		}
		some := min(n, h.run)
		n -= some
		if h.packed == nil {
			if h.run -= some; h.repeat == v {
				equal += some
			}
			continue
		}
		for range some {
			if u, _ := h.next(); u == v {
				equal++
			}
		}
	}
	return equal, nil
}

// begin reads the head of a run.
func (h *hybrid) begin() error {
	head, n := binary.Uvarint(h.b)
	if n <= 0 {
		return errRuns
	}
	h.b = h.b[n:]
	count := head >> 1
	if head&1 == 0 {
		size := (h.width + 7) / 8
		if len(h.b) < size || count > 1<<31 {
			return errRuns
		}
		h.run, h.packed, h.repeat = int(count), nil, 0
		for i := range size {
			h.repeat |= uint32(h.b[i]) << (8 * i)
		}
		h.b = h.b[size:]
		return nil
	}
	// Groups of eight numbers. The last ones of a page may be cut off.
	if h.width == 0 {
		if count > 1<<28 {
			return errRuns
		}
		h.run, h.packed, h.repeat = int(count)*8, nil, 0
		return nil
	}
	if count == 0 {
		return nil
	}
	size := min(min(count, 1<<31)*uint64(h.width), uint64(len(h.b)))
	h.run, h.packed, h.at = int(min(min(count, 1<<31)*8, size*8/uint64(h.width))), h.b[:size], 0
	if h.b = h.b[size:]; h.run == 0 {
		return errRuns
	}
	return nil
}

// bitsAt are those of a number of so many bits, up to 64, that begins at a bit. They must be there.
func bitsAt(b []byte, at, width int) uint64 {
	first, shift := at/8, at%8
	if first+8 <= len(b) {
		v := binary.LittleEndian.Uint64(b[first:]) >> shift
		if shift+width > 64 {
			v |= uint64(b[first+8]) << (64 - shift)
		}
		return v & (1<<width - 1)
	}
	v := uint64(0)
	for i, c := range b[first:] {
		if i < 8 {
			v |= uint64(c) << (8 * i)
		}
	}
	return v >> shift & (1<<width - 1)
}
