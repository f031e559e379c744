package tui

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/muesli/termenv"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/tui/panels"
	"benchtop/tui/screen"
	"benchtop/tui/tuitest"
)

// steered is a run whose load can be set, now at a rate.
func steered(rate float64) metrics.Snapshot {
	s := tuitest.Mid()
	s.Steering = metrics.Steering{LoadSetting: metrics.LoadSetting{Load: metrics.Load{Value: rate}}, Steerable: true}
	return s
}

func steeredAt34() metrics.Snapshot { return steered(34) }

// inUsers is a plan of users.
var inUsers = &metrics.Plan{Find: &metrics.Find{Unit: metrics.Users}}

// ordered types keys at a run and returns the commands.
func ordered(s metrics.Snapshot, keys ...string) ([]metrics.Command, *model) {
	m := open(s, 100, 30, termenv.Ascii)
	press(m, keys...)
	return m.Control.(*control).orders, m
}

// The next key does not start from a load that was refused.
func TestRefusedLoad(t *testing.T) {
	m := open(steered(95), 100, 30, termenv.Ascii)
	c := m.Control.(*control)
	c.most = 100
	press(m, strings.Fields("c } -")...)
	if want := []metrics.Command{set(105), set(94)}; !cmp.Equal(c.orders, want) {
		t.Errorf("ordered %+v, want %+v", c.orders, want)
	}
}

func set(v float64) metrics.Command { return metrics.Command{Do: metrics.SetLoad, Value: v} }

func TestLoadKeys(t *testing.T) {
	users := steered(0)
	users.Steering.Load, users.Plan = metrics.Users.Of(16), inUsers
	paused := steered(34)
	paused.Steering.Paused = true
	planned := steered(0) // the plan's rate is in force: 4 to 80 in 60 s
	ramp := metrics.Command{Do: metrics.RampLoad, Value: 40, Over: time.Minute}
	for _, c := range []struct {
		name string
		s    metrics.Snapshot
		keys string
		want []metrics.Command
	}{
		{"without control", steered(34), "+-{}PiRH", nil},
		{"steps", steered(34), "c + + -", []metrics.Command{set(35), set(36), set(35)}},
		{"ten steps", steered(34), "c } {", []metrics.Command{set(44), set(34)}},
		{"small rates", steered(1.9), "c + + - -", []metrics.Command{set(2), set(3), set(2), set(1.9)}},
		{"a tenth is the least", steered(0.2), "c - -", []metrics.Command{set(0.1), set(0.1)}},
		{"ten small steps", steered(1.5), "c }", []metrics.Command{set(7)}},
		{"round ones from between", steered(7.345), "c + +", []metrics.Command{set(8), set(9)}},
		{"down from between", steered(1.2345), "c - -", []metrics.Command{set(1.2), set(1.1)}},
		{"down to tenths", steered(2.5), "c - -", []metrics.Command{set(2), set(1.9)}},
		{"users", users, "c + { -", []metrics.Command{set(17), set(7), set(6)}},
		{"from the plan", planned, "c +", []metrics.Command{set(81)}},
		{"without a number", steered(math.Inf(1)), "c +", nil},
		{"pause and go on", steered(34), "c P P", []metrics.Command{{Do: metrics.Pause}, {Do: metrics.Resume}}},
		{"hold", steered(34), "c H", []metrics.Command{{Do: metrics.HoldLoad}}},
		{"go on", paused, "c P", []metrics.Command{{Do: metrics.Resume}}},
		{"set", steered(34), "c i 1 2 . 5 enter", []metrics.Command{set(12.5)}},
		{"set nonsense, then right", steered(34), "c i x enter backspace 7 enter", []metrics.Command{set(7)}},
		{"users are whole", users, "c i 1 . 5 enter", nil},
		{"set and leave", steered(34), "c i 5 esc", nil},
		{"set and step", steered(34), "c i 5 enter +", []metrics.Command{set(5), set(6)}},
		{"ramp", steered(34), "c R 4 0 SPACE i n SPACE 6 0 s enter y", []metrics.Command{ramp}},
		{"ramp, seconds understood", steered(34), "c R 4 0 SPACE 6 0 enter y", []metrics.Command{ramp}},
		{"ramp, not confirmed", steered(34), "c R 4 0 SPACE 6 0 enter enter", nil},
		{"ramp, no time", steered(34), "c R 4 0 enter", nil},
		{"control off again", steered(34), "c c +", nil},
		{"not this run", tuitest.Mid(), "c +", nil},
		{"over", tuitest.Done(), "c +", nil},
	} {
		keys := strings.Fields(strings.ReplaceAll(c.keys, "SPACE", "\u2423"))
		if c.name == "without control" {
			keys = strings.Split(c.keys, "")
		}
		for i, k := range keys {
			if k == "\u2423" {
				keys[i] = " "
			}
		}
		if got, _ := ordered(c.s, keys...); !cmp.Equal(got, c.want, cmpopts.EquateEmpty()) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// A pending load counts until the run has counted all changes, or does not answer.
func TestStepsAddUp(t *testing.T) {
	_, m := ordered(steered(10), "c", "+", "+")
	s := steered(11) // of the first order only
	s.Steering.Changes = 1
	m.Update(snapshotMsg{s})
	press(m, "+")
	if got := m.Control.(*control).orders; !cmp.Equal(got[2], set(13)) {
		t.Errorf("after one of two orders came: %v", got)
	}
	s = steered(13)
	s.Steering.Changes = 3
	m.Update(snapshotMsg{s})
	s.Steering.Value = 20 // another terminal set it
	s.Steering.Changes = 4
	m.Update(snapshotMsg{s})
	press(m, "+")
	if got := m.Control.(*control).orders; !cmp.Equal(got[3], set(21)) {
		t.Errorf("after all orders came: %v", got)
	}
	for range pendingTicks {
		m.Update(tickMsg{})
	}
	press(m, "+")
	if got := m.Control.(*control).orders; !cmp.Equal(got[4], set(21)) {
		t.Errorf("after the run did not listen: %v", got)
	}
}

// Where the load cannot be set, the keys say why.
func TestNoControl(t *testing.T) {
	stopping := steered(34)
	stopping.State = metrics.Draining
	atOnce := tuitest.Mid()
	atOnce.Steering.Why = "needs \x1b[2J--request-rate"
	for _, c := range []struct {
		name   string
		s      metrics.Snapshot
		change func(*model)
		key    string
		want   string
	}{
		{"not steerable", tuitest.Mid(), nil, "c", "cannot be changed"},
		{"not steerable, with a reason", atOnce, nil, "c", "needs --request-rate"},
		{"first c", steered(34), nil, "+", "press c"},
		{"over", tuitest.Done(), nil, "c", "the run is over"},
		{"stopping", stopping, nil, "c", "the run is stopping"},
		{"read only", steered(34), func(m *model) { m.ReadOnly = true }, "P", "read only"},
		{"replay", steered(34), func(m *model) { m.Player = &player{} }, "i", "a replay cannot"},
		{"read only, save", steered(34), func(m *model) { m.ReadOnly = true }, "s", "read only"},
	} {
		m := open(c.s, 120, 30, termenv.Ascii)
		if c.change != nil {
			c.change(m)
		}
		press(m, c.key)
		if got := lastLine(m); !strings.Contains(got, c.want) || m.controls || m.Control.(*control).orders != nil {
			t.Errorf("%s: %q, control %v, want %q", c.name, got, m.controls, c.want)
		}
	}
}

func lastLine(m *model) string {
	all := strings.Split(m.View(), "\n")
	return all[len(all)-1]
}

func firstLines(m *model) string { return strings.Join(strings.Split(m.View(), "\n")[:2], "\n") }

func TestControlIsShown(t *testing.T) {
	set := func(change func(*metrics.Snapshot)) metrics.Snapshot {
		s := steered(34)
		s.Steering.Changes = 1
		change(&s)
		return s
	}
	for _, c := range []struct {
		s    metrics.Snapshot
		keys []string
		want []string
		not  string
	}{
		{steered(34), nil, []string{"● RUN"}, "CONTROL"},
		{steered(34), []string{"c"}, []string{"CONTROL", "● RUN"}, "set 34"},
		{set(func(*metrics.Snapshot) {}), nil, []string{"set 34 req/s"}, "PAUSED"},
		{set(func(s *metrics.Snapshot) { s.Steering.Paused = true }), nil, []string{"‖ PAUSED", "set 34 req/s"}, "RUN"},
		{set(func(s *metrics.Snapshot) {
			s.Steering.Paused, s.Search = true, &metrics.Search{Phase: metrics.SearchDraining}
		}), nil, []string{"◐ SEARCH (draining)"}, "PAUSED"},
		{set(func(s *metrics.Snapshot) { s.Steering.Paused, s.Steering.By = true, metrics.ByConfirm }), nil,
			[]string{"◐ CONFIRM (draining)"}, "set 34"},
		{set(func(s *metrics.Snapshot) { s.Steering.RampTo, s.Steering.RampOver = 60, time.Minute }), nil,
			[]string{"ramp to 60 req/s"}, "set"},
		{set(func(s *metrics.Snapshot) { s.Steering.Load, s.Plan = metrics.Users.Of(12), inUsers }), nil,
			[]string{"set 12 users"}, "set 34"},
	} {
		m := open(c.s, 160, 40, termenv.Ascii)
		press(m, c.keys...)
		got := firstLines(m)
		assert.Has(t, got, c.want...)
		assert.Lacks(t, got, c.not)
	}
}

func TestObjectivesPrompt(t *testing.T) {
	m := open(tuitest.Judge(tuitest.Mid()), 100, 30, termenv.Ascii)
	press(m, "o")
	assert.Has(t, m.View(), "ttft:500 tpot:40│")
	press(m, "ctrl+u")
	m.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("ttft:200 itl:3"), Paste: true})
	press(m, "enter")
	if !strings.Contains(m.View(), `unknown metric "itl"`) || len(m.Control.(*control).objectives) > 0 {
		t.Errorf("no error:\n%s", m.View())
	}
	for range "itl:3" {
		press(m, "backspace")
	}
	press(m, "enter")
	press(m, "o", "ctrl+u", "enter")
	want := []metrics.SLO{{{Metric: metrics.TTFT, LimitMS: 200}}, {}}
	assert.Same(t, "objectives set", m.Control.(*control).objectives, want)
	if got := lastLine(m); !strings.HasPrefix(got, "objectives set") {
		t.Errorf("bottom line: %q", got)
	}
}

func TestParseObjectives(t *testing.T) {
	for in, want := range map[string]string{
		"": " <nil>", "ttft:500": "ttft:500 <nil>", "TTFT:500, tpot:50": "ttft:500 tpot:50 <nil>",
		"ttft:1 ttft:2": "ttft:2 <nil>",
		"ttft":          "NAME:MILLISECONDS", "ttft:x": "is not a number", "ttft:0": "more than 0",
		"ttft:inf": "more than 0",
		"itl:3":    "unknown metric",
	} {
		slo, err := parseObjectives(in)
		if got := fmt.Sprint(slo, " ", err); !strings.Contains(got, want) || err == nil && slo == nil {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// The objectives in force are those that are judged by, on every panel.
func TestObjectivesInForce(t *testing.T) {
	s := tuitest.Judge(tuitest.Mid())
	s.Objectives = metrics.SLO{{Metric: metrics.E2EL, LimitMS: 3000}}
	m := open(s, 160, 44, termenv.Ascii)
	if got := m.View(); !strings.Contains(got, "E2EL≤3s") || strings.Contains(got, "TTFT≤500ms") {
		t.Errorf("objectives:\n%s", got)
	}
	s.Objectives = metrics.SLO{}
	m.Update(snapshotMsg{s})
	m.show()
	assert.Lacks(t, m.View(), "≤")
}

func TestNoticesGo(t *testing.T) {
	m := open(tuitest.Mid(), 100, 30, termenv.Ascii)
	press(m, "s")
	if got := lastLine(m); !strings.HasPrefix(got, "saved so far") || !strings.Contains(got, "q drain & report") {
		t.Errorf("bottom line: %q", got)
	}
	for range 7 {
		m.Update(tickMsg{})
	}
	if got := lastLine(m); !strings.HasPrefix(got, "saved so far") {
		t.Errorf("gone after 3.5 s: %q", got)
	}
	m.Update(tickMsg{})
	if got := lastLine(m); !strings.HasPrefix(got, "1-6 page") {
		t.Errorf("there after 4 s: %q", got)
	}
	// After the end, where nothing ticks any more, it goes as well.
	m.Update(snapshotMsg{tuitest.Done()})
	m.Update(endMsg{})
	m.Update(tickMsg{})
	if m.ticking {
		t.Fatal("ticks go on after the end")
	}
	m.tick = func() tea.Cmd { return func() tea.Msg { return tickMsg{} } }
	if cmd := press(m, "t"); cmd == nil || cmd() != (tickMsg{}) {
		t.Error("no tick for a notice after the end")
	}
	for range 8 {
		m.Update(tickMsg{})
	}
	if got := lastLine(m); !strings.HasPrefix(got, "1-6 page") || m.ticking {
		t.Errorf("after the end: %q, ticking %v", got, m.ticking)
	}
}

func TestLook(t *testing.T) {
	s := tuitest.Full()
	m := open(s, 120, 40, termenv.Ascii)
	press(m, "5", "j", "enter", "esc", "1")
	var opened int
	looks := m.Control.(*control).looks
	for _, l := range looks {
		if l.Open > 0 {
			opened = l.Open
		}
	}
	want := []metrics.Inspection{{Rows: true}, {Rows: true, Open: opened}, {Rows: true}, {}}
	if opened == 0 || !slices.Equal(looks, want) {
		t.Errorf("looks %v, want %v", looks, want)
	}
}

func TestScrollBack(t *testing.T) {
	m := open(tuitest.Mid(), 120, 40, termenv.Ascii)
	press(m, "[", "[", "[", "[") // 30 s of 62
	press(m, ",")
	if got := m.View(); !strings.Contains(got, "  until 00:47  ") || !strings.Contains(got, "┴0:20") ||
		!strings.Contains(got, "─0:47╯") {
		t.Errorf("scrolled by half a window:\n%s", got)
	}
	// They stand still while the run goes on.
	later := tuitest.Mid()
	later.At += 5 * time.Second
	for i := range 5 {
		w := later.Windows[len(later.Windows)-1].Clone()
		w.Start += time.Duration(i+1) * time.Second
		later.Windows = append(slices.Clip(later.Windows), w)
	}
	at := panels.ClosedEnd(m.shown) - m.back(m.shown)
	m.Update(snapshotMsg{later})
	m.show()
	if now := panels.ClosedEnd(m.shown) - m.back(m.shown); now != at {
		t.Errorf("the charts ended at %s, now at %s", at, now)
	}
	press(m, ".", ".")
	if m.until != 0 || strings.Contains(m.View(), "until") {
		t.Errorf("not back at now:\n%s", m.View())
	}
	press(m, ",", ",", ",", ",", ",", ",")
	if end := panels.ClosedEnd(m.shown) - m.back(m.shown); end != 30*time.Second {
		t.Errorf("scrolled to the beginning the charts end at %s, want 30s", end)
	}
	press(m, "esc")
	assert.Equal(t, m.until, 0, "Esc did not go back to now")
	press(m, "]", "]", "]", "]", "]", "]", ",")
	assert.Equal(t, m.until, 0, "the whole run was scrolled")
}

func TestLogFilter(t *testing.T) {
	m := open(tuitest.Bad(), 100, 30, termenv.Ascii)
	press(m, "6", "/")
	press(m, strings.Split("GREW", "")...)
	if got := m.View(); !strings.Contains(got, "held grew") || strings.Contains(got, "GET /v1/models") {
		t.Errorf("filtered live:\n%s", got)
	}
	press(m, "enter")
	if got := m.View(); !strings.Contains(got, "held grew") || strings.Contains(got, "GET /v1/models") ||
		m.prompt != nil {
		t.Errorf("kept:\n%s", got)
	}
	assert.Has(t, m.View(), "log 1 event · /GREW")
	press(m, "/", "x")
	assert.Has(t, m.View(), "no match")
	press(m, "esc")
	assert.Equal(t, m.filter, "GREW", "Esc left")
	press(m, "esc")
	assert.Has(t, m.View(), "GET /v1/models")
}

// Ctrl-C stops the run whatever is open; q is a letter where one types.
func TestStoppingFromAPrompt(t *testing.T) {
	m := open(steered(34), 100, 30, termenv.Ascii)
	press(m, "c", "i", "q")
	if m.stops != 0 || m.prompt == nil {
		t.Error("q in a prompt stopped the run")
	}
	press(m, "ctrl+c")
	if m.stops != 1 || m.prompt != nil {
		t.Error("Ctrl-C in a prompt did not stop the run")
	}
}

// Keys typed fast arrive in one read, those of a prompt too.
func TestPromptInOneRead(t *testing.T) {
	m := open(steered(34), 100, 30, termenv.Ascii)
	m.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("ci12")})
	press(m, "enter")
	if got := m.Control.(*control).orders; !cmp.Equal(got, []metrics.Command{set(12)}) {
		t.Errorf("orders %v", got)
	}
}

func TestReadOnlyLeavesAtOnce(t *testing.T) {
	m := open(tuitest.Mid(), 100, 30, termenv.Ascii)
	m.ReadOnly, m.Attached = true, true
	m.show()
	assert.Has(t, firstLines(m), "attached, read only")
	if cmd := press(m, "q"); cmd == nil || cmd() != (tea.QuitMsg{}) || m.Control.(*control).drains != 0 {
		t.Error("q did not just leave")
	}
}

func TestDetach(t *testing.T) {
	m := open(tuitest.Mid(), 100, 30, termenv.Ascii)
	if cmd := press(m, "D"); cmd != nil {
		t.Error("D does something where nothing is attached")
	}
	m.Attached = true
	if cmd := press(m, "D"); cmd == nil || cmd() != (tea.QuitMsg{}) || m.Control.(*control).drains != 0 {
		t.Error("D did not just leave")
	}
}

// guest is a control that gets the run in the end.
type guest struct {
	*control
	may bool
}

func (g *guest) Controls() bool { return g.may }

// A viewer gets control when the first terminal is lost.
func TestGuestGetsControl(t *testing.T) {
	m := open(steered(34), 100, 30, termenv.Ascii)
	g := &guest{control: m.Control.(*control)}
	m.Control, m.ReadOnly, m.Attached = g, true, true
	s := steered(34)
	for _, may := range []bool{false, true} {
		g.may = may
		m.takeSnapshot(&s)
		press(m, "c", "+")
		assert.Equal(t, len(g.orders) > 0, may, "control %t: ordered %+v", may, g.orders)
	}
}

func TestThemeKey(t *testing.T) {
	m := open(tuitest.Mid(), 80, 24, termenv.ANSI256)
	first := m.View()
	var seen []string
	for range 4 { // dark looks like the default
		press(m, "t")
		seen = append(seen, m.palette.Theme)
	}
	m.notice = notice{}
	m.show()
	if got := strings.Join(seen, " "); got != "light contrast mono default" || m.View() != first {
		t.Errorf("themes %s", got)
	}
}

// Without colours the key only shows a notice.
func TestThemeKeyWithoutColour(t *testing.T) {
	m := open(tuitest.Mid(), 120, 40, termenv.Ascii)
	press(m, "t")
	if got := lastLine(m); m.palette.Theme != screen.Themes()[0] ||
		!strings.Contains(got, "no colours on this terminal") {
		t.Errorf("theme %s, %q", m.palette.Theme, got)
	}
}
