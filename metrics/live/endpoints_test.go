package live

import (
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/metrics"
)

// open is the fate of a request that does not end.
const open metrics.Failure = "open"

// ask passes a request to a view: it is sent at a moment, has its first chunk two seconds later, and ends after one
// more.
func ask(rec *View, at time.Duration, server int, model string, fate metrics.Failure) {
	x := &exchange{rec, metrics.NewRequest(0)}
	x.q.Server, x.q.Model = server, model
	x.due(at)
	x.sent(at)
	x.chunk(at+2*second, "")
	if fate != open {
		x.done(at+3*second, fate)
	}
}

// counted are the numbers of a group: sent, done, failed, in flight, output tokens, and of its TTFTs.
func counted(g *metrics.Group) [6]int {
	return [6]int{g.Sent, g.Completed, g.Failed, g.InFlight, g.OutputTokens, int(g.Histograms[metrics.TTFT].Count())}
}

func TestEndpoints(t *testing.T) {
	rec := NewView(time.Now(), &metrics.Plan{})
	for range 3 {
		ask(rec, 0, 0, "a", "")
		ask(rec, 0, 0, "b", metrics.FailedReset)
	}
	ask(rec, 0, 0, "b", metrics.Cancelled)
	ask(rec, 0, 0, "a", open)
	for i := range 100 {
		ask(rec, 0, 0, string(rune('A'+i)), "")
	}
	all := rec.Snapshot().Endpoints
	if len(all) != metrics.MostEndpoints || all[len(all)-1].Model != metrics.OtherModels {
		t.Fatalf("%d endpoints, want %d and the others last", len(all), metrics.MostEndpoints)
	}
	for i, want := range map[int][6]int{0: {5, 4, 0, 1, 4, 5}, 1: {5, 1, 3, 0, 1, 1},
		len(all) - 1: {37, 37, 0, 0, 37, 37}} {
		assert.Equal(t, counted(&all[i]), want, "%s", all[i].Model)
	}
}

// Requests of the warm-up count only as in flight.
func TestEndpointsOfTheWarmUp(t *testing.T) {
	rec := NewView(time.Now(), &metrics.Plan{Warmup: 2 * second})
	for i, fate := range []metrics.Failure{"", metrics.FailedReset, open, ""} {
		ask(rec, time.Duration(i)*second, 0, "", fate)
	}
	all := rec.Snapshot().Endpoints
	if want := [6]int{2, 1, 0, 1, 1, 2}; len(all) != 1 || counted(&all[0]) != want {
		t.Errorf("%+v, want %v", all, want)
	}
}

// With several servers each has endpoints of its own, in the order of the plan. With too many endpoints the rest are
// counted together, behind all others and at none of the servers.
func TestEndpointsOfServers(t *testing.T) {
	plan := metrics.Plan{Servers: []string{"a", "b"}}
	rec := NewView(time.Now(), &plan)
	for i, fate := range []metrics.Failure{"", metrics.FailedReset, open, ""} {
		ask(rec, 0, (i+1)%2, "A", fate)
	}
	for i, want := range [][6]int{{2, 1, 1, 0, 1, 1}, {2, 1, 0, 1, 1, 2}} {
		if e := rec.Snapshot().Endpoints[i]; e.Server != i || counted(&e) != want {
			t.Errorf("server %d: %v, want %v", e.Server, counted(&e), want)
		}
	}
	for i := range 2 * metrics.MostEndpoints {
		ask(rec, 0, i%2, string(rune('A'+i/2)), "")
	}
	all := rec.Snapshot().Endpoints
	last := all[len(all)-1]
	if len(all) != metrics.MostEndpoints || last.Model != metrics.OtherModels || last.Server < 2 ||
		last.Sent != metrics.MostEndpoints+1 {
		t.Errorf("%d endpoints, the last is %q at server %d with %d requests", len(all), last.Model, last.Server,
			last.Sent)
	}
}
