package charts

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
)

// wholeTicks marks an axis that counts: at whole numbers only, written in full.
type wholeTicks struct{}

// mostTicks on an axis.
const mostTicks = 8

// Ticks implements plot.Ticker.
func (wholeTicks) Ticks(low, high float64) []plot.Tick {
	step := 1.0
	for i := 0; (high-low)/step > mostTicks; i++ {
		step *= []float64{2, 2.5, 2}[i%3] // 1, 2, 5, 10, 20, 50 …
	}
	var ticks []plot.Tick
	for v := math.Ceil(low/step)*step + 0; v <= high; v += step { // + 0 turns -0 into 0
		ticks = append(ticks, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'f', 0, 64)})
	}
	return ticks
}
