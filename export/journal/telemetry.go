package journal

import (
	"math"
	"strings"

	"benchtop/metrics"
)

// client is a second of the client. Lengths are nanoseconds, because the second was judged by them as they are.
func (l *line) client(s *metrics.ClientSecond) {
	l.length("at_ns", &s.At)
	l.length("took_ns", &s.Took)
	l.number("cpu", &s.CPU)
	l.number("cpu_wait", &s.CPUWait)
	l.number("cores", &s.Cores)
	l.length("sched_ns", &s.Sched)
	l.length("stall_ns", &s.Stall)
	l.natural("gcs", &s.GCs)
	l.length("gc_pause_ns", &s.GCPause)
	memory := int(min(s.Memory, largestCount))
	l.natural("memory_bytes", &memory)
	s.Memory = uint64(memory)
	l.natural("sockets", &s.Sockets)
	l.natural("dialled", &s.Dialled)
	l.natural("redials", &s.Redials)
	l.truth("clock_step", &s.ClockStep)
	l.natural("sent", &s.Sent)
	l.length("late_p99_ns", &s.LateP99)
	l.length("late_max_ns", &s.LateMax)
	l.natural("chunks", &s.Chunks)
	l.natural("shared", &s.Shared)
	l.natural("unstamped", &s.Unstamped)
	l.delay("delay_p50_ns", &s.DelayP50)
	l.delay("delay_p99_ns", &s.DelayP99)
	l.delay("delay_max_ns", &s.DelayMax)
}

// stamps are those of a run.
func (l *line) stamps(s *metrics.Stamps) {
	l.natural("chunks", &s.Chunks)
	l.natural("shared", &s.Shared)
	l.natural("unstamped", &s.Unstamped)
	l.delay("delay_p50_ns", &s.DelayP50)
	l.delay("delay_p99_ns", &s.DelayP99)
	l.delay("delay_p999_ns", &s.DelayP999)
	l.delay("delay_max_ns", &s.DelayMax)
}

// server is a look at the server. A figure that is unsaid is left out; 0 is said.
func (l *line) server(s *metrics.ServerSecond) {
	l.length("at_ns", &s.At)
	l.length("took_ns", &s.Took)
	l.figure("running", &s.Running)
	l.figure("waiting", &s.Waiting)
	l.figure("kv_usage", &s.KVUsage)
	l.figure("preemptions", &s.Preemptions)
	l.figure("prefix_queries", &s.PrefixQueries)
	l.figure("prefix_hits", &s.PrefixHits)
	l.figure("prefix_hit_rate", &s.HitRate)
	l.figure("prompt_tokens", &s.PromptTokens)
	l.figure("output_tokens", &s.OutputTokens)
	l.figure("draft_tokens", &s.DraftTokens)
	l.figure("accepted_tokens", &s.AcceptedTokens)
	l.latency("ttft", &s.TTFT)
	l.latency("queue", &s.Queue)
	l.latency("prefill", &s.Prefill)
	// What a server moves when a request ends.
	l.truth("waits_at_end", &s.WaitsAtEnd)
	l.truth("prompt_at_end", &s.PromptAtEnd)
	l.truth("output_at_end", &s.OutputAtEnd)
}

// latency leaves out the mean of none.
func (l *line) latency(key string, v *metrics.ServerLatency) {
	inner := l.object(key, v.N > 0 && !math.IsInf(v.N, 1) && v.Mean >= 0)
	if inner == nil {
		return
	}
	inner.number("n", &v.N)
	inner.delay("mean_ns", &v.Mean)
	v.Mean = max(0, v.Mean)
	l.close(inner)
}

// mostGPUs bounds the accelerators of one look.
const mostGPUs = 1024

// longestName of an accelerator in bytes.
const longestName = 256

// gpus is a look at all accelerators.
func (l *line) gpus(s *metrics.GPUSecond) {
	l.length("at_ns", &s.At)
	l.length("took_ns", &s.Took)
	list(l, "each", &s.GPUs, mostGPUs, "accelerators", "accelerator", (*line).gpu)
}

func (l *line) gpu(g *metrics.GPU) {
	l.natural("index", &g.Index)
	name := g.Name[:min(len(g.Name), longestName)]
	if text(l, "name", &name); l.reads() {
		g.Name = strings.ToValidUTF8(name[:min(len(name), longestName)], "")
	}
	l.figure("use", &g.Use)
	l.figure("memory_bytes", &g.MemoryUsed)
	l.figure("memory_total_bytes", &g.MemoryTotal)
	l.figure("power_w", &g.Power)
	l.figure("power_limit_w", &g.PowerLimit)
	l.figure("temperature_c", &g.Temperature)
	l.figure("clock_mhz", &g.Clock)
}
