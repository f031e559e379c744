package metrics

import (
	"encoding/binary"
	"errors"
	"math"
	"time"
)

// histogramForm is the first byte of a Histogram in binary.
const histogramForm = 1

var errNoHistogram = errors.New("metrics: not a histogram in binary")

// MarshalBinary writes the occupied buckets: a byte for the form, the sum of all durations, then for each bucket its distance
// from the one before and its count, all as varints.
func (h Histogram) MarshalBinary() ([]byte, error) {
	b := binary.AppendUvarint([]byte{histogramForm}, uint64(h.sum))
	before := 0
	for i, c := range h.counts {
		if c > 0 {
			b = binary.AppendUvarint(b, uint64(h.base+i-before))
			b = binary.AppendUvarint(b, uint64(c))
			before = h.base + i
		}
	}
	return b, nil
}

// UnmarshalBinary reads what MarshalBinary wrote. Whatever else it is given is an error, and never much work or memory.
func (h *Histogram) UnmarshalBinary(b []byte) error {
	if len(b) == 0 || b[0] != histogramForm {
		return errNoHistogram
	}
	sum, b, ok := uvarint(b[1:])
	if !ok || sum > math.MaxInt64 {
		return errNoHistogram
	}
	out := Histogram{}
	bucket, last := uint64(0), uint64(bucketOf(longest))
	for first := true; len(b) > 0; first = false {
		var step, count uint64
		if step, b, ok = uvarint(b); !ok || step == 0 && !first || step > last-bucket {
			return errNoHistogram
		}
		bucket += step
		if count, b, ok = uvarint(b); !ok || count == 0 || count > math.MaxUint32 {
			return errNoHistogram
		}
		out.cover(int(bucket), int(bucket))
		out.counts[int(bucket)-out.base] = uint32(count)
		out.n += count
	}
	if out.n == 0 && sum > 0 {
		return errNoHistogram
	}
	out.sum = time.Duration(sum)
	*h = out
	return nil
}

// uvarint takes a number from the front.
func uvarint(b []byte) (v uint64, rest []byte, ok bool) {
	v, n := binary.Uvarint(b)
	if n <= 0 {
		return 0, nil, false
	}
	return v, b[n:], true
}
