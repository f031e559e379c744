package charts

import (
	"cmp"
	"encoding/binary"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"benchtop/metrics"
)

// Timeline draws all requests of a run, failed ones included, as a Gantt chart: an HTML page with Apache ECharts that
// needs no network. Requests may come in any order; the rows are in data-set order, the first at the top. Times are
// relative to the earliest start.
//
// The row of a request has the time to the first chunk and then each gap between chunks, coloured by two thresholds in
// milliseconds (a gap equal to a threshold is on the slower side). The time after the last chunk of a failed or
// cancelled request has a colour of its own. Above some millions of segments, neighbouring gaps are joined, and the
// page says so. Annotated events are lines across the rows.
//
// It returns the number of segments in the page; 0 means that there was nothing to draw and nothing was written. The
// error is that of the requests or of w.
func Timeline(
	w io.Writer, requests iter.Seq2[metrics.Request, error], plan metrics.Plan, events []metrics.LogEntry,
	thresholdsMS [2]float64,
) (segments int, err error) {
	g, err := gather(requests, thresholds{lowMS: thresholdsMS[0], highMS: thresholdsMS[1]}, maxSegments)
	if err != nil || g.segments == 0 {
		return 0, err
	}
	return g.segments, writeTimeline(w, g, &plan, events)
}

const (
	// maxSegments is the number of segments above which neighbours are joined: about 32 MB of file and half a second in
	// a browser.
	maxSegments = 8 << 20
	// minJoin is the length in microseconds below which neighbours of different classes are joined, if joining those of
	// the same class was not enough. It doubles until the chart is small enough.
	minJoin = 50_000
	// maxErrorBytes is the length of an error text in the page.
	maxErrorBytes = 200
)

// row is a request in the chart.
type row struct {
	index                     int
	start, finish             time.Duration // finish is the last chunk, or the start without one
	inputTokens, outputTokens int
	tpot, tokenITL            time.Duration // TPOT and the mean per-token ITL of a success; 0 for none
	id, model, failure        string
	segments                  []byte // encoded
	count                     int
}

// gantt collects rows and bounds their segments.
type gantt struct {
	thresholds thresholds
	bound      int
	rows       []row
	segments   int
	// unsent requests never started and have no row.
	unsent int
	joined bool
	// joinBelow is the length in microseconds below which neighbours of any class are joined.
	joinBelow int64
}

// gather reads all requests; the rows are in data-set order.
func gather(requests iter.Seq2[metrics.Request, error], t thresholds, bound int) (*gantt, error) {
	g := &gantt{thresholds: t, bound: bound}
	for q, err := range requests {
		if err != nil {
			return nil, err
		}
		g.add(&q)
	}
	slices.SortStableFunc(g.rows, func(a, b row) int { return cmp.Compare(a.index, b.index) })
	return g, nil
}

func (g *gantt) add(q *metrics.Request) {
	start := startOf(q)
	if start == metrics.Never {
		g.unsent++
		return
	}
	r := row{
		index: q.Index, start: start, finish: q.LastChunk, inputTokens: q.InputTokens, outputTokens: q.OutputTokens,
		id: q.ID, model: q.Model, failure: failureText(q),
	}
	if q.OK() {
		r.tpot, r.tokenITL = max(0, q.TPOT()), meanTokenITL(q)
	}
	if r.finish == metrics.Never {
		r.finish = start
	}
	r.segments, r.count = encode(q, start, g.thresholds)
	if g.joined {
		g.join(&r)
	}
	// Unused capacity would take several times the memory of the row.
	r.segments = slices.Clone(r.segments)
	g.rows = append(g.rows, r)
	g.segments += r.count
	for g.segments > g.bound && g.joinBelow < maxMicros {
		g.shrink()
	}
}

// meanTokenITL is the mean per-token ITL of a request, 0 where the tokens of its chunks were not counted.
func meanTokenITL(q *metrics.Request) time.Duration {
	var sum, tokens time.Duration
	for each, n := range metrics.TokenITL.Plain(q) {
		sum, tokens = sum+each*time.Duration(n), tokens+time.Duration(n)
	}
	return sum / max(1, tokens)
}

// startOf is the start of a request: its first byte or, without a connection, the attempt. It is Never for a request
// that was not tried.
func startOf(q *metrics.Request) time.Duration {
	if q.Sent == metrics.Never {
		return q.Admitted
	}
	return q.Sent
}

// shrink joins more neighbours: first those of the same class, then all below a length that doubles.
func (g *gantt) shrink() {
	switch {
	case !g.joined:
		g.joined = true
	case g.joinBelow == 0:
		g.joinBelow = minJoin
	default:
		g.joinBelow *= 2
	}
	g.segments = 0
	for i := range g.rows {
		g.join(&g.rows[i])
		g.segments += g.rows[i].count
	}
}

// join joins neighbouring gaps of a row. A joined gap has the class of its mean, which for gaps of one class is that
// class.
func (g *gantt) join(r *row) {
	var out []byte
	var last segment // the segment that may still grow; gaps is 0 if there is none
	r.count = 0
	for s := range segments(r.segments) {
		switch {
		case last.gaps == 0:
			last = s
		case isGap(s.class) && isGap(last.class) && (s.class == last.class || last.micros < g.joinBelow):
			last.micros += s.micros
			last.gaps += s.gaps
			last.class = g.thresholds.of(time.Duration(last.micros) * time.Microsecond / time.Duration(last.gaps))
		default:
			out, last = last.appendTo(out), s
			r.count++
		}
	}
	if last.gaps > 0 {
		out = last.appendTo(out)
		r.count++
	}
	r.segments = slices.Clip(out)
}

func isGap(c class) bool { return c >= classFast && c <= classSlow }

// failureText is the failure of a request, "" for a success. The server's text is cut.
func failureText(q *metrics.Request) string {
	if q.Failure == "" {
		return ""
	}
	text := string(q.Failure)
	if q.Error != "" {
		text += ": " + strings.ToValidUTF8(q.Error[:min(len(q.Error), maxErrorBytes)], "")
	}
	return text
}

// class is the kind of a segment, in the order of the legend.
type class uint8

const (
	// classWait is the wait for the first chunk: metrics.Plan.FirstWait.
	classWait class = iota
	classFast
	classMedium
	classSlow
	// classFailed and classCancelled are the time after the last chunk of a request that failed, or that was cut
	// or abandoned.
	classFailed
	classCancelled
	classes
)

// thresholds classify the gaps between chunks: fast < low ≤ medium < high ≤ slow.
type thresholds struct{ lowMS, highMS float64 }

// of is the class of a gap. Thresholds are rounded to nanoseconds, so that a gap of 1.1 ms reaches 1.1 ms, although no
// float64 is exactly 1.1.
func (t thresholds) of(gap time.Duration) class {
	switch ns := float64(gap); {
	case ns < math.Round(t.lowMS*1e6):
		return classFast
	case ns < math.Round(t.highMS*1e6):
		return classMedium
	}
	return classSlow
}

// legend are the names of the classes in order. wait is the latency to the first chunk.
func (t thresholds) legend(wait metrics.Latency) [classes]string {
	low, high := milliseconds(t.lowMS), milliseconds(t.highMS)
	return [classes]string{
		wait.Naming().Title, "ITL < " + low, low + " ≤ ITL < " + high, "ITL ≥ " + high, "Failed", "Cancelled",
	}
}

func milliseconds(ms float64) string { return strconv.FormatFloat(ms, 'f', -1, 64) + "ms" }

// segment is a part of a request's row. It starts where the segment before it ends.
type segment struct {
	class class
	// micros is its length in microseconds; gaps is the number of gaps between chunks in it, 1 unless joined, and 1 for
	// classes that are not gaps.
	micros int64
	gaps   int64
}

// maxMicros is the longest encoded length; a browser's numbers are exact up to 2^53.
const maxMicros = 1 << 49

// appendTo appends the encoded segment: a varint of the length, a bit for a second varint with the number of gaps, and
// the class in three bits. Gaps from 1 to 131 ms take three bytes.
func (s segment) appendTo(b []byte) []byte {
	v := uint64(min(max(s.micros, 0), maxMicros))<<4 | uint64(s.class)
	if s.gaps == 1 {
		return binary.AppendUvarint(b, v)
	}
	return binary.AppendUvarint(binary.AppendUvarint(b, v|8), uint64(s.gaps))
}

// segments decodes what appendTo wrote.
func segments(b []byte) iter.Seq[segment] {
	return func(yield func(segment) bool) {
		for len(b) > 0 {
			v, n := binary.Uvarint(b)
			b = b[n:]
			s := segment{class: class(v & 7), micros: int64(v >> 4), gaps: 1}
			if v&8 != 0 {
				gaps, n := binary.Uvarint(b)
				s.gaps, b = int64(gaps), b[n:]
			}
			if !yield(s) {
				return
			}
		}
	}
}

// encode returns the segments of a request that started at start, and their number.
//
//	start        first chunk    second   third          last      done
//	  |─── TTFT ─────|── ITL ──────|─ ITL ──|── … ─ ITL ───|─ Failed ─|
func encode(q *metrics.Request, start time.Duration, t thresholds) (b []byte, n int) {
	at := start
	add := func(to time.Duration, c class) {
		if length := to.Microseconds() - at.Microseconds(); length >= 0 {
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
		if q.Failure == metrics.Cancelled || q.Failure == metrics.Abandoned {
			c = classCancelled
		}
		add(q.Done, c)
	}
	return b, n
}
