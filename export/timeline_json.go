package export

import (
	"time"

	"benchtop/metrics"
)

// timeline has an object for every second of the run.
func timeline(r *metrics.Report) list {
	l := looksOf(r)
	return each(r.Timeline, func(w *metrics.Window) any {
		n := int(w.Start / time.Second)
		return append(window(r, w), field{"server", serverGauges(l.server[n])}, field{"gpus", gpuGauges(l.gpus[n])})
	})
}

func window(r *metrics.Report, w *metrics.Window) object {
	quantile := func(h *metrics.Histogram, q float64) any {
		if h.Count() == 0 {
			return nil
		}
		return milliseconds(h.Quantile(q))
	}
	return object{
		{"t_s", int(w.Start / time.Second)},
		{"due", w.Due}, {"sent", w.Sent}, {"done", w.Done}, {"good", good(r, w.Good)}, {"failed", w.Failed},
		{"cancelled", w.Cancelled},
		{"held", w.Held}, {"waiting", w.Waiting}, {"running", w.Running},
		{"input_tokens", w.InputTokens}, {"output_tokens", w.OutputTokens},
		{"ttft_p50_ms", quantile(&w.TTFT, .50)}, {"ttft_p90_ms", quantile(&w.TTFT, .90)},
		{"ttft_p99_ms", quantile(&w.TTFT, .99)},
		{"itl_p50_ms", quantile(&w.ITL, .50)}, {"itl_p90_ms", quantile(&w.ITL, .90)},
		{"itl_p99_ms", quantile(&w.ITL, .99)},
		{"ttft_answer_p50_ms", quantile(&w.FirstAnswer, .50)}, {"ttft_answer_p99_ms", quantile(&w.FirstAnswer, .99)},
		{"held_p50_ms", quantile(&w.HeldTime, .50)}, {"held_p99_ms", quantile(&w.HeldTime, .99)},
		{"scheduled_p50_ms", quantile(&w.Scheduled, .50)}, {"scheduled_p99_ms", quantile(&w.Scheduled, .99)},
	}
}

// milliseconds at a resolution of 1 µs, rounded: the mean of times of whole microseconds lies between them.
func milliseconds(d time.Duration) float64 {
	return float64(d.Round(time.Microsecond).Microseconds()) / 1000
}
