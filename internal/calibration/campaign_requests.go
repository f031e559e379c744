package calibration

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"benchtop/internal/telemetry"
	"benchtop/loadgen/pace"
	"benchtop/metrics"
)

// mostLate is the greatest 99th percentile of lateness at a rate that is measured exactly, as in the verdict of a run.
const mostLate = metrics.LateMost

// leastReached is the share of a rate that must be reached at such a rate.
const leastReached = 0.95

// requests finds the highest rate at which requests are sent on time. The rate of users without pause is only the range of the search:
// their requests have no time to be late for.
func (c *campaign) requests(ctx context.Context) {
	c.withoutPause(ctx)
	var rungs []float64
	for _, share := range c.RateShares {
		if rate := twoDigits(share * c.out.WithoutPause); rate > 0 {
			rungs = append(rungs, rate)
		}
	}
	c.out.Rates, _ = climb(ctx, c, "requests/s", rungs, func(rate float64) (RateStep, error) {
		rate = max(1, rate) // 0 means all at once
		c.report(fmt.Sprintf("requests/s: %s, sent at times of their own", count(rate)))
		return c.rate(ctx, rate)
	})
	for _, s := range c.out.Rates {
		if s.exact() {
			c.out.RequestsPerSecond = max(c.out.RequestsPerSecond, s.Reached)
		}
	}
}

// withoutPause measures the highest rate of requests that server and client reach.
func (c *campaign) withoutPause(ctx context.Context) {
	var rates []float64
	for i := range c.Rounds {
		c.report(fmt.Sprintf("requests/s: %d users without pause, round %d of %d", c.Users, i+1, c.Rounds))
		r, err := c.flawless(ctx, Load{Streams: c.Users, Closed: true, Chunks: 1, Duration: c.RoundTime, Preconnect: true})
		if err != nil {
			c.problem(ctx, "requests/s", err)
			return
		}
		rates = append(rates, r.RequestsPerSecond)
		c.out.Rounds = append(c.out.Rounds, RequestRound{Users: c.Users, RequestsPerSecond: rounded(r.RequestsPerSecond, 1)})
		c.out.WithoutPause = rounded(Median(rates), 0)
	}
}

// rate measures and judges requests that arrive at a rate, without a limit on requests in flight. As in such a run, connections are
// opened on demand, and then reused.
func (c *campaign) rate(ctx context.Context, rate float64) (RateStep, error) {
	s := RateStep{Asked: rate, Reached: rate}
	// The number is fixed, as a random number in a fixed time would be another rate.
	l := Load{Rate: rate, Requests: max(1, int(math.Round(rate*c.RoundTime.Seconds()))), Chunks: 1, Seed: int64(rate)}
	r, err := c.measure(ctx, l)
	if err != nil {
		return s, err
	}
	s.Result = r
	arriving := float64(l.Requests) / rate
	if took := r.Seconds - mostLate.Seconds(); took > arriving { // the last answer needs some time
		s.Reached *= arriving / took
	}
	s.Reached = rounded(s.Reached, 0)
	switch {
	case r.Failed > 0:
		s.Missed = fmt.Sprintf("%d of %d requests failed", r.Failed, r.Requests)
	case r.Lateness.P99 > mostLate:
		s.Missed = fmt.Sprintf("sent %s late (p99)", asMicros(r.Lateness.P99))
	case s.Reached < leastReached*s.Asked:
		s.Missed = "so many do not come"
	}
	return s, nil
}

// twoDigits rounds a positive number to two digits; more would only look exact.
func twoDigits(v float64) float64 {
	if v < 10 {
		return math.Round(v)
	}
	unit := math.Pow(10, math.Floor(math.Log10(v))-1)
	return math.Round(v/unit) * unit
}

// lateArrivals measures the lateness of arrivals: of the pacer alone, and with the work of sending requests.
func (c *campaign) lateArrivals(ctx context.Context) {
	for i, rate := range slices.Concat(c.Paced, c.Sent) {
		if ctx.Err() != nil {
			return
		}
		run := LatenessRun{RequestsPerSecond: rate, Sent: i >= len(c.Paced)}
		var err error
		if run.Sent {
			c.report(fmt.Sprintf("lateness: %s requests/s", count(rate)))
			var r Result
			r, err = c.flawless(ctx, Load{Streams: c.Users, Rate: rate, Chunks: 1, Duration: c.ArrivalTime, Preconnect: true, Seed: int64(rate)})
			run.Lateness = r.Lateness
		} else {
			c.report(fmt.Sprintf("lateness: %s arrivals/s, nothing sent", count(rate)))
			run.Lateness, err = c.tools.lateness(ctx, rate, c.ArrivalTime)
		}
		if err != nil {
			c.problem(ctx, fmt.Sprintf("lateness at %s/s", count(rate)), err)
			continue
		}
		c.out.Lateness = append(c.out.Lateness, run)
	}
}

// limits reports the limits of the system that a load exceeds. The metronome needs as many sockets in its own process.
func limits(connections int) error {
	return errors.Join(telemetry.CheckSockets(connections), telemetry.CheckPorts(connections))
}

// pacerLateness is the lateness of arrivals from the default pacer without any work.
func pacerLateness(ctx context.Context, perSecond float64, length time.Duration) (Quantiles, error) {
	late, err := pace.Lateness(ctx, "", perSecond, max(1, int(perSecond*length.Seconds())), uint64(perSecond))
	return QuantilesOf(late), err
}
