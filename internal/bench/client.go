package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"benchtop/internal/calibration"
	"benchtop/internal/telemetry"
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
		"ttft": inMillis(r.TTFTError), "itl": inMillis(r.ITLStd), "server itl": inMillis(r.ServerITLStd),
		"itl error": inMillis(r.ITLErrorStd), "late": inMillis(r.Lateness.P99),
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
		s.Figures["connect"] = inMillis(r.Connect.P50)
	}
	s.note(r.Failed, "requests failed")
	s.note(r.Unmatched, "requests were missing in the server's log")
	s.note(r.Early, fmt.Sprintf("chunks seemed to come more than %s before they were written", calibration.EarlyFrom))
	if r.PlateauSeconds == 0 && r.Seconds > 5 {
		s.Remarks = append(s.Remarks, remark{"CPU and allocations are of the whole run", "the streams were never all open for a second"})
	}
	if r.Verdict == calibration.Limited {
		s.Remarks = append(s.Remarks, remark{"the verdict was limited", metrics.Verdict{Why: r.Why}.String()})
	}
	return s
}

// note adds a remark on something that happened n times, if it did.
func (s *sample) note(n int, what string) {
	if n > 0 {
		s.Remarks = append(s.Remarks, remark{what, fmt.Sprint(n)})
	}
}

func inMicros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

func inMillis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
