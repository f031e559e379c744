package tui

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/muesli/termenv"

	"benchtop/internal/assert"
	"benchtop/metrics"
	liveview "benchtop/metrics/live"
	"benchtop/tui/term"
	"benchtop/tui/tuitest"
)

// inspectRecorder passes the requests to inspect to the view.
type inspectRecorder struct {
	NoControl
	rec *liveview.View
}

func (c inspectRecorder) Inspect(l metrics.Inspection) { c.rec.Inspect(l) }

// A key that asks for requests shows its effect within 100 ms, a frame of which is Bubble Tea's.
func TestRequestsComeAtOnce(t *testing.T) {
	const most = 100*time.Millisecond - time.Second/term.FramesPerSecond
	for _, c := range []struct {
		name    string
		before  []string // typed long before
		key     string
		missing string // of the screen until it came
	}{
		{"page", nil, "5", "loading requests"},
		{"open", []string{"5", "j", "j"}, "enter", "loading chunks"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rec := liveview.NewView(time.Now(), tuitest.RampPlan())
				tuitest.Play(rec, tuitest.RampRequests(10*time.Second, false), 10*time.Second)
				var worst time.Duration
				for late := 10 * time.Millisecond; late < time.Second; late += 70 * time.Millisecond {
					ctx, cancel := context.WithCancel(context.Background())
					snapshots, tick := rec.Publish(ctx, 500*time.Millisecond), time.NewTicker(500*time.Millisecond)
					m := open(<-snapshots, 120, 40, termenv.Ascii)
					m.Control = inspectRecorder{rec: rec}
					loop := func(d time.Duration, done func() bool) time.Duration {
						began, end := time.Now(), time.After(d)
						for !done() {
							select {
							case s := <-snapshots:
								m.Update(snapshotMsg{s})
							case <-tick.C:
								m.Update(tickMsg{})
							case <-end:
								return d
							}
						}
						return time.Since(began)
					}
					never := func() bool { return false }
					for _, k := range c.before {
						press(m, k)
						loop(time.Second, never)
					}
					loop(2*time.Second+late, never)
					press(m, c.key)
					assert.Has(t, m.View(), c.missing)
					worst = max(worst,
						loop(2*time.Second, func() bool { return !strings.Contains(m.View(), c.missing) }))
					tick.Stop()
					m.Control.Inspect(metrics.Inspection{})
					cancel()
					synctest.Wait()
				}
				if worst > most {
					t.Errorf("there after %s, at most %s", worst, most)
				}
			})
		})
	}
}
