package telemetry

import (
	"math"
	"runtime/metrics"
	"time"
)

// schedulerWaits follows how long goroutines that can run wait until they do. The runtime looks at one in eight of them.
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

// quantileSince is the upper edge of the bucket that holds the quantile of what the histogram counted since it counted
// before. The runtime's buckets are at most a quarter wider than the one below.
func quantileSince(h *metrics.Float64Histogram, before []uint64, q float64) time.Duration {
	if len(before) != len(h.Counts) || len(h.Buckets) != len(h.Counts)+1 {
		return 0
	}
	rose := func(i int) uint64 {
		if h.Counts[i] < before[i] {
			return 0
		}
		return h.Counts[i] - before[i]
	}
	var total float64
	for i := range h.Counts {
		total += float64(rose(i))
	}
	if total == 0 {
		return 0
	}
	var sum float64
	last := 0
	for i := range h.Counts {
		if rose(i) == 0 {
			continue
		}
		last = i
		if sum += float64(rose(i)); sum >= q*total {
			break
		}
	}
	edge := h.Buckets[last+1]
	if math.IsInf(edge, 1) {
		edge = h.Buckets[last]
	}
	return inSeconds(edge)
}

// inSeconds is a number of seconds as a duration, 0 for what is none.
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
