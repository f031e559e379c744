package calibration

import (
	"runtime/metrics"
	"time"

	"benchtop/internal/telemetry"
)

// usage is the usage of the process up to a moment of the measurement.
type usage struct {
	at       time.Duration
	cpu      time.Duration // user and system
	objects  uint64        // allocated on the heap
	resident int64         // bytes
	open     int64         // streams
	chunks   int64
}

// meter reads the usage repeatedly. One goroutine at a time may use it.
type meter struct {
	start time.Time
	tally *Accumulator
	heap  []metrics.Sample
	used  []usage
}

func newMeter(start time.Time, t *Accumulator) *meter {
	return &meter{start: start, tally: t, heap: []metrics.Sample{
		{Name: "/gc/heap/allocs:objects"}, {Name: "/gc/heap/tiny/allocs:objects"},
	}}
}

func (m *meter) read() {
	metrics.Read(m.heap)
	u := usage{
		at: time.Since(m.start), cpu: telemetry.ProcessCPU(), resident: telemetry.ResidentMemory(),
		open: m.tally.open.Load(), chunks: m.tally.chunks.Load(),
	}
	for _, s := range m.heap {
		if s.Value.Kind() == metrics.KindUint64 {
			u.objects += s.Value.Uint64()
		}
	}
	m.used = append(m.used, u)
}

// plateau is the usage in the longest time in which all of the most streams were open; if that is shorter than a second, 95 % of
// them. If there is no such time, it is the total.
func (m *meter) plateau(most int64) (used usage, found bool) {
	for _, percent := range []int64{100, 95} {
		if p := m.above(most * percent / 100); p.at >= time.Second {
			return p, true
		}
	}
	return difference(m.used), false
}

// above is the usage in the longest time in which so many streams were open.
func (m *meter) above(open int64) usage {
	var best usage
	from := 0
	for i, u := range m.used {
		if u.open < open {
			from = i + 1
			continue
		}
		if d := difference(m.used[from : i+1]); d.at > best.at {
			best = d
		}
	}
	return best
}

// difference is the usage from the first reading to the last, without peaks.
func difference(used []usage) usage {
	if len(used) == 0 {
		return usage{}
	}
	a, b := used[0], used[len(used)-1]
	return usage{at: b.at - a.at, cpu: b.cpu - a.cpu, objects: b.objects - a.objects, chunks: b.chunks - a.chunks}
}

// grown is the greatest rise of resident memory.
func (m *meter) grown(before int64) int64 {
	most := before
	for _, u := range m.used {
		most = max(most, u.resident)
	}
	return most - before
}

// during runs a client and reads the usage at its start, a few times a second, and at its end.
func (m *meter) during(run func() error) error {
	m.read()
	done := make(chan error, 1)
	go func() { done <- run() }()
	tick := time.NewTicker(time.Second / readings)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			m.read()
		case err := <-done:
			m.read()
			return err
		}
	}
}
