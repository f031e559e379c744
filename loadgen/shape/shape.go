// Package shape holds the loads of a run, a type for each kind: when requests start and end, and how many are in
// flight. A shape is a plain value. It knows no clock and no server, and draws from a generator that is handed in, so
// the same flags and the same seed give the same load.
package shape

import (
	"fmt"
	"time"

	"benchtop/internal/hf/numpy"
	"benchtop/metrics"
)

// Shape is a load.
type Shape interface {
	// Validate reports every problem at once, in terms of serve's flags.
	Validate() []error
	// Requests is the number of requests, as far as it is known before any draw; 0 for as many as the data set has.
	Requests() int
	// End is when sending ends by the clock; 0 where only the number of requests, or a search, ends it.
	End() time.Duration
	// Endless reports whether no number of prompts ends the load, only the clock or a search.
	Endless() bool
	// Arrivals draws when requests start. rows are the conversations of the data set, math.MaxInt where it has no end;
	// times those of a Timed shape or of the data set, nil for other loads.
	Arrivals(rows int, times []time.Duration, draws *numpy.Legacy) Arrivals
	// Peak is the demand on the client; requests are those of Arrivals, 0 before they are known.
	Peak(requests int) Demand
	// Describe names the load for a person. rows are the conversations of the data set, arriving is the unit of the
	// arrivals: requests, or conversations of several each.
	Describe(rows int, arriving metrics.Unit) string

	enter(p *metrics.Plan, rows int)
}

// Timetable is a Shape whose arrivals are a matter of time alone. They are drawn before the data set, which gets as
// many prompts.
type Timetable interface {
	Shape
	Times(draws *numpy.Legacy) []time.Duration
}

// Arrivals are when requests start, as loadgen.Options take them.
type Arrivals struct {
	Schedule Schedule
	// Requests of the schedule; 0 where only the clock or a search ends it.
	Requests   int
	ClosedLoop bool
	Limit      int
	Until      time.Duration
}

// Demand is the largest planned demand of a load on the client.
type Demand struct {
	// Streams in flight; 0 where they depend on the server's speed.
	Streams int
	// RequestsPerSecond is 0 where no rate is planned.
	RequestsPerSecond float64
	// Ahead are the connections that are needed at once, so that it pays to open them before the run.
	Ahead int
}

// Share is the demand of a part of the load.
func (d Demand) Share(p metrics.Part) Demand {
	if p.Split() {
		d.Streams, d.Ahead, d.RequestsPerSecond = p.Of(d.Streams), p.Of(d.Ahead), d.RequestsPerSecond/float64(p.N)
	}
	return d
}

// Bounds end a load of any shape, or hold it back.
type Bounds struct {
	// Count is the number of requests. Unless it was Asked for, another end of the load replaces it. If 0 was asked
	// for, each row of the data set is sent once.
	Count int
	Asked bool
	// Duration is when the sending ends by the clock, at the latest with a Timed shape or stages of users; 0 for no
	// such end.
	Duration time.Duration
	// Limit of requests in flight; 0 for none. OfConversations: where conversations arrive, it limits those under way.
	Limit           int
	OfConversations bool
}

const (
	// LongestRun is longer than any run, and fits into a duration.
	LongestRun = 365 * 24 * time.Hour
	// HighestRate is the highest rate of a search, or set by hand.
	HighestRate = 1e6
)

// Requests is the number asked for, or its default.
func (b Bounds) Requests() int { return b.Count }

// End is the duration.
func (b Bounds) End() time.Duration { return b.Duration }

// Endless is false: requests come to an end.
func (b Bounds) Endless() bool { return false }

// Validate reports a number of requests that is too large.
func (b Bounds) Validate() []error { return b.tooMany(0) }

func (b Bounds) enter(*metrics.Plan, int) {}

// Arrivals are at the given times, as far as the data set has conversations and the duration goes.
func (b Bounds) Arrivals(rows int, times []time.Duration, _ *numpy.Legacy) Arrivals {
	times = times[:min(len(times), rows)]
	if b.Duration > 0 {
		times = before(times, b.Duration)
	}
	return b.open(times)
}

// Peak is the limit. Without one, the number in flight depends on the times and the server's speed.
func (b Bounds) Peak(requests int) Demand {
	if b.Limit > 0 && requests > 0 {
		return Demand{Streams: min(b.Limit, requests)}
	}
	return Demand{Streams: b.Limit}
}

// open are arrivals at times of their own.
func (b Bounds) open(offsets []time.Duration) Arrivals {
	a := Arrivals{Schedule: At(offsets), Requests: len(offsets), Limit: b.Limit}
	if b.Limit > 0 {
		a.Until = b.Duration
	}
	return a
}

// closed are arrivals whenever one of the users is free.
func (b Bounds) closed(requests int) Arrivals {
	return Arrivals{Schedule: Immediately(), Requests: requests, ClosedLoop: true, Limit: b.Limit, Until: b.Duration}
}

// atMost describes the limit.
func (b Bounds) atMost(arriving metrics.Unit) string {
	switch {
	case b.Limit == 0:
		return ""
	case b.OfConversations && arriving == metrics.ConversationsPerSecond:
		return fmt.Sprintf(", at most %d conversations", b.Limit)
	}
	return fmt.Sprintf(", at most %d in flight", b.Limit)
}

// tooMany reports more requests than MostArrivals. expected is the number that the clock allows.
func (b Bounds) tooMany(expected float64) []error {
	if b.Asked && b.Count > 0 {
		expected = min(expected, float64(b.Count))
	}
	if expected = max(expected, float64(b.Count)); expected <= MostArrivals {
		return nil
	}
	return []error{fmt.Errorf("about %.3g requests: more than %d are too many for one run", expected, MostArrivals)}
}

// cut keeps the number of requests that was asked for.
func (b Bounds) cut(offsets []time.Duration) []time.Duration {
	if b.Asked && b.Count > 0 {
		offsets = offsets[:min(len(offsets), b.Count)]
	}
	return offsets
}

// count takes the number of a load in time from its arrivals, unless one was asked for.
func (b Bounds) count(p *metrics.Plan) {
	if !b.Asked {
		p.NumPrompts = p.Requests
	}
}

// Enter writes a load into a plan that has its conversations. rows are the conversations of the data set, requests
// those of the arrivals.
func Enter(p *metrics.Plan, s Shape, rows, requests int) {
	p.NumPrompts, p.Requests, p.Duration, p.MaxConcurrency = s.Requests(), requests, s.End(), s.Peak(0).Streams
	arriving := metrics.RequestsPerSecond
	if p.Conversations != nil {
		arriving = metrics.ConversationsPerSecond
	}
	p.Load = s.Describe(rows, arriving)
	s.enter(p, rows)
}
