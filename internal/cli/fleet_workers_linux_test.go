//go:build fleet

package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Workers of this machine are one run, as the machine that leads sees it, with its files alone.
func TestWorkersAreOneRun(t *testing.T) {
	url, dir := simulated(t, nil), t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	benchtop(loadOfParts(url, path("whole.json"))...).expect(t, 0)
	benchtop(append(loadOfParts(url, path("run.json")), "--workers", "3")...).expect(t, 0)
	want, _ := joined(t, path("whole.json"))
	got, r := joined(t, path("run.json"))
	sameWorkload(t, got, want, true)
	if r.Completed != 60 || len(r.Workers) != 3 || len(r.Client.Parts()) != 3 {
		t.Errorf("%d completed by %v", r.Completed, r.Workers)
	}
	for _, w := range r.Workers {
		if w.Bound <= 0 || w.Offset > w.Bound || w.Offset < -w.Bound {
			t.Errorf("the clock of this machine is %s ahead of itself, at most %s wrong", w.Offset, w.Bound)
		}
	}
	left, _ := os.ReadDir(dir)
	if len(left) != 4 {
		t.Errorf("%v are left", left)
	}
}

// A worker that is killed is missed: the report has what it sent until then, and says that a part of the load is not
// known; the run fails.
func TestWorkerIsKilled(t *testing.T) {
	url, path := simulated(t, nil), filepath.Join(t.TempDir(), "run.json")
	lead := make(chan result, 1)
	go func() {
		lead <- benchtop(append(loadOfParts(url, path), "--workers", "2", "--num-prompts", "200", "--request-rate",
			"40")...)
	}()
	begun := func() bool {
		_, err := os.Stat(strings.TrimSuffix(path, "json") + "jsonl")
		return err == nil
	}
	for i := 0; i < 400 && !begun(); i++ {
		time.Sleep(50 * time.Millisecond)
	}
	time.Sleep(1500 * time.Millisecond)
	workers := children(t, "worker")
	if len(workers) != 2 {
		t.Fatalf("workers %v", workers)
	}
	_ = syscall.Kill(workers[0], syscall.SIGKILL)
	r := <-lead
	r.expect(t, 1, "parts of the run were lost: 1 of 2", "no samples of part")
	got, report := joined(t, path)
	if len(got) < 100+10 || len(got) >= 200 || report.Completed < 100+10 {
		t.Errorf("%d requests, %d completed", len(got), report.Completed)
	}
}

// children are the processes that this one started, with an argument.
func children(t *testing.T, arg string) (pids []int) {
	t.Helper()
	all, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, stat := range all {
		b, _ := os.ReadFile(stat)
		_, rest, _ := strings.Cut(string(b), ") ")
		fields := strings.Fields(rest)
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(stat), "cmdline"))
		own := len(fields) > 1 && fields[1] == strconv.Itoa(os.Getpid())
		if own && bytes.HasSuffix(line, []byte("\x00"+arg+"\x00")) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(stat)))
			pids = append(pids, pid)
		}
	}
	return pids
}
