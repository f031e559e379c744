package metrics

import "math"

// A change of less than leastChange is none, as it would be written.
const leastChange = 0.0005

// Change is by how much a figure differs from that of an earlier run: 0.12 is 12 % more. It is not ok where there is nothing to
// compare with: no figure, or one of 0.
func Change(now, before float64) (part float64, ok bool) {
	if !(before > 0) || math.IsInf(before, 0) || math.IsNaN(now) {
		return 0, false
	}
	if part = now/before - 1; math.Abs(part) < leastChange {
		part = 0
	}
	return part, true
}
