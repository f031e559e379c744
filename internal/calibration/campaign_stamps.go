package calibration

import (
	"context"
	"fmt"
	"slices"
	"time"

	"benchtop/loadgen/conn"
	"benchtop/metrics"
)

// stamps measures the same load with the kernel's stamps, with the client's own and with the dashboard drawn, in turn, so that other
// work of the machine affects all alike.
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
			c.report(fmt.Sprintf("stamps of the %s: %s streams of %d chunks/s each, round %d of %d", source, count(float64(streams)), stampRate, i+1, c.StampRounds))
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
		c.report(fmt.Sprintf("the same with the dashboard drawn, round %d of %d", i+1, c.StampRounds))
		load.Timestamps = sources[0]
		if drawn, bytes, err := c.drawn(ctx, load); err != nil {
			c.problem(ctx, "dashboard", err)
		} else {
			pairs = append(pairs, pair{*plain, drawn, bytes})
		}
	}
	for _, source := range sources {
		if all := rounds[source]; len(all) > 0 {
			run := StampRun{
				Timestamps: source, Streams: streams, ChunksPerSecond: float64(streams) * stampRate, Rounds: len(all),
				Error:       middle(each(all, func(r Result) Quantiles { return r.StampError })),
				SharedShare: rounded(Median(each(all, func(r Result) float64 { return r.SharedShare })), 5),
				CPU:         rounded(Median(each(all, func(r Result) float64 { return r.CPUPerChunkMicros })), 2),
			}
			c.out.Stamps = append(c.out.Stamps, run)
			if source == sources[0] {
				c.out.StampError = run.Error
			}
		}
	}
	c.out.Dashboard = dashboard(pairs)
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
	ratio := func(p pair) float64 { return p.with.CPUSeconds / max(p.without.CPUSeconds, 1e-9) } // 0 where the system does not report it
	rate := func(p pair) float64 { return float64(p.bytes) / p.with.Seconds }
	return &Dashboard{
		Pairs: len(pairs), CPURatio: rounded(Median(each(pairs, ratio)), 3), DrawnBytes: rounded(Median(each(pairs, rate)), 0),
		With:    watched(each(pairs, func(p pair) Result { return p.with })),
		Without: watched(each(pairs, func(p pair) Result { return p.without })),
	}
}

func watched(all []Result) Watched {
	return Watched{
		Error:    middle(each(all, func(r Result) Quantiles { return r.StampError })),
		Lateness: middle(each(all, func(r Result) Quantiles { return r.Lateness })),
		CPU:      rounded(Median(each(all, func(r Result) float64 { return r.CPUSeconds })), 3),
	}
}

// Median of an even number of values is the mean of the middle two; of none it is 0.
func Median(all []float64) float64 {
	if len(all) == 0 {
		return 0
	}
	all = slices.Sorted(slices.Values(all))
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

// each maps values to a figure.
func each[T, F any](all []T, of func(T) F) []F {
	figures := make([]F, len(all))
	for i, x := range all {
		figures[i] = of(x)
	}
	return figures
}

// middle has the median of each quantile of several rounds, and the sum of their N.
func middle(rounds []Quantiles) (q Quantiles) {
	at := func(pick func(Quantiles) time.Duration) time.Duration {
		return time.Duration(Median(each(rounds, func(q Quantiles) float64 { return float64(pick(q)) })))
	}
	for _, r := range rounds {
		q.N += r.N
	}
	q.P50, q.P99 = at(func(q Quantiles) time.Duration { return q.P50 }), at(func(q Quantiles) time.Duration { return q.P99 })
	q.P999, q.Max = at(func(q Quantiles) time.Duration { return q.P999 }), at(func(q Quantiles) time.Duration { return q.Max })
	return q
}
