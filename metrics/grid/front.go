package grid

import (
	"cmp"
	"math"
	"slices"
)

// Point is a measurement on the plane of throughput per user and per GPU.
type Point struct{ PerUser, PerGPU float64 }

// Front are the indices of the points that no other point dominates, by rising throughput per user. A point dominates
// another if it is at least as good on both axes and better on one. Points with a coordinate that is no number are left
// out.
func Front(points []Point) []int {
	var order []int
	for i, p := range points {
		if !math.IsNaN(p.PerUser) && !math.IsNaN(p.PerGPU) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		p, q := points[a], points[b]
		return cmp.Or(cmp.Compare(q.PerUser, p.PerUser), cmp.Compare(q.PerGPU, p.PerGPU))
	})
	var front []int
	best, bestAt := math.Inf(-1), math.Inf(1) // the highest PerGPU so far, and the PerUser it came with
	for _, i := range order {
		p := points[i]
		if p.PerGPU > best || p.PerGPU == best && p.PerUser == bestAt {
			front = append(front, i)
			best, bestAt = p.PerGPU, p.PerUser
		}
	}
	slices.Reverse(front)
	return front
}
