package export

import (
	"slices"
	"strconv"
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
	return slices.Concat(object{
		{"t_s", int(w.Start / time.Second)},
		{"due", w.Due}, {"sent", w.Sent}, {"done", w.Done}, {"good", good(r, w.Good)}, {"failed", w.Failed},
		{"cancelled", w.Cancelled},
		{"held", w.Held}, {"waiting", w.Waiting}, {"running", w.Running},
		{"input_tokens", w.InputTokens}, {"output_tokens", w.OutputTokens},
	}, percentiles(w, inFull, 50, 90, 99), percentiles(w, func(l metrics.Latency) bool { return !inFull(l) }, 50, 99))
}

// inFull: the latencies of the stream come first, with one percentile more than the others.
func inFull(l metrics.Latency) bool { return l == metrics.TTFT || l == metrics.ITL }

// percentiles are those of some latencies of a second; null where there are no samples.
func percentiles(w *metrics.Window, some func(metrics.Latency) bool, of ...int) (o object) {
	for l := range metrics.Latencies() {
		name := l.Naming().Second
		if name == "" || !some(l) {
			continue
		}
		h := &w.Histograms[l]
		for _, p := range of {
			var ms any
			if h.Count() > 0 {
				ms = milliseconds(h.Quantile(float64(p) / 100))
			}
			o = append(o, field{name + "_p" + strconv.Itoa(p) + "_ms", ms})
		}
	}
	return o
}

// milliseconds at a resolution of 1 µs, rounded: the mean of times of whole microseconds lies between them.
func milliseconds(d time.Duration) float64 {
	return float64(d.Round(time.Microsecond).Microseconds()) / 1000
}
