package report

import (
	"math/rand/v2"
	"testing"
	"time"

	"benchtop/internal/assert"
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
	c := r.Compared[0]
	if f := c.Failures; f == nil || len(f.Failing) != 1 || f.Failing[0] != want || len(c.Spreads) == 0 {
		t.Errorf("failures: %+v, want %+v; spreads %+v", f, want, c.Spreads)
	}
}

// An answer that comes at once tells nothing of the speed of its place.
func TestPlacesAtOnce(t *testing.T) {
	var all []metrics.Request
	for i := range 200 {
		q := eventtest.Simple(i, time.Duration(i)*100*ms, 50*ms, 10*ms, 3)
		if q.Server = i % 2; q.Server == 1 {
			q = eventtest.Simple(i, time.Duration(i)*100*ms, 50*ms, time.Microsecond, 3)
			q.Server = 1
		}
		all = append(all, q)
	}
	plan := metrics.Plan{Requests: len(all), Servers: []string{"http://a", "http://b"},
		Axes: []metrics.Axis{{By: metrics.AxisServer}}}
	for _, s := range summarize(t, all, runOf(plan, 21*second)).Compared[0].Spreads {
		if s.Latency == metrics.TPOT {
			t.Errorf("TPOT of one place alone is compared: %+v", s)
		}
	}
}

// Engines are compared with those of their role: a decode engine is not slow beside a prefill engine, by nature faster.
func TestEnginesByRole(t *testing.T) {
	p := metrics.Plan{Engines: true, Pages: []metrics.Page{{Name: "prefill-0", Role: "prefill"},
		{Name: "decode 1", Role: "decode"}, {Name: "prefill-1", Role: "prefill"}, {Name: "decode 2", Role: "decode"},
		{Name: "encode", Role: "encode"}}}
	mean := []time.Duration{100 * ms, 900 * ms, 250 * ms, 900 * ms, 5 * ms}
	r := rand.New(rand.NewPCG(1, 2))
	var samples []metrics.ServerSecond
	for i := range 300 {
		s := metrics.ServerSecond{At: time.Duration(i+1) * second, Took: second}
		for k, m := range mean {
			took := time.Duration(float64(m) * (0.9 + 0.2*r.Float64()))
			s.Engines = append(s.Engines, metrics.Engine{Server: k, Name: "0",
				TTFT: metrics.ServerLatency{N: 5, Mean: took}})
		}
		samples = append(samples, s)
	}
	all := places{}.compared(&p, nil, samples)
	if len(all) != 1 || len(all[0].Engines) != len(mean) || len(all[0].Spreads) != 2 {
		t.Fatalf("%d tables: %+v", len(all), all)
	}
	prefill, decode := all[0].Spreads[0], all[0].Spreads[1]
	if len(prefill.Slow) != 1 || prefill.Slow[0].Name != "prefill-1" || prefill.Places != 2 || len(decode.Slow) > 0 {
		t.Errorf("prefill %+v, decode %+v", prefill, decode)
	}
	p.Pages, p.Servers = nil, []string{"a", "b", "c", "d", "e"}
	together := places{}.compared(&p, nil, samples)[0].Spreads
	assert.Same(t, "the places without pages", together[0].Places, len(mean))
}
