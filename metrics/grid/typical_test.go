package grid

import (
	"math"
	"reflect"
	"testing"

	"benchtop/internal/assert"
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
	assert.Equal(t, len(new(Figures).values()), floats, "figures that have a median")
}

// The range is over the runs that have the figure.
func TestRange(t *testing.T) {
	run := func(s State, v float64) Run { return Run{State: s, Figures: Figures{OutputThroughput: v}} }
	output := func(f *Figures) float64 { return f.OutputThroughput }
	c := Cell{Runs: []Run{run(Done, 30), run(Found, 10), run(Done, math.NaN()), run(Failed, 99), run(Running, 99),
		run(Done, 20)}}
	if least, most, n := c.Range(output); least != 10 || most != 30 || n != 3 {
		t.Errorf("%v to %v of %d, want 10 to 30 of 3", least, most, n)
	}
	c.Runs = c.Runs[2:5]
	if least, most, n := c.Range(output); !math.IsNaN(least) || !math.IsNaN(most) || n != 0 {
		t.Errorf("of none: %v to %v of %d", least, most, n)
	}
}
