package main

import (
	"fmt"
	"time"

	"benchtop/internal/calibration"
)

// figures of a client under load, by the keys of columns.
func figures(r *calibration.Result, raw bool) sample {
	s := sample{Whole: r, Figures: map[string]float64{
		"chunks/s": r.ChunksPerSecond, "allocs": r.AllocsPerChunk,
		"p50": inMicros(r.StampError.P50), "p99": inMicros(r.StampError.P99), "p99.9": inMicros(r.StampError.P999),
		"ttft": inMillis(r.TTFTError), "itl": inMillis(r.ITLStd), "server itl": inMillis(r.ServerITLStd),
		"itl error": inMillis(r.ITLErrorStd), "late": inMillis(r.Lateness.P99),
	}}
	// Both are 0 where the system does not tell.
	if r.CPUPerChunkMicros > 0 {
		s.Figures["cpu"] = r.CPUPerChunkMicros
	}
	if r.BytesPerStream > 0 {
		s.Figures["memory"] = float64(r.BytesPerStream) / 1000
	}
	if !raw { // which knows nothing of this
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
	if r.Verdict.Limited() {
		s.Remarks = append(s.Remarks, remark{"the verdict was limited", r.Verdict.String()})
	}
	return s
}

// note remarks that something happened n times.
func (s *sample) note(n int, what string) {
	if n > 0 {
		s.Remarks = append(s.Remarks, remark{what, fmt.Sprint(n)})
	}
}

func inMicros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

func inMillis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
