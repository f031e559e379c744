package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"

	"benchtop/internal/calibration"
	"benchtop/internal/metronome"
	"benchtop/loadgen/conn"
	"benchtop/metrics"
)

// tables are all tables, in the order of the page. Quick ones have one round of smaller loads.
func tables(quick bool) []table {
	all := append([]table{streams(quick), stamps(quick), burst(quick), pacers(quick), startup()}, dashboards(quick)...)
	if quick {
		for i := range all {
			all[i].rounds = 1
		}
	}
	return all
}

// scaled is the full number, or the small one of a quick table.
func scaled(quick bool, full, small int) int {
	if quick {
		return small
	}
	return full
}

// The rows of a comparison of clients.
const (
	raw    = "raw reader"
	kernel = "benchtop, kernel stamps"
	user   = "benchtop, user stamps"
)

// clients compares clients on one core. A system without stamps of the kernel has a row less.
func clients(load calibration.Load) []row {
	rows := []row{{raw, measureClient(load, firstCore(), true)}}
	if conn.KernelStamps() {
		load.Timestamps = metrics.KernelStamps
		rows = append(rows, row{kernel, measureClient(load, firstCore(), false)})
	}
	load.Timestamps = metrics.UserStamps
	return append(rows, row{user, measureClient(load, firstCore(), false)})
}

// streams measures the cost of a chunk and of an open stream.
func streams(quick bool) table {
	n := scaled(quick, 10_000, 2_000)
	load := calibration.Load{
		// The streams begin over some seconds, so that the server does not write to all at the same moment.
		Requests: n, Rate: float64(n) / float64(scaled(quick, 8, 2)), Chunks: scaled(quick, 80, 35),
		TTFT: 200 * time.Millisecond, ITL: 200 * time.Millisecond,
	}
	t := table{name: "streams", rounds: 5, rows: clients(load), columns: []column{
		{"chunks/s", "chunks/s", 0}, {"cpu", "CPU per chunk, µs", 1}, {"allocs", "allocations per chunk", 3},
		{"memory", "KB per stream", 1}, {"p50", "stamp error p50, µs", 0}, {"p99", "p99", 0}, {"p99.9", "p99.9", 0},
		{"shared", "share a stamp, %", 2},
	}}
	for _, name := range []string{kernel, user} {
		t.limits = append(t.limits,
			limit{text: name + ": CPU per chunk ≤ 1.15 × raw reader", row: name, column: "cpu", over: raw, most: 1.15, unit: " ×", decimals: 2},
			limit{text: name + ": 0 allocations per chunk (< 0.01)", row: name, column: "allocs", most: 0.01, decimals: 3},
			limit{text: name + ": ≤ 20 KB per stream", row: name, column: "memory", most: 20, unit: " KB", decimals: 1})
	}
	return t
}

// stamps measures the error of a chunk's time.
func stamps(quick bool) table {
	load := calibration.Load{
		Requests: 1_000, Rate: 1_000, Chunks: scaled(quick, 100, 40), TTFT: 50 * time.Millisecond, ITL: 50 * time.Millisecond,
	}
	return table{name: "stamps", rounds: 7, rows: clients(load), columns: []column{
		{"chunks/s", "chunks/s", 0}, {"p50", "stamp error p50, µs", 0}, {"p99", "p99", 0}, {"p99.9", "p99.9", 0},
		{"shared", "share a stamp, %", 2}, {"cpu", "CPU per chunk, µs", 1},
	}, limits: []limit{
		{text: "kernel stamps: p99 ≤ 50 µs", row: kernel, column: "p99", most: 50, unit: " µs"},
		{text: "kernel stamps: p99.9 ≤ 1 ms", row: kernel, column: "p99.9", most: 1000, unit: " µs"},
		{text: "user stamps: p99 ≤ 2 × raw reader", row: user, column: "p99", over: raw, most: 2, unit: " ×", decimals: 2},
	}}
}

// burst measures the latencies of many streams that begin at once.
func burst(quick bool) table {
	load := calibration.Load{Chunks: scaled(quick, 300, 100), TTFT: 50 * time.Millisecond, ITL: 10 * time.Millisecond}
	of := func(n int, open bool) measurement {
		l := load
		l.Requests, l.Preconnect = n, open
		return measureClient(l, allButLast(), false)
	}
	const thousand, fresh, fewer, fewerFresh = "1,000, open connections", "1,000, fresh dials", "300, open connections", "300, fresh dials"
	t := table{name: "burst", rounds: 5, rows: []row{
		{thousand, of(1_000, true)}, {fresh, of(1_000, false)}, {fewer, of(300, true)}, {fewerFresh, of(300, false)},
	}, columns: []column{
		{"chunks/s", "chunks/s", 0}, {"connect", "connect p50, ms", 2}, {"ttft", "mean TTFT error, ms", 2},
		{"itl", "std of ITL, ms", 2}, {"server itl", "the server's own", 2}, {"itl error", "of the difference", 2},
		{"p99", "stamp error p99, µs", 0}, {"late", "sent late p99, ms", 2},
	}}
	for _, r := range t.rows {
		most, itl := 5.0, true
		if r.name == fresh || r.name == fewerFresh {
			most, itl = 10, false
		}
		text := fmt.Sprintf("%s: mean TTFT error ≤ %g ms", r.name, most)
		t.limits = append(t.limits, limit{text: text, row: r.name, column: "ttft", most: most, unit: " ms", decimals: 2})
		if itl {
			t.limits = append(t.limits, limit{text: r.name + ": std of ITL ≤ 0.5 ms", row: r.name, column: "itl", most: 0.5, unit: " ms", decimals: 2})
		}
	}
	return t
}

// startup measures the time to a user's first request, and the size of the program.
func startup() table {
	const first, program = "start to first request", "stripped program"
	return table{name: "startup", rounds: 7,
		rows:    []row{{first, measureStart}, {program, measureSize}},
		columns: []column{{"start", "ms", 1}, {"size", "MB", 1}},
		limits: []limit{
			{text: "start to first request ≤ 50 ms", row: first, column: "start", most: 50, unit: " ms", decimals: 1},
			{text: "stripped program ≤ 20 MB", row: program, column: "size", most: 20, unit: " MB", decimals: 1},
		}}
}

func measureSize(_ context.Context, h *harness, _ int) (sample, error) {
	info, err := os.Stat(h.program)
	if err != nil {
		return sample{}, err
	}
	return sample{Figures: map[string]float64{"size": float64(info.Size()) / 1e6}}, nil
}

// measureStart measures the time from just before the start of benchtop's process to the arrival of its first request at the server.
func measureStart(ctx context.Context, h *harness, _ int) (sample, error) {
	if err := metronome.ClearLog(ctx, h.base); err != nil {
		return sample{}, err
	}
	c := exec.CommandContext(ctx, h.program, "serve", "--no-tui", "--no-save", "--base-url", h.base, "--model", "metronome",
		"--dataset-name", "random", "--random-input-len", "1024", "--random-output-len", "1",
		"--num-prompts", "1000", "--max-concurrency", "1")
	c.Dir = h.folder
	began := time.Now()
	if err := c.Start(); err != nil {
		return sample{}, err
	}
	arrived, err := firstArrival(ctx, h.base)
	_ = c.Process.Kill()
	_ = c.Wait()
	if err != nil {
		return sample{}, err
	}
	return sample{Figures: map[string]float64{"start": inMillis(arrived.Sub(began.Round(0)))}}, nil
}

// firstArrival waits until the log has a request of a run; those before a run have no id.
func firstArrival(ctx context.Context, base string) (time.Time, error) {
	for giveUp := time.Now().Add(20 * time.Second); time.Now().Before(giveUp); {
		log, err := metronome.FetchLog(ctx, base)
		if err != nil && log == nil {
			return time.Time{}, err
		}
		log = slices.DeleteFunc(log, func(e metronome.Entry) bool { return e.ID == "" })
		if len(log) > 0 {
			return slices.MinFunc(log, func(a, b metronome.Entry) int { return a.Arrived.Compare(b.Arrived) }).Arrived, nil
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return time.Time{}, err
		}
	}
	return time.Time{}, errors.New("benchtop sent no request within 20 s")
}
