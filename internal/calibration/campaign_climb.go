package calibration

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// steady is a load of streams that begin one after the other, at a rate that the client can send, and are then all open together for
// a while.
func (c *campaign) steady(streams int, perStream float64, together time.Duration) Load {
	starts := 2000. // a second
	if len(c.out.Rates) > 0 {
		starts = min(max(c.out.RequestsPerSecond/2, 500), 10_000) // the open streams need time, too
	}
	itl := time.Duration(float64(time.Second) / perStream).Round(time.Microsecond)
	ramp := float64(streams) / starts
	return Load{
		Streams: streams, Requests: streams, Rate: starts, Chunks: int(math.Ceil((ramp + together.Seconds()) / itl.Seconds())),
		TTFT: itl, ITL: itl, Preconnect: true, Seed: int64(streams),
	}
}

// lasts is the duration of a steady load without lateness.
func (l *Load) lasts() float64 {
	return float64(l.Requests)/l.Rate + l.TTFT.Seconds() + float64(l.Chunks-1)*l.ITL.Seconds()
}

// streams finds the most streams that can be open.
func (c *campaign) streams(ctx context.Context) {
	rungs := each(c.Streams, func(n int) float64 { return float64(n) })
	c.out.Streams, c.out.MoreStreams = climb(ctx, c, "open streams", rungs, func(n float64) (Step, error) {
		streams := int(n)
		step := Step{Streams: streams, ChunksPerSecond: n * streamRate}
		if err := c.limits(streams); err != nil {
			return step, errLimits{err}
		}
		c.report(fmt.Sprintf("open streams: %s of %d chunks/s each", count(n), streamRate))
		return c.step(ctx, step, c.steady(streams, streamRate, c.StreamTime))
	})
	c.record(c.out.Streams)
}

// chunks finds the most chunks a second that can be timed.
func (c *campaign) chunks(ctx context.Context) {
	streams := c.fitting(c.ChunkStreams)
	c.out.Chunks, c.out.MoreChunks = climb(ctx, c, "chunks/s", c.ChunkRates, func(rate float64) (Step, error) {
		c.report(fmt.Sprintf("chunks/s: %s over %s streams", count(rate), count(float64(streams))))
		step := Step{Streams: streams, ChunksPerSecond: rate}
		return c.step(ctx, step, c.steady(streams, rate/float64(streams), c.ChunkTime))
	})
	c.record(c.out.Chunks)
}

// record updates the figures by exact steps, each of which is about streams and chunks.
func (c *campaign) record(steps []Step) {
	for _, s := range steps {
		if s.exact() {
			c.out.OpenStreams = max(c.out.OpenStreams, float64(s.Streams))
			c.out.ChunksPerSecond = max(c.out.ChunksPerSecond, s.Plateau)
		}
	}
}

// errLimits: the system does not allow a step.
type errLimits struct{ why error }

func (e errLimits) Error() string { return e.why.Error() }

// downMost is the most halvings of a first step that is too much.
const downMost = 4

// attempted is a measured step of a climb: whether it was exact, and whether the load was reached, so that more can be asked for.
type attempted interface {
	exact() bool
	full() bool
}

// climb tries rising rungs until one fails twice, as other programs have an influence, too. If the first one fails it goes down
// instead, so that a weak machine has a figure as well. more reports that something else than the client ended it.
func climb[S attempted](ctx context.Context, c *campaign, part string, rungs []float64, try func(rung float64) (S, error)) (steps []S, more bool) {
	attempt := func(rung float64) (ok bool) {
		for range 2 {
			s, err := try(rung)
			if ctx.Err() != nil {
				return false
			}
			if err != nil {
				more = more || errors.As(err, new(errLimits))
				c.problem(ctx, fmt.Sprintf("%s, %s", part, count(rung)), err)
				return false
			}
			steps = append(steps, s)
			if s.exact() {
				return true
			}
		}
		return false
	}
	for i, rung := range rungs {
		if attempt(rung) {
			if !steps[len(steps)-1].full() {
				return steps, more // the limit of server and client together
			}
			continue
		}
		if i == 0 {
			for range downMost {
				if rung /= 2; ctx.Err() != nil || attempt(math.Floor(rung)) {
					break
				}
			}
		}
		return steps, more
	}
	return steps, len(rungs) > 0
}

// fullRate is the share of the chunks asked for that must come before more are tried.
const fullRate = 0.9

func (s Step) full() bool { return s.Plateau >= fullRate*s.ChunksPerSecond }

// full holds for every exact step, as those reach their rate.
func (s RateStep) full() bool { return s.exact() }

// step measures a step and judges it.
func (c *campaign) step(ctx context.Context, s Step, l Load) (Step, error) {
	r, err := c.measure(ctx, l)
	if err != nil {
		return s, err
	}
	s.Result = r
	s.Plateau = s.ChunksPerSecond
	if lasts := l.lasts(); r.Seconds > lasts {
		s.Plateau *= lasts / r.Seconds
	}
	s.Plateau = rounded(s.Plateau, 0)
	switch {
	case r.Failed > 0:
		s.Missed = fmt.Sprintf("%d of %d requests failed", r.Failed, r.Requests)
	case r.MostStreams < s.Streams:
		s.Missed = fmt.Sprintf("only %s streams were open together", count(float64(r.MostStreams)))
	case r.StampError.P99 > mostError:
		s.Missed = fmt.Sprintf("stamps off by %s (p99)", asMicros(r.StampError.P99))
	case r.SharedShare > mostShared:
		s.Missed = fmt.Sprintf("%.1f %% of chunks share a stamp", 100*r.SharedShare)
	}
	return s, nil
}
