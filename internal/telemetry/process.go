package telemetry

import (
	"runtime/debug"
	"time"

	"benchtop/metrics"
)

// Process watches the process it runs in, so that a run can tell the client's own troubles from the server's. Only one
// goroutine may call its methods.
type Process struct {
	beats     *heartbeat
	scheduler *schedulerWaits

	at        time.Time
	waited    map[string]time.Duration // for a core, of each thread, until at
	groups    cgroupMounts
	quota     float64
	quotaAt   time.Time
	cpu       counter
	gcs       counter
	gcPause   counter
	suspended counter
	collector debug.GCStats // kept for its buffers
}

// WatchProcess begins to watch. Close ends it.
func WatchProcess() *Process {
	p := &Process{beats: startHeartbeat(), scheduler: newSchedulerWaits(), groups: mountedCgroups(), at: time.Now()}
	p.suspended.last = int64(suspendedNow())
	// Counters begin at their present values, not at 0.
	p.read(0)
	return p
}

// Sample covers the time since the last call, or since WatchProcess. It has the fields of a client's second, ending at a moment of the
// run, that the process itself knows. None of them is ever negative. It is meant to be called about once a second.
//
// Took is the time between the samples by the monotonic clock. CPU and CPUWait are 0 where the system does not report them. Cores
// are GOMAXPROCS, the affinity or the quota of the control group, whichever is less. Stall includes the time the whole machine was
// suspended; a stall that goes on while a sample is taken is counted in parts, in each sample the part before it.
func (p *Process) Sample(at time.Duration) metrics.ClientSecond {
	now := time.Now()
	took := max(0, now.Sub(p.at))
	p.at = now
	s := p.read(took)
	s.At = at
	return s
}

func (p *Process) read(took time.Duration) metrics.ClientSecond {
	debug.ReadGCStats(&p.collector)
	return metrics.ClientSecond{
		Took:    took,
		CPU:     perSecond(p.cpu.by(int64(ProcessCPU())), took),
		CPUWait: perSecond(int64(p.threadsWaited()), took),
		Cores:   p.cores(),
		Sched:   p.scheduler.p99(),
		Stall:   p.beats.stall() + p.suspendedBy(suspendedNow()),
		GCs:     int(p.gcs.by(p.collector.NumGC)),
		GCPause: time.Duration(p.gcPause.by(int64(p.collector.PauseTotal))),
		Memory:  processMemory(),
	}
}

// Close ends the watch and waits for its goroutine. Sample must not be called afterwards; Close may be.
func (p *Process) Close() { p.beats.close() }

// counter is a value that should only rise.
type counter struct{ last int64 }

// by is the rise of the counter to its present value.
func (r *counter) by(now int64) int64 {
	rose := now - r.last
	r.last = now
	return max(0, rose)
}

// perSecond is the average number of cores, or threads, that were busy for so many nanoseconds in all.
func perSecond(busy int64, took time.Duration) float64 {
	if took <= 0 {
		return 0
	}
	return float64(busy) / float64(took)
}

// suspendNoise is far below any suspension and far above the time between the readings of two clocks.
const suspendNoise = time.Millisecond

// suspendedBy is the time that the whole machine was suspended since the last call. A reading may be too small, when the thread lost its core
// between the two clocks, but never too large.
func (p *Process) suspendedBy(now time.Duration) time.Duration {
	if more := time.Duration(p.suspended.by(max(int64(now), p.suspended.last))); more >= suspendNoise {
		return more
	}
	return 0
}
