package report

import (
	"testing"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/event/eventtest"
)

// Failures count for the server that they came from, but not requests whose users left.
func TestPlaces(t *testing.T) {
	var all []metrics.Request
	for i := range 600 {
		at := time.Duration(i) * 100 * ms
		q := eventtest.Simple(i, at, 50*ms, 10*ms, 3)
		if q.Server = i % 2; i%8 == 1 {
			q = eventtest.Busy(i, at, "busy")
			q.Server = 1
		}
		if i%4 == 0 {
			q.Failure = metrics.Abandoned
		}
		all = append(all, q)
	}
	plan := metrics.Plan{Requests: len(all), Servers: []string{"http://a", "http://b"},
		Axes: []metrics.Axis{{By: metrics.AxisServer}}}
	r := summarize(t, all, runOf(plan, 61*second))
	want := metrics.FailingPlace{Name: "http://b", Share: .25}
	if c := r.Compared[0]; len(c.Failing) != 1 || c.Failing[0] != want || len(c.Spreads) == 0 {
		t.Errorf("failing: %+v, want %+v; spreads %+v", c.Failing, want, c.Spreads)
	}
}
