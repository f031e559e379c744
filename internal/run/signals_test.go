package run

import (
	"math"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
	"benchtop/loadgen/shape"
	"benchtop/metrics"
)

// Every way out ends with a report that has what was measured until then, and says why it ended.
func TestSignals(t *testing.T) {
	const hup, term, interrupt, quit = syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT
	for _, c := range []struct {
		name       string
		signals    []os.Signal // half a second apart, the first after 3.1 s
		survive    bool
		conclusion metrics.Conclusion
		reason     string
		ended      float64 // seconds
		terminal   string
	}{
		{"Ctrl-C", []os.Signal{interrupt}, false, metrics.Fine, metrics.StoppedByUser, 5.3, ""},
		{"Ctrl-C twice", []os.Signal{interrupt, interrupt}, false, metrics.Aborted, metrics.AbortedByUser, 3.6, ""},
		{"SIGQUIT", []os.Signal{quit}, false, metrics.Aborted, metrics.AbortedByUser, 3.1, ""},
		{"SIGTERM", []os.Signal{term}, false, metrics.Terminated, metrics.EndedBySIGTERM, 5.1, "closed hastened"},
		{"SIGTERM twice", []os.Signal{term, term}, false, metrics.Terminated, metrics.EndedBySIGTERM, 3.6,
			"closed hastened"},
		{"the terminal lost", []os.Signal{hup}, false, metrics.HungUp, metrics.TerminalLost, 5.1, "closed hastened"},
		{"lost, and seen twice", []os.Signal{hup, hup}, false, metrics.HungUp, metrics.TerminalLost, 5.1,
			"closed hastened"},
		{"lost, and SIGTERM", []os.Signal{hup, term}, false, metrics.Terminated, metrics.EndedBySIGTERM, 5.1,
			"closed hastened closed hastened"},
		{"SIGTERM, and lost", []os.Signal{term, hup}, false, metrics.Terminated, metrics.EndedBySIGTERM, 5.1,
			"closed hastened"},
		{"Ctrl-C, and SIGTERM", []os.Signal{interrupt, term}, false, metrics.Terminated, metrics.EndedBySIGTERM, 5.3,
			"closed hastened"},
		{"SIGTERM, and Ctrl-C", []os.Signal{term, interrupt}, false, metrics.Aborted, metrics.AbortedByUser, 3.6,
			"closed hastened"},
		{"lost, and it goes on", []os.Signal{hup, hup}, true, metrics.Fine, "", 11.8, "closed hastened"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				config := simulated(t, metrics.Plan{Rate: 2, Burstiness: math.Inf(1), Requests: 20}, 3)
				var offsets []time.Duration
				for i := range 20 {
					offsets = append(offsets, time.Duration(i)*500*time.Millisecond)
				}
				config.Load.Schedule, config.SurviveHangUp = shape.At(offsets), c.survive
				r := assert.Must(New(*config))(t)
				for i, sig := range c.signals {
					time.AfterFunc(3100*time.Millisecond+time.Duration(i)*500*time.Millisecond,
						func() { r.Signal(sig) })
				}
				o := r.Do()
				r.Close()
				var reason string
				if o.Report.Interrupted != nil {
					reason = o.Report.Interrupted.Reason
				}
				if o.Err != nil || o.Report.Conclusion != c.conclusion || reason != c.reason ||
					o.Report.Completed == 0 {
					t.Errorf("conclusion %d, reason %q, %d requests, error %v", o.Report.Conclusion, reason,
						o.Report.Completed, o.Err)
				}
				if got := o.Report.Ended.Seconds(); math.Abs(got-c.ended) > 0.15 {
					t.Errorf("ended after %.2f s, want %.2f", got, c.ended)
				}
				assert.Equal(t, strings.Join(config.Terminal.(*noTerminal).said, " "), c.terminal, "the terminal")
			})
		})
	}
}

// A third request to stop leaves at once; the load goes on to its end by itself, so what was measured is not lost.
func TestThirdRequestLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := bare()
		r := journalOn(t, &readDisk{})
		terminal := c.Terminal.(*noTerminal)
		r.config.Terminal, r.phase = terminal, Aborting
		r.step(interrupt)
		synctest.Wait()
		assert.Fine(t, r.journal.Close())
		assert.EqualAll(t, terminal.said, []string{"closed", "left"}, "the terminal")
	})
}

// A run that came to its end stays what it is, whatever is asked for while its result is being saved.
func TestSignalsWhileSaving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := simulated(t, metrics.Plan{Rate: 5, Requests: 1}, 1)
		c.Load.Schedule = shape.At([]time.Duration{0})
		r := begin(t, c)
		run := measureAll(t, r)
		for _, sig := range []os.Signal{syscall.SIGTERM, syscall.SIGHUP, os.Interrupt} {
			r.Signal(sig)
		}
		r.Command(metrics.Command{Do: metrics.Abort})
		if run.Reason != "" || r.reason != "" || r.patient.Err() == nil {
			t.Errorf("reason %q and %q, hurried: %v", run.Reason, r.reason, r.patient.Err())
		}
	})
}

// Stages that a drain keeps from beginning are not announced.
func TestDrainEndsStages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := simulated(t, metrics.Plan{Rate: 1, Requests: 100, Duration: time.Hour,
			Stages: []metrics.Stage{{Length: 5 * time.Second, Load: metrics.Load{Value: 1}},
				{Start: 5 * time.Second, Length: time.Hour, Load: metrics.Load{Value: 2}}}}, 10)
		c.Load.Schedule = shape.At([]time.Duration{0, time.Second, 2 * time.Second, time.Hour})
		r := begin(t, c)
		time.AfterFunc(4900*time.Millisecond, func() { r.do(drain) })
		time.AfterFunc(10*time.Second, r.load.Move) // has nothing to do any more
		run := measureAll(t, r)
		var stages []string
		for _, e := range run.Events {
			if strings.HasPrefix(e.Text, "stage") {
				stages = append(stages, e.Text)
			}
		}
		if len(stages) != 1 || run.Reason != metrics.StoppedByUser {
			t.Errorf("stages %q, reason %q", stages, run.Reason)
		}
	})
}

// A signal that comes while requests are cut does not take the reason of the highest rank away.
func TestRankOfReasons(t *testing.T) {
	r := &Run{config: *bare(), phase: Aborting, reason: metrics.AbortedByUser}
	for _, on := range []command{terminate, hangUp} {
		if r.step(on); r.reason != metrics.AbortedByUser {
			t.Errorf("after %s: %q", on, r.reason)
		}
	}
}

// A bug in a command, or in a move of the load, is logged and ends neither the process nor the run; one in the way of
// the run itself ends the run in order.
func TestBugInACommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := simulated(t, metrics.Plan{Rate: metrics.Rate(math.Inf(1)), MaxConcurrency: 1, Requests: 4}, 1)
		c.Load.Schedule = shape.At([]time.Duration{0, time.Second, 2 * time.Second, 3 * time.Second})
		c.Room = func(int) error { panic("no such room") }
		r := assert.Must(New(*c))(t)
		time.AfterFunc(time.Second, func() {
			if _, ok := r.Command(metrics.Command{Do: metrics.SetLoad, Value: 2}); ok {
				t.Error("the command is carried out")
			}
		})
		o := r.Do()
		r.Close()
		if o.Err != nil || o.Report.Completed == 0 {
			t.Errorf("%d requests, error %v", o.Report.Completed, o.Err)
		}
		if !slices.ContainsFunc(o.Report.Events, func(e metrics.LogEntry) bool {
			return e.Level == metrics.Error && e.Text == "benchtop failed in a command; the run continues: no such room"
		}) {
			t.Errorf("the log is %+v", o.Report.Events)
		}
	})
	defer func() {
		if bug := recover(); bug == nil || !strings.HasPrefix(bug.(error).Error(), "no such thing") {
			t.Errorf("the run itself went on: %v", bug)
		}
	}()
	r := begin(t, simulated(t, metrics.Plan{Rate: 1}, 1))
	r.must(func() { panic("no such thing") })
}

// The reason for the end of a run is logged before its consequences.
func TestReasonComesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		find := metrics.Find{From: 4, Most: 200, Step: 10 * time.Second, Hold: 30 * time.Second}
		r := begin(t, simulated(t,
			metrics.Plan{Rate: 4, Goodput: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 500}}, Find: &find}, 1))
		time.AfterFunc(5*time.Second, func() { r.do(drain) })
		run := measureAll(t, r)
		var texts []string
		for _, e := range run.Events {
			if strings.HasPrefix(e.Text, "stopped") || strings.HasPrefix(e.Text, "search: no result") {
				texts = append(texts, e.Text)
			}
		}
		if len(texts) != 2 || !strings.HasPrefix(texts[0], "stopped") {
			t.Errorf("the log says %q", texts)
		}
	})
}
