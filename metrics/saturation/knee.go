package saturation

import (
	"math"

	"benchtop/metrics"
)

// leastGain is the share of the proportional throughput that more users must bring.
const leastGain = 0.25

// knee finds the number of users from which on more users bring little more throughput.
func (l *Levels) knee(a *metrics.Answer, order []int) {
	last := len(order) - 1
	knee := last
	for knee > 0 && l.gain(order[knee-1], order[knee]) < leastGain {
		knee--
	}
	if knee == last {
		a.Why = "no saturation up to " + load(l.list[order[last]].Offered, true)
		return
	}
	a.Saturates, a.Before, a.After, a.Shown = true, order[knee], order[knee+1], order[knee+1]
	a.Confirmed = !l.Live || last-knee > 1
}

// gain is the share of the proportional throughput that the step from one number of users to a higher one brought.
func (l *Levels) gain(low, high int) float64 {
	a, b := &l.list[low], &l.list[high]
	if a.Done <= 0 || b.Offered <= a.Offered {
		return math.Inf(1)
	}
	return (b.Done/a.Done - 1) / (b.Offered/a.Offered - 1)
}
