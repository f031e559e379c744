package export

import (
	"cmp"
	"strconv"
	"time"

	"benchtop/internal/text"
	"benchtop/metrics"
)

// finiteOrNull writes a missing or infinite figure as null.
func finiteOrNull(v float64) any { return when(text.Finite(v), v) }

// countOrNull writes a count without a fraction if it has none.
func countOrNull(v float64) any { return when(text.Finite(v), number(v)) }

func server(s *metrics.ServerReport) object {
	return object{
		{"kind", orNull(s.Kind)}, {"absent", orNull(s.Absent)}, {"levels_absent", when(s.TooShort(), tooShort)},
		{"looks", len(s.Seconds)},
		{"running", object{{"mean", finiteOrNull(s.RunningMean)}, {"max", countOrNull(s.RunningMost)}}},
		{"waiting", object{{"mean", finiteOrNull(s.WaitingMean)}, {"max", countOrNull(s.WaitingMost)}}},
		{"kv_usage", object{{"mean", finiteOrNull(s.KVMean)}, {"max", finiteOrNull(s.KVMost)}}},
		{"preemptions", countOrNull(s.Preemptions)},
		{"prefix_cache_hit_rate", finiteOrNull(s.HitRate)}, {"spec_acceptance", finiteOrNull(s.Acceptance)},
		{"prompt_tokens", countOrNull(s.PromptTokens)}, {"output_tokens", countOrNull(s.OutputTokens)},
		{"ttft_ms", serverLatency(s.TTFT)},
		{"ttft_here_ms", serverLatency(metrics.ServerLatency{N: float64(s.First.N), Mean: s.First.MeanTTFT()})},
		{"queue_ms", serverLatency(s.Queue)}, {"prefill_ms", serverLatency(s.Prefill)},
	}
}

func serverLatency(l metrics.ServerLatency) object {
	if !(l.N > 0) || !text.Finite(l.N) {
		return object{{"n", 0}, {"mean", nil}}
	}
	return object{{"n", countOrNull(l.N)}, {"mean", milliseconds(max(0, l.Mean))}}
}

// serverGauges are the server's metrics in one second of the timeline.
func serverGauges(s *metrics.ServerSecond) object {
	mean := func(l metrics.ServerLatency) any { return serverLatency(l).get("mean") }
	return object{
		{"running", countOrNull(s.Running)}, {"waiting", countOrNull(s.Waiting)}, {"kv_usage", finiteOrNull(s.KVUsage)},
		{"preemptions", countOrNull(s.Preemptions)}, {"prefix_hit_rate", finiteOrNull(s.HitRate)},
		{"prompt_tokens", countOrNull(s.PromptTokens)}, {"output_tokens", countOrNull(s.OutputTokens)},
		{"draft_tokens", countOrNull(s.DraftTokens)}, {"accepted_tokens", countOrNull(s.AcceptedTokens)},
		{"ttft_mean_ms", mean(s.TTFT)}, {"queue_mean_ms", mean(s.Queue)}, {"prefill_mean_ms", mean(s.Prefill)},
	}
}

// telemetryBySecond are the samples of server and GPUs by seconds of the timeline.
func telemetryBySecond(r *metrics.Report) (server map[int]*metrics.ServerSecond, gpus map[int]*metrics.GPUSecond) {
	server, gpus = map[int]*metrics.ServerSecond{}, map[int]*metrics.GPUSecond{}
	if r.Server != nil {
		for _, s := range r.Server.Seconds {
			at := secondOf(s.At)
			if before := server[at]; before != nil {
				s = s.Behind(before)
			}
			server[at] = &s
		}
	}
	if r.GPUs != nil {
		for _, s := range r.GPUs.Seconds {
			gpus[secondOf(s.At)] = &s
		}
	}
	return server, gpus
}

// secondOf is the second of the timeline that ends nearest to a sample, because levels are those at the end of a
// second.
func secondOf(at time.Duration) int { return max(0, int((at-time.Second/2)/time.Second)) }

func gpus(r *metrics.Report, g *metrics.GPUReport) object {
	cost := &g.CostPerMillion
	return object{
		{"absent", orNull(g.Absent)}, {"names", each(g.Names, func(name *string) any { return orNull(*name) })},
		{"looks", len(g.Seconds)},
		{"use_mean", finiteOrNull(g.UseMean)}, {"power_told_by", g.Powered},
		{"power_mean_w", finiteOrNull(g.PowerMean)}, {"energy_j", finiteOrNull(g.Energy)},
		{"energy_over_s", orNull(g.Sampled.Seconds())},
		{"joules_per_output_token", finiteOrNull(g.JoulesPerToken)},
		{"output_tokens_per_joule", finiteOrNull(1 / g.JoulesPerToken)},
		{"price_per_hour", orNull(r.Plan.GPUPrice)}, {"cost_per_million_output_tokens", finiteOrNull(cost.Output)},
		{"cost_per_million_input_tokens", finiteOrNull(cost.Input)},
		{"cost_per_million_tokens", finiteOrNull(cost.Total)},
		{"cost_per_million_good_output_tokens", finiteOrNull(cost.Good)},
		{"output_tokens_per_cost", finiteOrNull(1e6 / cost.Output)},
		{"memory_most_bytes", countOrNull(g.MemoryMost)}, {"temperature_most_c", finiteOrNull(g.TemperatureMost)},
	}
}

// gpuGauges are the metrics of each GPU in one second of the timeline.
func gpuGauges(s *metrics.GPUSecond) list {
	return each(s.GPUs, func(g *metrics.GPU) object {
		return object{
			{"index", g.Index}, {"use", finiteOrNull(g.Use)}, {"memory_bytes", countOrNull(g.MemoryUsed)},
			{"power_w", finiteOrNull(g.Power)},
			{"temperature_c", finiteOrNull(g.Temperature)}, {"clock_mhz", finiteOrNull(g.Clock)},
		}
	})
}

// monitored reports whether the client measured itself; without data, no verdict means nothing.
func monitored(c *metrics.Client) bool { return len(c.Seconds) > 0 }

// client is the health of the client. Figures by the second are null without them.
func client(r *metrics.Report) object {
	c := &r.Client
	bySeconds := func(v any) any { return when(monitored(c), v) }
	verdict := bySeconds("ok")
	if c.Verdict.Limited() {
		verdict = "limited"
	}
	return object{
		{"verdict", verdict}, {"why", c.Verdict.Why},
		{"timestamps", c.Source},
		{"stamps", stamps(c)},
		{"lateness_ms", statistic(&r.Statistics[metrics.Lateness], "")},
		{"own_lateness_ms", statistic(&r.Statistics[metrics.OwnLateness], "")},
		{"cpu_cores", bySeconds(object{{"mean", c.CPU}, {"max", c.CPUMost}, {"available", orNull(c.Cores)}})},
		{"gc", bySeconds(object{{"count", c.GCs}, {"pause_ms", milliseconds(c.GCPause)}})},
		{"stood_still_s", bySeconds(c.StoodStill.Seconds())}, {"memory_bytes", bySeconds(orNull(int(c.Memory)))},
		{"sockets", bySeconds(c.Sockets)}, {"dialled", bySeconds(c.Dialled)}, {"redials", r.Tallies[metrics.Redials]},
		{"clock_steps", bySeconds(c.ClockSteps)},
		{"seconds", each(c.Seconds, func(s *metrics.ClientSecond) object { return clientSecond(c.Source, s) })},
	}
}

// workers are the machines of a run of several, in an object of their own; nil for one.
func workers(r *metrics.Report) object {
	if r.Plan.Part.N < 2 {
		return nil
	}
	parts := map[int]*metrics.Worker{}
	for i := range r.Workers {
		parts[r.Workers[i].Part] = &r.Workers[i]
	}
	return object{{"workers", each(r.Client.Parts(), func(p *metrics.PartHealth) object {
		w := cmp.Or(parts[p.Part], &metrics.Worker{Bound: metrics.Never})
		return object{
			{"part", p.Part}, {"host", orNull(w.Host)}, {"sent", when(p.Length > 0, p.Sent)},
			{"seconds", p.Length.Seconds()},
			{"late_p99_ms", when(p.Sent > 0, milliseconds(p.LateP99))},
			{"cpu_cores", object{{"mean", when(p.Length > 0, p.CPU)}, {"available", orNull(p.Cores)}}},
			{"clock_offset_ms", when(w.Bound != metrics.Never, milliseconds(w.Offset))},
			{"clock_bound_ms", delay(w.Bound)},
		}
	})}}
}

func stamps(c *metrics.Client) object {
	s := &c.Stamps
	return object{
		{"chunks", s.Chunks}, {"shared", s.Shared}, {"shared_share",
			when(s.Chunks > 0, float64(s.Shared)/float64(s.Chunks))}, {"unstamped", unstamped(c.Source, s.Unstamped)},
		{"read_delay_ms", object{
			{"p50", delay(s.DelayP50)}, {"p99", delay(s.DelayP99)}, {"p999", delay(s.DelayP999)},
			{"max", delay(s.DelayMax)},
		}},
	}
}

func clientSecond(source string, s *metrics.ClientSecond) object {
	late := func(d time.Duration) any { return when(s.Sent > 0, milliseconds(d)) }
	return object{
		{"t_s", s.At.Seconds()}, {"took_s", s.Took.Seconds()},
		{"cpu_cores", s.CPU}, {"cpu_wait", s.CPUWait},
		{"sched_p99_ms", milliseconds(s.Sched)}, {"stall_ms", milliseconds(s.Stall)},
		{"gcs", s.GCs}, {"gc_pause_ms", milliseconds(s.GCPause)}, {"memory_bytes", orNull(int(s.Memory))},
		{"sockets", s.Sockets}, {"dialled", s.Dialled}, {"redials", s.Redials},
		{"sent", s.Sent}, {"late_p99_ms", late(s.LateP99)}, {"late_max_ms", late(s.LateMax)},
		{"chunks", s.Chunks}, {"shared", s.Shared}, {"unstamped", unstamped(source, s.Unstamped)},
		{"read_delay_p50_ms", delay(s.DelayP50)}, {"read_delay_p99_ms", delay(s.DelayP99)},
		{"read_delay_max_ms", delay(s.DelayMax)},
		{"clock_step", s.ClockStep},
	}
}

// unstamped is null without kernel stamps, where no chunk can lack one.
func unstamped(source string, n int) any { return when(source == metrics.KernelStamps, n) }

func delay(d time.Duration) any { return when(d != metrics.Never, milliseconds(d)) }

// timeline has an object for every second of the run.
func timeline(r *metrics.Report) list {
	servers, gpus := telemetryBySecond(r)
	return each(r.Timeline, func(of **metrics.Window) object {
		w := *of
		n := int(w.Start / time.Second)
		return append(window(r, w), Arg{"server", ifPresent(servers[n], serverGauges)},
			Arg{"gpus", ifPresent(gpus[n], gpuGauges)})
	})
}

// inFull latencies, those of the stream, come first and have one percentile more.
func inFull(l metrics.Latency) bool { return l == metrics.TTFT || l == metrics.ITL }

// percentiles are those of some latencies in a second, null without samples.
func percentiles(w *metrics.Window, some func(metrics.Latency) bool, of ...int) (o object) {
	for l := range metrics.Latencies() {
		name := l.Naming().Second
		if name == "" || !some(l) {
			continue
		}
		h := &w.Histograms[l]
		for _, p := range of {
			ms := milliseconds(h.Quantile(float64(p) / 100))
			o = append(o, Arg{name + "_p" + strconv.Itoa(p) + "_ms", when(h.Count() > 0, ms)})
		}
	}
	return o
}

// milliseconds rounds to 1 µs: the mean of whole microseconds lies between them.
func milliseconds(d time.Duration) float64 {
	return float64(d.Round(time.Microsecond).Microseconds()) / 1000
}
