package export

import (
	"time"

	"benchtop/metrics"
)

// said is null for a figure that nobody gave, or that is none.
func said(v float64) any {
	if !finite(v) {
		return nil
	}
	return v
}

// counted is said for a number of things, which is written without a fraction where it has none.
func counted(v float64) any {
	if finite(v) && integral(v) {
		return int64(v)
	}
	return said(v)
}

// server is null in a run without a look at the server.
func server(s *metrics.ServerReport) any {
	if s == nil {
		return nil
	}
	return object{
		{"kind", orNull(s.Kind)}, {"absent", orNull(s.Absent)}, {"levels_absent", levelsAbsent(s)}, {"looks", len(s.Seconds)},
		{"running", object{{"mean", said(s.RunningMean)}, {"max", counted(s.RunningMost)}}},
		{"waiting", object{{"mean", said(s.WaitingMean)}, {"max", counted(s.WaitingMost)}}},
		{"kv_usage", object{{"mean", said(s.KVMean)}, {"max", said(s.KVMost)}}},
		{"preemptions", counted(s.Preemptions)},
		{"prefix_cache_hit_rate", said(s.HitRate)}, {"spec_acceptance", said(s.Acceptance)},
		{"prompt_tokens", counted(s.PromptTokens)}, {"output_tokens", counted(s.OutputTokens)},
		{"ttft_ms", serverLatency(s.TTFT)}, {"ttft_here_ms", serverLatency(metrics.ServerLatency{N: float64(s.First.N), Mean: s.First.MeanTTFT()})},
		{"queue_ms", serverLatency(s.Queue)}, {"prefill_ms", serverLatency(s.Prefill)},
	}
}

// levelsAbsent is why there are no levels though the server tells them, null where it is not so.
func levelsAbsent(s *metrics.ServerReport) any {
	if !s.TooShort() {
		return nil
	}
	return tooShort
}

func serverLatency(l metrics.ServerLatency) object {
	if !(l.N > 0) || !finite(l.N) {
		return object{{"n", 0}, {"mean", nil}}
	}
	return object{{"n", counted(l.N)}, {"mean", milliseconds(max(0, l.Mean))}}
}

// serverGauges are what the server said in one second of the timeline; null where it said nothing.
func serverGauges(s *metrics.ServerSecond) any {
	if s == nil {
		return nil
	}
	mean := func(l metrics.ServerLatency) any { return serverLatency(l).get("mean") }
	return object{
		{"running", counted(s.Running)}, {"waiting", counted(s.Waiting)}, {"kv_usage", said(s.KVUsage)},
		{"preemptions", counted(s.Preemptions)}, {"prefix_hit_rate", said(s.HitRate)},
		{"prompt_tokens", counted(s.PromptTokens)}, {"output_tokens", counted(s.OutputTokens)},
		{"draft_tokens", counted(s.DraftTokens)}, {"accepted_tokens", counted(s.AcceptedTokens)},
		{"ttft_mean_ms", mean(s.TTFT)}, {"queue_mean_ms", mean(s.Queue)}, {"prefill_mean_ms", mean(s.Prefill)},
	}
}

// looks are what was said of server and accelerators, by seconds of the timeline.
type looks struct {
	server map[int]*metrics.ServerSecond
	gpus   map[int]*metrics.GPUSecond
}

func looksOf(r *metrics.Report) looks {
	l := looks{map[int]*metrics.ServerSecond{}, map[int]*metrics.GPUSecond{}}
	if r.Server != nil {
		for i := range r.Server.Seconds {
			s := r.Server.Seconds[i]
			at := secondOf(s.At)
			if before := l.server[at]; before != nil {
				s = s.Behind(before)
			}
			l.server[at] = &s
		}
	}
	if r.GPUs != nil {
		for i := range r.GPUs.Seconds {
			s := &r.GPUs.Seconds[i]
			l.gpus[secondOf(s.At)] = s
		}
	}
	return l
}

// secondOf is the second of the timeline whose end is nearest to a look, because levels there are those at the end.
func secondOf(at time.Duration) int { return max(0, int((at-time.Second/2)/time.Second)) }
