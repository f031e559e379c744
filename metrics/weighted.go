package metrics

import (
	"math"
	"time"
)

// weighted is a mean of figures that count for so much each. What is unsaid, and what no arithmetic can hold, does not count.
type weighted struct {
	weight, total, most float64
	said                bool
}

// mostFigure bounds foreign figures so that their sums and squares stay finite.
const mostFigure = 1e100

func (w *weighted) add(v, weight float64) {
	if !(math.Abs(v) <= mostFigure) || !(weight > 0 && weight <= mostFigure) {
		return
	}
	if !w.said || v > w.most {
		w.most = v
	}
	w.said = true
	w.weight += weight
	w.total += v * weight
}

// mean is Unsaid where nothing counted.
func (w *weighted) mean() float64 {
	if !w.said {
		return Unsaid()
	}
	return w.total / w.weight
}

// highest is the largest figure, Unsaid where nothing counted.
func (w *weighted) highest() float64 {
	if !w.said {
		return Unsaid()
	}
	return w.most
}

// sumOf is the total of figures that all count once, Unsaid where nothing counted.
func (w *weighted) sumOf() float64 {
	if !w.said {
		return Unsaid()
	}
	return w.total
}

// latency adds a mean latency of some requests.
func (w *weighted) latency(l ServerLatency) {
	if l.Mean >= 0 {
		w.add(float64(l.Mean), l.N)
	}
}

// sum is the mean of all those latencies.
func (w *weighted) sum() ServerLatency {
	if !w.said {
		return ServerLatency{}
	}
	return ServerLatency{N: w.weight, Mean: time.Duration(min(w.total/w.weight, float64(longest)))}
}

// over is a quotient of two figures, Unsaid where it means nothing.
func over(part, whole float64) float64 {
	q := part / whole
	if !(whole > 0) || !(math.Abs(q) <= mostFigure) {
		return Unsaid()
	}
	return q
}
