package run

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
	"benchtop/internal/attach"
	"benchtop/metrics"
)

// Keys end a run as signals do, and a run that is over refuses commands.
func TestKeysEndARun(t *testing.T) {
	for do, want := range map[metrics.CommandKind]string{metrics.Drain: metrics.StoppedByUser,
		metrics.Abort: metrics.AbortedByUser} {
		synctest.Test(t, func(t *testing.T) {
			r := begin(t, small(t, metrics.Plan{}, 100))
			time.AfterFunc(time.Second, func() { r.Command(metrics.Command{Do: metrics.SetLoad, Value: 5}) })
			time.AfterFunc(2*time.Second, func() {
				if said, ok := r.Command(metrics.Command{Do: do}); said != "" || !ok {
					t.Errorf("%s: said %q, %t", do, said, ok)
				}
				said, ok := r.Command(metrics.Command{Do: metrics.Pause})
				if ending := said == "the run is ending; no new requests are sent" ||
					do == metrics.Abort && said == "the run is over"; ok || !ending {
					t.Errorf("after %s: said %q", do, said)
				}
			})
			if run := measureAll(t, r); run.Reason != want || run.Unsent < 50 {
				t.Errorf("%s: reason %q, %d unsent", do, run.Reason, run.Unsent)
			}
		})
	}
}

// A command that comes when there is no owner any more is refused, and signals do nothing.
func TestCommandsAfterClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, o := do(t, small(t, metrics.Plan{}, 1))
		for _, kind := range []metrics.CommandKind{metrics.Pause, metrics.Drain, metrics.Save} {
			if said, ok := r.Command(metrics.Command{Do: kind}); said != "the run is over" || ok {
				t.Errorf("%s: said %q, %t", kind, said, ok)
			}
		}
		r.Signal(syscall.SIGTERM)
		r.ScreenLeft()
		r.Inspect(metrics.Inspection{Rows: true})
		if said := r.config.Terminal.(*noTerminal).said; len(said) > 0 || r.phase != Saved || o.Err != nil {
			t.Errorf("the terminal was %q, phase %s: %v", said, r.phase, o.Err)
		}
	})
}

// After two requests to stop a user who leaves the dashboard leaves the run.
func TestScreenLeft(t *testing.T) {
	for _, c := range []struct {
		phase Phase
		left  bool
	}{{Running, false}, {Draining, false}, {Aborting, true}, {Finishing3, true}, {Saved, false}} {
		synctest.Test(t, func(t *testing.T) {
			r := begin(t, small(t, metrics.Plan{}, 1))
			r.call(func() { r.phase = c.phase })
			r.ScreenLeft()
			synctest.Wait()
			if got := strings.Join(r.config.Terminal.(*noTerminal).said, " "); (got == "left") != c.left ||
				!c.left && got != "" {
				t.Errorf("%s: the terminal was %q", c.phase, got)
			}
		})
	}
}

// The run's own dashboard and other terminals inspect requests together: of two opened ones that of the run's own
// counts.
func TestInspectionsOfTwoScreens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := begin(t, small(t, metrics.Plan{}, 5))
		seen := func() (rows bool, opened int) {
			s := r.view.Snapshot()
			if s.Opened != nil {
				opened = s.Opened.Index + 1
			}
			return len(s.Requests) > 0, opened
		}
		measureAll(t, r)
		for _, c := range []struct {
			own, others metrics.Inspection
			rows        bool
			opened      int
		}{
			{metrics.Inspection{}, metrics.Inspection{}, false, 0},
			{metrics.Inspection{Rows: true}, metrics.Inspection{}, true, 0},
			{metrics.Inspection{}, metrics.Inspection{Rows: true}, true, 0},
			{metrics.Inspection{Open: 2}, metrics.Inspection{Rows: true, Open: 3}, true, 2},
			{metrics.Inspection{}, metrics.Inspection{Open: 3}, false, 3},
		} {
			r.Inspect(c.own)
			attachHost{r}.Inspect(c.others)
			if rows, opened := seen(); rows != c.rows || opened != c.opened {
				t.Errorf("%+v and %+v: rows %t, request %d opened", c.own, c.others, rows, opened)
			}
		}
	})
}

// Other terminals may change a run once its own is lost, also one that was lost before.
func TestControllable(t *testing.T) {
	for _, lost := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := small(t, metrics.Plan{}, 1)
			c.Lost, c.SurviveHangUp = lost, true
			r := begin(t, c)
			assert.Equal(t, (attachHost{r}).Controllable(), lost, "lost before %t: controllable %t", lost, !lost)
			r.TerminalLost()
			if !(attachHost{r}).Controllable() || (attachHost{r}).Snapshot().Plan == nil {
				t.Error("it cannot be controlled")
			}
		})
	}
}

// A run can be joined from its socket. Where it cannot have one it goes on, and its log says so.
func TestHost(t *testing.T) {
	for _, c := range []struct {
		name string
		mode os.FileMode
		want string // in the log
	}{
		{"private", 0o700, ""},
		{"open to others", 0o755, "warn: other terminals cannot join this run: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "bt") // the path of a socket must be short
			assert.Fine(t, err)
			defer os.RemoveAll(dir)
			t.Setenv("XDG_RUNTIME_DIR", dir)
			t.Setenv("TMPDIR", dir)
			assert.Fine(t, os.Mkdir(filepath.Join(dir, "benchtop"), c.mode))
			r := begin(t, small(t, metrics.Plan{ModelID: "m"}, 1))
			r.Host("v1")
			all, err := attach.Find()
			if joined := c.want == ""; joined != (len(all) == 1) || joined && err != nil {
				t.Fatalf("found %+v, %v", all, err)
			}
			if c.want != "" {
				log := texts(t, r)
				if !strings.HasPrefix(log[len(log)-1], c.want) {
					t.Errorf("the log is %q", log)
				}
				if said := r.config.Terminal.(*noTerminal).said; len(said) != 1 || "warn: "+said[0] != log[len(log)-1] {
					t.Errorf("the terminal says %q", said)
				}
				return
			}
			v := assert.Must(attach.Dial(all[0].Path, "v1"))(t)
			defer v.Close()
			if s := <-v.Snapshots(); s.Plan == nil || s.Plan.ModelID != "m" || all[0].About.Model != "m" {
				t.Errorf("a viewer sees %+v", s.Plan)
			}
		})
	}
}
