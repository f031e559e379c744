package grid

import (
	"math"
	"reflect"
	"testing"
)

// A combination shows medians of what its runs have; one that failed or waits counts for nothing.
func TestTypical(t *testing.T) {
	c := Cell{Runs: []Run{
		{State: Done, Figures: Figures{Completed: 10, OutputThroughput: 100, P99TTFT: math.NaN()}},
		{State: Failed, Figures: Figures{Completed: 99, OutputThroughput: 9999}},
		{State: Found, Figures: Figures{Completed: 10, Failed: 1, OutputThroughput: 140, P99TTFT: 7}},
		{State: Waiting},
	}}
	got, ok := c.Typical()
	if !ok || got.Completed != 20 || got.Failed != 1 || got.OutputThroughput != 120 || got.P99TTFT != 7 {
		t.Errorf("got %+v, %t", got, ok)
	}
	if _, ok := (&Cell{Runs: []Run{{State: Running}}}).Typical(); ok {
		t.Error("a combination without a whole run has figures")
	}
	one := Cell{Runs: []Run{{State: Done, Figures: Figures{P99E2EL: math.NaN()}}}}
	if got, _ := one.Typical(); !math.IsNaN(got.P99E2EL) {
		t.Errorf("a figure that no run has is %v", got.P99E2EL)
	}
}

// A new figure has a median, too.
func TestEveryFigureHasAMedian(t *testing.T) {
	floats := 0
	for i := range reflect.TypeFor[Figures]().NumField() {
		if reflect.TypeFor[Figures]().Field(i).Type.Kind() == reflect.Float64 {
			floats++
		}
	}
	if got := len(new(Figures).values()); got != floats {
		t.Errorf("%d figures have a median, of %d", got, floats)
	}
}
