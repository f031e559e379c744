package judge

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"benchtop/internal/ci"
	"benchtop/metrics"
)

// The probabilities of Holm's own rule: the least times how many there are, the next times one fewer, never falling.
func TestCorrected(t *testing.T) {
	got := Corrected([]float64{.01, .04, .03, .005})
	for i, want := range []float64{.03, .06, .06, .02} {
		if math.Abs(got[i]-want) > 1e-12 {
			t.Errorf("a probability of %v, want %v", got[i], want)
		}
	}
	if got := Corrected(nil); len(got) > 0 {
		t.Errorf("of none %v", got)
	}
}

// fleet are equal servers with a queue each, but for those that take so many times as long. Requests come at random,
// and go to one at random.
type fleet struct {
	servers  int
	requests int
	load     float64 // of a server of equal ones
	slow     map[int]float64
	fails    float64 // of the requests of any, but for those with a share of their own
	failing  map[int]float64
	outage   float64   // mean time in seconds for which a server fails, which it does for a twentieth of the time
	headers  int       // further axes, whose places make no difference
	shares   []float64 // of these but for the last
}

// pod is a place that makes no difference.
func (f fleet) pod(r *rand.Rand) int {
	u := r.Float64()
	for k, share := range f.shares {
		if u -= share; u < 0 {
			return k
		}
	}
	return len(f.shares)
}

// compared are the spreads of a run of the fleet.
func (f fleet) compared(r *rand.Rand) []metrics.Comparison {
	sums := make([]Sums, 1+f.headers)
	for i := range sums {
		sums[i].Latencies = map[metrics.Latency]*Places{metrics.TTFT: {}, metrics.TPOT: {}}
	}
	free, down, up := make([]float64, f.servers), make([]float64, f.servers), make([]float64, f.servers)
	at := 0.0
	for range f.requests {
		at += r.ExpFloat64() / float64(f.servers) / f.load * 0.1
		k := r.IntN(f.servers)
		times := 1.0
		if s, ok := f.slow[k]; ok {
			times = s
		}
		service := r.ExpFloat64() * 0.1 * times
		begin := max(at, free[k])
		free[k] = begin + service
		ttft := begin - at + 0.02*times
		tpot := 0.01 * times * (1 + 0.3*r.Float64()) * (1 + begin - at)
		fails := r.Float64() < f.fails
		if share, ok := f.failing[k]; ok {
			fails = r.Float64() < share
		}
		for ; f.outage > 0 && at > up[k]; up[k] = down[k] + r.ExpFloat64()*f.outage {
			down[k] = up[k] + r.ExpFloat64()*19*f.outage
		}
		fails = fails || at < up[k] && at >= down[k] && f.outage > 0
		for i := range sums {
			of := &sums[i]
			name := fmt.Sprint("replica ", k)
			if i > 0 {
				name = fmt.Sprint("pod ", f.pod(r))
			}
			when := time.Duration(at * float64(time.Second))
			of.Failures.AddEnd(name, when, fails)
			if fails {
				continue
			}
			of.Latencies[metrics.TTFT].Add(name, when, ttft, 1)
			of.Latencies[metrics.TPOT].Add(name, when, tpot, 1)
		}
	}
	axes := make([]metrics.Comparison, len(sums))
	Compare(axes, sums)
	return axes
}

func slow(all []metrics.Comparison) (names []string) {
	for _, c := range all {
		if c.Failures != nil {
			for _, p := range c.Failures.Failing {
				names = append(names, "failing "+p.Name)
			}
		}
		for _, s := range c.Spreads {
			for _, p := range s.Slow {
				names = append(names, s.Latency.Key()+" "+p.Name)
			}
		}
	}
	return names
}

// Of equal places none is called slow in 19 of 20 runs at least, however many there are, however unequal their shares,
// and however long their queues last.
func TestEqualPlaces(t *testing.T) {
	ci.SkipUnderRace(t)
	const runs = 20
	for name, f := range map[string]fleet{
		"two":                {servers: 2, requests: 4000, load: .7},
		"two, short":         {servers: 2, requests: 400, load: .5},
		"two near capacity":  {servers: 2, requests: 6000, load: .95},
		"unequal shares":     {servers: 1, requests: 4000, load: .7, headers: 1, shares: []float64{.9}},
		"eight":              {servers: 8, requests: 6000, load: .7},
		"eight on four axes": {servers: 8, requests: 4000, load: .6, headers: 3, shares: []float64{.4, .3, .2}},
		"sixty":              {servers: 60, requests: 9000, load: .4},
		"all fail at times":  {servers: 4, requests: 4000, load: .5, fails: .05},
		"outages":            {servers: 4, requests: 6000, load: .5, outage: 5},
		"a few failures":     {servers: 2, requests: 2000, load: .5, fails: .005},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, claims, compared := rand.New(rand.NewPCG(1, 2)), 0, 0
			for range runs {
				all := f.compared(r)
				if len(slow(all)) > 0 {
					claims++
				}
				if slices.ContainsFunc(all[len(all)-1].Spreads, func(s metrics.Spread) bool { return s.Pieces > 0 }) {
					compared++
				}
			}
			if claims > runs/20 || compared < runs/5 {
				t.Errorf("%d of %d runs name a place, and %d were long enough for that", claims, runs, compared)
			}
		})
	}
}

// The slow places are named, with how slow they are, and no others.
func TestSlowPlaces(t *testing.T) {
	for name, c := range map[string]struct {
		fleet
		want string
	}{
		"one of two": {fleet{servers: 2, requests: 2000, load: .5, slow: map[int]float64{1: 1.5}},
			"ttft replica 1, tpot replica 1"},
		"one of eight": {fleet{servers: 8, requests: 8000, load: .5, slow: map[int]float64{5: 1.5}},
			"ttft replica 5, tpot replica 5"},
		"two of eight, the slowest first": {fleet{servers: 8, requests: 8000, load: .4,
			slow: map[int]float64{2: 1.5, 5: 2}},
			"ttft replica 5, ttft replica 2, tpot replica 5, tpot replica 2"},
		"five percent are within what places differ by": {
			fleet{servers: 2, requests: 9000, load: .2, slow: map[int]float64{1: 1.05}}, ""},
		"failures": {fleet{servers: 4, requests: 4000, load: .3, fails: .01, failing: map[int]float64{2: .1}},
			"failing replica 2"},
		"too few": {fleet{servers: 2, requests: 40, load: .5, slow: map[int]float64{1: 3}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			all := c.compared(rand.New(rand.NewPCG(3, 4)))
			if got := strings.Join(slow(all), ", "); got != c.want {
				t.Errorf("slow: %s, want %s", got, c.want)
			}
			for _, s := range all[0].Spreads {
				if few := c.requests < 100; few != (s.Pieces == 0) || few != (s.Longer > 1) {
					t.Errorf("%d pieces, %v times as long", s.Pieces, s.Longer)
				}
				for _, p := range s.Slow {
					if s.Latency == metrics.TPOT && (p.Ratio < 1.3 || p.Ratio > 4) {
						t.Errorf("%s: %v times the others", p.Name, p.Ratio)
					}
				}
			}
		})
	}
}

// Places of which little is known stand in no comparison's way, and a single one has none.
func TestOddPlaces(t *testing.T) {
	of := func(places ...string) metrics.Comparison {
		var p Places
		for i := range 600 {
			for _, name := range places {
				p.Add(name, time.Duration(i)*time.Second, float64(100+i%7), 1)
			}
		}
		p.Add("late", 599*time.Second, math.Inf(1), 1)
		p.Add(metrics.NoPlace, 0, math.Inf(1), 1)
		p.Add(metrics.OtherClasses, -1, -1, 1)
		axes := make([]metrics.Comparison, 1)
		Compare(axes, []Sums{{Latencies: map[metrics.Latency]*Places{metrics.TTFT: &p}}})
		return axes[0]
	}
	if s := of("a", "b").Spreads; len(s) != 1 || s[0].Places != 2 || s[0].Pieces == 0 || s[0].Slow != nil ||
		math.Abs(s[0].Ratio-1) > 1e-9 {
		t.Errorf("of two %+v", s)
	}
	var many Places
	for i := range 1000 {
		many.Add(fmt.Sprint(i), 0, 1, 1)
	}
	if n := len(many.cells); n > metrics.MostClasses+1 {
		t.Errorf("%d places", n)
	}
	if s := of("a").Spreads; len(s) != 1 || s[0].Ratio != 0 || s[0].Pieces != 0 || s[0].Longer != 30 {
		t.Errorf("of one and one request %+v", s)
	}
	if s := of().Spreads; s != nil {
		t.Errorf("of one request %+v", s)
	}
}
