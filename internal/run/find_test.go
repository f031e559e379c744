package run

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/metrics"
)

// demoSLO and slowSLO are objectives that the simulated server, and one that is eight times as slow, meets up to about the load
// it can serve.
var (
	demoSLO = metrics.SLO{{Metric: metrics.TTFT, LimitMS: 500}, {Metric: metrics.TPOT, LimitMS: 50}}
	slowSLO = metrics.SLO{{Metric: metrics.TTFT, LimitMS: 8 * 500}, {Metric: metrics.TPOT, LimitMS: 8 * 50}}
)

// lastOf is the last event of a kind: on a busy machine the client's own words may stand behind it.
func lastOf(all []metrics.LogEntry, is func(metrics.LogEntry) bool) (last metrics.LogEntry) {
	for _, e := range all {
		if is(e) {
			last = e
		}
	}
	return last
}

func isFound(e metrics.LogEntry) bool { return e.Mark == "found" }

// A search ends with a load near what the server can do, held for as long as asked, and everything on the way is an event.
func TestFindRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		find := metrics.Find{From: 3, Most: 25, Step: 5 * time.Second, Hold: 30 * time.Second}
		c := simulated(t, metrics.Plan{Rate: 3, Goodput: slowSLO, Find: &find}, 8)
		r := begin(t, c)
		live := make(chan string, 60)
		for i := range cap(live) {
			time.AfterFunc(time.Duration(i)*3*time.Second, func() { live <- r.view.Snapshot().Steering.Search })
		}
		run := measureAll(t, r)
		last := lastOf(run.Events, isFound)
		var found float64
		if _, err := fmt.Sscanf(last.Text, "search: highest load within SLO: %f req/s", &found); err != nil || last.Mark != "found" {
			t.Fatalf("it ends with %+v", last)
		}
		// What is held for so short a time may leave a queue of up to the TTFT's limit at its end.
		if found < 3 || found > 4.9 {
			t.Errorf("found %v req/s; the server can do about 3.9 for long", found)
		}
		held := lastOf(run.Events, func(e metrics.LogEntry) bool { return e.Set != nil })
		if held.Set == nil || held.Set.Rate != found || held.Set.By != metrics.BySearch || !strings.HasPrefix(held.Text, "holding ") {
			t.Errorf("before that %+v, want the load held", held)
		}
		if d := run.Ended - held.At; d < 30*time.Second || d > 100*time.Second {
			t.Errorf("it was held for %s", d)
		}
		if run.Ended > 6*time.Minute || run.Reason != "" {
			t.Errorf("it took %s, reason %q", run.Ended, run.Reason)
		}
		all := ""
		for len(live) > 0 {
			all += <-live + "|"
		}
		if !strings.Contains(all, "passed; testing") || !strings.Contains(all, "holding ") {
			t.Errorf("the screen said %s", all)
		}
		if st := r.view.Snapshot().Steering; st.Steerable || !strings.Contains(st.Search, "passed for 30s") {
			t.Errorf("at the end %+v", st)
		}
	})
}

// A search that the most it may try is within holds that, and finds it.
func TestFindTheMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		find := metrics.Find{From: 2.5, Most: 3, Step: 5 * time.Second, Hold: 10 * time.Second}
		c := simulated(t, metrics.Plan{Rate: 2.5, Goodput: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 60_000}}, Find: &find}, 8)
		r := begin(t, c)
		run := measureAll(t, r)
		var all []string
		for _, e := range run.Events {
			if e.Mark != "" {
				all = append(all, e.Mark)
			}
		}
		if got, want := strings.Join(all, "|"), "2.5 req/s|3 req/s|3 req/s|found"; got != want {
			t.Errorf("marks %q, want %q", got, want)
		}
	})
}

// The number of users is searched for in the same way.
func TestFindUsers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		find := metrics.Find{From: 40, Most: 500, Step: 20 * time.Second, Hold: 20 * time.Second, Users: true}
		c := simulated(t, metrics.Plan{Rate: metrics.Rate(math.Inf(1)), MaxConcurrency: 40, Goodput: metrics.SLO{{Metric: metrics.TPOT, LimitMS: 8 * 25}}, Find: &find}, 8)
		r := begin(t, c)
		run := measureAll(t, r)
		last := lastOf(run.Events, isFound)
		var found int
		if _, err := fmt.Sscanf(last.Text, "search: highest load within SLO: %d users", &found); err != nil || found < 44 || found > 54 {
			t.Errorf("it ends with %+v; 49 users fill the batch so that a token takes 200 ms", last)
		}
	})
}

// A search that a hand ends, that the clock ends, and one for what cannot be.
func TestFindEndsOtherwise(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		slo      metrics.SLO
		duration time.Duration
		hand     bool
		want     string
	}{
		{"by hand", demoSLO, 25 * time.Second, true, "search stopped: load changed manually"},
		{"by hand, without a clock", demoSLO, 0, true, "load changed manually; the run continues until q"},
		{"by the clock", demoSLO, 25 * time.Second, false, "no result before the end of the run; last step: "},
		{"nothing is within", metrics.SLO{{Metric: metrics.TTFT, LimitMS: 1}}, 0, false, "even "},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				find := metrics.Find{From: 4, Most: 200, Step: 10 * time.Second, Hold: 30 * time.Second}
				r := begin(t, simulated(t, metrics.Plan{Rate: 4, Goodput: c.slo, Find: &find, Duration: c.duration}, 1))
				if c.hand {
					time.AfterFunc(15*time.Second, func() { r.Command(metrics.Command{Do: metrics.SetLoad, Value: 7}) })
					time.AfterFunc(40*time.Second, func() { r.do(drain) }) // where no clock ends it
				}
				run := measureAll(t, r)
				words := 0
				for _, e := range run.Events {
					if strings.Contains(e.Text, c.want) && e.Level == metrics.Warn {
						words++
					}
				}
				if words != 1 {
					t.Errorf("%d events say %q: %+v", words, c.want, run.Events)
				}
				if c.duration > 0 && (run.Ended < c.duration-2*time.Second || run.Ended > c.duration+5*time.Second) {
					t.Errorf("it ended after %s, want %s", run.Ended, c.duration)
				}
				if st := r.view.Snapshot().Steering; c.hand && (st.Rate != 7 || st.Search != "") {
					t.Errorf("at the end %+v", st)
				}
			})
		})
	}
}
