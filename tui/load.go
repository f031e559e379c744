package tui

import (
	"cmp"
	"math"
	"time"

	"benchtop/metrics"
	"benchtop/tui/panels"
)

// pendingLoad is a load, or a speed or a place of a run of the past, that was asked for and is in no snapshot yet:
// several presses between two snapshots add up.
type pendingLoad struct {
	known  bool
	value  float64
	ticks  int  // until it is given up, since a command may be refused
	paused bool // of a load
	until  int  // changes of the load, as the run counts them, after which it is in the snapshots
}

// pendingTicks is how long a pending value counts without an answer.
const pendingTicks = 4

// confirm drops the value once the run has counted so many changes.
func (w *pendingLoad) confirm(changes int) {
	if w.known && changes >= w.until {
		*w = pendingLoad{}
	}
}

// age counts a tick.
func (w *pendingLoad) age() {
	if w.ticks--; w.ticks <= 0 {
		*w = pendingLoad{}
	}
}

// or is the pending value, or else the one given.
func (w *pendingLoad) or(v float64) float64 {
	if w.known {
		return w.value
	}
	return v
}

// unsteerable says why the load cannot be changed, "" if it can.
func (m *model) unsteerable() string {
	switch {
	case m.Player != nil:
		return "a replay cannot be changed"
	case m.Within != "":
		return "a run among several keeps its load"
	case m.ReadOnly:
		return "read only: no control of the run from here"
	case m.over():
		return "the run is over"
	case m.state(m.latest) != metrics.Running:
		return "the run is stopping"
	case !m.latest.Steering.Steerable:
		return cmp.Or(m.latest.Steering.Why, "the load of this run cannot be changed")
	}
	return ""
}

func (m *model) refuse() { m.notify(m.unsteerable()) }

// setControls switches the keys that change the load on or off.
func (m *model) setControls(on bool) {
	if why := m.unsteerable(); on && why != "" {
		m.notify(why)
		on = false
	}
	m.controls = on
}

// mayLoad reports whether a key may change the load now, and shows why not.
func (m *model) mayLoad() bool {
	why := m.unsteerable()
	if why == "" && !m.controls {
		why = "press c to control the load"
	}
	if why != "" {
		m.notify(why)
	}
	return why == ""
}

// load is the load in force, or the pending one; 0 for a load without a number, such as one without limit.
func (m *model) load() (value float64, paused bool) {
	if m.pendingLoad.known {
		return m.pendingLoad.value, m.pendingLoad.paused
	}
	s := m.latest
	if value = s.Steering.Value; value == 0 && s.Plan != nil {
		value = s.Plan.ArrivalRate(s.At)
	}
	if math.IsNaN(value) || value < 0 || value > panels.LoadMost {
		value = 0
	}
	return value, s.Steering.Paused
}

// unit is what the load is counted in.
func (m *model) unit() metrics.Unit { return m.latest.Plan.Unit() }

// steer asks for a load and shows the result.
func (m *model) steer(o metrics.Command, value float64, paused bool) {
	said, ok := m.Control.Command(o)
	m.notify(said)
	if !ok {
		return
	}
	m.pendingLoad = pendingLoad{true, value, pendingTicks, paused,
		max(m.pendingLoad.until, m.latest.Steering.Changes) + 1}
}

// setLoad asks for a number of requests per second or users.
func (m *model) setLoad(value float64) {
	m.steer(metrics.Command{Do: metrics.SetLoad, Value: value}, value, false)
}

func (m *model) step(n int) {
	value, _ := m.load()
	if value == 0 {
		m.notify("no current value to step from; i sets one")
		return
	}
	m.setLoad(stepped(value, n, m.unit()))
}

// stepped is n steps from a load: of one user, of 1 request/s, or of 0.1 requests/s below 2. The first step from a rate
// in between, as a ramp leaves behind, goes to the next round one. A load never becomes 0.
func stepped(value float64, n int, unit metrics.Unit) float64 {
	if unit == metrics.Users {
		return min(max(math.Round(value)+float64(n), 1), panels.LoadMost)
	}
	const hair = 1e-6 // of a step: a rounding error
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
	value, paused := m.load()
	do := metrics.Pause
	if paused {
		do = metrics.Resume
	}
	m.steer(metrics.Command{Do: do}, value, !paused)
}

// hold keeps the load in force until it is judged.
func (m *model) hold() {
	value, _ := m.load()
	m.steer(metrics.Command{Do: metrics.HoldLoad}, value, false)
}

// seekStep is how far one key goes in a run of the past.
const seekStep = 10 * time.Second

// heardPlayer drops the pending speed and place once a snapshot has them.
func (m *model) heardPlayer(s *metrics.Snapshot) {
	if r := s.Replay; r != nil {
		if r.Speed == m.pendingSpeed.value {
			m.pendingSpeed = pendingLoad{}
		}
		m.pendingPlace = pendingLoad{}
	}
}

func (m *model) replay() metrics.Replay {
	if m.latest.Replay == nil {
		return metrics.Replay{Playing: true, Speed: 1, Length: m.latest.At}
	}
	return *m.latest.Replay
}

func (m *model) playPause() {
	switch r := m.replay(); {
	case r.Playing:
		m.Player.Pause()
	case m.latest.At >= r.Length: // at the end: once more
		m.Player.Seek(0)
		m.Player.Play()
	default:
		m.Player.Play()
	}
}

// Speeds reach from an eighth to a thousand times that of the run.
const slowest, fastest = 0.125, 1024

func (m *model) playSpeed(factor float64) {
	speed := m.pendingSpeed.or(m.replay().Speed)
	if math.IsNaN(speed) || speed <= 0 {
		speed = 1
	}
	speed = min(max(speed*factor, slowest), max(speed, fastest)) // a very long run begins with more
	m.pendingSpeed = pendingLoad{known: true, value: speed, ticks: pendingTicks}
	m.Player.SetSpeed(speed)
	m.notify("speed " + panels.SpeedText(speed))
}

func (m *model) seekBy(d time.Duration) {
	m.seek(time.Duration(m.pendingPlace.or(float64(m.latest.At))) + d)
}

func (m *model) seek(to time.Duration) {
	to = min(max(to, 0), max(m.replay().Length, 0))
	m.pendingPlace = pendingLoad{known: true, value: float64(to), ticks: pendingTicks}
	m.Player.Seek(to)
}
