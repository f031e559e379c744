package evidence

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/ci"
	"benchtop/metrics"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/judge/queuetest"
	"benchtop/metrics/report"
)

var calibrate = flag.Int("calibrate", 0, "repetitions of the table of comparisons of queues; 0 for the short test")

// server is one that is compared with itself and with slower ones.
type server struct {
	name string
	queuetest.Server
	ttft float64 // objective, in milliseconds
}

var servers = []server{
	{"fifo", queuetest.Server{Discipline: queuetest.FIFO, Servers: 4, Service: .2, First: .04, Spread: 1}, 500},
	{"sharing", queuetest.Server{Discipline: queuetest.Sharing, Servers: 16, Service: 1.2, First: .05, Spread: .5},
		500},
	{"batches", queuetest.Server{Discipline: queuetest.Batches, Servers: 8, Service: .4, First: .04}, 500},
	{"log-normal", queuetest.Server{Discipline: queuetest.FIFO, Servers: 8, Service: .4, First: .1, Spread: 1.5}, 800},
}

// draw is the report of a run at a rate, for so many seconds.
func (s *server) draw(t *testing.T, rate, length float64, r *rand.Rand) []metrics.Report {
	t.Helper()
	arrivals, plan := queuetest.Shape{Rates: []float64{rate}, Length: length}.Arrivals(r)
	plan.Goodput = metrics.SLO{{Metric: metrics.TTFT, LimitMS: s.ttft}}
	plan.Metrics, plan.Percentiles = compared, []float64{99}
	all := s.Requests(arrivals, s.Serve(arrivals, r), 0, r)
	plan.Requests = len(all)
	out := assert.Must(report.Summarize(eventtest.Each(all), metrics.Run{Plan: plan, End: metrics.End{
		Ended: eventtest.LastDone(all)}}))(t)
	return []metrics.Report{out}
}

// counts are of comparisons of a server with itself: those with any verdict, those of one figure, its mean TTFT, that
// would fail a gate, intervals and those that hold no change, figures that were too short.
type counts struct{ all, alarms, gated, failed, intervals, covered, rows, short int }

func (c *counts) add(got *Result) {
	c.all++
	alarm := 0
	for _, row := range got.Rows {
		switch {
		case row.Key == "slo", row.Key == "saturation":
			continue
		case row.Verdict == Short:
			c.short++
			c.rows++
			continue
		case math.IsNaN(row.Change): // by whole runs it is far outside the interval of the pieces
			c.rows++
			continue
		case row.Verdict != None:
			alarm = 1
		}
		c.rows++
		c.intervals++
		if row.Low <= 0 && 0 <= row.High {
			c.covered++
		}
		if row.Key == "mean_ttft_ms" {
			if c.gated++; row.Low > 0 {
				c.failed++
			}
		}
	}
	c.alarms += alarm
}

func (c *counts) join(o *counts) {
	for _, n := range [][2]*int{{&c.all, &o.all}, {&c.alarms, &o.alarms}, {&c.gated, &o.gated}, {&c.failed, &o.failed},
		{&c.intervals, &o.intervals}, {&c.covered, &o.covered}, {&c.rows, &o.rows}, {&c.short, &o.short}} {
		*n[0] += *n[1]
	}
}

// found is the share of comparisons with a server whose requests take 5 % longer that say so.
func (s *server) found(t *testing.T, rate, length float64, reps int, r *rand.Rand) float64 {
	slower, n := *s, 0
	slower.Service *= 1.05
	for range reps {
		got := Compare(s.draw(t, rate, length, r), slower.draw(t, rate, length, r))
		for _, row := range got.Rows {
			if row.Verdict == Worse {
				n++
				break
			}
		}
	}
	return metrics.Share(n, reps)
}

// TestEqualServers compares servers with themselves: hardly ever is there a verdict, and intervals hold what is true as
// often as they say. With -calibrate it prints the table of docs/accuracy.md.
func TestEqualServers(t *testing.T) {
	ci.SkipUnderRace(t)
	t.Parallel()
	var all counts
	var table strings.Builder
	loads := []float64{.5, .8, .97}
	if *calibrate > 0 {
		loads = []float64{.5, .7, .8, .9, .97}
	}
	for i := range servers {
		s := &servers[i]
		for j, load := range loads {
			for k, length := range []float64{60, 300} {
				r, c := rand.New(rand.NewPCG(uint64(i*100+j*10+k), 7)), counts{}
				rate := load * s.Capacity()
				for range max(1, *calibrate) {
					got := Compare(s.draw(t, rate, length, r), s.draw(t, rate, length, r))
					c.add(&got)
				}
				all.join(&c)
				if *calibrate > 0 {
					fmt.Fprintf(&table, "| %s | %.2f | %.0f s | %.1f %% | %.1f %% | %.1f %% | %.0f %% | %.0f %% |\n",
						s.name,
						load, length, 100*metrics.Share(c.alarms, c.all), 100*metrics.Share(c.failed, c.all),
						100*metrics.Share(c.covered, c.intervals), 100*metrics.Share(c.short, c.rows),
						100*s.found(t, rate, length, *calibrate, r))
				}
			}
		}
	}
	if *calibrate > 0 {
		t.Logf("%+v\n%s", all, table.String())
	}
	alarms, failed := metrics.Share(all.alarms, all.all), metrics.Share(all.failed, all.all)
	if covered := metrics.Share(all.covered, all.intervals); alarms > .05 || failed > .05 || covered < .93 {
		t.Errorf("alarms %.3f, gates %.3f, intervals hold %.3f: %+v", alarms, failed, covered, all)
	}
	if all.all < 24 || all.short > all.rows/2 {
		t.Errorf("hardly anything was compared: %+v", all)
	}
}
