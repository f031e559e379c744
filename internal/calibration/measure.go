package calibration

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"benchtop/internal/metronome"
	"benchtop/internal/telemetry"
	"benchtop/loadgen"
	"benchtop/metrics"
)

// Result is what a load showed of the client.
type Result struct {
	// Requests that ended, Failed those of them without success; Chunks with output that arrived in successes.
	Requests int `json:"requests"`
	Failed   int `json:"failed"`
	Chunks   int `json:"chunks"`
	// Seconds from the start to the end of the last request; the rates are over that time.
	Seconds           float64 `json:"seconds"`
	RequestsPerSecond float64 `json:"requests_per_s"`
	ChunksPerSecond   float64 `json:"chunks_per_s"`
	// MostStreams that were in flight at one time.
	MostStreams int `json:"most_streams"`
	// StampError is the client's time of a chunk less the server's just before it wrote it, over all chunks of successes.
	// Early are chunks that the client saw more than EarlyFrom before the server wrote them, which is impossible: a sign that
	// a clock was set.
	StampError Quantiles `json:"stamp_error"`
	Early      int       `json:"early"`
	// Unmatched requests succeeded, but the server's log does not have them, or with another number of chunks.
	Unmatched int `json:"unmatched"`
	// Lateness as in metrics.Request.OwnLateness; Connect is the time to open a connection, of requests that had to.
	Lateness Quantiles `json:"lateness"`
	Connect  Quantiles `json:"connect"`
	// TTFTError is the mean of the client's TTFT less the server's own, from the request read to the first write.
	TTFTError time.Duration `json:"ttft_error_ns"`
	// ITLStd is the standard deviation of the gaps between chunks as the client saw them, ServerITLStd as the server wrote
	// them, ITLErrorStd of the differences between the two, gap by gap.
	ITLStd       time.Duration `json:"itl_std_ns"`
	ServerITLStd time.Duration `json:"server_itl_std_ns"`
	ITLErrorStd  time.Duration `json:"itl_error_std_ns"`
	// SharedShare and UnstampedShare of the chunks, see metrics.Stamps.
	SharedShare    float64 `json:"shared_share"`
	UnstampedShare float64 `json:"unstamped_share"`
	// CPUSeconds of the whole measurement, user and system. CPUPerChunkMicros and AllocsPerChunk, the number of heap objects,
	// are over the plateau: the time in which all of MostStreams were in flight, or else 95 % of them. PlateauSeconds is how
	// long it was; 0 if it was shorter than a second, and then they are over the whole measurement. Where requests begin in that
	// time, their own cost is in it.
	CPUSeconds        float64 `json:"cpu_s"`
	CPUPerChunkMicros float64 `json:"cpu_per_chunk_us"`
	AllocsPerChunk    float64 `json:"allocs_per_chunk"`
	PlateauSeconds    float64 `json:"plateau_s"`
	// BytesPerStream is how much more memory was resident at most than before, divided by MostStreams; 0 where the system
	// does not tell.
	BytesPerStream int64 `json:"bytes_per_stream"`
	// Verdict is the live view's. Without one, of another client, it is not Judged.
	Verdict metrics.Verdict `json:"-"`
	Judged  bool            `json:"-"`
}

// EarlyFrom is what a chunk may seem to come before it was written: the clocks of two processes are matched to about a
// microsecond, and times are rounded to one.
const EarlyFrom = 5 * time.Microsecond

// Measure runs a load in this process against the metronome at server, its plain base URL, and compares what the client saw
// with the server's log. The metronome must serve nobody else meanwhile. The error says why there is no result; failed
// requests are counted instead, as long as one succeeded.
func Measure(ctx context.Context, server string, l Load) (Result, error) {
	if l.Timestamps == "" {
		l.Timestamps = metrics.UserStamps
		if loadgen.KernelStamps() {
			l.Timestamps = metrics.KernelStamps
		}
	}
	c := &ownClient{load: l}
	r, err := measure(ctx, server, &l, c.prepare, c.run)
	if c.connections != nil {
		c.connections.Close()
	}
	if err != nil {
		return Result{}, err
	}
	c.judge(&r)
	return r, nil
}

// Client runs a load against base, which answers at the load's pace, and tells a tally of it. Offset 0 of its times is start.
// It returns when the last request has ended.
type Client func(ctx context.Context, base string, start time.Time, t *Tally) error

// MeasureOther measures another client in the same way, as a yardstick. Of the result, the verdict and the shares of stamps
// stay empty.
func MeasureOther(ctx context.Context, server string, l Load, other Client) (Result, error) {
	nothing := func(context.Context, string) error { return nil }
	return measure(ctx, server, &l, nothing, other)
}

// readings of the usage a second.
const readings = 4

// measure prepares a client, runs it with a meter beside it and compares.
func measure(
	ctx context.Context, server string, l *Load, prepare func(ctx context.Context, base string) error, run Client,
) (Result, error) {
	if err := l.Validate(); err != nil {
		return Result{}, err
	}
	// What an earlier load left is of no interest, nor whether the log had room for all of it.
	if left, err := metronome.FetchLog(ctx, server); err != nil && left == nil {
		return Result{}, err
	}
	debug.FreeOSMemory()
	before := telemetry.ResidentMemory()
	base := metronome.Pace(server, l.TTFT, l.ITL)
	if err := prepare(ctx, base); err != nil {
		return Result{}, err
	}

	start := time.Now()
	var tally Tally
	m := newMeter(start, &tally)
	err := m.beside(func() error { return run(ctx, base, start, &tally) })
	took := time.Since(start)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return Result{}, fmt.Errorf("measuring: %w", err)
	}
	if succeeded, failed, problem := tally.Ends(); succeeded == 0 {
		return Result{}, fmt.Errorf("none of %d requests succeeded; the first: %s", failed, problem)
	}
	log, err := metronome.FetchLog(ctx, server)
	if err != nil {
		return Result{}, err
	}
	c := compare(tally.seen, log, wallOf(start))
	if c.stampError.N == 0 {
		return Result{}, fmt.Errorf("the log of the server at %s has none of %d requests; does another client use it?", server, len(tally.seen))
	}
	r := sum(&tally, &c, took)
	r.spent(m, before)
	return r, nil
}

// sum puts together what the tally and the comparison say.
func sum(t *Tally, c *comparison, took time.Duration) Result {
	s := took.Seconds()
	return Result{
		Requests: len(t.seen) + t.failed, Failed: t.failed, Chunks: c.chunks,
		Seconds: s, RequestsPerSecond: float64(len(t.seen)) / s, ChunksPerSecond: float64(c.chunks) / s,
		MostStreams: int(t.most.Load()),
		StampError:  c.stampError, Early: c.early, Unmatched: c.unmatched, Lateness: c.late, Connect: c.connect,
		TTFTError: c.ttftError.average(),
		ITLStd:    c.itl.deviation(), ServerITLStd: c.serverITL.deviation(), ITLErrorStd: c.itlMismatch.deviation(),
	}
}

// spent fills in what the measurement cost.
func (r *Result) spent(m *meter, before int64) {
	r.CPUSeconds = m.total().cpu.Seconds()
	p, found := m.plateau(int64(r.MostStreams))
	if found {
		r.PlateauSeconds = p.at.Seconds()
	}
	if p.chunks > 0 {
		r.CPUPerChunkMicros = inMicros(p.cpu) / float64(p.chunks)
		r.AllocsPerChunk = float64(p.objects) / float64(p.chunks)
	}
	if r.MostStreams > 0 {
		r.BytesPerStream = m.grown(before) / int64(r.MostStreams)
	}
}
