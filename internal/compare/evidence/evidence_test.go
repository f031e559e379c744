package evidence

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"benchtop/internal/ci"
	"benchtop/metrics"
)

func rowOf(t *testing.T, r *Result, key string) Row {
	t.Helper()
	for _, row := range r.Rows {
		if row.Key == key {
			return row
		}
	}
	t.Fatalf("no row %s in %+v", key, r)
	return Row{}
}

// A server that is slower is found, in the direction of each figure, and the interval holds by how much.
func TestSlowerServer(t *testing.T) {
	ci.SkipUnderRace(t)
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 1))
	s := servers[1]
	slower := s
	slower.Service *= 1.25
	rate := .5 * s.Capacity()
	a, b := s.draw(t, rate, 300, r), slower.draw(t, rate, 300, r)
	got := Compare(a, b)
	if row := rowOf(t, &got, "mean_tpot_ms"); row.Verdict != Worse || row.Low > .25 || row.High < .2 || row.Longer > 0 {
		t.Errorf("TPOT: %+v", row)
	}
	if row := rowOf(t, &got, "output_throughput"); row.Verdict != None {
		t.Errorf("the load is the same, so is the output: %+v", row)
	}
	back := Compare(b, a)
	if row := rowOf(t, &back, "mean_tpot_ms"); row.Verdict != Better || row.High > -.1 {
		t.Errorf("TPOT the other way: %+v", row)
	}
}

// Runs that are short, whose load changes, or that have no seconds, have no evidence from pieces; six whole runs a side
// do.
func TestUnits(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	s := servers[0]
	short := s.draw(t, 5, 4, r)
	got := Compare(short, s.draw(t, 5, 4, r))
	if row := rowOf(t, &got, "p99_ttft_ms"); row.Verdict != Short || row.Longer < 2 {
		t.Errorf("of 4 seconds: %+v", row)
	}
	changed, bare, burst := s.draw(t, 5, 30, r), s.draw(t, 5, 30, r), s.draw(t, 5, 30, r)
	changed[0].Steered, bare[0].Timeline = 1, nil
	burst[0].Plan.Rate = metrics.Rate(math.Inf(1))
	for why, side := range map[string][]metrics.Report{"the load changes during a run": changed,
		"a result has no whole journal of its own beside it": bare, "all requests of a run are sent at once": burst} {
		if got := Compare(side, s.draw(t, 5, 30, r)); got.Why != why {
			t.Errorf("%q, want %q", got.Why, why)
		}
	}
	var a, b []metrics.Report
	for i := range FewestRuns {
		a, b = append(a, bare[0]), append(b, bare[0])
		a[i].Statistics[metrics.TTFT].Mean = 100 + float64(i)
		b[i].Statistics[metrics.TTFT].Mean = 120 + float64(i)
	}
	got = Compare(a, b)
	if row := rowOf(t, &got, "mean_ttft_ms"); row.Verdict != Worse || row.Change < .19 || row.Change > .2 ||
		row.A.Load != 102.5 || got.Units != "6 and 6 runs" {
		t.Errorf("of runs: %+v, %s", row, got.Units)
	}
	if row := rowOf(t, &got, "mean_e2el_ms"); row.Verdict != None {
		t.Errorf("of the same values: %+v", row)
	}
}

// Ranges of answers that do not meet are evidence; those that meet are none.
func TestAnswers(t *testing.T) {
	found := func(low, high float64) []metrics.Report {
		r := metrics.Report{Timeline: []*metrics.Window{{}}}
		r.Plan.Ramp = &metrics.Ramp{}
		r.Answer.Estimate = metrics.Range{Load: (low + high) / 2, Low: low, High: high}
		return []metrics.Report{r}
	}
	for _, c := range []struct {
		a, b []metrics.Report
		want Verdict
	}{
		{found(10, 12), found(13, 15), Better}, {found(13, 15), found(10, 12), Worse},
		{found(10, 13), found(12, 15), None}, {found(10, 0), found(12, 15), None}, {found(16, 0), found(12, 15), Worse},
	} {
		got := Compare(c.a, c.b)
		if row := rowOf(t, &got, "slo"); row.Verdict != c.want || got.Why != "the load changes during a run" {
			t.Errorf("%+v, %q; want %s", row, got.Why, c.want)
		}
	}
}

// Failures that a benchmark did not count are no figure.
func TestUncountedFailures(t *testing.T) {
	runs := make([]metrics.Report, FewestRuns)
	for i := range runs {
		runs[i] = metrics.Report{Ended: time.Second, Counts: metrics.Counts{Completed: 5}, RequestThroughput: 5}
	}
	has := func(b []metrics.Report) bool {
		return slices.ContainsFunc(Compare(runs, b).Rows, func(r Row) bool { return r.Key == "error_rate" })
	}
	uncounted := slices.Clone(runs)
	uncounted[0].Uncounted = true
	if !has(runs) || has(uncounted) {
		t.Errorf("failures: %v where counted, %v where not", has(runs), has(uncounted))
	}
}
