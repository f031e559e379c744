package calibration

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"benchtop/internal/telemetry"
	"benchtop/internal/text"
	"benchtop/loadgen/conn"
	"benchtop/loadgen/pace"
	"benchtop/metrics"
)

// stamps measures the same load with the kernel's stamps, with the client's own and with the dashboard drawn, in turn,
// so that other work of the machine affects all alike.
func (c *campaign) stamps(ctx context.Context) {
	streams := c.fitting(c.StampStreams)
	load := c.steady(streams, stampRate, c.StampTime)
	sources := []string{metrics.UserStamps}
	if conn.KernelStamps() {
		sources = []string{metrics.KernelStamps, metrics.UserStamps}
	}
	c.out.Timestamps = sources[0] // the ones that serve uses
	rounds := map[string][]Result{}
	var pairs []pair
	for i := range c.StampRounds {
		var plain *Result // with the stamps that serve uses
		for _, source := range sources {
			c.report(fmt.Sprintf("stamps of the %s: %s streams of %d chunks/s each, round %d of %d",
				source, text.Grouped(streams), stampRate, i+1, c.StampRounds))
			load.Timestamps = source
			r, err := c.flawless(ctx, load)
			if err != nil {
				c.problem(ctx, "stamps of the "+source, err)
				continue
			}
			rounds[source] = append(rounds[source], r)
			if source == sources[0] {
				plain = &r
			}
		}
		if c.Draw == nil || plain == nil || ctx.Err() != nil {
			continue
		}
		c.report(fmt.Sprintf("stamps with the dashboard drawn, round %d of %d", i+1, c.StampRounds))
		load.Timestamps = sources[0]
		if drawn, bytes, err := c.drawn(ctx, load); err != nil {
			c.problem(ctx, "dashboard", err)
		} else {
			pairs = append(pairs, pair{*plain, drawn, bytes})
		}
	}
	for _, source := range sources {
		if all := rounds[source]; len(all) > 0 {
			c.out.Stamps = append(c.out.Stamps, stampRun(source, streams, all))
		}
	}
	if len(rounds[sources[0]]) > 0 {
		c.out.StampError = c.out.Stamps[0].Error
	}
	c.out.Dashboard = dashboard(pairs)
}

// stampRun sums up the rounds with the stamps of a source.
func stampRun(source string, streams int, all []Result) StampRun {
	return StampRun{
		Timestamps: source, Streams: streams, ChunksPerSecond: float64(streams) * stampRate, Rounds: len(all),
		Error:       middle(metrics.Each(all, func(r Result) Quantiles { return r.StampError })),
		SharedShare: rounded(metrics.Median(metrics.Each(all, func(r Result) float64 { return r.SharedShare })), 5),
		CPU: rounded(metrics.Median(metrics.Each(all, func(r Result) float64 { return r.CPUPerChunkMicros })),
			2),
	}
}

// fitting is a number of streams within the limits of the system.
func (c *campaign) fitting(streams int) int {
	for streams > 1 && c.limits(streams) != nil {
		streams /= 2
	}
	return streams
}

// drawn measures a load with the dashboard on, and returns the number of bytes drawn.
func (c *campaign) drawn(ctx context.Context, l Load) (r Result, bytes int64, err error) {
	l.Watch = func(ctx context.Context, snapshots <-chan metrics.Snapshot) { bytes = c.Draw(ctx, snapshots) }
	r, err = c.flawless(ctx, l)
	return r, bytes, err
}

// flawless measures a load; a failed request is an error.
func (c *campaign) flawless(ctx context.Context, l Load) (Result, error) {
	r, err := c.measure(ctx, l)
	if err == nil && r.Failed > 0 {
		err = fmt.Errorf("%d of %d requests failed", r.Failed, r.Requests)
	}
	return r, err
}

// pair is a round of a load without the dashboard and with it, and the number of bytes drawn.
type pair struct {
	without, with Result
	bytes         int64
}

func dashboard(pairs []pair) *Dashboard {
	if len(pairs) == 0 {
		return nil
	}
	// 0 where the system does not report it
	ratio := func(p pair) float64 { return p.with.CPUSeconds / max(p.without.CPUSeconds, 1e-9) }
	rate := func(p pair) float64 { return float64(p.bytes) / p.with.Seconds }
	return &Dashboard{
		Pairs: len(pairs), CPURatio: rounded(metrics.Median(metrics.Each(pairs, ratio)), 3),
		DrawnBytes: rounded(metrics.Median(metrics.Each(pairs, rate)), 0),
		With:       watched(metrics.Each(pairs, func(p pair) Result { return p.with })),
		Without:    watched(metrics.Each(pairs, func(p pair) Result { return p.without })),
	}
}

func watched(all []Result) DashboardSide {
	return DashboardSide{
		Error:    middle(metrics.Each(all, func(r Result) Quantiles { return r.StampError })),
		Lateness: middle(metrics.Each(all, func(r Result) Quantiles { return r.Lateness })),
		CPU:      rounded(metrics.Median(metrics.Each(all, func(r Result) float64 { return r.CPUSeconds })), 3),
	}
}

// middle has the median of each quantile of several rounds, and the sum of their N.
func middle(rounds []Quantiles) (q Quantiles) {
	at := func(pick func(Quantiles) time.Duration) time.Duration {
		return time.Duration(
			metrics.Median(metrics.Each(rounds, func(q Quantiles) float64 { return float64(pick(q)) })))
	}
	for _, r := range rounds {
		q.N += r.N
	}
	q.P50, q.P99 = at(func(q Quantiles) time.Duration { return q.P50 }),
		at(func(q Quantiles) time.Duration { return q.P99 })
	q.P999, q.Max = at(func(q Quantiles) time.Duration { return q.P999 }),
		at(func(q Quantiles) time.Duration { return q.Max })
	return q
}

// mostLate is the greatest 99th percentile of lateness at a rate that is measured exactly, as in the verdict of a run.
const mostLate = metrics.LateMost

// leastReached is the share of a rate that must be reached at such a rate.
const leastReached = 0.95

// requests finds the highest rate at which requests are sent on time. The rate of users without pause is only the range
// of the search: their requests have no time to be late for.
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
		c.report(fmt.Sprintf("requests/s: %s, random arrivals", text.Grouped(rate)))
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
		c.report(fmt.Sprintf("requests/s: closed loop of %d users, round %d of %d", c.Users, i+1, c.Rounds))
		r, err := c.flawless(ctx,
			Load{Streams: c.Users, Closed: true, Chunks: 1, Duration: c.RoundTime, Preconnect: true})
		if err != nil {
			c.problem(ctx, "requests/s", err)
			return
		}
		rates = append(rates, r.RequestsPerSecond)
		c.out.Rounds = append(c.out.Rounds,
			RequestRound{Users: c.Users, RequestsPerSecond: rounded(r.RequestsPerSecond, 1)})
		c.out.WithoutPause = rounded(metrics.Median(rates), 0)
	}
}

// rate measures and judges requests that arrive at a rate, without a limit on requests in flight. As in such a run,
// connections are opened on demand, and then reused.
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
		s.Missed = fmt.Sprintf("p99 send delay %s", asMicros(r.Lateness.P99))
	case s.Reached < leastReached*s.Asked:
		s.Missed = "not reached"
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
			c.report(fmt.Sprintf("lateness: %s requests/s", text.Grouped(rate)))
			var r Result
			r, err = c.flawless(ctx, Load{Streams: c.Users, Rate: rate, Chunks: 1, Duration: c.ArrivalTime,
				Preconnect: true, Seed: int64(rate)})
			run.Lateness = r.Lateness
		} else {
			c.report(fmt.Sprintf("lateness: %s arrivals/s, nothing sent", text.Grouped(rate)))
			run.Lateness, err = c.tools.lateness(ctx, rate, c.ArrivalTime)
		}
		if err != nil {
			c.problem(ctx, fmt.Sprintf("lateness at %s/s", text.Grouped(rate)), err)
			continue
		}
		c.out.Lateness = append(c.out.Lateness, run)
	}
}

// limits reports the limits of the system that a load exceeds. The metronome needs as many sockets in its own process.
func limits(connections int) error {
	return errors.Join(telemetry.CheckSockets(connections), telemetry.CheckPorts(connections, 1))
}

// pacerLateness is the lateness of arrivals from the default pacer without any work.
func pacerLateness(ctx context.Context, perSecond float64, length time.Duration) (Quantiles, error) {
	late, err := pace.Lateness(ctx, "", perSecond, max(1, int(perSecond*length.Seconds())), uint64(perSecond))
	return QuantilesOf(late), err
}
