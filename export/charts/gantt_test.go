package charts

import (
	"errors"
	"slices"
	"testing"
	"time"

	"benchtop/metrics"
)

func TestRowsAreInDataSetOrder(t *testing.T) {
	never := metrics.NewRequest(2)
	never.Scheduled, never.Due, never.Failure = 0, 0, metrics.Cancelled
	g, err := gather(all(answered(3, 0, ms), answered(0, ms, ms), never, answered(1, 0, ms)), thresholds{25, 50}, maxSegments)
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for _, r := range g.rows {
		got = append(got, r.index)
	}
	if want := []int{0, 1, 3}; !slices.Equal(got, want) || g.unsent != 1 {
		t.Errorf("rows %v and %d unsent, want %v and 1", got, g.unsent, want)
	}
}

func TestGatherPassesTheErrorOn(t *testing.T) {
	want := errors.New("line 7 is damaged")
	if _, err := gather(broken(want), thresholds{}, maxSegments); err != want {
		t.Errorf("error %v, want %v", err, want)
	}
}

// steps returns moments at the given distances.
func steps(gaps ...time.Duration) []time.Duration {
	out := []time.Duration{10 * ms}
	for _, g := range gaps {
		out = append(out, out[len(out)-1]+g)
	}
	return out
}

func TestNeighboursOfOneClassAreJoinedFirst(t *testing.T) {
	q := answered(0, 0, steps(10*ms, 20*ms, 30*ms, 60*ms, 70*ms, 5*ms)...)
	g, _ := gather(all(failed(q, metrics.FailedStall, time.Second)), thresholds{25, 50}, 6)
	want := []segment{
		{classWait, 10_000, 1}, {classFast, 30_000, 2}, {classMedium, 30_000, 1}, {classSlow, 130_000, 2}, {classFast, 5_000, 1},
		{classFailed, 1_000_000, 1},
	}
	if got := decode(g.rows[0].segments); !slices.Equal(got, want) || g.segments != 6 || !g.joined || g.least != 0 {
		t.Errorf("%d segments %v, joined %t up to %d µs, want %v, joined up to 0", g.segments, got, g.joined, g.least, want)
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
			t.Errorf("request %d: a mean of 40 ms is class %d over %d gaps, want %d over many", r.index, s.class, s.gaps, classMedium)
		}
	}
	if count != g.segments {
		t.Errorf("%d segments in the rows, want %d", count, g.segments)
	}
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
