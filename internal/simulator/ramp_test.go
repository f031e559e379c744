package simulator

import (
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// measured is what an open load showed.
type measured struct {
	perSecond float64       // requests finished, over the busy time
	ttft      time.Duration // median
	itl       time.Duration // mean: steps with and without prefill make two peaks

}

// measure sends requests at random moments (Poisson, rate per second) and returns how that went.
func measure(t *testing.T, p Profile, rate float64, requests, prompt, output int) (m measured) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		draws := rand.New(rand.NewPCG(7, 7))
		arrivals := make([]newcomer, requests)
		var at float64 // seconds
		for i := range arrivals {
			at += draws.ExpFloat64() / rate
			spread := func(mean int) int { return mean/2 + draws.IntN(mean+1) }
			arrivals[i] = newcomer{at: time.Duration(at * float64(time.Second)), prompt: spread(prompt), limit: spread(output)}
		}
		tokens, _ := play(t, p, arrivals)
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
		m = measured{
			perSecond: float64(requests) / (end - arrivals[0].at).Seconds(),
			ttft:      ttfts[len(ttfts)/2], itl: gaps / time.Duration(count),
		}
	})
	return m
}

// The promise of the default profile's comment: where it bends, and how it feels on both sides.
func TestRampBends(t *testing.T) {
	p := Defaults()
	capacity := measure(t, p, 1000, 600, 384, 96).perSecond
	if capacity < 19 || capacity > 23 {
		t.Errorf("capacity is %.1f requests/s, the profile's comment says about 21", capacity)
	}
	light, half, twice := measure(t, p, 0.5, 60, 384, 96), measure(t, p, capacity/2, 400, 384, 96), measure(t, p, capacity*2, 600, 384, 96)
	t.Logf("capacity %.1f/s; light: ttft %v itl %v; half: ttft %v itl %v; twice: ttft %v itl %v",
		capacity, light.ttft, light.itl, half.ttft, half.itl, twice.ttft, twice.itl)
	for _, c := range []struct{ prompt, output int }{{256, 64}, {512, 128}} {
		t.Logf("capacity with prompts of %d and answers of %d: %.1f/s", c.prompt, c.output,
			measure(t, p, 1000, 400, c.prompt, c.output).perSecond)
	}
	if light.itl < 11*time.Millisecond || light.itl > 13*time.Millisecond {
		t.Errorf("ITL of light load is %v, want about 12ms", light.itl)
	}
	if half.ttft > 150*time.Millisecond {
		t.Errorf("median TTFT at half the capacity is %v, want at most 150ms", half.ttft)
	}
	if twice.ttft < 20*half.ttft {
		t.Errorf("median TTFT at twice the capacity is %v, want at least 20 times the %v at half", twice.ttft, half.ttft)
	}
	if twice.itl < 2*light.itl || twice.itl > 40*time.Millisecond {
		t.Errorf("ITL in a full batch is %v, want two to three times the %v of light load", twice.itl, light.itl)
	}
}
