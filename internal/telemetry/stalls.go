package telemetry

import (
	"context"
	"math"
	"runtime/metrics"
	"sync"
	"time"
)

// beatEvery is the interval of the heartbeat: by so much a stall may be longer than it is told. Beats wake the process
// and the runtime's monitor: at 20 ms a run that only waits took 1.4 times the CPU time.
const beatEvery = 50 * time.Millisecond

// heartbeat is a goroutine that wakes on a timer and notes its lateness. SIGSTOP, a frozen control group or other
// processes on our cores delay it like everything else in the process.
type heartbeat struct {
	end     context.CancelFunc
	stopped sync.WaitGroup

	start time.Time
	mu    sync.Mutex // guards late
	late  lateness
}

func startHeartbeat() *heartbeat {
	ctx, end := context.WithCancel(context.Background())
	h := &heartbeat{end: end, start: time.Now(), late: lateness{due: beatEvery}}
	h.stopped.Go(func() { h.run(ctx) })
	return h
}

func (h *heartbeat) run(ctx context.Context) {
	// Unlike a ticker, a timer has each beat due one interval after the last, also after a stall.
	timer := time.NewTimer(beatEvery)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			h.beat()
			timer.Reset(beatEvery)
		}
	}
}

func (h *heartbeat) beat() {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Since(h.start)
	h.late.note(now)
	h.late.due = now + beatEvery
}

// stall is the greatest lateness of a beat since the last call.
func (h *heartbeat) stall() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.late.take(time.Since(h.start))
}

func (h *heartbeat) close() {
	h.end()
	h.stopped.Wait()
}

// lateness tracks the lateness of beats. Its times are offsets from any start.
//
//	due              take          beat
//	 |---------------->|------------>|      two parts of one stall, each in its own sample
type lateness struct {
	due     time.Duration // of the next beat
	counted time.Duration // lateness up to this moment is already in a sample
	most    time.Duration
}

// note updates the lateness of the next beat, whether it has come or not.
func (l *lateness) note(now time.Duration) {
	l.most = max(l.most, now-max(l.due, l.counted))
}

// take returns the greatest lateness since the last call.
func (l *lateness) take(now time.Duration) time.Duration {
	l.note(now)
	most := l.most
	l.most, l.counted = 0, max(l.counted, now)
	return most
}

// schedulerWaits tracks how long runnable goroutines wait to run. The runtime samples one in eight of them.
type schedulerWaits struct {
	sample []metrics.Sample
	before []uint64
}

func newSchedulerWaits() *schedulerWaits {
	return &schedulerWaits{sample: []metrics.Sample{{Name: "/sched/latencies:seconds"}}}
}

// p99 is the 99th percentile since the last call, 0 if there is none.
func (s *schedulerWaits) p99() time.Duration {
	metrics.Read(s.sample)
	if s.sample[0].Value.Kind() != metrics.KindFloat64Histogram {
		return 0
	}
	h := s.sample[0].Value.Float64Histogram()
	if len(s.before) != len(h.Counts) {
		s.before = make([]uint64, len(h.Counts))
	}
	d := quantileSince(h, s.before, 0.99)
	copy(s.before, h.Counts)
	return d
}

// quantileSince is the upper edge of the bucket that holds the quantile of the values counted since before. The
// runtime's buckets are at most a quarter wider than the one below.
func quantileSince(h *metrics.Float64Histogram, before []uint64, q float64) time.Duration {
	var total, sum uint64
	for i, n := range h.Counts {
		total += n - before[i]
	}
	for i, n := range h.Counts {
		sum += n - before[i]
		if total == 0 || float64(sum) < q*float64(total) {
			continue
		}
		if edge := h.Buckets[i+1]; !math.IsInf(edge, 1) {
			return inSeconds(edge)
		}
		return inSeconds(h.Buckets[i])
	}
	return 0
}

// inSeconds is a number of seconds as a duration, 0 for a negative one or NaN.
func inSeconds(s float64) time.Duration {
	ns := s * float64(time.Second)
	switch {
	case !(ns > 0):
		return 0
	case ns >= math.MaxInt64:
		return math.MaxInt64
	}
	return time.Duration(ns)
}
