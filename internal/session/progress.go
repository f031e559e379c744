package session

import (
	"fmt"
	"io"
	"time"

	"benchtop/internal/text"
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
	waits, shown := [2]metrics.Histogram{}, [2]metrics.Latency{s.Plan.FirstWait(), metrics.ITL}
	_, tokensOf := s.Plan.Tokens()
	tokens := 0
	closed := s.Windows[:max(0, len(s.Windows)-1)] // the last one is still open
	window := closed[max(0, len(closed)-int(recent/time.Second)):]
	for i := range window {
		for k, l := range shown {
			waits[k].Merge(&window[i].Histograms[l])
		}
		tokens += tokensOf(window[i])
	}
	line := fmt.Sprintf("%6s  sent %d  done %d  failed %d  in flight %d  queued %d", s.At.Round(time.Second),
		s.Totals.Sent, s.Totals.Completed, s.Totals.Failed, s.Waiting+s.Running, s.Held)
	if users := s.Totals.OfUsers(s.Plan); users != "" {
		line += "  " + users
	}
	if len(window) > 0 {
		approximate := "~"
		if s.OutputExact {
			approximate = ""
		}
		line += fmt.Sprintf("  %s%d tok/s", approximate, tokens/len(window))
	}
	for k, l := range shown {
		if waits[k].Count() > 0 {
			line += fmt.Sprintf("  p99 %s %s", l.Naming().Title, short(waits[k].Quantile(0.99)))
		}
	}
	if s.State != metrics.Running {
		line += "  " + string(s.State)
	}
	return line
}

// short is a latency in milliseconds to three figures.
func short(d time.Duration) string {
	return text.Digits(metrics.Milliseconds(d), 3) + " ms"
}
