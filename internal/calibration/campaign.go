package calibration

import (
	"context"
	"time"

	"benchtop/metrics"
)

// Campaign is the plan of a calibration. Running does not change it.
type Campaign struct {
	Quick bool
	// Users ask without pause for answers of one chunk, in Rounds of RoundTime each. Then requests arrive at RateShares of the
	// rate that they reached, rising, for RoundTime each.
	Users, Rounds int
	RateShares    []float64
	RoundTime     time.Duration
	// Streams are the numbers of open streams to try, rising, at streamRate chunks a second each. All of a step are open
	// together for StreamTime.
	Streams    []int
	StreamTime time.Duration
	// ChunkRates are the rates of chunks to try, rising, over ChunkStreams streams, for ChunkTime each.
	ChunkRates   []float64
	ChunkStreams int
	ChunkTime    time.Duration
	// StampStreams of stampRate chunks a second each are measured with each kind of stamps, and with the dashboard, in turn:
	// StampRounds times for StampTime each.
	StampStreams, StampRounds int
	StampTime                 time.Duration
	// Paced are rates of arrivals for the pacer alone, Sent those with requests; ArrivalTime for each.
	Paced, Sent []float64
	ArrivalTime time.Duration

	// Draw draws the dashboard of a run until its ctx ends and returns the number of bytes drawn; nil skips the part.
	Draw func(ctx context.Context, snapshots <-chan metrics.Snapshot) (bytes int64)
	// Progress is called before each measurement, with the number of the part, the number of parts, and a description; nil for none.
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

// Run measures this process against the metronome at server. Failures are Problems of the result; when ctx ends, the result has the
// measurements so far and is not Complete.
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
