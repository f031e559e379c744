package calibration

import (
	"encoding/json"
	"math"
	"slices"
	"time"
)

// Quantiles of N times. Without any, all of them are 0. As JSON they are in microseconds.
type Quantiles struct {
	N                   int
	P50, P99, P999, Max time.Duration
}

// QuantilesOf sorts the times and takes of them the smallest that the share in question does not exceed.
func QuantilesOf(times []time.Duration) Quantiles {
	q := Quantiles{N: len(times)}
	if q.N == 0 {
		return q
	}
	slices.Sort(times)
	at := func(share float64) time.Duration {
		return times[max(0, int(math.Ceil(share*float64(q.N)))-1)]
	}
	q.P50, q.P99, q.P999, q.Max = at(0.5), at(0.99), at(0.999), times[q.N-1]
	return q
}

// quantilesJSON is the form of Quantiles in files.
type quantilesJSON struct {
	N    int     `json:"n"`
	P50  float64 `json:"p50_us"`
	P99  float64 `json:"p99_us"`
	P999 float64 `json:"p999_us"`
	Max  float64 `json:"max_us"`
}

// MarshalJSON writes microseconds.
func (q Quantiles) MarshalJSON() ([]byte, error) {
	return json.Marshal(quantilesJSON{q.N, inMicros(q.P50), inMicros(q.P99), inMicros(q.P999), inMicros(q.Max)})
}

// UnmarshalJSON reads microseconds.
func (q *Quantiles) UnmarshalJSON(b []byte) error {
	var j quantilesJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*q = Quantiles{j.N, fromMicros(j.P50), fromMicros(j.P99), fromMicros(j.P999), fromMicros(j.Max)}
	return nil
}

func inMicros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

func fromMicros(us float64) time.Duration {
	return time.Duration(math.Round(us * float64(time.Microsecond)))
}

// spread is a mean and a standard deviation, summed up in one pass by Welford's method.
type spread struct {
	n    int
	mean float64
	m2   float64
}

func (s *spread) add(d time.Duration) {
	s.n++
	delta := float64(d) - s.mean
	s.mean += delta / float64(s.n)
	s.m2 += delta * (float64(d) - s.mean)
}

// average and deviation are 0 without values.
func (s *spread) average() time.Duration { return time.Duration(math.Round(s.mean)) }

func (s *spread) deviation() time.Duration {
	if s.n == 0 {
		return 0
	}
	return time.Duration(math.Round(math.Sqrt(s.m2 / float64(s.n))))
}
