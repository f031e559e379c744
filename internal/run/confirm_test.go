package run

import (
	"io"
	"math"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/datasets"
	"benchtop/internal/assert"
	"benchtop/internal/ci"
	"benchtop/internal/hf/numpy"
	"benchtop/loadgen/shape"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/report"
)

// ramped is a run whose rate rises from one to another in a minute, and which is then confirmed.
func ramped(t *testing.T, from, to float64, budget time.Duration) *Config {
	t.Helper()
	line := metrics.Ramp{Strategy: "linear", From: from, To: to, Over: time.Minute}
	times := shape.NewTimedRamp(shape.Bounds{Count: 1000}, line, 1).Times(numpy.NewLegacy(1))
	c := simulated(t, metrics.Plan{
		Ramp: &line, Duration: time.Minute, Rate: metrics.Rate(math.Inf(1)), Requests: len(times), Confirm: budget,
		Goodput: demoSLO,
	}, 1)
	c.Load.Schedule = shape.At(times)
	return c
}

// confirmations are the events of a confirmation, with the loads that were set by it.
func confirmations(run *metrics.Run) (words []string, loads []metrics.LoadSetting) {
	for _, e := range run.Events {
		if strings.Contains(e.Text, "confirm") {
			words = append(words, string(e.Level)+": "+e.Text)
		}
		if e.Set != nil && e.Set.By == metrics.ByConfirm && !e.Set.Paused {
			loads = append(loads, *e.Set)
		}
	}
	return words, loads
}

// paused is when the load of the plan was over.
func paused(run *metrics.Run) time.Duration {
	for _, e := range run.Events {
		if e.Set != nil && e.Set.By == metrics.ByConfirm {
			return e.At
		}
	}
	return 0
}

// After a ramp, a load below the border is held until it is proven, and then a higher one; the report says the same.
func TestConfirmRamp(t *testing.T) {
	ci.SkipUnderRace(t)
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := begin(t, ramped(t, 4, 50, 4*time.Minute))
		run := measureAll(t, r)
		words, loads := confirmations(&run)
		if len(loads) != 1 || loads[0].Rate() < 15 || loads[0].Rate() > 28 {
			t.Errorf("held %+v", loads)
		}
		if all := strings.Join(words, "\n"); !regexp.MustCompile(
			`info: confirmation ended: [\d.]+ req/s proven \(97 %\); `).MatchString(all) {
			t.Errorf("it ended with %s", all)
		}
		if run.Reason != "" || run.Unsent != 0 || run.Ended < 2*time.Minute || run.Ended > 6*time.Minute {
			t.Errorf("it took %s, reason %q, %d unsent", run.Ended, run.Reason, run.Unsent)
		}
		result, err := report.Of(r.journal.Events())
		if err != nil || result.Answer.Proven < loads[0].Rate()*.97 {
			t.Errorf("the report proves %v, %v", result.Answer.Proven, err)
		}
		if st := r.view.Snapshot().Steering; st.Steerable || st.By != metrics.ByConfirm {
			t.Errorf("at the end %+v", st)
		}
	})
}

// A confirmation that is drained, aborted or taken over by hand ends as the run does then, with the requests that are
// in flight.
func TestConfirmEndsOtherwise(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		at           time.Duration
		do           metrics.Command
		reason, want string
	}{
		{"q", 80 * time.Second, metrics.Command{Do: metrics.Drain}, metrics.StoppedByUser,
			"warn: confirmation ended unproven: the run ended before"},
		{"q twice", 80 * time.Second, metrics.Command{Do: metrics.Abort}, metrics.AbortedByUser,
			"warn: confirmation ended unproven: the run ended before"},
		{"q before", 20 * time.Second, metrics.Command{Do: metrics.Drain}, metrics.StoppedByUser,
			"warn: no confirmation: the run ended before"},
		{"by hand", 80 * time.Second, metrics.Command{Do: metrics.SetLoad, Value: 1}, metrics.StoppedByUser,
			"warn: confirmation stopped: load changed manually; the run continues until q"},
		{"by hand before", 20 * time.Second, metrics.Command{Do: metrics.SetLoad, Value: 1}, "",
			"warn: no confirmation: load changed manually"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := begin(t, ramped(t, 1, 3, 2*time.Minute))
				time.AfterFunc(c.at, func() { r.Command(c.do) })
				time.AfterFunc(100*time.Second, func() { r.do(drain) })
				run := measureAll(t, r)
				words, _ := confirmations(&run)
				if len(words) == 0 || words[len(words)-1] != c.want || run.Reason != c.reason {
					t.Errorf("%q, reason %q; want %q, %q", words, run.Reason, c.want, c.reason)
				}
				least, most := c.at, c.at+5*time.Second
				if c.do.Do == metrics.SetLoad {
					if least, most = 100*time.Second, 105*time.Second; c.reason == "" {
						least, most = time.Minute, 65*time.Second
					}
				}
				if run.Ended < least || run.Ended > most {
					t.Errorf("it ended after %s", run.Ended)
				}
			})
		})
	}
}

// A ramp over the requests ends with its number, and the confirmation has more prompts than that.
func TestConfirmMorePrompts(t *testing.T) {
	ci.SkipUnderRace(t)
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const planned = 200
		line := metrics.Ramp{Strategy: "linear", From: 2, To: 10, Requests: planned}
		c := simulated(t, metrics.Plan{Ramp: &line, Rate: metrics.Rate(math.Inf(1)), Requests: planned,
			Goodput: demoSLO, Confirm: 20 * time.Second}, 1)
		c.Prompts = first(c.Prompts, planned)
		c.Load.Schedule = shape.At(shape.Ramp{Line: line, Burstiness: 1}.Offsets(planned, numpy.NewLegacy(1)))
		r := begin(t, c)
		run := measureAll(t, r)
		_, loads := confirmations(&run)
		sent, before := 0, 0
		for q, err := range event.Requests(r.journal.Events()) {
			assert.Fine(t, err)
			if sent++; q.Scheduled < paused(&run) {
				before++
			}
		}
		if len(loads) != 1 || sent < planned+60 || before != planned || run.Unsent != 0 || run.Reason != "" {
			t.Errorf("%+v: %d requests, %d of them before, %d unsent, reason %q", loads, sent, before, run.Unsent,
				run.Reason)
		}
	})
}

// first are the first conversations of a flow, after which the others are more of them.
func first(all datasets.Flow, n int) datasets.Flow {
	few := all
	few.More = func() (datasets.Flow, error) { return all, nil }
	few.Next = func() (datasets.Conversation, error) {
		if n--; n < 0 {
			return datasets.Conversation{}, io.EOF
		}
		return all.Next()
	}
	return few
}

// Users are held in whole numbers; a number of prompts ends the plan's part alone.
func TestConfirmUsers(t *testing.T) {
	ci.SkipUnderRace(t)
	t.Parallel()
	// a moment at which they are held
	for prompts, seen := range map[int]time.Duration{0: 75 * time.Second, 200: 53 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			stages := []metrics.Stage{{Load: metrics.Users.Of(1), Length: 20 * time.Second},
				{Start: 20 * time.Second, Load: metrics.Users.Of(3), Length: 20 * time.Second},
				{Start: 40 * time.Second, Load: metrics.Users.Of(90), Length: 20 * time.Second}}
			c := simulated(t, metrics.Plan{
				Rate: metrics.Rate(math.Inf(1)), MaxConcurrency: 1, Duration: time.Minute, Stages: stages,
				Goodput: metrics.SLO{{Metric: metrics.TPOT, LimitMS: 4 * 20}},
				Confirm: 20 * time.Second,
			}, 1)
			if prompts > 0 {
				c.Prompts = first(c.Prompts, prompts)
			}
			r := begin(t, c)
			levels := make(chan int, 1)
			time.AfterFunc(seen, func() {
				n := r.view.Snapshot().Totals
				levels <- n.Sent - n.Completed - n.Failed
			})
			run := measureAll(t, r)
			words, loads := confirmations(&run)
			if len(loads) != 1 || loads[0].Users() != 2 || <-levels != 2 {
				t.Errorf("%d prompts: held %+v: %q", prompts, loads, words)
			}
			if run.Ended < seen || run.Ended > seen+15*time.Second {
				t.Errorf("%d prompts: it took %s", prompts, run.Ended)
			}
		})
	}
}

// A search is followed by a confirmation, and its clock by one too.
func TestConfirmSearch(t *testing.T) {
	ci.SkipUnderRace(t)
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		find := metrics.Find{From: 3, Most: 25, Step: 5 * time.Second, Hold: 10 * time.Second}
		c := simulated(t, metrics.Plan{Rate: 3, Goodput: slowSLO, Find: &find, Duration: 30 * time.Second,
			Confirm: 20 * time.Second}, 8)
		r := begin(t, c)
		run := measureAll(t, r)
		words, _ := confirmations(&run)
		if len(words) < 2 || !strings.HasPrefix(words[0], "info: the load of the plan is over") ||
			!strings.Contains(words[len(words)-1], "confirmation ended") {
			t.Errorf("%q", words)
		}
		if s := r.view.Snapshot().Search; s == nil {
			t.Error("the screen has forgotten the search")
		}
	})
}
