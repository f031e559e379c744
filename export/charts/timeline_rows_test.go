package charts

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/metrics"
)

// steps are times at the given distances.
func steps(gaps ...time.Duration) []time.Duration {
	out := []time.Duration{10 * ms}
	for _, g := range gaps {
		out = append(out, out[len(out)-1]+g)
	}
	return out
}

// Rows are in data-set order, whichever requests came, and started, first.
func TestRowsAreInDataSetOrder(t *testing.T) {
	g, _ := gather(all(answered(3, 0, ms), answered(0, ms, ms), answered(1, 0, ms)), thresholds{25, 50}, 6)
	got := metrics.Each(g.rows, func(r row) int { return r.index })
	assert.EqualAll(t, got, []int{0, 1, 3}, "rows")
}

func TestNeighboursOfOneClassAreJoinedFirst(t *testing.T) {
	q := answered(0, 0, steps(10*ms, 20*ms, 30*ms, 60*ms, 70*ms, 5*ms)...)
	g, _ := gather(all(failed(q, metrics.FailedStall, time.Second)), thresholds{25, 50}, 6)
	want := []segment{
		{classWait, 10_000, 1}, {classFast, 30_000, 2}, {classMedium, 30_000, 1}, {classSlow, 130_000, 2},
		{classFast, 5_000, 1},
		{classFailed, 1_000_000, 1},
	}
	if got := decode(g.rows[0].segments); !slices.Equal(got, want) || g.segments != 6 || !g.joined || g.joinBelow != 0 {
		t.Errorf("%d segments %v, joined %t up to %d µs, want %v, joined up to 0", g.segments, got, g.joined,
			g.joinBelow, want)
	}
}

func TestThenNeighboursOfAnyClassUntilItFits(t *testing.T) {
	var gaps []time.Duration
	for i := range 1000 {
		gaps = append(gaps, []time.Duration{10 * ms, 40 * ms, 70 * ms}[i%3])
	}
	var requests []metrics.Request
	for i := range 5 {
		requests = append(requests, answered(i, 0, steps(gaps...)...))
	}
	g, _ := gather(all(requests...), thresholds{25, 50}, 200)
	if g.segments > 200 || g.segments < 50 {
		t.Errorf("%d segments, want few less than 200", g.segments)
	}
	count := 0
	for _, r := range g.rows {
		segments := decode(r.segments)
		count += len(segments)
		micros, n := total(segments)
		if micros != 10_000+333*120_000+10_000 || n != 1001 {
			t.Errorf("request %d: %d µs in %d parts, want %d µs in 1001", r.index, micros, n, 10_000+333*120_000+10_000)
		}
		if s := segments[1]; s.class != classMedium || s.gaps < 10 {
			t.Errorf("request %d: a mean of 40 ms is class %d over %d gaps, want %d over many", r.index, s.class,
				s.gaps, classMedium)
		}
	}
	assert.Equal(t, count, g.segments, "segments in the rows")
}

func TestMoreRowsThanTheBoundEnd(t *testing.T) {
	var requests []metrics.Request
	for i := range 50 {
		requests = append(requests, answered(i, 0, steps(10*ms, 40*ms)...))
	}
	g, _ := gather(all(requests...), thresholds{25, 50}, 10)
	if g.segments != 100 || len(g.rows) != 50 {
		t.Errorf("%d segments in %d rows, want 100 in 50: nothing can be joined further", g.segments, len(g.rows))
	}
}

func decode(b []byte) []segment { return slices.Collect(segments(b)) }

func TestThresholdsBelongToTheSlowerSide(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		gap       time.Duration
		want      class
	}{
		{25, 50, 0, classFast},
		{25, 50, 25*ms - time.Microsecond, classFast},
		{25, 50, 25 * ms, classMedium},
		{25, 50, 50*ms - time.Microsecond, classMedium},
		{25, 50, 50 * ms, classSlow},
		{25, 50, time.Hour, classSlow},
		{1.1, 2.2, 1100 * time.Microsecond, classMedium},
		{1.1, 2.2, 1099 * time.Microsecond, classFast},
		{1.1, 2.2, 2200 * time.Microsecond, classSlow},
		{50, 25, 30 * ms, classFast},
		{50, 25, 50 * ms, classSlow},
		{0, math.Inf(1), time.Hour, classMedium},
	} {
		if got := (thresholds{c.low, c.high}).of(c.gap); got != c.want {
			t.Errorf("thresholds %v and %v ms: a gap of %v has class %d, want %d", c.low, c.high, c.gap, got, c.want)
		}
	}
}

func TestLegend(t *testing.T) {
	for _, c := range []struct {
		t    thresholds
		wait metrics.Latency
		want []string
	}{
		{thresholds{25, 50}, metrics.TTFT,
			[]string{"TTFT", "ITL < 25ms", "25ms ≤ ITL < 50ms", "ITL ≥ 50ms", "Failed", "Cancelled"}},
		{thresholds{0.5, 10}, metrics.E2EL,
			[]string{"E2EL", "ITL < 0.5ms", "0.5ms ≤ ITL < 10ms", "ITL ≥ 10ms", "Failed", "Cancelled"}},
	} {
		if got := c.t.legend(c.wait); !slices.Equal(got[:], c.want) {
			t.Errorf("legend of %v: %q, want %q", c.t, got, c.want)
		}
	}
}

func TestSegmentsOfARequest(t *testing.T) {
	noConnection := metrics.NewRequest(7)
	noConnection.Admitted, noConnection.Done, noConnection.Failure = 10*ms, 15*ms, metrics.FailedConnect
	backwards := answered(0, 0, 10*ms, 30*ms, 20*ms, 40*ms)
	for _, c := range []struct {
		name string
		q    metrics.Request
		want []segment
	}{
		{"success", answered(0, time.Second, 100*ms, 110*ms, 135*ms, 185*ms, 185*ms), []segment{
			{classWait, 100_000, 1}, {classFast, 10_000, 1}, {classMedium, 25_000, 1}, {classSlow, 50_000, 1},
			{classFast, 0, 1},
		}},
		{"one chunk", answered(0, 0, 80*ms), []segment{{classWait, 80_000, 1}}},
		{"stalled", failed(answered(0, 0, 80*ms, 90*ms), metrics.FailedStall, 3*time.Second), []segment{
			{classWait, 80_000, 1}, {classFast, 10_000, 1}, {classFailed, 3_000_000, 1},
		}},
		{"failed at its last chunk", failed(answered(0, 0, 80*ms), metrics.FailedInStream, 0),
			[]segment{{classWait, 80_000, 1}}},
		{"never answered", failed(answered(0, 5*ms), metrics.FailedTimeout, time.Minute),
			[]segment{{classFailed, 60_000_000, 1}}},
		{"cancelled", failed(answered(0, 0, 80*ms), metrics.Cancelled, 20*ms), []segment{
			{classWait, 80_000, 1}, {classCancelled, 20_000, 1},
		}},
		{"no connection", noConnection, []segment{{classFailed, 5_000, 1}}},
		{"not done", metrics.Request{Sent: 3 * ms, FirstChunk: metrics.Never, Done: metrics.Never}, nil},
		{"times of a damaged file", backwards, []segment{
			{classWait, 10_000, 1}, {classFast, 20_000, 1}, {classFast, 10_000, 1},
		}},
	} {
		b, n := encode(&c.q, startOf(&c.q), thresholds{25, 50})
		if got := decode(b); !slices.Equal(got, c.want) || n != len(c.want) {
			t.Errorf("%s: %d segments %v, want %v", c.name, n, got, c.want)
		}
	}
}

func TestSegmentEncoding(t *testing.T) {
	want := []segment{
		{classFast, 0, 1}, {classSlow, 7, 1}, {classMedium, 131_071, 1}, {classCancelled, maxMicros, 1},
		{classSlow, 5, 0},
		{classFast, 1 << 33, 1 << 40},
	}
	var b []byte
	for _, s := range want {
		b = s.appendTo(b)
	}
	assert.EqualAll(t, decode(b), want, "decoded")
	if got := len((segment{classMedium, 131_071, 1}).appendTo(nil)); got != 3 {
		t.Errorf("a gap of 131 ms takes %d bytes, want 3", got)
	}
	if got := decode((segment{classFast, math.MaxInt64, 1}).appendTo(nil)); got[0].micros != maxMicros {
		t.Errorf("a length beyond all bounds became %d, want %d", got[0].micros, int64(maxMicros))
	}
}

// FuzzSegments encodes requests with any times: decoding gives the same segments, and joining loses neither time nor
// gaps.
func FuzzSegments(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2}, int64(5), true)
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 255}, int64(math.MinInt64), false)
	f.Fuzz(func(t *testing.T, times []byte, sent int64, cancelled bool) {
		q := metrics.NewRequest(0)
		q.Sent = time.Duration(sent)
		for ; len(times) >= 8; times = times[8:] {
			q.Add(metrics.Chunk{At: time.Duration(binary.BigEndian.Uint64(times)), Tokens: 1})
		}
		q.Done = q.LastChunk + time.Second
		if cancelled {
			q.Failure = metrics.Cancelled
		}
		th := thresholds{25, 50}
		b, n := encode(&q, q.Sent, th)
		if got := len(decode(b)); got != n {
			t.Fatalf("%d segments decoded of %d", got, n)
		}
		g := gantt{thresholds: th, joined: true, joinBelow: 1000}
		r := row{segments: b, count: n}
		before, gapsBefore := total(decode(b))
		g.join(&r)
		after, gapsAfter := total(decode(r.segments))
		if before < maxMicros && (before != after || gapsBefore != gapsAfter) {
			t.Fatalf("joining made %d µs and %d gaps of %d µs and %d gaps", after, gapsAfter, before, gapsBefore)
		}
	})
}

// total saturates, as a sum of lengths may overflow.
func total(segments []segment) (micros, gaps int64) {
	for _, s := range segments {
		micros = min(micros+s.micros, maxMicros)
		gaps += s.gaps
	}
	return micros, gaps
}
