package metrics

import (
	"strings"
	"testing"
	"time"
)

// Each threshold turns the verdict by itself, a little below it nothing does, and what is no evidence is none.
func TestVerdict(t *testing.T) {
	const ms = time.Millisecond
	fine := func() evidence {
		return evidence{
			paced: true, kernel: true, over: 3, late: LateMost, length: 100 * time.Second, n: 100, busy: 10,
			stood: time.Second, sched: SchedMost,
			stamps: Stamps{Chunks: 2000, Shared: 20, DelayP99: 10 * ms},
		}
	}
	for _, c := range []struct {
		name   string
		change func(e *evidence)
		want   string
	}{
		{"at every limit", func(*evidence) {}, "ok"},
		{"sent late", func(e *evidence) { e.late = 23 * ms }, "limited (p99 sent 23ms late)"},
		{"late in a closed loop", func(e *evidence) { e.late, e.paced = time.Second, false }, "ok"},
		{"few requests", func(e *evidence) { e.late, e.over = time.Second, 2 }, "ok"},
		{"read late and together", func(e *evidence) { e.stamps.Shared = 48 }, "limited (2.4 % of chunks read late and together)"},
		{"together, and read late for a fast stream", func(e *evidence) { e.stamps.Shared, e.gap = 48, 20*ms }, "limited (2.4 % of chunks read late and together)"},
		{"together, but read well before the next came", func(e *evidence) { e.stamps.Shared, e.gap = 1000, 21*ms }, "ok"},
		{"without a socket", func(e *evidence) { e.refused = 3 }, "limited (no socket for 3 of the requests)"},
		{"few together", func(e *evidence) { e.stamps.Chunks, e.stamps.Shared = 100, 19 }, "ok"},
		{"together, but read in time", func(e *evidence) { e.stamps.Shared, e.stamps.DelayP99 = 1000, 200*time.Microsecond }, "ok"},
		{"together, in time, with busy goroutines", func(e *evidence) {
			e.stamps.Shared, e.stamps.DelayP99, e.sched = 1000, 200*time.Microsecond, 9*ms
		}, "ok"},
		{"together with stamps of our own", func(e *evidence) {
			e.kernel, e.stamps.Shared, e.stamps.DelayP99, e.sched = false, 1000, Never, 2*ms
		}, "limited (50.0 % of chunks read late and together)"},
		{"read late, stamped by the kernel", func(e *evidence) { e.sched = 11 * ms }, "ok"},
		{"read late with stamps of our own", func(e *evidence) { e.kernel, e.sched = false, 11*ms }, "limited (p99 read 11ms late)"},
		{"read late, and the kernel's stamps did not come", func(e *evidence) { e.stamps.Unstamped, e.sched = 1001, 11*ms }, "limited (p99 read 11ms late)"},
		{"stood still", func(e *evidence) { e.stood = 1001 * ms }, "limited (stood still for 1s)"},
		{"stood still at once", func(e *evidence) { e.stood, e.length = 100*ms, 0 }, "limited (stood still for 100ms)"},
		{"full", func(e *evidence) { e.busy = 11 }, "limited (CPU full for 11 of 100 s)"},
		{"full for a second", func(e *evidence) { e.busy, e.n = 1, 2 }, "ok"},
		{"several", func(e *evidence) { e.stood, e.late = 5*time.Second, 40*ms }, "limited (stood still for 5s; p99 sent 40ms late)"},
		{"nothing at all", func(e *evidence) { *e = evidence{kernel: true} }, "ok"},
	} {
		e := fine()
		c.change(&e)
		if got := e.verdict(); got.String() != c.want || got.Limited() != (c.want != "ok") {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// A second is full when threads ran or waited for a core all the time, whoever had the core.
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
		if got := c.s.full(); got != c.want {
			t.Errorf("%+v: %v", c.s, got)
		}
	}
}

// A run is told second by second, and the sum of the seconds is the run.
func TestClientSeconds(t *testing.T) {
	const ms = time.Millisecond
	plan := Plan{Timestamps: KernelStamps, Rate: 10, Warmup: 500 * ms}
	rec := NewRecorder(time.Now(), &plan)
	request := func(index int, scheduled, late, delay time.Duration, gaps ...time.Duration) Request {
		q := NewRequest(index)
		q.Scheduled, q.Due, q.Admitted, q.Connect = scheduled, scheduled, scheduled+50*ms, 3*ms
		q.Sent = q.Admitted + 3*ms + late
		rec.Due(&q)
		rec.Sent(&q)
		at := q.Sent
		for _, gap := range gaps {
			at += gap
			q.ReadDelay = delay
			q.Add(Chunk{At: at, Tokens: 1})
			rec.Chunk(&q)
		}
		q.OutputTokens, q.Done, q.Redials = len(gaps), at, index
		rec.Done(&q)
		return q
	}
	all := []Request{
		request(0, 0, 9*ms, 5*ms, 10*ms, 0, 0), // of the warm-up: in the second, not in the run
		request(1, 600*ms, 2*ms, 1*ms, 10*ms, 0, 10*ms),
	}
	seconds := []ClientSecond{sampled(rec, ClientSecond{At: time.Second, Took: time.Second, CPU: 0.5, Cores: 2, Sockets: 2, Dialled: 2})}
	if s := seconds[0]; s.Sent != 2 || s.Redials != 1 || s.LateMax != 9*ms || s.Chunks != 6 || s.Shared != 3 || s.Unstamped != 0 || s.DelayMax != 5*ms {
		t.Errorf("first second: %+v", s)
	}
	all = append(all, request(2, 1200*ms, 0, Never, 10*ms, 10*ms))
	seconds = append(seconds, sampled(rec, ClientSecond{
		At: 3 * time.Second, Took: 2 * time.Second, CPU: 2, Cores: 2, Stall: 900 * ms, GCs: 3, GCPause: ms, Memory: 7, Sockets: 1, ClockStep: true,
	}))
	if s := seconds[1]; s.Sent != 1 || s.Redials != 2 || s.Chunks != 2 || s.Unstamped != 2 || s.DelayP99 != Never || s.DelayMax != Never {
		t.Errorf("second second: %+v", s)
	}
	snapshot, stamps := rec.Snapshot(), rec.Stamps()
	if len(snapshot.Client) != 2 || snapshot.Verdict.String() != rec.Verdict().String() || !snapshot.Recent.Limited() {
		t.Errorf("snapshot: %+v %s %s", snapshot.Client, snapshot.Verdict, snapshot.Recent)
	}
	report, err := Summarize(yield(all), Run{Plan: plan, Ended: 3 * time.Second, Client: seconds, Stamps: &stamps})
	if err != nil {
		t.Fatal(err)
	}
	c := report.Client
	if c.Stamps != stamps || c.Stamps.Chunks != 5 || c.Stamps.Shared != 1 || c.Stamps.Unstamped != 2 || c.Stamps.DelayMax != 1*ms {
		t.Errorf("stamps: %+v, recorder %+v", c.Stamps, stamps)
	}
	if c.CPU != 1.5 || c.CPUMost != 2 || c.Cores != 2 || c.StoodStill != 900*ms || c.GCs != 3 || c.Memory != 7 || c.Sockets != 2 || c.Dialled != 2 || c.ClockSteps != 1 {
		t.Errorf("client: %+v", c)
	}
	if late := report.Statistics[OwnLateness]; late.N != 2 || late.Max != 5 || c.Verdict.String() != snapshot.Verdict.String() || !strings.Contains(c.Verdict.String(), "stood still for 900ms") {
		t.Errorf("lateness %+v, verdict %s", late, c.Verdict)
	}

	// A journal without an end knows the seconds only.
	report, err = Summarize(yield(all), Run{Plan: plan, Ended: Never, Client: seconds})
	if s := report.Client.Stamps; err != nil || s.Unstamped != 2 || s.DelayMax != 5*ms || s.DelayP999 != Never {
		t.Errorf("killed: %+v (%v)", s, err)
	}
	// What came before the warm-up was over is in no figure then either.
	early := append([]ClientSecond{{At: 400 * ms, Took: 400 * ms, Chunks: 90, Unstamped: 90, DelayMax: time.Second}}, seconds...)
	report, err = Summarize(yield(all), Run{Plan: plan, Ended: Never, Client: early})
	if s := report.Client.Stamps; err != nil || s.Unstamped != 2 || s.DelayMax != 5*ms {
		t.Errorf("killed, with a warm-up: %+v (%v)", s, err)
	}
	// One from before there were samples says nothing about the client.
	report, err = Summarize(yield(all), Run{Plan: Plan{Rate: 10}, Ended: 3 * time.Second})
	if c := report.Client; err != nil || c.Source != UserStamps || c.Verdict.Limited() || c.Stamps.DelayP99 != Never || len(c.Seconds) != 0 {
		t.Errorf("old journal: %+v (%v)", c, err)
	}
}

// The last moment of a run is no second: what it shows by chance decides nothing.
func TestLastMoment(t *testing.T) {
	plan := Plan{Timestamps: UserStamps}
	rec := NewRecorder(time.Now(), &plan)
	for i := range 40 {
		q := NewRequest(i)
		q.Sent = 0
		q.Add(Chunk{At: time.Millisecond, Tokens: 1})
		rec.Due(&q)
		rec.Sent(&q)
		rec.Chunk(&q)
	}
	for range 10 {
		rec.Client(ClientSecond{Took: time.Second, Cores: 1, Sched: time.Millisecond})
	}
	rec.Client(ClientSecond{Took: 3 * time.Millisecond, Cores: 1, CPU: 1, Sched: 50 * time.Millisecond})
	if s := rec.Snapshot(); s.Verdict.Limited() || s.Recent.Limited() {
		t.Errorf("%s, recently %s", s.Verdict, s.Recent)
	}
}

// Lateness is the client's own only as far as nothing else held the request up.
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
		q.Scheduled, q.Due, q.Admitted, q.Connect, q.Sent, q.Redials = 0, c.due, c.admitted, c.connect, c.sentAt, c.redials
		if got := q.OwnLateness(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// The usual gap is that of chunks that came apart.
func TestUsualGap(t *testing.T) {
	var h Histogram
	if got := usualGap(&h); got != 0 {
		t.Errorf("without gaps: %s", got)
	}
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

// A request for which our own system had no socket is the client's fault, live and in the report.
func TestNoSocket(t *testing.T) {
	plan := Plan{Timestamps: KernelStamps}
	rec := NewRecorder(time.Now(), &plan)
	q := NewRequest(0)
	q.Scheduled, q.Due, q.Done, q.Failure, q.Error = 0, 0, time.Millisecond, FailedNoSocket, "too many open files"
	rec.Due(&q)
	rec.Done(&q)
	if v := rec.Verdict(); v.String() != "limited (no socket for 1 of the requests)" {
		t.Error(v)
	}
	q.live = liveState{}
	if r, err := Summarize(yield([]Request{q}), Run{Plan: plan, Ended: time.Second}); err != nil || !r.Client.Verdict.Limited() {
		t.Errorf("%s (%v)", r.Client.Verdict, err)
	}
}

// sampled files a second of the client, completed as in a run.
func sampled(rec *Recorder, s ClientSecond) ClientSecond {
	s = rec.Counted(s)
	rec.Client(s)
	return s
}
