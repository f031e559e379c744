package telemetry

import (
	"math"
	"runtime"
	"runtime/metrics"
	"testing"
	"testing/synctest"
	"time"

	benchtop "benchtop/metrics"

	"benchtop/internal/ci"
)

const ms = time.Millisecond

// checkSample fails for impossible values.
func checkSample(t *testing.T, s benchtop.ClientSecond) {
	t.Helper()
	if s.At != time.Hour {
		t.Errorf("at %v, want an hour", s.At)
	}
	if s.Took < 0 || s.CPU < 0 || s.CPUWait < 0 || s.Sched < 0 || s.Stall < 0 || s.GCs < 0 || s.GCPause < 0 {
		t.Errorf("negative: %+v", s)
	}
	if s.Cores <= 0 || s.Cores > float64(runtime.GOMAXPROCS(0)) {
		t.Errorf("%v cores, want between 0 and GOMAXPROCS, %d", s.Cores, runtime.GOMAXPROCS(0))
	}
	if s.Memory < 1<<20 || s.Memory > 1<<40 {
		t.Errorf("%d bytes of memory, want megabytes", s.Memory)
	}
}

func TestProcessSample(t *testing.T) {
	p := WatchProcess()
	defer p.Close()
	if ProcessCPU() == 0 {
		ci.Skip(t, "the system does not tell")
	}
	time.Sleep(100 * ms)
	before := ProcessCPU()
	idle := p.Sample(time.Hour)
	after := ProcessCPU()
	checkSample(t, idle)

	// The process' own clock does not depend on the share of a core that it gets.
	const work = 200 * ms
	for began := ProcessCPU(); ProcessCPU()-began < work; {
	}
	runtime.GC()
	runtime.GC()
	least := ProcessCPU() - after
	busy := p.Sample(time.Hour)
	most := ProcessCPU() - before
	checkSample(t, busy)
	const rounding = time.Microsecond
	if used := time.Duration(busy.CPU * float64(busy.Took)); used < least-rounding || used > most+rounding {
		t.Errorf("used %v of CPU in %v, want %v to %v", used, busy.Took, least, most)
	}
	if busy.GCs < 2 || busy.GCPause <= 0 {
		t.Errorf("%d collections paused for %v, want two or more", busy.GCs, busy.GCPause)
	}

	at := p.Sample(time.Hour)
	checkSample(t, at)
	if at.GCs > 1 {
		t.Errorf("%d collections again", at.GCs)
	}
}

func TestProcessClose(t *testing.T) {
	p := WatchProcess()
	p.Close()
	p.Close()
	p.Sample(time.Hour) // is not to be called, but does no harm
}

func TestCountersThatFall(t *testing.T) {
	r := counter{last: 10}
	for _, step := range []struct{ now, want int64 }{{15, 5}, {3, 0}, {4, 1}, {4, 0}} {
		if got := r.by(step.now); got != step.want {
			t.Errorf("at %d: rose by %d, want %d", step.now, got, step.want)
		}
	}
	if got := perSecond(5, 0); got != 0 {
		t.Errorf("%v in no time, want 0", got)
	}
	if got := perSecond(int64(500*ms), 2*time.Second); got != 0.25 {
		t.Errorf("%v, want 0.25", got)
	}
}

func TestSuspension(t *testing.T) {
	p := Process{suspended: counter{int64(10 * time.Second)}}
	for _, step := range []struct{ now, want time.Duration }{
		{10 * time.Second, 0},
		{10*time.Second - 3*ms, 0},                // lost its core between the clocks
		{10*time.Second + 200*time.Nanosecond, 0}, // noise
		{13 * time.Second, 3*time.Second - 200*time.Nanosecond},
		{13 * time.Second, 0},
		{0, 0},
		{14 * time.Second, time.Second},
	} {
		if got := p.suspendedBy(step.now); got != step.want {
			t.Errorf("at %v: %v, want %v", step.now, got, step.want)
		}
	}
}

func TestLateness(t *testing.T) {
	type step struct {
		do   string // beat or take
		at   time.Duration
		want time.Duration // of a take
	}
	for _, c := range []struct {
		name  string
		steps []step
	}{
		{"punctual", []step{{"beat", 20 * ms, 0}, {"beat", 40 * ms, 0}, {"take", 50 * ms, 0}, {"take", 60 * ms, 0}}},
		{"late", []step{{"beat", 23 * ms, 0}, {"beat", 45 * ms, 0}, {"take", 50 * ms, 3 * ms}, {"take", 60 * ms, 0}}},
		{"the longest counts",
			[]step{{"beat", 120 * ms, 0}, {"beat", 440 * ms, 0}, {"beat", 461 * ms, 0}, {"take", 470 * ms, 300 * ms}}},
		{"the sample comes first", []step{
			{"beat", 20 * ms, 0}, {"take", 1040 * ms, 1000 * ms}, {"beat", 1041 * ms, 0}, {"take", 1050 * ms, 1 * ms},
			{"take", 1060 * ms, 0},
		}},
		{"in parts", []step{
			{"take", 50 * ms, 30 * ms}, {"take", 150 * ms, 100 * ms}, {"beat", 180 * ms, 0},
			{"take", 190 * ms, 30 * ms}, {"take", 199 * ms, 0},
		}},
		{"two in a sample", []step{{"take", 50 * ms, 30 * ms}, {"beat", 60 * ms, 0}, {"take", 300 * ms, 220 * ms}}},
		{"a clock that stands", []step{{"take", 0, 0}, {"take", 0, 0}, {"beat", 0, 0}, {"take", 0, 0}}},
	} {
		const every = 20 * ms
		l := lateness{due: every}
		for i, s := range c.steps {
			if s.do == "beat" {
				l.note(s.at)
				l.due = s.at + every
			} else if got := l.take(s.at); got != s.want {
				t.Errorf("%s, step %d at %v: %v, want %v", c.name, i, s.at, got, s.want)
			}
		}
	}
}

// A heartbeat on a clock that is never late has no stall, and ends when told.
func TestHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHeartbeat()
		defer h.close()
		for range 100 {
			time.Sleep(997 * ms)
			if got := h.stall(); got != 0 {
				t.Fatalf("stall of %v, want none", got)
			}
		}
	})
}

// A blocked heartbeat is late.
func TestHeartbeatHeld(t *testing.T) {
	h := startHeartbeat()
	defer h.close()
	h.mu.Lock()
	time.Sleep(200 * ms)
	h.mu.Unlock()
	if got := h.stall(); got < 150*ms {
		t.Errorf("stall of %v, want 180 ms or more", got)
	}
}

func TestQuantileSince(t *testing.T) {
	inf := math.Inf(1)
	edges := []float64{-inf, 0, 0.001, 0.002, 0.004, inf}
	for _, c := range []struct {
		name           string
		before, counts []uint64
		q              float64
		want           time.Duration
	}{
		{"nothing", []uint64{0, 7, 0, 0, 0}, []uint64{0, 7, 0, 0, 0}, 0.99, 0},
		{"one", []uint64{0, 7, 0, 0, 0}, []uint64{0, 7, 1, 0, 0}, 0.99, 2 * ms},
		{"p99 of 100", []uint64{0, 0, 0, 0, 0}, []uint64{0, 99, 0, 1, 0}, 0.99, 1 * ms},
		{"p99 of 99", []uint64{0, 0, 0, 0, 0}, []uint64{0, 98, 0, 1, 0}, 0.99, 4 * ms},
		{"median", []uint64{0, 5, 5, 5, 0}, []uint64{0, 7, 10, 7, 0}, 0.5, 2 * ms},
		{"beyond the last edge", []uint64{0, 0, 0, 0, 0}, []uint64{0, 0, 0, 0, 3}, 0.99, 4 * ms},
		{"below the first edge", []uint64{0, 0, 0, 0, 0}, []uint64{3, 0, 0, 0, 0}, 0.99, 0},
		{"all", []uint64{0, 0, 0, 0, 0}, []uint64{0, 1, 1, 1, 0}, 1, 4 * ms},
	} {
		h := &metrics.Float64Histogram{Counts: c.counts, Buckets: edges}
		if got := quantileSince(h, c.before, c.q); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestSchedulerWaits(t *testing.T) {
	s := newSchedulerWaits()
	s.p99()
	for range 1000 { // one in eight is sampled
		done := make(chan bool)
		go close(done)
		<-done
	}
	if got := s.p99(); got <= 0 {
		t.Errorf("p99 of %v after 1000 goroutines, want more than nothing", got)
	}
	if allocs := testing.AllocsPerRun(10, func() { s.p99() }); allocs > 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func TestInSeconds(t *testing.T) {
	for s, want := range map[float64]time.Duration{
		0: 0, -1: 0, 1.5: 1500 * ms, math.Inf(1): math.MaxInt64, math.Inf(-1): 0, 1e300: math.MaxInt64,
	} {
		if got := inSeconds(s); got != want {
			t.Errorf("%v s: %d, want %d", s, got, want)
		}
	}
	if got := inSeconds(math.NaN()); got != 0 {
		t.Errorf("NaN: %v", got)
	}
}

// BenchmarkSample also reports the CPU time of a sample, for busy machines.
func BenchmarkSample(b *testing.B) {
	p := WatchProcess()
	defer p.Close()
	b.ReportAllocs()
	began := ProcessCPU()
	for b.Loop() {
		p.Sample(time.Hour)
	}
	b.ReportMetric(float64(ProcessCPU()-began)/float64(b.N), "cpu-ns/op")
}
