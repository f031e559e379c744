package charts

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"time"

	"benchtop/metrics"
)

const (
	// maxSegments is how many segments a page holds before neighbours are joined: about 32 MB of file and half a second of
	// a browser's time.
	maxSegments = 8 << 20
	// firstJoin is the length in microseconds below which neighbours of different classes are joined, once joining those
	// of the same class was not enough. It doubles until the chart is small enough.
	firstJoin = 50_000
	// longestError in bytes of a failed request's text that gets into the page.
	longestError = 200
)

// row is a request in the chart.
type row struct {
	index                     int
	start, finish             time.Duration // finish is the last chunk, start without one
	inputTokens, outputTokens int
	id, model, failure        string
	segments                  []byte // encoded
	count                     int
}

// gantt gathers rows and keeps their segments below a bound.
type gantt struct {
	thresholds thresholds
	bound      int
	rows       []row
	segments   int
	// unsent requests were never begun and have no row.
	unsent int
	joined bool
	// least is the length in microseconds up to which neighbours of any class are joined.
	least int64
}

// gather reads all requests. The rows are in data-set order.
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
	start := began(q)
	if start == metrics.Never {
		g.unsent++
		return
	}
	r := row{index: q.Index, start: start, finish: start, id: q.ID, model: q.Model, failure: failureText(q)}
	r.inputTokens, r.outputTokens = q.InputTokens, q.OutputTokens
	if q.LastChunk != metrics.Never {
		r.finish = q.LastChunk
	}
	r.segments, r.count = encode(q, start, g.thresholds)
	if g.joined {
		g.join(&r)
	}
	// What append allocated too much would outlive the row many times over.
	r.segments = slices.Clone(r.segments)
	g.rows = append(g.rows, r)
	g.segments += r.count
	for g.segments > g.bound && g.least < longest {
		g.shrink()
	}
}

// began is when a request's time began to run: with its first byte or, if it got no connection, with the attempt. It is
// Never for a request that was not even tried.
func began(q *metrics.Request) time.Duration {
	if q.Sent == metrics.Never {
		return q.Admitted
	}
	return q.Sent
}

// shrink joins more than before: first neighbours of one class, then all that are shorter than a length that doubles.
func (g *gantt) shrink() {
	switch {
	case !g.joined:
		g.joined = true
	case g.least == 0:
		g.least = firstJoin
	default:
		g.least *= 2
	}
	g.segments = 0
	for i := range g.rows {
		g.join(&g.rows[i])
		g.segments += g.rows[i].count
	}
}

// join joins neighbouring gaps of a row. What is joined gets the class of its mean gap, which for gaps of one class is
// that class.
func (g *gantt) join(r *row) {
	var out []byte
	var last segment // the one that may still grow; gaps is 0 if there is none
	count := 0
	flush := func() {
		if last.gaps > 0 {
			out = last.appendTo(out)
			count++
		}
	}
	for b := r.segments; len(b) > 0; {
		var s segment
		s, b = nextSegment(b)
		if isGap(s.class) && last.gaps > 0 && isGap(last.class) && (s.class == last.class || last.micros < g.least) {
			last.micros += s.micros
			last.gaps += s.gaps
			last.class = g.thresholds.of(time.Duration(last.micros) * time.Microsecond / time.Duration(last.gaps))
			continue
		}
		flush()
		last = s
	}
	flush()
	r.segments, r.count = slices.Clip(out), count
}

func isGap(c class) bool { return c >= classFast && c <= classSlow }

// failureText says why a request did not succeed, "" if it did. The server's words are cut.
func failureText(q *metrics.Request) string {
	if q.Failure == "" {
		return ""
	}
	text := string(q.Failure)
	if q.Error != "" {
		text += ": " + strings.ToValidUTF8(q.Error[:min(len(q.Error), longestError)], "")
	}
	return text
}
