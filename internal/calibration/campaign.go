package calibration

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"benchtop/internal/text"
	"benchtop/metrics"
)

// Campaign is the plan of a calibration. Running does not change it.
type Campaign struct {
	Quick bool
	// Users ask without pause for answers of one chunk, in Rounds of RoundTime each. Then requests arrive at RateShares
	// of the rate that they reached, rising, for RoundTime each.
	Users, Rounds int
	RateShares    []float64
	RoundTime     time.Duration
	// Streams are the numbers of open streams to try, rising, at streamRate chunks a second each. All of a step are
	// open together for StreamTime.
	Streams    []int
	StreamTime time.Duration
	// ChunkRates are the rates of chunks to try, rising, over ChunkStreams streams, for ChunkTime each.
	ChunkRates   []float64
	ChunkStreams int
	ChunkTime    time.Duration
	// StampStreams of stampRate chunks a second each are measured with each kind of stamps, and with the dashboard, in
	// turn: StampRounds times for StampTime each.
	StampStreams, StampRounds int
	StampTime                 time.Duration
	// Paced are rates of arrivals for the pacer alone, Sent those with requests; ArrivalTime for each.
	Paced, Sent []float64
	ArrivalTime time.Duration

	// Draw draws the dashboard of a run until its ctx ends and returns the number of bytes drawn; nil skips the part.
	Draw func(ctx context.Context, snapshots <-chan metrics.Snapshot) (bytes int64)
	// Progress is called before each measurement, with the number of the part, the number of parts, and a description;
	// nil for none.
	Progress func(part, of int, text string)
}

const (
	streamRate = 5  // chunks a second of a stream, to find the most streams
	stampRate  = 20 // chunks a second of a stream, to measure stamps: those of a fast reader
)

// Usual takes about a minute, less if a part ends early.
func Usual() Campaign {
	return Campaign{
		Users: 64, Rounds: 3, RateShares: []float64{0.25, 0.5, 0.7, 0.85}, RoundTime: 1500 * time.Millisecond,
		Streams: []int{1000, 2500, 5000, 10_000, 20_000}, StreamTime: time.Second,
		ChunkRates:   []float64{10e3, 20e3, 30e3, 40e3, 60e3, 80e3, 100e3, 150e3, 200e3, 300e3},
		ChunkStreams: 1000, ChunkTime: time.Second,
		StampStreams: 1000, StampRounds: 2, StampTime: 2 * time.Second,
		Paced: []float64{100, 1000, 5000}, Sent: []float64{200, 1000}, ArrivalTime: 1500 * time.Millisecond,
	}
}

// Quick takes about twenty seconds and is less certain.
func Quick() Campaign {
	c := Usual()
	c.Quick = true
	c.Rounds, c.RateShares, c.RoundTime = 1, []float64{0.25, 0.5, 0.75}, time.Second
	c.Streams, c.StreamTime = []int{1000, 5000}, 700*time.Millisecond
	c.ChunkRates, c.ChunkTime = []float64{10e3, 20e3, 40e3, 80e3, 160e3}, 700*time.Millisecond
	c.StampRounds, c.StampTime = 1, time.Second
	c.Paced, c.Sent, c.ArrivalTime = []float64{1000}, []float64{200}, time.Second
	return c
}

// Run measures this process against the metronome at server. Failures are Problems of the result; when ctx ends, the
// result has the measurements so far and is not Complete.
func (c *Campaign) Run(ctx context.Context, server string) *Calibration {
	return c.run(ctx, tools{
		measure:  func(ctx context.Context, l Load) (Result, error) { return Measure(ctx, server, l) },
		lateness: pacerLateness,
		limits:   limits,
	})
}

// tools make the measurements of a campaign, so that tests can replace them.
type tools struct {
	measure  func(ctx context.Context, l Load) (Result, error)
	lateness func(ctx context.Context, perSecond float64, length time.Duration) (Quantiles, error)
	// limits is the reason why the system does not allow so many connections, nil if it does.
	limits func(connections int) error
}

// campaign is a Campaign in progress.
type campaign struct {
	Campaign
	tools
	out   *Figures
	begun int // parts
	parts int
}

func (c *Campaign) run(ctx context.Context, t tools) *Calibration {
	start := time.Now()
	out := &Calibration{Format: recordFormat, When: start.Round(time.Second), Quick: c.Quick, Machine: thisMachine()}
	r := &campaign{Campaign: *c, tools: t, out: &out.Figures}
	parts := []func(context.Context){r.requests, r.streams, r.chunks, r.stamps, r.lateArrivals}
	r.parts = len(parts)
	for _, part := range parts {
		if ctx.Err() != nil {
			break
		}
		r.begun++
		part(ctx)
	}
	out.Complete = ctx.Err() == nil
	out.Seconds = rounded(time.Since(start).Seconds(), 1)
	return out
}

func (c *campaign) report(text string) {
	if c.Progress != nil {
		c.Progress(c.begun, c.parts, text)
	}
}

// problem records a failure, unless the campaign was ended.
func (c *campaign) problem(ctx context.Context, part string, err error) {
	if ctx.Err() == nil {
		c.out.Problems = append(c.out.Problems, Problem{part, err.Error()})
	}
}

// steady is a load of streams that begin one after the other, at a rate that the client can send, and are then all open
// together for a while.
func (c *campaign) steady(streams int, perStream float64, together time.Duration) Load {
	starts := 2000. // a second
	if len(c.out.Rates) > 0 {
		starts = min(max(c.out.RequestsPerSecond/2, 500), 10_000) // the open streams need time, too
	}
	itl := time.Duration(float64(time.Second) / perStream).Round(time.Microsecond)
	ramp := float64(streams) / starts
	return Load{
		Streams: streams, Requests: streams, Rate: starts,
		Chunks: int(math.Ceil((ramp + together.Seconds()) / itl.Seconds())),
		TTFT:   itl, ITL: itl, Preconnect: true, Seed: int64(streams),
	}
}

// lasts is the duration of a steady load without lateness.
func (l *Load) lasts() float64 {
	return float64(l.Requests)/l.Rate + l.TTFT.Seconds() + float64(l.Chunks-1)*l.ITL.Seconds()
}

// streams finds the most streams that can be open.
func (c *campaign) streams(ctx context.Context) {
	rungs := metrics.Each(c.Streams, func(n int) float64 { return float64(n) })
	c.out.Streams, c.out.MoreStreams = climb(ctx, c, "open streams", rungs, func(n float64) (Step, error) {
		streams := int(n)
		step := Step{Streams: streams, ChunksPerSecond: n * streamRate}
		if err := c.limits(streams); err != nil {
			return step, errLimits{err}
		}
		c.report(fmt.Sprintf("open streams: %s of %d chunks/s each", text.Grouped(n), streamRate))
		return c.step(ctx, step, c.steady(streams, streamRate, c.StreamTime))
	})
	c.record(c.out.Streams)
}

// chunks finds the most chunks a second that can be timed.
func (c *campaign) chunks(ctx context.Context) {
	streams := c.fitting(c.ChunkStreams)
	c.out.Chunks, c.out.MoreChunks = climb(ctx, c, "chunks/s", c.ChunkRates, func(rate float64) (Step, error) {
		c.report(fmt.Sprintf("chunks/s: %s over %s streams", text.Grouped(rate), text.Grouped(streams)))
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
type errLimits struct{ error }

// downMost is the most halvings of a first step that is too much.
const downMost = 4

// climbStep is a measured step of a climb: whether it was exact, and whether the load was reached, so that more can be
// asked for.
type climbStep interface {
	exact() bool
	full() bool
}

// ascent is a climb so far.
type ascent[S climbStep] struct {
	*campaign
	part  string
	try   func(rung float64) (S, error)
	steps []S
	more  bool // something else than the client ended it
}

// attempt tries a rung a second time where it fails, as other programs have an influence, too.
func (a *ascent[S]) attempt(ctx context.Context, rung float64) bool {
	for range 2 {
		s, err := a.try(rung)
		if ctx.Err() != nil {
			return false
		}
		if err != nil {
			a.more = a.more || errors.As(err, new(errLimits))
			a.problem(ctx, fmt.Sprintf("%s, %s", a.part, text.Grouped(rung)), err)
			return false
		}
		a.steps = append(a.steps, s)
		if s.exact() {
			return true
		}
	}
	return false
}

// climb tries rising rungs until one fails twice. If the first one fails it goes down instead, so that a weak machine
// has a figure as well. more reports that something else than the client ended it.
func climb[S climbStep](ctx context.Context, c *campaign, part string, rungs []float64,
	try func(rung float64) (S, error)) (steps []S, more bool) {
	a := ascent[S]{campaign: c, part: part, try: try}
	for i, rung := range rungs {
		if a.attempt(ctx, rung) {
			if !a.steps[len(a.steps)-1].full() {
				return a.steps, a.more // the limit of server and client together
			}
			continue
		}
		if i == 0 {
			for range downMost {
				if rung /= 2; ctx.Err() != nil || a.attempt(ctx, math.Floor(rung)) {
					break
				}
			}
		}
		return a.steps, a.more
	}
	return a.steps, len(rungs) > 0
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
		s.Missed = fmt.Sprintf("only %s streams were open together", text.Grouped(r.MostStreams))
	case r.StampError.P99 > mostError:
		s.Missed = fmt.Sprintf("stamps off by %s (p99)", asMicros(r.StampError.P99))
	case r.SharedShare > mostShared:
		s.Missed = fmt.Sprintf("%.1f %% of chunks share a stamp", 100*r.SharedShare)
	}
	return s, nil
}
