package tui

import (
	"math"
	"time"

	"benchtop/metrics"
	"benchtop/tui/panels"
)

// seekStep is how far one key goes in a run of the past.
const seekStep = 10 * time.Second

// heardPlayer drops the pending speed and place once a snapshot has them.
func (m *model) heardPlayer(s *metrics.Snapshot) {
	if r := s.Replay; r != nil {
		if r.Speed == m.pendingSpeed.value {
			m.pendingSpeed = pending{}
		}
		m.pendingPlace = pending{}
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
	m.pendingSpeed = pending{known: true, value: speed, ticks: pendingTicks}
	m.Player.SetSpeed(speed)
	m.notify("speed " + panels.SpeedText(speed))
}

func (m *model) seekBy(d time.Duration) {
	m.seek(time.Duration(m.pendingPlace.or(float64(m.latest.At))) + d)
}

func (m *model) seek(to time.Duration) {
	to = min(max(to, 0), max(m.replay().Length, 0))
	m.pendingPlace = pending{known: true, value: float64(to), ticks: pendingTicks}
	m.Player.Seek(to)
}
