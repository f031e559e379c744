package evidence

import (
	"flag"
	"math/rand/v2"
	"testing"

	"benchtop/internal/ci"
	"benchtop/metrics"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/judge/queuetest"
	"benchtop/metrics/report"
)

var calibrate = flag.Int("calibrate", 0, "repetitions of the table of comparisons of queues; 0 for the short test")

// servers are those that are compared with themselves and with slower ones.
var servers = []struct {
	name string
	queuetest.Server
	ttft float64 // objective, in milliseconds
}{
	{"fifo", queuetest.Server{Discipline: queuetest.FIFO, Servers: 4, Service: .2, First: .04, Spread: 1}, 500},
	{"sharing", queuetest.Server{Discipline: queuetest.Sharing, Servers: 16, Service: 1.2, First: .05, Spread: .5}, 500},
	{"batches", queuetest.Server{Discipline: queuetest.Batches, Servers: 8, Service: .4, First: .04}, 500},
	{"log-normal", queuetest.Server{Discipline: queuetest.FIFO, Servers: 8, Service: .4, First: .1, Spread: 1.5}, 800},
}

// drawn is the report of a run against a server.
func drawn(t *testing.T, s *queuetest.Server, ttft, rate, length float64, r *rand.Rand) metrics.Report {
	t.Helper()
	arrivals, plan := queuetest.Shape{Rates: []float64{rate}, Length: length}.Arrivals(r)
	plan.Goodput = metrics.SLO{{Metric: metrics.TTFT, LimitMS: ttft}}
	plan.Metrics, plan.Percentiles = compared, []float64{99}
	all := s.Requests(arrivals, s.Serve(arrivals, r), 0, r)
	plan.Requests = len(all)
	out, err := report.Summarize(eventtest.Each(all), metrics.Run{Plan: plan, End: metrics.End{
		Ended: eventtest.LastDone(all)}})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestEqualServers compares servers with themselves: hardly ever is there a verdict. With -calibrate it prints the
// table of docs/accuracy.md.
func TestEqualServers(t *testing.T) {
	ci.SkipUnderRace(t)
	reps := max(2, *calibrate)
	type counts struct{ n, alarm, gate, gates, intervals, covered, rows, short, slower, slow, found int }
	var all counts
	for i := range servers {
		s := &servers[i]
		slower := s.Server
		slower.Service *= 1.1
		for j, load := range []float64{.5, .7, .8, .9, .97} {
			for k, length := range []float64{60, 300} {
				var c counts
				r := rand.New(rand.NewPCG(uint64(i*100+j*10+k), 7))
				for range reps {
					rate := load * s.Capacity()
					a, b := drawn(t, &s.Server, s.ttft, rate, length, r), drawn(t, &s.Server, s.ttft, rate, length, r)
					got, err := Compare([]metrics.Report{a}, []metrics.Report{b})
					if err != nil {
						t.Fatal(err)
					}
					c.n++
					alarm := 0
					for _, row := range got.Rows {
						c.rows++
						switch row.Verdict {
						case Short:
							c.short++
							continue
						case Better, Worse:
							alarm = 1
						}
						c.intervals++
						if row.Low <= 0 && row.High >= 0 {
							c.covered++
						}
						if row.Key == "mean_ttft_ms" {
							c.gates++
							if row.Low > 0 {
								c.gate++
							}
						}
					}
					c.alarm += alarm
					if *calibrate > 0 {
						d := drawn(t, &slower, s.ttft, rate, length, r)
						got, _ = Compare([]metrics.Report{a}, []metrics.Report{d})
						c.slow++
						for _, row := range got.Rows {
							if row.Verdict == Worse {
								c.found++
								break
							}
						}
					}
				}
				if *calibrate > 0 {
					t.Logf("%-10s load %.2f %3.0f s: alarms %4.1f %%, gate %d of %d, covered %.1f %% short %.0f %%, 10 %% slower found %.0f %%", s.name, load, length,
						100*metrics.Share(c.alarm, c.n), c.gate, c.gates, 100*metrics.Share(c.covered, c.intervals), 100*metrics.Share(c.short, c.rows), 100*metrics.Share(c.found, c.slow))
				}
				all.n += c.n
				all.alarm += c.alarm
				all.gate += c.gate
				all.gates += c.gates
				all.covered += c.covered
				all.intervals += c.intervals
				all.short += c.short
				all.rows += c.rows
			}
		}
	}
	t.Logf("all: alarms %d of %d, gate %d of %d, covered %d of %d, short %d of %d", all.alarm, all.n, all.gate, all.gates, all.covered, all.intervals, all.short, all.rows)
}
