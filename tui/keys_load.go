package tui

import (
	"cmp"
	"math"

	"benchtop/metrics"
	"benchtop/tui/panels"
)

// wish is a load that was ordered, or a speed or a place of a run of the past, as long as no snapshot has it: several presses between two
// snapshots add up.
type wish struct {
	known  bool
	value  float64
	ticks  int  // until it is given up: not every order is obeyed
	paused bool // of a load
	until  int  // changes of the load, as the run counts them, after which it is in the snapshots
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

// or is the wish, or else what there is.
func (w *wish) or(v float64) float64 {
	if w.known {
		return w.value
	}
	return v
}

// unsteerable says why the load cannot be changed, "" if it can.
func (m *model) unsteerable() string {
	switch {
	case m.Player != nil:
		return "a run of the past cannot be changed"
	case m.ReadOnly:
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

func (m *model) refuse() { m.say(m.unsteerable()) }

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
	if math.IsNaN(value) || value < 0 || value > panels.LoadMost {
		value = 0
	}
	return value, s.Steering.Paused
}

// order asks for a load and shows what became of it.
func (m *model) order(o metrics.Command, value float64, paused bool) {
	said, ok := m.Control.Command(o)
	m.say(said)
	if !ok {
		return
	}
	m.wish = wish{true, value, wishTicks, paused, max(m.wish.until, m.latest.Steering.Changes) + 1}
}

// setLoad asks for a number of requests per second or users.
func (m *model) setLoad(value float64) {
	m.order(metrics.Command{Do: metrics.SetLoad, Value: value}, value, false)
}

func (m *model) step(n int) {
	if !m.mayLoad() {
		return
	}
	value, _ := m.load()
	if value == 0 {
		m.say("there is no number to step from; i sets one")
		return
	}
	m.setLoad(stepped(value, n, m.latest.Steering.InUsers))
}

// stepped is n steps from a load: of one user, of 1 request/s, or of 0.1 requests/s below 2. The first step from a rate in
// between, as a ramp leaves behind, goes to the next round one. It never gets to nothing.
func stepped(value float64, n int, users bool) float64 {
	if users {
		return min(max(math.Round(value)+float64(n), 1), panels.LoadMost)
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
	return min(max(value, 0.1), panels.LoadMost)
}

func (m *model) pause() {
	if !m.mayLoad() {
		return
	}
	value, paused := m.load()
	do := metrics.Pause
	if paused {
		do = metrics.Resume
	}
	m.order(metrics.Command{Do: do}, value, !paused)
}
