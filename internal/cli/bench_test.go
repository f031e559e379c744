package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/internal/session"
	"benchtop/internal/simulator"
	"benchtop/metrics"
)

// benchArgs are a short run against a server, saved as a file of a directory.
func benchArgs(url, dir, file string, more ...string) []string {
	return append([]string{
		"--base-url", url, "--skip-tokenizer-init", "--random-input-len", "8", "--random-output-len", "4",
		"--num-prompts", "20", "--ready-check-timeout-sec", "0",
		"--save-result", "--result-dir", dir, "--result-filename", file,
	}, more...)
}

// left are the goroutines that a run or its connections leave behind, as stacks.
func left() (stacks []string) {
	all := make([]byte, 1<<20)
	for stack := range strings.SplitSeq(string(all[:runtime.Stack(all, true)]), "\n\n") {
		for _, of := range []string{"benchtop/loadgen", "benchtop/internal/run", "benchtop/metrics/live",
			"benchtop/internal/attach", "benchtop/internal/telemetry", "benchtop/internal/cli.(*bench)",
			"net/http.(*persistConn)"} {
			if strings.Contains(stack, of) && !strings.Contains(stack, "cli.left") {
				stacks = append(stacks, stack)
				break
			}
		}
	}
	return stacks
}

// Several runs of one process are saved each in its place, and leave no goroutine and no connection behind. This test
// is not parallel, so that the goroutines are its own.
func TestBenchRuns(t *testing.T) {
	url, dir := simulated(t, nil), t.TempDir()
	var lines strings.Builder
	b := &session.Runner{Lines: &lines}
	for _, file := range []string{"a.json", "b.json", "c.json"} {
		if err := b.Run(t.Context(), benchArgs(url, dir, file)); err != nil {
			t.Fatalf("%v\n%s", err, lines.String())
		}
		var r struct{ Completed int }
		if err := json.Unmarshal(readFile(t, filepath.Join(dir, file)), &r); err != nil || r.Completed != 20 {
			t.Errorf("%s: %d completed, %v", file, r.Completed, err)
		}
	}
	patience := time.Now().Add(20 * time.Second)
	for len(left()) > 0 && time.Now().Before(patience) {
		runtime.Gosched()
	}
	if stacks := left(); len(stacks) > 0 {
		t.Errorf("%d goroutines are left:\n%s", len(stacks), strings.Join(stacks, "\n\n"))
	}
}

// cancelWriter cancels with the first line of progress.
type cancelWriter context.CancelFunc

func (c cancelWriter) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("in flight")) {
		c()
	}
	return len(line), nil
}

// A cancelled run keeps what was measured, and says that it is none of its plan.
func TestBenchCancelled(t *testing.T) {
	t.Parallel()
	url, dir := simulated(t, nil), t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	b := &session.Runner{Lines: cancelWriter(cancel)}
	err := b.Run(ctx,
		benchArgs(url, dir, "run=0.json", "--num-prompts", "20000", "--max-concurrency", "2", "--progress", "20ms"))
	if !errors.Is(err, session.ErrCut) || !strings.Contains(err.Error(), metrics.AbortedByUser) {
		t.Errorf("the error is %v", err)
	}
	if info, err := os.Stat(filepath.Join(dir, "run=0.json")); err != nil || info.Size() == 0 {
		t.Errorf("the result is not saved: %v", err)
	}
	before, end := context.WithCancel(t.Context())
	end()
	assert.Is(t, b.Run(before, benchArgs(url, dir, "run=1.json")), context.Canceled)
	if _, err := os.Stat(filepath.Join(dir, "run=1.json")); err == nil {
		t.Error("a run without a request left a file")
	}
}

// A run that cannot be a measurement is an error: before any request, or after it was saved.
func TestBenchFails(t *testing.T) {
	t.Parallel()
	b := &session.Runner{Lines: io.Discard}
	for want, args := range map[string][]string{
		"--request-rate -3: ": {"--request-rate", "-3"},
		"--append-result: ":   {"--append-result"},
		"--record: ":          {"--record", "x"},
	} {
		if _, err := b.Parse(args); err == nil || !strings.Contains(err.Error(), strings.TrimSuffix(want, ": ")) {
			t.Errorf("%q: %v", args, err)
		}
	}
	dir := t.TempDir()
	fault := assert.Must(simulator.ParseFault("status=500"))(t)
	failing := simulated(t, func(p *simulator.Profile) { p.Faults = append(p.Faults, fault) })
	if err := b.Run(t.Context(), benchArgs(failing, dir, "x.json", "--model", "m")); err == nil ||
		errors.Is(err, session.ErrCut) {
		t.Errorf("all requests failed: %v", err)
	}
	assert.Fine(t, assert.Failure(os.Stat(filepath.Join(dir, "x.json"))))
	b.Failures = true
	assert.Fails(t, "failures are allowed", b.Run(t.Context(), benchArgs(failing, dir, "y.json", "--model", "m")), "")
	if err := b.Run(t.Context(), benchArgs("http://127.0.0.1:1", dir, "z.json", "--model", "m")); err == nil {
		t.Error("there is no server, and no error")
	}
}
