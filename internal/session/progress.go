package session

import (
	"fmt"
	"io"
	"time"

	"benchtop/metrics"
)

// progress writes a line every so often until the snapshots end.
func progress(w io.Writer, snapshots <-chan metrics.Snapshot) {
	for s := range snapshots {
		if s.State != metrics.Finished && s.At > 0 && s.Totals.Due > 0 {
			fmt.Fprintln(w, ProgressLine(&s))
		}
	}
}

func ProgressLine(s *metrics.Snapshot) string {
	const recent = 10 * time.Second
	var ttft, itl, e2el metrics.Histogram
	tokens := 0
	closed := s.Windows[:max(0, len(s.Windows)-1)] // the last one is still open
	window := closed[max(0, len(closed)-int(recent/time.Second)):]
	for i := range window {
		ttft.Merge(&window[i].Histograms[metrics.TTFT])
		itl.Merge(&window[i].Histograms[metrics.ITL])
		e2el.Merge(&window[i].Histograms[metrics.E2EL])
		if tokens += window[i].TokensOut; s.Pooling() {
			tokens += window[i].TokensIn
		}
	}
	line := fmt.Sprintf("%6s  sent %d  done %d  failed %d  in flight %d  queued %d", s.At.Round(time.Second),
		s.Totals.Sent, s.Totals.Completed, s.Totals.Failed, s.Waiting+s.Running, s.Held)
	if len(window) > 0 {
		approximate := "~"
		if s.OutputExact {
			approximate = ""
		}
		line += fmt.Sprintf("  %s%d tok/s", approximate, tokens/len(window))
	}
	if ttft.Count() > 0 {
		line += fmt.Sprintf("  p99 TTFT %s", short(ttft.Quantile(0.99)))
	}
	if s.Pooling() && e2el.Count() > 0 {
		line += fmt.Sprintf("  p99 E2EL %s", short(e2el.Quantile(0.99)))
	}
	if itl.Count() > 0 {
		line += fmt.Sprintf("  p99 ITL %s", short(itl.Quantile(0.99)))
	}
	if s.State != metrics.Running {
		line += "  " + string(s.State)
	}
	return line
}

// short is a latency in milliseconds to three figures.
func short(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	if ms >= 100 {
		return fmt.Sprintf("%.0f ms", ms)
	}
	return fmt.Sprintf("%.3g ms", ms)
}
