package queuetest

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"benchtop/metrics"
)

// Shape is a load over time.
type Shape struct {
	// Over is the length of a ramp From one rate To another; 0 for the rates of stages, each of the same Length.
	From, To, Over float64
	Rates          []float64
	Length         float64
}

// Arrivals draws those of the shape, and returns the plan of a run with it.
func (s Shape) Arrivals(r *rand.Rand) ([]float64, metrics.Plan) {
	p := metrics.Plan{Rate: metrics.Rate(math.Inf(1)), Burstiness: 1}
	if s.Over > 0 {
		p.Ramp = &metrics.Ramp{Strategy: "linear", From: s.From, To: s.To, Over: seconds(s.Over)}
		p.Duration = seconds(s.Over)
		return Ramp(s.From, s.To, s.Over, r), p
	}
	var all []float64
	for i, rate := range s.Rates {
		begin := s.Length * float64(i)
		for _, t := range Constant(rate, s.Length, r) {
			all = append(all, begin+t)
		}
		load := metrics.RequestsPerSecond.Of(rate)
		p.Stages = append(p.Stages, metrics.Stage{Start: seconds(begin), Length: seconds(s.Length), Load: load})
	}
	p.Duration = seconds(s.Length * float64(len(s.Rates)))
	if len(s.Rates) == 1 {
		p.Stages, p.Rate = nil, metrics.Rate(s.Rates[0])
	}
	return all, p
}

// Highest is the highest rate of the shape.
func (s Shape) Highest() float64 { return slices.Max(append([]float64{s.To}, s.Rates...)) }

// Lowest is the lowest rate of the shape.
func (s Shape) Lowest() float64 {
	if s.Over > 0 {
		return s.From
	}
	return slices.Min(s.Rates)
}

func seconds(v float64) time.Duration {
	return time.Duration(v * float64(time.Second)).Round(time.Microsecond)
}

// Requests are those that arrived, with their answers by the server. A client that is late sends each later by an
// exponential time of the mean late, in seconds.
func (s *Server) Requests(arrivals []float64, answers []Times, late float64, r *rand.Rand) []metrics.Request {
	all := make([]metrics.Request, len(arrivals))
	for i, t := range arrivals {
		q := metrics.NewRequest(i)
		at := seconds(t)
		q.Scheduled, q.Due, q.Admitted = at, at, at
		if late > 0 {
			at += seconds(late * r.ExpFloat64())
		}
		q.Sent = at
		a := answers[i]
		if a.First < 0 {
			q.Failure, q.Status, q.Done = metrics.FailedStatus, 429, at+seconds(a.End)
			all[i] = q
			continue
		}
		n := s.tokens()
		for k := range n {
			part := a.First + (a.End-a.First)*float64(k)/float64(max(1, n-1))
			q.Add(metrics.Chunk{At: at + seconds(part), Tokens: 1, Answer: true})
		}
		q.OutputTokens, q.Done = n, q.LastChunk
		all[i] = q
	}
	return all
}
