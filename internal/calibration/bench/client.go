package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"benchtop/internal/calibration"
	"benchtop/internal/telemetry"
	"benchtop/loadgen/pace"
	"benchtop/metrics"
)

// question requests a measurement from a child process: of a client or, without any requests, of a pacer.
type question struct {
	Server string
	Raw    bool // the raw reader instead of benchtop's client
	Load   calibration.Load
	Pacer  *pacerLoad
}

// ask runs this program as a child, on certain cores, to answer a question. Both are in JSON.
func (h *harness) ask(ctx context.Context, on cores, q question, answer any) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	asked, err := json.Marshal(q)
	if err != nil {
		return err
	}
	c := h.pinned(ctx, on, self, childRole)
	c.Stdin, c.Stderr = bytes.NewReader(asked), os.Stderr
	out, err := c.Output()
	if err != nil {
		return fmt.Errorf("the process that was to measure: %w", err)
	}
	return json.Unmarshal(out, answer)
}

// childRole is the first argument of a child process.
const childRole = "child"

// child answers the question on standard input.
func child(ctx context.Context) error {
	var q question
	if err := json.NewDecoder(os.Stdin).Decode(&q); err != nil {
		return err
	}
	telemetry.TuneMemory()
	answer, err := q.measure(ctx)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(answer)
}

func (q *question) measure(ctx context.Context) (any, error) {
	if q.Pacer != nil {
		return q.Pacer.lateness(ctx)
	}
	if err := telemetry.CheckSockets(max(q.Load.Streams, q.Load.Requests)); err != nil {
		return nil, err
	}
	if q.Raw {
		return calibration.MeasureOther(ctx, q.Server, q.Load, rawClient(q.Load))
	}
	return calibration.Measure(ctx, q.Server, q.Load)
}

// measureClient measures a client under a load, benchtop's or the raw reader.
func measureClient(load calibration.Load, on cores, raw bool) measurement {
	return func(ctx context.Context, h *harness, round int) (sample, error) {
		q := question{Server: h.base, Raw: raw, Load: load}
		q.Load.Seed = int64(round) // the same arrivals for all rows of a round
		var r calibration.Result
		if err := h.ask(ctx, on, q, &r); err != nil {
			return sample{}, err
		}
		return figures(&r, raw), nil
	}
}

// figures of a client under load, by the keys of columns.
func figures(r *calibration.Result, raw bool) sample {
	s := sample{Raw: r, Figures: map[string]float64{
		"chunks/s": r.ChunksPerSecond, "allocs": r.AllocsPerChunk,
		"p50": inMicros(r.StampError.P50), "p99": inMicros(r.StampError.P99), "p99.9": inMicros(r.StampError.P999),
		"ttft": metrics.Milliseconds(r.TTFTError), "itl": metrics.Milliseconds(r.ITLStd),
		"server itl": metrics.Milliseconds(r.ServerITLStd),
		"itl error":  metrics.Milliseconds(r.ITLErrorStd), "late": metrics.Milliseconds(r.Lateness.P99),
	}}
	// Both are 0 where the system does not report them.
	if r.CPUPerChunkMicros > 0 {
		s.Figures["cpu"] = r.CPUPerChunkMicros
	}
	if r.BytesPerStream > 0 {
		s.Figures["memory"] = float64(r.BytesPerStream) / 1000
	}
	if !raw { // the raw reader does not count them
		s.Figures["shared"] = 100 * r.SharedShare
	}
	if r.Connect.N > 0 {
		s.Figures["connect"] = metrics.Milliseconds(r.Connect.P50)
	}
	s.note(r.Failed, "requests failed")
	s.note(r.Unmatched, "requests were missing in the server's log")
	s.note(r.Early, fmt.Sprintf("chunks seemed to come more than %s before they were written", calibration.EarlyFrom))
	if r.PlateauSeconds == 0 && r.Seconds > 5 {
		s.Remarks = append(s.Remarks,
			remark{"CPU and allocations are of the whole run", "the streams were never all open for a second"})
	}
	s.limited(r.Why)
	return s
}

// limited adds why the verdict was limited, if it was.
func (s *sample) limited(why []string) {
	if v := (metrics.Verdict{Why: why}); v.Limited() {
		s.Remarks = append(s.Remarks, remark{"the verdict was limited", v.String()})
	}
}

// note adds a remark on something that happened n times, if it did.
func (s *sample) note(n int, what string) {
	if n > 0 {
		s.Remarks = append(s.Remarks, remark{what, fmt.Sprint(n)})
	}
}

func inMicros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// pacers measures the lateness of arrivals without other work.
func pacers(quick bool) table {
	t := table{name: "pacers", rounds: 7, columns: []column{
		{"p50", "late p50, µs", 1}, {"p99", "p99", 1}, {"p99.9", "p99.9", 1}, {"max", "most", 0},
	}}
	kinds := slices.DeleteFunc(pace.Kinds(), func(kind string) bool { return kind == "timer" }) // late by design
	for _, kind := range append(kinds, busyLoop) {
		for _, rate := range []int{100, 1_000, 5_000} {
			name := fmt.Sprintf("%s, %d/s", kind, rate)
			t.rows = append(t.rows, row{name, measurePacer(kind, float64(rate), rate*scaled(quick, 2, 1), allCores())})
			if most := lateMost(kind, rate); most > 0 {
				t.limits = append(t.limits, limit{
					text: fmt.Sprintf("%s: p99 ≤ %g µs", name, most), row: name, column: "p99", most: most, unit: " µs",
					decimals: 1,
				})
			}
		}
	}
	return t
}

// lateMost is the limit of a pacer in microseconds, 0 if it has none. It does not depend on the default pacer of this
// machine, so that it is the same on all machines.
func lateMost(kind string, rate int) float64 {
	switch {
	case strings.Contains(kind, "spin"):
		return 50
	case kind == "timerfd" && rate <= 100: // between these arrivals the processor sleeps deeper
		return 1_000
	case kind == "timerfd":
		return 100
	}
	return 0
}

// busyLoop is the reference: a loop that only reads the clock. Its lateness is the machine's.
const busyLoop = "no sleep at all"

// pacerLoad has arrivals at random times without any requests.
type pacerLoad struct {
	Kind      string
	PerSecond float64
	Arrivals  int
	Seed      uint64
}

// lateness is the lateness of a pacer.
func (p *pacerLoad) lateness(ctx context.Context) (calibration.Quantiles, error) {
	if p.Kind == busyLoop {
		return calibration.QuantilesOf(p.busyLoop()), nil
	}
	late, err := pace.Lateness(ctx, p.Kind, p.PerSecond, p.Arrivals, p.Seed)
	return calibration.QuantilesOf(late), err
}

// busyLoop is the lateness of a loop that never sleeps, for arrivals like those of pace.Lateness.
func (p *pacerLoad) busyLoop() []time.Duration {
	draws := rand.New(rand.NewPCG(p.Seed, 0))
	late := make([]time.Duration, 0, p.Arrivals)
	start, at := time.Now(), 0.0
	for range p.Arrivals {
		at += draws.ExpFloat64() / p.PerSecond
		due := time.Duration(at * float64(time.Second))
		now := time.Since(start)
		for now < due {
			now = time.Since(start)
		}
		late = append(late, now-due)
	}
	return late
}

func measurePacer(kind string, rate float64, arrivals int, on cores) measurement {
	return func(ctx context.Context, h *harness, round int) (sample, error) {
		q := question{Pacer: &pacerLoad{Kind: kind, PerSecond: rate, Arrivals: arrivals, Seed: uint64(round)}}
		var late calibration.Quantiles
		if err := h.ask(ctx, on, q, &late); err != nil {
			return sample{}, err
		}
		return sample{Raw: late, Figures: map[string]float64{
			"p50": inMicros(late.P50), "p99": inMicros(late.P99), "p99.9": inMicros(late.P999),
			"max": inMicros(late.Max),
		}}, nil
	}
}
