package live

import (
	"testing"
	"time"

	"benchtop/metrics"
)

func TestEndpoints(t *testing.T) {
	rec := NewView(time.Now(), &metrics.Plan{})
	ask := func(model string, f metrics.Failure) {
		x := &exchange{rec, metrics.NewRequest(0)}
		x.q.Model = model
		x.due(0)
		x.sent(0)
		x.chunk(time.Second, "")
		if f != "open" {
			x.done(time.Second, f)
		}
	}
	for range 3 {
		ask("a", "")
		ask("b", metrics.FailedReset)
	}
	ask("b", metrics.Cancelled)
	ask("a", "open")
	for i := range 100 {
		ask(string(rune('A'+i)), "")
	}
	all := rec.Snapshot().Endpoints
	if len(all) != metrics.MostEndpoints {
		t.Fatalf("%d endpoints, want %d", len(all), metrics.MostEndpoints)
	}
	a, b, others := all[0], all[1], all[metrics.MostEndpoints-1]
	for _, c := range []struct {
		got  metrics.Group
		want [5]int
		ttft uint64
	}{{a, [5]int{4 + 1, 3 + 1, 0, 1, 3 + 1}, 5}, {b, [5]int{4 + 1, 1, 3, 0, 1}, 1}, {others, [5]int{37, 37, 0, 0, 37}, 37}} {
		if got := [5]int{c.got.Sent, c.got.Completed, c.got.Failed, c.got.InFlight, c.got.OutputTokens}; got != c.want || c.got.Histograms[metrics.TTFT].Count() != c.ttft {
			t.Errorf("%s: sent, done, failed, in flight, tokens %v, want %v; %d TTFTs, want %d", c.got.Model, got, c.want, c.got.Histograms[metrics.TTFT].Count(), c.ttft)
		}
	}
	if others.Model != metrics.OtherModels {
		t.Errorf("the last one is %q", others.Model)
	}
}

// Requests of the warm-up count only as in flight.
func TestEndpointsOfTheWarmUp(t *testing.T) {
	rec := NewView(time.Now(), &metrics.Plan{Warmup: 2 * time.Second})
	for i, f := range []metrics.Failure{"", metrics.FailedReset, "open", ""} {
		x := &exchange{rec, metrics.NewRequest(i)}
		x.due(time.Duration(i) * time.Second)
		x.sent(time.Duration(i) * time.Second)
		x.chunk(4*time.Second, "")
		if f != "open" {
			x.done(5*time.Second, f)
		}
	}
	all := rec.Snapshot().Endpoints
	if len(all) != 1 {
		t.Fatalf("%d endpoints", len(all))
	}
	e := all[0]
	if got := [5]int{e.Sent, e.Completed, e.Failed, e.InFlight, int(e.Histograms[metrics.TTFT].Count())}; got != [5]int{2, 1, 0, 1, 2} {
		t.Errorf("sent, done, failed, in flight, TTFTs %v", got)
	}
}

// With several servers each has endpoints of its own, in the order of the plan.
func TestEndpointsOfServers(t *testing.T) {
	rec := NewView(time.Now(), &metrics.Plan{Servers: []string{"a", "b"}})
	for i, f := range []metrics.Failure{"", metrics.FailedReset, "open", ""} {
		x := &exchange{rec, metrics.NewRequest(i)}
		x.q.Server = (i + 1) % 2
		x.due(0)
		x.sent(0)
		if f != "open" {
			x.done(time.Second, f)
		}
	}
	all := rec.Snapshot().Endpoints
	for i, want := range [][4]int{{2, 1, 1, 0}, {2, 1, 0, 1}} {
		if e := all[i]; e.Server != i || [4]int{e.Sent, e.Completed, e.Failed, e.InFlight} != want {
			t.Errorf("server %d: sent, done, failed, in flight %v, want %v", e.Server, [4]int{e.Sent, e.Completed, e.Failed, e.InFlight}, want)
		}
	}
}

// With too many endpoints the rest are counted together, behind all others and at none of the servers.
func TestOtherEndpointsOfServers(t *testing.T) {
	plan := metrics.Plan{Servers: []string{"a", "b"}}
	rec := NewView(time.Now(), &plan)
	for i := range 2 * metrics.MostEndpoints {
		x := &exchange{rec, metrics.NewRequest(i)}
		x.q.Server, x.q.Model = i%2, string(rune('A'+i/2))
		x.due(0)
		x.sent(0)
	}
	all := rec.Snapshot().Endpoints
	if last := all[len(all)-1]; len(all) != metrics.MostEndpoints || last.Model != metrics.OtherModels || last.Server < len(plan.Servers) || last.Sent != metrics.MostEndpoints+1 {
		t.Errorf("%d endpoints, the last is %q at server %d with %d requests", len(all), last.Model, last.Server, last.Sent)
	}
}
