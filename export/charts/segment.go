package charts

import (
	"encoding/binary"
	"math"
	"strconv"
	"time"

	"benchtop/metrics"
)

// class is what a segment of the timeline shows. Their order is that of the legend.
type class uint8

const (
	// classWait is the wait for the first chunk: metrics.Plan.FirstWait.
	classWait class = iota
	classFast
	classMedium
	classSlow
	// classFailed and classCancelled are the wait after the last chunk of a request that did not succeed.
	classFailed
	classCancelled
	classes
)

// thresholds part the gaps between chunks: fast < low ≤ medium < high ≤ slow.
type thresholds struct {
	lowMS, highMS float64
}

// of returns the class of a gap. Thresholds are rounded to nanoseconds, so that 1.1 ms is reached by a gap of 1.1 ms
// although no float64 is 1.1.
func (t thresholds) of(gap time.Duration) class {
	switch ns := float64(gap); {
	case ns < math.Round(t.lowMS*1e6):
		return classFast
	case ns < math.Round(t.highMS*1e6):
		return classMedium
	}
	return classSlow
}

// legend returns the names of the classes in their order. wait is the latency to the first chunk.
func (t thresholds) legend(wait metrics.Latency) [classes]string {
	low, high := milliseconds(t.lowMS), milliseconds(t.highMS)
	return [classes]string{
		wait.Naming().Title, "ITL < " + low, low + " ≤ ITL < " + high, "ITL ≥ " + high, "Failed", "Cancelled",
	}
}

func milliseconds(ms float64) string { return strconv.FormatFloat(ms, 'f', -1, 64) + "ms" }

// segment is a stretch of a request's row. Each begins where the one before it ends.
type segment struct {
	class class
	// micros is its length in microseconds, gaps how many gaps between chunks it stands for: 1 unless joined, and 1 for
	// the classes that are no gaps.
	micros int64
	gaps   int64
}

// longest is the longest length in microseconds that the encoding takes; a browser's numbers are exact up to 2^53.
const longest = 1 << 49

// appendTo encodes the segment behind others: one varint of length, a bit that tells whether a second varint with the
// number of gaps follows, and the class in three bits. Gaps from 1 to 131 ms take three bytes.
func (s segment) appendTo(b []byte) []byte {
	v := uint64(min(max(s.micros, 0), longest))<<4 | uint64(s.class)
	if s.gaps == 1 {
		return binary.AppendUvarint(b, v)
	}
	return binary.AppendUvarint(binary.AppendUvarint(b, v|8), uint64(s.gaps))
}

// nextSegment decodes the first segment of b and returns what is behind it. It reads only what appendTo wrote.
func nextSegment(b []byte) (segment, []byte) {
	v, n := binary.Uvarint(b)
	b = b[n:]
	s := segment{class: class(v & 7), micros: int64(v >> 4), gaps: 1}
	if v&8 != 0 {
		gaps, n := binary.Uvarint(b)
		s.gaps, b = int64(gaps), b[n:]
	}
	return s, b
}

// encode returns the segments of a request that began at start, and how many they are.
//
//	start        first chunk    second   third          last      done
//	  |─── TTFT ─────|── ITL ──────|─ ITL ──|── … ─ ITL ───|─ Failed ─|
func encode(q *metrics.Request, start time.Duration, t thresholds) (b []byte, n int) {
	at := start
	add := func(to time.Duration, c class) {
		if length := micros(to) - micros(at); length >= 0 {
			b = segment{class: c, micros: length, gaps: 1}.appendTo(b)
			at = to
			n++
		}
	}
	if q.FirstChunk != metrics.Never {
		add(q.FirstChunk, classWait)
	}
	for i := 1; i < len(q.Chunks); i++ {
		add(q.Chunks[i].At, t.of(q.Chunks[i].At-q.Chunks[i-1].At))
	}
	if q.Failure != "" && q.Done > at {
		c := classFailed
		if q.Failure == metrics.Cancelled {
			c = classCancelled
		}
		add(q.Done, c)
	}
	return b, n
}

func micros(d time.Duration) int64 { return d.Microseconds() }
