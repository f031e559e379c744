package findings

import (
	"slices"
	"testing"

	"benchtop/internal/assert"
	"benchtop/metrics"
)

// What is said of places is what is known of them.
func TestPlaces(t *testing.T) {
	c := &metrics.Comparison{Spreads: []metrics.Spread{
		{Latency: metrics.TTFT, Slowest: "b", Fastest: "a", Ratio: 2.04, Places: 3, Pieces: 12,
			Slow: []metrics.SlowPlace{{Name: "b", Ratio: 1.874, Input: 1.02}, {Name: "c\x07", Ratio: 1.2, Input: 1.5}}},
		{Latency: metrics.TPOT, Slowest: "b", Fastest: "a", Ratio: 1.04, Places: 3, Pieces: 12},
		{Latency: metrics.TPOT, Slowest: "b", Fastest: "a", Ratio: 12.4, Places: 2, Longer: 7.5},
		{Latency: metrics.TPOT, Places: 2, Longer: 30},
		{Latency: metrics.TPOT, Slowest: "a", Fastest: "a", Ratio: 1, Places: 3, Pieces: 12},
	}, Failures: &metrics.FailureShares{Failing: []metrics.FailingPlace{{Name: "b\x07", Share: .1416, Others: .0004}}},
		Places: []metrics.Group{{Place: metrics.NoPlace, Slice: metrics.Slice{Counts: metrics.Counts{Abandoned: 52}}}}}
	want := []string{
		"TTFT: b is slow: 1.87 times that of the others, more than chance; " +
			"c is slow: 1.20 times that of the others, and its prompts are 1.50 times as long.",
		"TPOT: of 3 places none is slow by more than chance. b has 1.04 times that of a.",
		"TPOT: the run is too short to tell a slow place from chance; one 7.5 times as long may do. b has 12 times " +
			"that of a.",
		"TPOT: too few requests to tell a slow place from chance; a run 30 times as long may do.",
		"TPOT: all places have the same.",
		"Failures: b fails more than by chance: 14.2 % of its requests, 0.0 % of the others'.",
		"52 users left before the answer said its place: the latencies are of those who were served sooner.",
	}
	if got := Places(c); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// A table of engines that was asked for and has no rows says why.
func TestNoEngines(t *testing.T) {
	want := []string{"Engines: /metrics has fewer than two, so there is nothing to compare."}
	assert.EqualAll(t, Places(&metrics.Comparison{Axis: metrics.Axis{By: metrics.AxisEngine}}), want, "sentences")
}
