package run

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
	"benchtop/internal/ci"
	"benchtop/metrics"
)

// demoSLO and slowSLO are objectives that the simulated server, and one of single tokens that is eight times as slow,
// meets up to about the load it can serve.
var (
	demoSLO = metrics.SLO{{Metric: metrics.TTFT, LimitMS: 500}, {Metric: metrics.TPOT, LimitMS: 4 * 50}}
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

// borderOf reads a border from the words at the end of a search.
func borderOf(t *testing.T, e metrics.LogEntry) (low, high float64) {
	t.Helper()
	_, words, ok := strings.Cut(e.Text, "the border is between ")
	if _, err := fmt.Sscanf(words, "%f and %f", &low, &high); !ok || err != nil {
		t.Fatalf("it ends with %q", e.Text)
	}
	return low, high
}

func endsSearch(e metrics.LogEntry) bool {
	return e.Mark == metrics.FoundMark || e.Mark == metrics.NotFoundMark
}

// A search ends with a border near what the server can do, holds a load below it for as long as asked, and everything
// on the way is an event. Requests of ten seconds depend on each other for too long for a proof in a minute.
func TestFindRate(t *testing.T) {
	ci.SkipUnderRace(t)
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		find := metrics.Find{From: 3, Most: 25, Step: 5 * time.Second, Hold: 30 * time.Second}
		c := chunked(t, metrics.Plan{Rate: 3, Goodput: slowSLO, Find: &find}, 8, 64)
		r := begin(t, c)
		live := make(chan string, 200)
		for i := range cap(live) {
			time.AfterFunc(time.Duration(i)*3*time.Second, func() { live <- r.view.Snapshot().Steering.Search })
		}
		run := measureAll(t, r)
		last := lastOf(run.Events, endsSearch)
		if low, high := borderOf(t, last); low > 3.9 || high < 3.8 || high > 1.6*low {
			t.Errorf("it ends with %q; the server can do about 3.9 for long", last.Text)
		}
		held := lastOf(run.Events, func(e metrics.LogEntry) bool { return e.Set != nil })
		if held.Set == nil || held.Set.Rate() > 3.9 || held.Set.By != metrics.BySearch ||
			!strings.HasPrefix(held.Text, "holding ") {
			t.Errorf("before that %+v, want the load held", held)
		}
		if d := run.Ended - held.At; d < 30*time.Second || d > 2*time.Minute {
			t.Errorf("it was held for %s", d)
		}
		if run.Ended > 10*time.Minute || run.Reason != "" {
			t.Errorf("it took %s, reason %q", run.Ended, run.Reason)
		}
		all := ""
		for len(live) > 0 {
			all += <-live + "|"
		}
		if !strings.Contains(all, "passed; testing") || !strings.Contains(all, "holding ") {
			t.Errorf("the screen said %s", all)
		}
		if st := r.view.Snapshot().Steering; st.Steerable ||
			!strings.Contains(st.Search,
				" not proven: it passed, but without a proof within 30s; by its tests, the border is ") {
			t.Errorf("at the end %+v", st)
		}
	})
}

// A search that the most it may try is within holds that, and finds it.
func TestFindTheMost(t *testing.T) {
	ci.SkipUnderRace(t)
	synctest.Test(t, func(t *testing.T) {
		find := metrics.Find{From: 1.5, Most: 2, Step: 5 * time.Second, Hold: 5 * time.Minute}
		c := simulated(t,
			metrics.Plan{Rate: 1.5, Goodput: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 60_000}}, Find: &find}, 8)
		r := begin(t, c)
		run := measureAll(t, r)
		var all []string
		for _, e := range run.Events {
			if e.Mark != "" {
				all = append(all, e.Mark)
			}
		}
		assert.Equal(t, strings.Join(all, "|"), "1.5 req/s|2 req/s|2 req/s|found", "marks")
	})
}

// The number of users is searched for in the same way.
func TestFindUsers(t *testing.T) {
	ci.SkipUnderRace(t)
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		find := metrics.Find{From: 40, Most: 500, Step: 40 * time.Second, Hold: 30 * time.Second, Unit: metrics.Users}
		c := chunked(t, metrics.Plan{Rate: metrics.Rate(math.Inf(1)), MaxConcurrency: 40,
			Goodput: metrics.SLO{{Metric: metrics.TPOT, LimitMS: 8 * 200}}, Find: &find}, 8, 8)
		r := begin(t, c)
		run := measureAll(t, r)
		if low, high := borderOf(t, lastOf(run.Events, endsSearch)); low < 40 || low > 50 || high < 47 || high > 55 {
			t.Errorf("a border between %v and %v; 49 users fill the batch so that a token takes 1.6 s", low, high)
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
				find := metrics.Find{From: 1, Most: 50, Step: 10 * time.Second, Hold: 30 * time.Second}
				r := begin(t, simulated(t, metrics.Plan{Rate: 1, Goodput: c.slo, Find: &find, Duration: c.duration}, 1))
				if c.hand {
					time.AfterFunc(15*time.Second, func() { r.Command(metrics.Command{Do: metrics.SetLoad, Value: 2}) })
					time.AfterFunc(40*time.Second, func() { r.do(drain) }) // where no clock ends it
				}
				run := measureAll(t, r)
				words := 0
				for _, e := range run.Events {
					if strings.Contains(e.Text, c.want) && e.Level == metrics.Warn {
						words++
					}
				}
				assert.Equal(t, words, 1, "events say %q: %+v", c.want, run.Events)
				if c.duration > 0 && (run.Ended < c.duration-2*time.Second || run.Ended > c.duration+5*time.Second) {
					t.Errorf("it ended after %s, want %s", run.Ended, c.duration)
				}
				if st := r.view.Snapshot().Steering; c.hand && (st.Rate() != 2 || st.Search != "") {
					t.Errorf("at the end %+v", st)
				}
			})
		})
	}
}
