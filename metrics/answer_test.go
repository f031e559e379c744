package metrics

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"time"
)

// server is a made-up server: so many places, each taken by a request for so long. What finds no place waits, first come
// first served. Its capacity is slots / service.
type server struct {
	slots   int
	service time.Duration // in its place
	first   time.Duration // until the first chunk, of service
	jitter  float64       // share by which service varies, both ways
	room    int           // requests that may wait; one more is refused. 0: any number
	stallAt time.Duration // for stallFor nothing begins
	stall   time.Duration
}

func (s server) capacity() float64 { return float64(s.slots) / s.service.Seconds() }

// serve answers requests that come at these moments.
func (s server) serve(arrivals []time.Duration, r *rand.Rand) []Request {
	free := make([]time.Duration, s.slots)
	var starts []time.Duration // of those that waited or wait
	var all []Request
	for i, at := range arrivals {
		q := NewRequest(i)
		q.Scheduled, q.Due, q.Admitted, q.Sent = at, at, at, at
		waiting := 0
		for k := len(starts) - 1; k >= 0 && starts[k] > at; k-- {
			waiting++
		}
		if s.room > 0 && waiting >= s.room {
			q.Failure, q.Status, q.Error, q.Done = FailedStatus, 503, "busy", at+time.Millisecond
			all = append(all, q)
			continue
		}
		k := 0
		for j := range free {
			if free[j] < free[k] {
				k = j
			}
		}
		start := max(at, free[k])
		if s.stall > 0 && start >= s.stallAt && start < s.stallAt+s.stall {
			start = s.stallAt + s.stall
		}
		starts = append(starts, start)
		service := time.Duration(float64(s.service) * (1 + s.jitter*(2*r.Float64()-1)))
		free[k] = start + service
		for _, at := range []time.Duration{start + s.first, start + service} {
			q.Add(Chunk{At: at.Round(time.Microsecond), Tokens: 1})
		}
		q.OutputTokens, q.Done = 2, q.LastChunk
		all = append(all, q)
	}
	return all
}

// poisson draws arrivals at the ramp's rate.
func poisson(ramp Ramp, r *rand.Rand) []time.Duration {
	most := max(ramp.From, ramp.To)
	var all []time.Duration
	for at := time.Duration(0); ; {
		at += time.Duration(r.ExpFloat64() / most * float64(time.Second))
		if at >= ramp.Over {
			return all
		}
		if r.Float64()*most < ramp.RateAt(at) {
			all = append(all, at.Round(time.Microsecond))
		}
	}
}

func answerTo(t *testing.T, plan Plan, all []Request) Report {
	t.Helper()
	var last time.Duration
	for i := range all {
		last = max(last, all[i].Done)
	}
	plan.Requests = len(all)
	r, err := Summarize(yield(all), Run{Plan: plan, Ended: last})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func rampPlan(ramp Ramp) Plan {
	return Plan{Ramp: &ramp, Rate: Rate(math.Inf(1)), Burstiness: 1}
}

func TestExplore(t *testing.T) {
	if os.Getenv("EXPLORE") == "" {
		t.Skip()
	}
	linear := func(from, to float64, over time.Duration) Ramp {
		return Ramp{Strategy: "linear", From: from, To: to, Over: over}
	}
	for _, s := range []server{
		{slots: 1, service: 32 * time.Millisecond, first: 32 * time.Millisecond},
		{slots: 32, service: time.Second, first: 60 * time.Millisecond},
		{slots: 32, service: time.Second, first: 60 * time.Millisecond, jitter: 0.8},
		{slots: 32, service: time.Second, first: 300 * time.Millisecond, jitter: 0.8},
		{slots: 200, service: 6400 * time.Millisecond, first: 100 * time.Millisecond, jitter: 0.8},
		{slots: 32, service: time.Second, first: 60 * time.Millisecond, jitter: 0.8, room: 10},
	} {
		for _, ramp := range []Ramp{linear(4, 44, 30*time.Second), linear(4, 44, 60*time.Second), linear(4, 60, 60*time.Second), linear(4, 44, 300*time.Second), linear(44, 4, 120*time.Second), linear(40, 60, 60*time.Second), linear(4, 24, 60*time.Second)} {
			line := ""
			for seed := range uint64(12) {
				r := rand.New(rand.NewPCG(seed, 7))
				rep := answerTo(t, rampPlan(ramp), s.serve(poisson(ramp, r), r))
				if rep.Answer.Bends {
					line += fmt.Sprintf(" %.2f", rep.Answer.At/s.capacity())
				} else {
					line += " [" + rep.Answer.Why + "]"
				}
			}
			fmt.Printf("%+v cap %.1f %v-%v %v: %s\n", s, s.capacity(), ramp.From, ramp.To, ramp.Over, line)
		}
	}
}
