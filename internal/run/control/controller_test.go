package control

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
	"benchtop/loadgen/shape"
	"benchtop/metrics"
)

// rig is a controller and all that it brought about, a line each with its moment.
type rig struct {
	*Controller
	engine *fakeEngine
	lines  []string
	told   metrics.Steering // last
	// answer is what is known of the run, and levels what it follows from.
	answer metrics.Answer
	levels []metrics.LoadLevel
}

// fakeEngine sends nothing.
type fakeEngine struct {
	rig   *rig
	sent  int
	spent bool // nothing more is sent
	load  float64
	held  bool
	// planSent: the plan has no more requests.
	planSent bool
}

func (e *fakeEngine) SetRate(perSecond float64) bool {
	e.load = perSecond
	e.rig.note("rate %.4g", perSecond)
	return true
}
func (e *fakeEngine) SetUsers(users int) { e.SetLimit(users) }
func (e *fakeEngine) SetLimit(users int) { e.load = float64(users); e.rig.note("limit %d", users) }
func (e *fakeEngine) Pause() bool        { e.held = true; e.rig.note("pause"); return true }
func (e *fakeEngine) Resume() bool       { e.held = false; e.rig.note("resume"); return true }
func (e *fakeEngine) StopSending()       { e.spent = true; e.rig.note("stop") }
func (e *fakeEngine) LeavePlan()         { e.rig.note("leave the plan") }
func (e *fakeEngine) PlanSent() bool     { return e.planSent }
func (e *fakeEngine) Dispatched() int    { return e.sent }
func (e *fakeEngine) Sending() bool      { return !e.spent }

// atOnce is why a load without a rate cannot be set.
const atOnce = "needs --request-rate or --max-concurrency: all requests are due at once, so there is no rate to change"

// errNoRoom is what a machine says that has room for a hundred connections.
var errNoRoom = errors.New("no room for so many connections")

// newRig must be called inside a bubble.
func newRig(plan metrics.Plan) *rig {
	g := &rig{}
	g.engine = &fakeEngine{rig: g}
	start := time.Now()
	g.Controller = &Controller{Options: Options{Start: start}} // New tells the first load
	o := Options{Plan: &plan, Start: start, Engine: g.engine, Tell: g.tell,
		Connect: func(n int) { g.note("connect %d", n) }, Room: func(n int) error {
			if n > 100 {
				return errNoRoom
			}
			return nil
		}}
	o.Looks = NewLooks(&plan)
	o.Judged = func() (metrics.Answer, []metrics.LoadLevel) { return g.answer, g.levels }
	if plan.Find != nil {
		o.Trial = NewTrial(&plan)
	}
	g.Controller = New(o)
	return g
}

func (g *rig) note(format string, args ...any) {
	g.lines = append(g.lines, g.now().Round(time.Millisecond).String()+" "+fmt.Sprintf(format, args...))
}

// tell notes an event as it is, a load in force after "=".
func (g *rig) tell(fact any) {
	switch x := fact.(type) {
	case metrics.LogEntry:
		words := x.Text
		if x.Mark != "" {
			words += " [" + x.Mark + "]"
		}
		if x.Set != nil {
			words += " {" + settingWords(*x.Set) + "}"
		}
		if x.Level != metrics.Info {
			words = string(x.Level) + ": " + words
		}
		g.note("%s", words)
	case metrics.Steering:
		words := settingWords(x.LoadSetting)
		if x.Changes > 0 {
			words += fmt.Sprintf(", change %d", x.Changes)
		}
		if x.Search != "" {
			words += ", search: " + x.Search
		}
		if !x.Steerable {
			words += ", fixed: " + x.Why
		}
		g.note("= %s", words)
		g.told = x
	}
}

func settingWords(s metrics.LoadSetting) string {
	words := fmt.Sprintf("%.4g/s", s.Rate())
	if s.Unit == metrics.Users {
		words = fmt.Sprintf("%d users", s.Users())
	}
	if s.RampTo > 0 {
		words += fmt.Sprintf(" to %.4g in %s", s.RampTo, s.RampOver)
	}
	if s.Paused {
		words += ", paused"
	}
	if s.By != "" {
		words += ", by " + string(s.By)
	}
	return words
}

// until moves the controller as its owner does, up to an offset of the run.
func (g *rig) until(at time.Duration) {
	for moves := 0; g.Next() <= at && moves < 10_000; moves++ {
		time.Sleep(g.Next() - g.now())
		g.Move()
	}
	time.Sleep(at - g.now())
}

// order gives a command at a moment.
func (g *rig) order(o order) {
	g.until(seconds(o.at))
	said, ok := g.Command(o.Command)
	g.note("said %q, %t; next move in %s", said, ok, (g.Next() - g.now()).Round(time.Millisecond))
}

// sections are the lines of a file in testdata below their headings.
type sections map[string]string

func golden(t *testing.T, file string) sections {
	t.Helper()
	text := assert.Must(os.ReadFile(filepath.Join("testdata", file)))(t)
	all := sections{}
	for _, section := range strings.Split("\n"+string(text), "\n# ")[1:] {
		name, lines, _ := strings.Cut(section, "\n")
		all[name] = strings.TrimSpace(lines)
	}
	return all
}

func (s sections) check(t *testing.T, name string, lines []string) {
	t.Helper()
	assert.Equal(t, strings.Join(lines, "\n"), s[name], "# %s", name)
}

// seconds is a length of time for tables.
func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// stagesOf are stages of a second each, of rates or users.
func stagesOf(users bool, loads ...int) (all []metrics.Stage) {
	for i, load := range loads {
		stage := metrics.Stage{Start: time.Duration(i) * time.Second, Length: time.Second,
			Load: metrics.Load{Value: float64(load)}}
		if users {
			stage.Unit = metrics.Users
		}
		all = append(all, stage)
	}
	return all
}

func userStage(start, length float64, users int) metrics.Stage {
	return metrics.Stage{Start: seconds(start), Length: seconds(length), Load: metrics.Users.Of(float64(users))}
}

func planRamp(strategy string, from, to, over float64) *metrics.Ramp {
	return &metrics.Ramp{Strategy: strategy, From: from, To: to, Over: seconds(over)}
}

// order is a command at a moment, in seconds.
type order struct {
	at float64
	metrics.Command
}

var (
	infinite = metrics.Rate(math.Inf(1))
	pause    = metrics.Command{Do: metrics.Pause}
	resume   = metrics.Command{Do: metrics.Resume}
)

func set(load float64) metrics.Command { return metrics.Command{Do: metrics.SetLoad, Value: load} }

func ramped(load, over float64) metrics.Command {
	return metrics.Command{Do: metrics.RampLoad, Value: load, Over: seconds(over)}
}

// TestController holds all that a controller does along a plan, and at commands on the way, to testdata/controller.txt.
func TestController(t *testing.T) {
	want := golden(t, "controller.txt")
	for _, c := range []struct {
		name   string
		plan   metrics.Plan
		orders []order
		until  float64
	}{
		{"stages of rates, and a warm-up that ends with the first",
			metrics.Plan{Stages: stagesOf(false, 2, 4), Warmup: seconds(1)}, nil, 3},
		{"a warm-up within a stage", metrics.Plan{Stages: stagesOf(false, 2, 4), Warmup: seconds(.5)}, nil, 3},
		{"a warm-up of a load of one piece", metrics.Plan{Rate: 2, Warmup: seconds(.5)}, nil, 3},
		{"a pause moves stages of rates", metrics.Plan{Stages: stagesOf(false, 2, 4, 8)},
			[]order{{.5, pause}, {1.2, resume}}, 4},
		{"stages of users", metrics.Plan{Stages: stagesOf(true, 1, 3, 2, 3, 4)}, nil, 5},
		{"a long stage of users", metrics.Plan{Stages: []metrics.Stage{userStage(0, 3, 1), userStage(3, 1, 2)}}, nil,
			4},
		{"a short stage of users",
			metrics.Plan{Stages: []metrics.Stage{userStage(0, 2, 1), userStage(2, .5, 2), userStage(2.5, 1, 3)}}, nil,
			4},
		{"a pause leaves stages of users", metrics.Plan{Stages: stagesOf(true, 1, 1, 2)},
			[]order{{.5, pause}, {1.2, resume}}, 3},
		{"users that are set end the stages", metrics.Plan{Stages: stagesOf(true, 1, 2)}, []order{{.5, set(3.4)}}, 3},
		{"a rate that is set ends the stages", metrics.Plan{Stages: stagesOf(false, 1, 2)}, []order{{.5, set(3.4)}}, 3},
		{"a load that is set ends a pause", metrics.Plan{Rate: 2}, []order{{.5, pause}, {.7, set(3)}, {.8, resume}}, 2},
		{"a ramp", metrics.Plan{Rate: 2}, []order{{.5, ramped(5, .3)}}, 2},
		{"a ramp ends a pause", metrics.Plan{Rate: 2}, []order{{.2, pause}, {.3, pause}, {.5, ramped(5, .1)}}, 2},
		{"a pause ends a ramp", metrics.Plan{Rate: 2}, []order{{.5, ramped(4, .4)}, {.75, pause}, {1, resume}}, 2},
		{"a load that is set ends a ramp", metrics.Plan{Rate: 2}, []order{{.5, ramped(4, .4)}, {.75, set(1)}}, 2},
		{"ramps of users", metrics.Plan{Rate: infinite, MaxConcurrency: 2},
			[]order{{.5, ramped(5, .4)}, {1.5, ramped(4, .1)}}, 2},
		{"one user", metrics.Plan{Rate: infinite, MaxConcurrency: 2}, []order{{.5, set(1)}}, 2},
		{"a pause of users", metrics.Plan{Rate: infinite, MaxConcurrency: 2}, []order{{.5, pause}, {.7, resume}}, 2},
		{"the plan's ramp, and a pause that moves it", metrics.Plan{Ramp: planRamp("linear", 2, 6, 2)},
			[]order{{.7, pause}, {1.2, resume}}, 3},
		{"an exponential ramp of the plan", metrics.Plan{Ramp: planRamp("exponential", 1, 4, 1)},
			[]order{{.6, pause}, {.7, resume}, {1.8, pause}, {1.9, resume}}, 2},
		{"a ramp over requests", metrics.Plan{Requests: 11, Ramp: planRamp("linear", 1, 11, 0)},
			[]order{{.7, pause}, {.8, resume}}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newRig(c.plan)
				g.engine.sent = 5
				g.Begin()
				for _, o := range c.orders {
					g.order(o)
				}
				if g.until(seconds(c.until)); g.Changed() != (len(c.orders) > 0) {
					t.Errorf("changed: %t", g.Changed())
				}
				want.check(t, c.name, g.lines)
			})
		})
	}
}

// A pause by the machine that leads the run moves the plan here, and is told by that one.
func TestPauseOfPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(metrics.Plan{Stages: stagesOf(false, 2, 4, 8)})
		g.Led = true
		g.Begin()
		g.until(seconds(.5))
		g.Pause()
		g.until(seconds(1.2))
		g.Resume()
		if g.until(seconds(2.5)); g.told.Value != 4 || g.Changed() {
			t.Errorf("it sends at %s in the second stage, changed: %t", g.told, g.Changed())
		}
	})
}

// A command that cannot be followed is refused in words, and changes nothing.
func TestControllerRefuses(t *testing.T) {
	rate, users := metrics.Plan{Rate: 2}, metrics.Plan{Rate: infinite, MaxConcurrency: 2}
	parts := metrics.Plan{Rate: infinite, MaxConcurrency: 6, Part: metrics.Part{N: 3}}
	for _, c := range []struct {
		name    string
		plan    metrics.Plan
		command metrics.Command
		want    string // "" for a command that is followed
	}{
		{"a rate of nothing", rate, set(0), "a rate must be above 0 and at most 1e+06 req/s; P pauses"},
		{"a rate below nothing", rate, set(-1), "a rate must be above 0 and at most 1e+06 req/s; P pauses"},
		{"no number", rate, set(math.NaN()), "a rate must be above 0 and at most 1e+06 req/s; P pauses"},
		{"the highest rate", rate, set(1e6), ""},
		{"a higher one", rate, set(1.000001e6), "a rate must be above 0 and at most 1e+06 req/s; P pauses"},
		{"a ramp to nothing", rate, ramped(0, 1), "a rate must be above 0 and at most 1e+06 req/s; P pauses"},
		{"a ramp in no time", rate, ramped(1, 0), "a ramp needs a time, such as 30s"},
		{"a ramp without end", rate, ramped(1, shape.LongestRun.Seconds()+1), "a ramp needs a time, such as 30s"},
		{"the longest ramp", rate, ramped(1, shape.LongestRun.Seconds()), ""},
		{"nothing to resume", rate, resume, "not paused"},
		{"no command", rate, metrics.Command{Do: "sing"}, `unknown command "sing"`},
		{"all at once", metrics.Plan{Rate: infinite}, set(1), atOnce},
		{"a trace", metrics.Plan{Rate: infinite, Trace: true}, set(1),
			"needs --no-self-timed and --request-rate: the trace sets the times, so there is no rate to change"},
		{"a pause of all at once", metrics.Plan{Rate: infinite}, pause, atOnce},
		{"no user", users, set(.49), "1 to 1000000 users; P pauses"},
		{"half a user", users, set(.5), ""},
		{"no number of users", users, set(math.NaN()), "1 to 1000000 users; P pauses"},
		{"too many users", users, set(1_000_001), "1 to 1000000 users; P pauses"},
		{"fewer users than machines", parts, set(2), "3 to 1000000 users; P pauses"},
		{"a user for each machine", parts, set(3), ""},
		{"users without room", users, set(101), errNoRoom.Error()},
		{"users with room", users, set(100.4), ""},
		{"a ramp of users without room", users, ramped(101, 1), errNoRoom.Error()},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newRig(c.plan)
				before := len(g.lines)
				if said, ok := g.Command(c.command); ok != (c.want == "") || !ok && said != c.want {
					t.Errorf("said %q, want %q", said, c.want)
				}
				if got := g.lines[before:]; (len(got) == 0) != (c.want != "") {
					t.Errorf("it did %q", got)
				}
				g.engine.spent = true
				if said, ok := g.Command(resume); ok || said != "all requests have been sent" {
					t.Errorf("when all is sent: %q", said)
				}
			})
		})
	}
}

// A controller that is closed tells so once, and does nothing any more.
func TestControllerCloses(t *testing.T) {
	for _, c := range []struct {
		name, why string
		plan      metrics.Plan
	}{
		{"a rate", "no new requests are sent", metrics.Plan{Stages: stagesOf(false, 2, 4), Warmup: seconds(1)}},
		{"all at once", atOnce, metrics.Plan{Rate: infinite}},
	} {
		synctest.Test(t, func(t *testing.T) {
			g := newRig(c.plan)
			g.Begin()
			g.order(order{.2, ramped(4, 5)})
			g.until(seconds(.5))
			g.Close()
			if g.told.Steerable || g.told.Why != c.why || g.told.Ramping() {
				t.Errorf("%s: told %+v", c.name, g.told)
			}
			before := len(g.lines)
			g.Close()
			time.Sleep(time.Minute)
			g.Move()
			if said, ok := g.Command(pause); ok || said != "all requests have been sent" {
				t.Errorf("%s: said %q", c.name, said)
			}
			if got := g.lines[before:]; len(got) > 0 || g.Next() != never {
				t.Errorf("%s: afterwards %q, next at %s", c.name, got, g.Next())
			}
		})
	}
}
