package simulator

import (
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/ci"
)

// loadResult is the result of an open load.
type loadResult struct {
	perSecond float64       // requests finished, over the busy time
	ttft      time.Duration // median
	itl       time.Duration // mean: steps with and without prefill make two peaks
	state     snapshot      // at the end
}

// measure sends requests at random moments (Poisson, rate per second) and returns the result.
func measure(t *testing.T, p Profile, rate float64, requests, prompt, output int) (m loadResult) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		draws := rand.New(rand.NewPCG(7, 7))
		arrivals := make([]newcomer, requests)
		var at float64 // seconds
		for i := range arrivals {
			at += draws.ExpFloat64() / rate
			spread := func(mean int) int { return mean/2 + draws.IntN(mean+1) }
			arrivals[i] = newcomer{at: time.Duration(at * float64(time.Second)), prompt: spread(prompt),
				limit: spread(output)}
		}
		tokens, e := play(t, p, arrivals)
		var ttfts []time.Duration
		var gaps, end time.Duration
		count := 0
		for i, a := range arrivals {
			ttfts = append(ttfts, tokens[i][0]-a.at)
			last := tokens[i][len(tokens[i])-1]
			gaps += last - tokens[i][0]
			count += len(tokens[i]) - 1
			end = max(end, last)
		}
		slices.Sort(ttfts)
		m = loadResult{
			perSecond: float64(requests) / (end - arrivals[0].at).Seconds(),
			ttft:      ttfts[len(ttfts)/2], itl: gaps / time.Duration(count), state: e.snapshot(),
		}
	})
	return m
}

// The figures in the comments of the profiles hold.
func TestProfilesHoldTheirWord(t *testing.T) {
	ci.SkipUnderRace(t)
	within := func(name string, got, from, to float64) {
		t.Helper()
		if got < from || got > to {
			t.Errorf("%s is %.2f, want %v to %v", name, got, from, to)
		}
	}
	ms := func(d time.Duration) float64 { return d.Seconds() * 1000 }

	for _, p := range Profiles() {
		within(p.Name+": what Capacity says over what is measured",
			p.Capacity/measure(t, p, 1000, 400, 256, 64).perSecond, 0.95, 1.05)
	}
	p := Defaults()
	full := measure(t, p, 1000, 600, 384, 96)
	light, half := measure(t, p, 0.5, 60, 384, 96), measure(t, p, full.perSecond/2, 400, 384, 96)
	twice := measure(t, p, full.perSecond*2, 600, 384, 96)
	within("default: capacity", full.perSecond, 19, 23)
	within("default: ITL alone in ms", ms(light.itl), 11, 13)
	within("default: ITL in a full batch in ms", ms(twice.itl), 2*ms(light.itl), 40)
	within("default: median TTFT at half the capacity in ms", ms(half.ttft), 0, 150)
	within("default: median TTFT at twice the capacity over that", ms(twice.ttft)/ms(half.ttft), 20, 1000)

	p = tight()
	full, half, light = measure(t, p, 1000, 400, 384, 96), measure(t, p, 2.1, 200, 384, 96),
		measure(t, p, 0.2, 20, 384, 96)
	within("tight: capacity", full.perSecond, 3.9, 4.5)
	within("tight: preemptions at capacity", float64(full.state.preemptions)/400, 0.15, 0.5)
	within("tight: preemptions at half of it", float64(half.state.preemptions)/200, 0, 0.02)
	within("tight: ITL alone in ms", ms(light.itl), 28, 32)
	within("tight: median TTFT at half the capacity in ms", ms(half.ttft), 100, 200)

	p = speculating()
	full, light = measure(t, p, 1000, 500, 384, 96), measure(t, p, 0.5, 30, 384, 96)
	within("speculating: capacity", full.perSecond, 24, 29)
	within("speculating: preemptions", float64(full.state.preemptions), 0, 0)
	within("speculating: ITL alone in ms", ms(light.itl), 5, 7)
	within("speculating: ITL at capacity in ms", ms(full.itl), 30, 50)
	s := full.state.speculation
	within("speculating: tokens a step", 1+float64(s.acceptedTokens())/float64(s.drafts), 2.4, 2.65)
}
