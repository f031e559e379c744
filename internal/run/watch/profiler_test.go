package watch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/metrics"
)

func unheard(string) {}

// The profiler runs with the load, or from a threshold on for its duration, and never beyond the load. The end waits
// for the trace.
func TestProfiler(t *testing.T) {
	const s = time.Second
	at := func(threshold int, d time.Duration) Profiling {
		return Profiling{On: true, Threshold: threshold, Duration: d}
	}
	for _, c := range []struct {
		name    string
		p       Profiling
		running []float64 // of the server, in each second of the load
		starts  error
		write   time.Duration // for the trace
		asked   string        // with the times
		log     []string
		said    []string
		notes   []string
		took    time.Duration // of the wait
	}{
		{name: "no profiler", running: []float64{9, 9}},
		{name: "with the load", p: at(0, 0), running: []float64{0, 9}, asked: "start 0s, stop 2s",
			log: []string{"info the server's profiler stops and writes its trace",
				"info the server has written its trace, in 0s"}},
		{name: "a long trace", p: at(0, 0), running: []float64{9}, write: 25 * s, asked: "start 0s, stop 1s",
			took: 25 * s,
			log: []string{"info the server's profiler stops and writes its trace",
				"info the server has written its trace, in 25s"},
			said: []string{"1s waiting up to 29m59s more for the server's profiler to write its trace; Ctrl-C leaves",
				"11s waiting up to 29m49s more for the server's profiler to write its trace; Ctrl-C leaves",
				"21s waiting up to 29m39s more for the server's profiler to write its trace; Ctrl-C leaves",
				"25s the trace is written"}},
		{name: "a trace without end", p: at(0, 0), running: []float64{9}, write: time.Hour, asked: "start 0s, stop 1s",
			took:  traceTimeout,
			notes: []string{"context deadline exceeded"},
			log:   []string{"info the server's profiler stops and writes its trace", "warn context deadline exceeded"}},
		{name: "none there", p: at(0, 0), running: []float64{9}, starts: errors.New("404"), asked: "start 0s",
			notes: []string{"404"}},
		{name: "at a threshold", p: at(4, 2*s), running: []float64{0, 3, 4, 9, 9, 9}, asked: "start 2s, stop 4s",
			log: []string{"info the server runs 4 requests: its profiler has started, for 2s",
				"info the server's profiler stops and writes its trace",
				"info the server has written its trace, in 0s"}},
		{name: "the load ends first", p: at(4, 5*s), running: []float64{0, 5}, asked: "start 1s, stop 2s",
			log: []string{"info the server runs 5 requests: its profiler has started, for 5s",
				"info the server's profiler stops and writes its trace",
				"info the server has written its trace, in 0s"}},
		{name: "never reached", p: at(4, s), running: []float64{0, 3, 2},
			notes: []string{
				"the server's profiler was not started: the server never ran 4 requests at once, but 3 at " +
					"most; lower --profile-batch-threshold or raise the load"},
			log: []string{"warn the server's profiler was not started: the server never ran 4 requests at once, but " +
				"3 at most; lower --profile-batch-threshold or raise the load"}},
		{name: "no page", p: at(4, s), running: []float64{metrics.Unsaid()},
			notes: []string{
				"the server's profiler was not started: its metrics do not say how many requests it runs, " +
					"as --profile-batch-threshold needs"},
			log: []string{"warn the server's profiler was not started: its metrics do not say how many requests it " +
				"runs, as --profile-batch-threshold needs"}},
		{name: "none there at the threshold", p: at(4, s), running: []float64{4, 4}, starts: errors.New("404"),
			asked: "start 0s",
			notes: []string{"404"}, log: []string{"warn 404"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				var asked, log, said []string
				p := newProfiler(c.p, func(ctx context.Context, action string) error {
					asked = append(asked, fmt.Sprintf("%s %s", action, time.Since(began)))
					if action == "start" {
						return c.starts
					}
					select {
					case <-time.After(c.write):
						return nil
					case <-ctx.Done():
						return ctx.Err()
					}
				})
				p.tell = func(fact any) {
					e := fact.(metrics.LogEntry)
					log = append(log, fmt.Sprintf("%s %s", e.Level, e.Text))
				}
				notes := p.begin(t.Context())
				for _, running := range c.running {
					p.see(running)
					time.Sleep(s)
				}
				p.end()
				over := time.Now()
				notes = append(notes,
					p.wait(func(words string) {
						said = append(said, fmt.Sprintf("%s %s", time.Since(over), words))
					})...)
				if took := time.Since(over); took != c.took {
					t.Errorf("the wait took %s, want %s", took, c.took)
				}
				if got := strings.Join(asked, ", "); got != c.asked {
					t.Errorf("asked %q, want %q", got, c.asked)
				}
				if !slices.Equal(log, c.log) || !slices.Equal(notes, c.notes) ||
					c.took < time.Minute && !slices.Equal(said, c.said) {
					t.Errorf("log %q\nwant %q\nnotes %q, want %q\nsaid %q, want %q", log, c.log, notes, c.notes, said,
						c.said)
				}
			})
		})
	}
}
