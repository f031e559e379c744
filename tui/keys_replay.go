package tui

import (
	"math"
	"time"

	"benchtop/metrics"
	"benchtop/tui/panels"
)

// seekStep is how far one key goes in a run of the past.
const seekStep = 10 * time.Second

// heardPlayer drops wishes that came true.
func (m *model) heardPlayer(s *metrics.Snapshot) {
	if r := s.Replay; r != nil {
		if r.Speed == m.speed.value {
			m.speed = wish{}
		}
		m.place = wish{}
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
	speed := m.speed.or(m.replay().Speed)
	if math.IsNaN(speed) || speed <= 0 {
		speed = 1
	}
	speed = min(max(speed*factor, slowest), max(speed, fastest)) // a very long run begins with more
	m.speed = wish{known: true, value: speed, ticks: wishTicks}
	m.Player.SetSpeed(speed)
	m.say("speed " + panels.SpeedText(speed))
}

func (m *model) seekBy(d time.Duration) {
	m.seek(time.Duration(m.place.or(float64(m.latest.At))) + d)
}

func (m *model) seek(to time.Duration) {
	to = min(max(to, 0), max(m.replay().Length, 0))
	m.place = wish{known: true, value: float64(to), ticks: wishTicks}
	m.Player.Seek(to)
}
