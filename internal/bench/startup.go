package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"benchtop/internal/metronome"
)

// startup asks how soon a user's first request is out, and how large the program is.
func startup() table {
	const first, program = "start to first request", "stripped program"
	return table{name: "startup", rounds: 7,
		rows:    []row{{first, measureStart}, {program, measureSize}},
		columns: []column{{"start", "ms", 1}, {"size", "MB", 1}},
		bars: []bar{
			{text: "start to first request ≤ 50 ms", row: first, column: "start", most: 50, unit: " ms", decimals: 1},
			{text: "stripped program ≤ 20 MB", row: program, column: "size", most: 20, unit: " MB", decimals: 1},
		}}
}

// benchtop builds the program as it is released, once.
func (l *lab) benchtop(ctx context.Context) (string, error) {
	if l.binary != "" {
		return l.binary, nil
	}
	program, err := l.build(ctx, "benchtop", "build", "-trimpath", "-ldflags", "-s -w", ".")
	l.binary = program
	return program, err
}

// build puts what the go command makes into the lab's folder and returns its path.
func (l *lab) build(ctx context.Context, name, command string, args ...string) (string, error) {
	if l.folder == "" {
		folder, err := os.MkdirTemp("", "bench")
		if err != nil {
			return "", err
		}
		l.folder = folder
	}
	program := filepath.Join(l.folder, name)
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	build := exec.CommandContext(ctx, "go", append([]string{command, "-o", program}, args...)...)
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return "", fmt.Errorf("building %s: %w", name, err)
	}
	return program, nil
}

func measureSize(ctx context.Context, l *lab, _ int) (sample, error) {
	program, err := l.benchtop(ctx)
	if err != nil {
		return sample{}, err
	}
	info, err := os.Stat(program)
	if err != nil {
		return sample{}, err
	}
	return sample{Figures: map[string]float64{"size": float64(info.Size()) / 1e6}}, nil
}

// measureStart runs benchtop until its first request is in the server's log: from just before the process is made to the
// moment at which the server had read the request.
func measureStart(ctx context.Context, l *lab, _ int) (sample, error) {
	program, err := l.benchtop(ctx)
	if err != nil {
		return sample{}, err
	}
	if left, err := metronome.FetchLog(ctx, l.base); err != nil && left == nil {
		return sample{}, err
	}
	c := exec.CommandContext(ctx, program, "serve", "--no-tui", "--no-save", "--base-url", l.base, "--model", "metronome",
		"--dataset-name", "random", "--random-input-len", "1024", "--random-output-len", "1",
		"--num-prompts", "1000", "--max-concurrency", "1")
	c.Dir = l.folder
	began := time.Now()
	if err := c.Start(); err != nil {
		return sample{}, err
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	arrived, err := firstArrival(ctx, l.base)
	_ = c.Process.Kill()
	<-ended
	if err != nil {
		return sample{}, err
	}
	return sample{Figures: map[string]float64{"start": inMillis(arrived.Sub(began.Round(0)))}}, nil
}

// firstArrival waits until a request of a run is in the log; those before a run have no id.
func firstArrival(ctx context.Context, base string) (time.Time, error) {
	giveUp := time.Now().Add(20 * time.Second)
	for time.Now().Before(giveUp) {
		log, err := metronome.FetchLog(ctx, base)
		if err != nil && log == nil {
			return time.Time{}, err
		}
		var first time.Time
		for _, e := range log {
			if e.ID != "" && (first.IsZero() || e.Arrived.Before(first)) {
				first = e.Arrived
			}
		}
		if !first.IsZero() {
			return first, nil
		}
		if err := waitUntil(ctx, time.Now().Add(100*time.Millisecond)); err != nil {
			return time.Time{}, err
		}
	}
	return time.Time{}, errors.New("benchtop sent no request within 20 s")
}
