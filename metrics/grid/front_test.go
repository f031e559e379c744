package grid

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"benchtop/internal/assert"
)

// dominated is the definition, point by point.
func dominated(points []Point, i int) bool {
	p := points[i]
	return slices.ContainsFunc(points, func(q Point) bool {
		return q.PerUser >= p.PerUser && q.PerGPU >= p.PerGPU && (q.PerUser > p.PerUser || q.PerGPU > p.PerGPU)
	})
}

// The front has exactly the points that no other dominates, equal ones included, whatever their order.
func TestFront(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		points := make([]Point, draw.IntN(12))
		for i := range points {
			points[i] = Point{float64(draw.IntN(5)), float64(draw.IntN(5))}
			if draw.IntN(10) == 0 {
				points[i].PerGPU = math.NaN()
			}
		}
		front := Front(points)
		for i, p := range points {
			want := !math.IsNaN(p.PerGPU) && !dominated(points, i)
			assert.Need(t, slices.Contains(front, i), want, "%v: point %d on the front", points, i)
		}
		if !slices.IsSortedFunc(front, func(a, b int) int { return int(points[a].PerUser - points[b].PerUser) }) {
			t.Fatalf("%v: front %v is not in order", points, front)
		}
	}
}
