package metrics

import (
	"encoding/binary"
	"errors"
	"iter"
	"math"
	"math/bits"
	"slices"
	"time"
)

// subBits sets the resolution of a Histogram: 2^subBits buckets an octave, so a bucket is at most 1/64 wide of its
// value.
const subBits = 6

// Histogram counts durations in logarithmic buckets: below 64 µs one bucket a microsecond, above that 64 an octave
// (213 a decade). Every Histogram has the same buckets, so any two can be merged without loss. The zero value is empty
// and ready. It keeps only the range that is occupied. A copy made by assignment shares its counts and must not be
// added to; Share returns copies that are safe.
type Histogram struct {
	counts []uint32
	n      uint64
	sum    time.Duration
	base   int32 // bucket of counts[0]
	shared bool  // counts are visible in a snapshot: clone before the next write
	packed bool  // counts have the form of pack, and never change
}

// packedMost is the greatest count, and the greatest distance of buckets, of a packed histogram.
const packedMost = math.MaxUint8

// Pack makes a histogram small that is complete: of the occupied buckets alone it keeps the distance from the one
// before and the count, two buckets in each of counts. One with greater numbers is only trimmed. A change unpacks it.
func (h *Histogram) Pack() {
	if h.packed || h.n == 0 {
		return
	}
	h.trim()
	var words []uint32
	n, before := 0, int(h.base)
	for bucket, count := range h.occupied {
		if count > packedMost || bucket-before > packedMost {
			return
		}
		if n%2 == 0 {
			words = append(words, 0)
		}
		words[n/2] |= (uint32(bucket-before)<<8 | count) << (n % 2 * 16)
		n, before = n+1, bucket
	}
	h.counts, h.packed, h.shared = slices.Clone(words), true, false
}

// occupied ranges over the occupied buckets in rising order.
func (h *Histogram) occupied(yield func(bucket int, count uint32) bool) {
	bucket := int(h.base)
	for i, c := range h.counts {
		if !h.packed {
			if c > 0 && !yield(bucket+i, c) {
				return
			}
			continue
		}
		for ; c > 0; c >>= 16 {
			if bucket += int(c >> 8 & packedMost); !yield(bucket, c&packedMost) {
				return
			}
		}
	}
}

// longest is the longest duration in a bucket of its own, so that arithmetic on buckets cannot overflow.
const longest = 366 * 24 * time.Hour

func bucketOf(v time.Duration) int {
	us := uint64(clamp(v) / time.Microsecond)
	if us < 1<<subBits {
		return int(us)
	}
	e := bits.Len64(us) - 1 - subBits
	return (e+1)<<subBits + int(us>>e) - 1<<subBits
}

func clamp(v time.Duration) time.Duration { return min(max(0, v), longest) }

// bucketBounds gives the half-open range of durations that fall into bucket i.
func bucketBounds(i int) (lo, hi time.Duration) {
	if i < 1<<subBits {
		return time.Duration(i) * time.Microsecond, time.Duration(i+1) * time.Microsecond
	}
	e := i>>subBits - 1
	m := i&(1<<subBits-1) + 1<<subBits
	return time.Duration(m) << e * time.Microsecond, time.Duration(m+1) << e * time.Microsecond
}

// Add counts one duration; a negative one counts as 0, one beyond a year as a year.
func (h *Histogram) Add(v time.Duration) {
	i := bucketOf(v)
	h.cover(i, i)
	h.counts[i-int(h.base)]++
	h.n++
	h.sum += clamp(v)
}

// change counts a duration so many times as Add does, or takes that back where by is negative.
func (h *Histogram) change(v time.Duration, by int) {
	if h.packed {
		h.unpack()
	}
	i := bucketOf(v)
	k := i - int(h.base)
	if by < 0 && (k < 0 || k >= len(h.counts) || int64(h.counts[k]) < int64(-by)) {
		return
	}
	h.cover(i, i)
	h.counts[i-int(h.base)] += uint32(by)
	h.n += uint64(by)
	h.sum += time.Duration(by) * clamp(v)
}

// unpack gives the buckets of a packed histogram places of their own again. Callers look whether it is packed, which
// saves chunks the call.
func (h *Histogram) unpack() {
	packed := *h
	*h = Histogram{}
	h.Merge(&packed)
}

// own makes the counts private again after they were shared.
func (h *Histogram) own() {
	if h.packed {
		h.unpack()
	}
	if h.shared {
		h.counts = append(make([]uint32, 0, len(h.counts)+16), h.counts...)
		h.shared = false
	}
}

// cover makes the counts private and wide enough for buckets lo to hi, with room to spare on both sides so that a
// histogram settles after a few growths.
func (h *Histogram) cover(lo, hi int) {
	if h.packed {
		h.unpack()
	}
	if len(h.counts) == 0 {
		from := max(0, lo-8)
		h.base, h.counts, h.shared = int32(from), make([]uint32, hi-from+16), false
		return
	}
	base := int(h.base)
	if lo >= base && hi < base+len(h.counts) {
		h.own()
		return
	}
	from := base
	if lo < from {
		from = max(0, lo-16)
	}
	to := base + len(h.counts)
	if hi >= to {
		to = hi + 32
	}
	wider := make([]uint32, to-from)
	copy(wider[base-from:], h.counts)
	h.base, h.counts, h.shared = int32(from), wider, false
}

// Merge adds everything o counted.
func (h *Histogram) Merge(o *Histogram) {
	if o.n == 0 {
		return
	}
	if o.packed {
		for bucket, count := range o.occupied {
			h.cover(bucket, bucket)
			h.counts[bucket-int(h.base)] += count
		}
	} else {
		h.cover(int(o.base), int(o.base)+len(o.counts)-1)
		into := h.counts[o.base-h.base:][:len(o.counts)]
		for i, c := range o.counts {
			into[i] += c
		}
	}
	h.n += o.n
	h.sum += o.sum
}

// trim leaves no room around the occupied buckets of a histogram that is complete.
func (h *Histogram) trim() {
	from, to := 0, len(h.counts)
	for from < to && h.counts[from] == 0 {
		from++
	}
	for from < to && h.counts[to-1] == 0 {
		to--
	}
	h.base, h.counts = h.base+int32(from), slices.Clone(h.counts[from:to])
}

// Reset empties the histogram and keeps its memory.
func (h *Histogram) Reset() {
	h.own()
	clear(h.counts)
	h.n, h.sum = 0, 0
}

// Share returns a copy for a reader; h clones its counts before it next changes them.
func (h *Histogram) Share() Histogram {
	h.shared = true
	return *h
}

// Count is how many durations were added.
func (h *Histogram) Count() uint64 { return h.n }

// Mean is exact, not taken from the buckets; 0 when empty.
func (h *Histogram) Mean() time.Duration {
	if h.n == 0 {
		return 0
	}
	return h.sum / time.Duration(h.n)
}

// Quantile estimates the q-quantile, q from 0 to 1, within the width of a bucket (1.6 %); 0 when empty. Like the
// report's percentiles it stands at position q·(n-1) of the sorted values, and between two of them on the line that
// joins them. The values of a bucket are taken to lie evenly across it.
func (h *Histogram) Quantile(q float64) time.Duration {
	if h.n == 0 || math.IsNaN(q) {
		return 0
	}
	pos := min(max(q, 0), 1) * float64(h.n-1)
	lower := uint64(pos)
	part := pos - float64(lower)
	seen := uint64(0)
	below := time.Duration(-1) // the value at lower, once it is known
	for bucket, c := range h.occupied {
		lo, hi := bucketBounds(bucket)
		at := func(k uint64) time.Duration {
			return lo + time.Duration((float64(k-seen)+0.5)/float64(c)*float64(hi-lo))
		}
		if below < 0 && lower < seen+uint64(c) {
			below = at(lower)
		}
		if below >= 0 {
			if part == 0 || lower+1 >= h.n {
				return below
			}
			if lower+1 < seen+uint64(c) {
				return below + time.Duration(part*float64(at(lower+1)-below))
			}
		}
		seen += uint64(c)
	}
	return max(below, 0)
}

// Below counts the durations in buckets that lie wholly at or under v.
func (h *Histogram) Below(v time.Duration) uint64 {
	var n uint64
	for b := range h.Buckets() {
		if b.To > v {
			break
		}
		n += b.Count
	}
	return n
}

// Bucket is one occupied bucket: the half-open range [From, To) and how many fell into it.
type Bucket struct {
	From, To time.Duration
	Count    uint64
}

// Buckets ranges over the occupied buckets in rising order.
func (h *Histogram) Buckets() iter.Seq[Bucket] {
	return func(yield func(Bucket) bool) {
		for bucket, c := range h.occupied {
			lo, hi := bucketBounds(bucket)
			if !yield(Bucket{lo, hi, uint64(c)}) {
				return
			}
		}
	}
}

// histogramForm is the first byte of a Histogram in binary.
const histogramForm = 1

var errNoHistogram = errors.New("metrics: not a histogram in binary")

// MarshalBinary writes the occupied buckets: a byte for the form, the sum of all durations, then for each bucket its
// distance from the one before and its count, all as varints.
func (h Histogram) MarshalBinary() ([]byte, error) {
	b := binary.AppendUvarint([]byte{histogramForm}, uint64(h.sum))
	before := 0
	for bucket, count := range h.occupied {
		b = binary.AppendUvarint(b, uint64(bucket-before))
		b = binary.AppendUvarint(b, uint64(count))
		before = bucket
	}
	return b, nil
}

// UnmarshalBinary reads the form of MarshalBinary. Other input is an error, and takes little work and memory.
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
		out.counts[int(bucket)-int(out.base)] = uint32(count)
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

// statistic estimates the figures in milliseconds, with one percentile.
func (h *Histogram) statistic(p float64) Statistic {
	at := func(q float64) float64 { return Milliseconds(h.Quantile(q)) }
	return Statistic{
		N: int(h.n), Mean: Milliseconds(h.Mean()), Median: at(0.5), Std: h.deviation(), Min: at(0), Max: at(1),
		Percentiles: []Percentile{{P: p, Value: at(p / 100)}},
	}
}

// deviation estimates the standard deviation in milliseconds; every value is taken to lie in the middle of its bucket.
func (h *Histogram) deviation() float64 {
	if h.n == 0 {
		return 0
	}
	mean := float64(h.sum) / float64(h.n)
	var squares float64
	for b := range h.Buckets() {
		d := float64(b.From)/2 + float64(b.To)/2 - mean
		squares += d * d * float64(b.Count)
	}
	return math.Sqrt(squares/float64(h.n)) / float64(time.Millisecond)
}
