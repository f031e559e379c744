package metrics

import (
	"testing"
	"time"

	"benchtop/internal/assert"
)

// Each threshold turns the verdict by itself, and values just below it do not.
func TestVerdict(t *testing.T) {
	const ms = time.Millisecond
	fine := func() Evidence {
		return Evidence{
			paced: true, kernel: true, Over: 3, Late: LateMost, length: 100 * time.Second, n: 100, busy: 10,
			stood: time.Second, sched: SchedMost,
			stamps: Stamps{Chunks: 2000, Shared: 20, DelayP99: 10 * ms},
		}
	}
	for _, c := range []struct {
		name   string
		change func(e *Evidence)
		want   string
	}{
		{"at every limit", func(*Evidence) {}, "ok"},
		{"sent late", func(e *Evidence) { e.Late = 23 * ms }, "limited (p99 send delay 23ms)"},
		{"late in a closed loop", func(e *Evidence) { e.Late, e.paced = time.Second, false }, "ok"},
		{"few requests", func(e *Evidence) { e.Late, e.Over = time.Second, 2 }, "ok"},
		{"read late and together", func(e *Evidence) { e.stamps.Shared = 48 },
			"limited (2.4% of chunks coalesced before read)"},
		{"together, and read late for a fast stream", func(e *Evidence) { e.stamps.Shared, e.gap = 48, 20*ms },
			"limited (2.4% of chunks coalesced before read)"},
		{"together, but read well before the next came", func(e *Evidence) { e.stamps.Shared, e.gap = 1000, 21*ms },
			"ok"},
		{"without a socket", func(e *Evidence) { e.Refused = 3 }, "limited (no socket for 3 of the requests)"},
		{"few together", func(e *Evidence) { e.stamps.Chunks, e.stamps.Shared = 100, 19 }, "ok"},
		{"together, but read in time",
			func(e *Evidence) { e.stamps.Shared, e.stamps.DelayP99 = 1000, 200*time.Microsecond }, "ok"},
		{"together, in time, with busy goroutines", func(e *Evidence) {
			e.stamps.Shared, e.stamps.DelayP99, e.sched = 1000, 200*time.Microsecond, 9*ms
		}, "ok"},
		{"together with stamps of our own", func(e *Evidence) {
			e.kernel, e.stamps.Shared, e.stamps.DelayP99, e.sched = false, 1000, Never, 2*ms
		}, "limited (50.0% of chunks coalesced before read)"},
		{"read late, stamped by the kernel", func(e *Evidence) { e.sched = 11 * ms }, "ok"},
		{"read late with stamps of our own", func(e *Evidence) { e.kernel, e.sched = false, 11*ms },
			"limited (p99 read delay 11ms)"},
		{"read late, and the kernel's stamps did not come",
			func(e *Evidence) { e.stamps.Unstamped, e.sched = 1001, 11*ms }, "limited (p99 read delay 11ms)"},
		{"stood still", func(e *Evidence) { e.stood = 1001 * ms }, "limited (stalled for 1s)"},
		{"stood still at once", func(e *Evidence) { e.stood, e.length = 100*ms, 0 }, "limited (stalled for 100ms)"},
		{"full", func(e *Evidence) { e.busy = 11 }, "limited (CPU full for 11 of 100 s)"},
		{"full for a second", func(e *Evidence) { e.busy, e.n = 1, 2 }, "ok"},
		{"several", func(e *Evidence) { e.stood, e.Late = 5*time.Second, 40*ms },
			"limited (stalled for 5s; p99 send delay 40ms)"},
		{"nothing at all", func(e *Evidence) { *e = Evidence{kernel: true} }, "ok"},
	} {
		e := fine()
		c.change(&e)
		if got := e.Verdict(); got.String() != c.want || got.Limited() != (c.want != "ok") {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// Each reason says which figures it touches, in the words of the screen.
func TestTouchedFigures(t *testing.T) {
	e := Evidence{paced: true, Refused: 2, Over: 9, Late: time.Second, length: time.Second}
	v := e.Verdict()
	if len(v.Touches) != len(v.Why) || len(v.Why) != 2 || v.Touches[0].String() != "offered rate, SLO, failures" ||
		v.Touches[1].String() != "offered rate, SLO" {
		t.Errorf("%s touch %s", v.Why, v.Touches)
	}
	for _, c := range []struct {
		e    Evidence
		want string
	}{
		{e, "offered rate, SLO, failures"},
		{Evidence{kernel: true, stamps: Stamps{Chunks: 100, Shared: 50, DelayP99: time.Second}}, "ITL"},
		{Evidence{sched: time.Second, stamps: Stamps{Chunks: 100}}, "TTFT, ITL, E2EL, SLO"},
		{Evidence{n: 9, busy: 9}, "offered rate, TTFT, ITL, E2EL, SLO"},
		{Evidence{stood: time.Second, length: time.Second}, "offered rate, TTFT, ITL, E2EL, SLO"},
		{Evidence{kernel: true}, ""},
	} {
		assert.Equal(t, c.e.Verdict().Touched().String(), c.want, "%+v", c.e)
	}
}

// A second is full when threads ran or waited for a core all the time.
func TestFullSecond(t *testing.T) {
	for _, c := range []struct {
		s    ClientSecond
		want bool
	}{
		{ClientSecond{Took: time.Second, CPU: 1.8, Cores: 2}, true},
		{ClientSecond{Took: time.Second, CPU: 0.1, CPUWait: 0.8, Cores: 1}, true},
		{ClientSecond{Took: time.Second, CPU: 0.9, CPUWait: 0.8, Cores: 2}, false},
		{ClientSecond{Took: time.Second, CPU: 1}, false},
		{ClientSecond{Took: 100 * time.Millisecond, CPU: 2, Cores: 2}, false},
	} {
		assert.Equal(t, c.s.full(), c.want, "%+v", c.s)
	}
}

// Own lateness excludes the waits for a slot and for the connection.
func TestOwnLateness(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name                           string
		due, admitted, connect, sentAt time.Duration
		redials                        int
		want                           time.Duration
	}{
		{"in time", 0, 0, 0, 0, 0, 0},
		{"late", 2 * ms, 2 * ms, 0, 5 * ms, 0, 5 * ms},
		{"held", 0, 50 * ms, 0, 51 * ms, 0, 1 * ms},
		{"dialled", 0, 0, 20 * ms, 21 * ms, 0, 1 * ms},
		{"redialled after it was sent", 0, 0, 20 * ms, 15 * ms, 1, 15 * ms},
	} {
		q := NewRequest(0)
		q.Scheduled, q.Due, q.Admitted, q.Connect, q.Sent = 0, c.due, c.admitted, c.connect, c.sentAt
		q.Tallies[Redials] = c.redials
		assert.Equal(t, q.OwnLateness(), c.want, "%s", c.name)
	}
}

// The usual gap excludes chunks that were read together.
func TestUsualGap(t *testing.T) {
	var h Histogram
	assert.Equal(t, usualGap(&h), 0, "without gaps")
	for range 300 {
		h.Add(0)
	}
	for range 100 {
		h.Add(40 * time.Millisecond)
	}
	if got := usualGap(&h); got < 39*time.Millisecond || got > 41*time.Millisecond {
		t.Errorf("three of four together: %s, want 40ms", got)
	}
}
