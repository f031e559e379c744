package export

import (
	"time"

	"benchtop/metrics"
)

// watched reports whether the client looked at itself, so that finding nothing wrong means something.
func watched(c *metrics.Client) bool { return len(c.Seconds) > 0 }

// client is what the run shows of the client itself. What only its seconds can tell is null in a run without them.
func client(r *metrics.Report) object {
	c := &r.Client
	var verdict, cpu, gc, stood, memory, sockets, dialled, steps any
	if watched(c) {
		verdict = "ok"
		cpu = object{{"mean", c.CPU}, {"max", c.CPUMost}, {"available", orNull(c.Cores)}}
		gc = object{{"count", c.GCs}, {"pause_ms", milliseconds(c.GCPause)}}
		stood, memory, sockets = c.StoodStill.Seconds(), orNull(int(c.Memory)), c.Sockets
		dialled, steps = c.Dialled, c.ClockSteps
	}
	if c.Verdict.Limited() {
		verdict = "limited"
	}
	return object{
		{"verdict", verdict}, {"why", c.Verdict.Why},
		{"timestamps", c.Source},
		{"stamps", stamps(c)},
		{"lateness_ms", statistic(&r.Statistics[metrics.Lateness], "")},
		{"own_lateness_ms", statistic(&r.Statistics[metrics.OwnLateness], "")},
		{"cpu_cores", cpu}, {"gc", gc}, {"stood_still_s", stood}, {"memory_bytes", memory},
		{"sockets", sockets}, {"dialled", dialled}, {"redials", r.Redials}, {"clock_steps", steps},
		{"seconds", each(c.Seconds, func(s *metrics.ClientSecond) any { return clientSecond(c.Source, s) })},
	}
}

func stamps(c *metrics.Client) object {
	s := &c.Stamps
	var share any
	if s.Chunks > 0 {
		share = float64(s.Shared) / float64(s.Chunks)
	}
	return object{
		{"chunks", s.Chunks}, {"shared", s.Shared}, {"shared_share", share}, {"unstamped", unstamped(c.Source, s.Unstamped)},
		{"read_delay_ms", object{
			{"p50", delay(s.DelayP50)}, {"p99", delay(s.DelayP99)}, {"p999", delay(s.DelayP999)}, {"max", delay(s.DelayMax)},
		}},
	}
}

func clientSecond(source string, s *metrics.ClientSecond) object {
	var late99, late any
	if s.Sent > 0 {
		late99, late = milliseconds(s.LateP99), milliseconds(s.LateMax)
	}
	return object{
		{"t_s", s.At.Seconds()}, {"took_s", s.Took.Seconds()},
		{"cpu_cores", s.CPU}, {"cpu_wait", s.CPUWait},
		{"sched_p99_ms", milliseconds(s.Sched)}, {"stall_ms", milliseconds(s.Stall)},
		{"gcs", s.GCs}, {"gc_pause_ms", milliseconds(s.GCPause)}, {"memory_bytes", orNull(int(s.Memory))},
		{"sockets", s.Sockets}, {"dialled", s.Dialled}, {"redials", s.Redials},
		{"sent", s.Sent}, {"late_p99_ms", late99}, {"late_max_ms", late},
		{"chunks", s.Chunks}, {"shared", s.Shared}, {"unstamped", unstamped(source, s.Unstamped)},
		{"read_delay_p50_ms", delay(s.DelayP50)}, {"read_delay_p99_ms", delay(s.DelayP99)}, {"read_delay_max_ms", delay(s.DelayMax)},
		{"clock_step", s.ClockStep},
	}
}

// unstamped is null where the kernel was not asked: then no chunk lacks its stamp.
func unstamped(source string, n int) any {
	if source != metrics.KernelStamps {
		return nil
	}
	return n
}

func delay(d time.Duration) any {
	if d == metrics.Never {
		return nil
	}
	return milliseconds(d)
}
