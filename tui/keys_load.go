package tui

import (
	"cmp"
	"math"
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"benchtop/metrics"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// wish is a load that was ordered and has not been heard of yet: several presses between two snapshots add up.
type wish struct {
	known  bool
	value  float64
	paused bool
	until  int // changes of the load, as the run counts them, after which it is in the snapshots
	ticks  int // until it is given up: not every order is obeyed
}

// wishTicks is how long a wish counts without an answer.
const wishTicks = 4

// heard drops the wish once the run has counted so many changes.
func (w *wish) heard(changes int) {
	if w.known && changes >= w.until {
		*w = wish{}
	}
}

// age counts a tick.
func (w *wish) age() {
	if w.ticks--; w.ticks <= 0 {
		*w = wish{}
	}
}

// unsteerable says why the load cannot be changed, "" if it can.
func (m *model) unsteerable() string {
	switch {
	case m.player != nil:
		return "a run of the past cannot be changed"
	case m.readOnly:
		return "read only: this screen cannot change the run"
	case m.over():
		return "the run is over"
	case m.state(m.latest) != metrics.Running:
		return "the run is stopping"
	case !m.latest.Steering.Steerable:
		return cmp.Or(m.latest.Steering.Why, "the load of this run cannot be changed while it is on")
	}
	return ""
}

func refuse(m *model, _ string) tea.Cmd {
	m.say(m.unsteerable())
	return nil
}

// setControls switches the keys that change the load on or off.
func (m *model) setControls(on bool) {
	if why := m.unsteerable(); on && why != "" {
		m.say(why)
		on = false
	}
	m.controls = on
}

// mayLoad says whether a key may change the load now; if not, the reader is told why.
func (m *model) mayLoad() bool {
	why := m.unsteerable()
	if why == "" && !m.controls {
		why = "c first: then keys change the load"
	}
	if why != "" {
		m.say(why)
	}
	return why == ""
}

// load is the load in force, or ordered; 0 where there is no number for it, as without limit.
func (m *model) load() (value float64, paused bool) {
	if m.wish.known {
		return m.wish.value, m.wish.paused
	}
	s := m.latest
	value = s.Steering.Rate
	if s.Steering.InUsers {
		value = float64(s.Steering.Users)
	} else if value == 0 && s.Plan != nil {
		value = s.Plan.Target(s.At)
	}
	if math.IsNaN(value) || value < 0 || value > loadMost {
		value = 0
	}
	return value, s.Steering.Paused
}

// loadMost is a load that no client reaches; more than that is a slip of the finger.
const loadMost = 1e6

// order asks for a load and shows what became of it.
func (m *model) order(o metrics.Command, value float64, paused bool) {
	said, ok := m.control.Command(o)
	m.say(said)
	if !ok {
		return
	}
	m.wish = wish{true, value, paused, max(m.wish.until, m.latest.Steering.Changes) + 1, wishTicks}
}

// setLoad asks for a number of requests per second or users.
func (m *model) setLoad(value float64) {
	m.order(metrics.Command{Do: metrics.SetLoad, Value: value}, value, false)
}

func step(n int) func(*model, string) tea.Cmd {
	return func(m *model, _ string) tea.Cmd {
		if !m.mayLoad() {
			return nil
		}
		value, _ := m.load()
		if value == 0 {
			m.say("there is no number to step from; i sets one")
			return nil
		}
		m.setLoad(stepped(value, n, m.latest.Steering.InUsers))
		return nil
	}
}

// stepped is n steps from a load: of one user, of 1 request/s, or of 0.1 requests/s below 2. The first step from a rate in
// between, as a ramp leaves behind, goes to the next round one. It never gets to nothing.
func stepped(value float64, n int, users bool) float64 {
	if users {
		return min(max(math.Round(value)+float64(n), 1), loadMost)
	}
	const hair = 1e-6 // of a step: what arithmetic may have left
	for ; n > 0; n-- {
		if value < 2-hair {
			value = (math.Floor(10*value+hair) + 1) / 10
		} else {
			value = math.Floor(value+hair) + 1
		}
	}
	for ; n < 0; n++ {
		if value <= 2+hair {
			value = (math.Ceil(10*value-hair) - 1) / 10
		} else {
			value = math.Ceil(value-hair) - 1
		}
	}
	return min(max(value, 0.1), loadMost)
}

func pause(m *model, _ string) tea.Cmd {
	if !m.mayLoad() {
		return nil
	}
	value, paused := m.load()
	if paused {
		m.order(metrics.Command{Do: metrics.Resume}, value, false)
	} else {
		m.order(metrics.Command{Do: metrics.Pause}, value, true)
	}
	return nil
}

// loadUnit is what the load is counted in.
func loadUnit(users bool) string {
	if users {
		return "users"
	}
	return "req/s"
}

// loadText writes a load with as many digits as it was set with.
func loadText(value float64, users bool) string {
	text := strconv.FormatFloat(math.Round(1000*min(number.Sane(value), loadMost))/1000, 'f', -1, 64)
	return text + " " + loadUnit(users)
}

// loadNote says what load was set and where it is going; "" where the plan is in force.
func loadNote(s *metrics.Snapshot) []screen.Span {
	if s.State == metrics.Finished {
		return nil
	}
	var out []screen.Span
	st, value := &s.Steering, s.Steering.Rate
	if st.InUsers {
		value = float64(st.Users)
	}
	add := func(words string, style screen.Style) {
		out = append(out, screen.Label.Span(between), style.Span(words))
	}
	switch {
	case st.RampTo > 0 && (st.Changes > 0 || st.Search != ""):
		add("ramp to "+loadText(st.RampTo, st.InUsers), screen.Style{Fg: screen.Orange, Bold: true})
	case st.Changes > 0 && st.Search == "" && value > 0:
		add("set "+loadText(value, st.InUsers), screen.Strong)
	}
	if st.Search != "" {
		add("search: "+screen.Sanitize(st.Search), screen.Style{Fg: screen.Orange, Bold: true})
	}
	return out
}
