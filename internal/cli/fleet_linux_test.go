package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"benchtop/internal/files"
	"benchtop/metrics"
	"benchtop/metrics/event"
)

// joined are the requests of saved runs, which are one, by index, and its report.
func joined(t *testing.T, names ...string) (map[int]metrics.Request, metrics.Report) {
	t.Helper()
	runs, notes := files.ReadRuns(names)
	if len(runs) != 1 || len(notes) > 0 || runs[0].Err != nil {
		t.Fatalf("%d runs of %v: %v", len(runs), names, notes)
	}
	all := map[int]metrics.Request{}
	for q, err := range event.Requests(runs[0].Source(event.Pick{})) {
		if _, twice := all[q.Index]; twice || err != nil {
			t.Errorf("request %d comes twice, or not: %v", q.Index, err)
		}
		all[q.Index] = q
	}
	r, err := reportOf(runs[0])
	if err != nil {
		t.Fatal(err)
	}
	return all, *r
}

// sameWorkload compares what was sent, and when it was to be, where all began together.
func sameWorkload(t *testing.T, got, want map[int]metrics.Request, timed bool) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d requests, want %d", len(got), len(want))
	}
	for i, w := range want {
		g := got[i]
		if timed && g.Scheduled != w.Scheduled || g.InputTokens != w.InputTokens || g.MaxTokens != w.MaxTokens ||
			g.Conversation != w.Conversation || g.Turn != w.Turn {
			t.Errorf("request %d: %+v, want %+v", i, g, w)
			return
		}
	}
}

// loadOfParts is a run of several turns at a rate.
func loadOfParts(url, name string) []string {
	return []string{"serve", url, "--no-tui", "--backend", "vllm", "--dataset-name", "random", "--random-input-len",
		"20", "--random-output-len", "4", "--random-range-ratio", "0.5", "--num-prompts", "60", "--request-rate", "60",
		"--seed", "7", "--save-result", "--result-filename", name}
}

// Parts that are loaded by themselves are one run: the workload of one machine, and a report of all.
func TestPartsAreOneRun(t *testing.T) {
	t.Parallel()
	url, dir := simulated(t, nil), t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	benchtop(loadOfParts(url, path("whole.json"))...).expect(t, 0)
	var parts sync.WaitGroup
	for k := 1; k <= 3; k++ {
		parts.Go(func() {
			benchtop(append(loadOfParts(url, path("run.json")), "--part", fmt.Sprintf("%d/3", k))...).expect(t, 0,
				fmt.Sprintf("Part %d/3: the figures are of this part", k))
		})
	}
	parts.Wait()
	all, _ := filepath.Glob(path("run-part*.json"))
	want, _ := joined(t, path("whole.json"))
	got, r := joined(t, all...)
	sameWorkload(t, got, want, false)
	if r.Completed != 60 || len(r.Workers) != 3 || r.Interrupted != nil {
		t.Errorf("%d completed by %v: %+v", r.Completed, r.Workers, r.Interrupted)
	}
	benchtop("report", "--no-tui", all[0], all[2]).expect(t, 0, "no samples of part 2")
	benchtop("report", "--no-tui", all[0], all[0]).expect(t, 0, "is not of the run of", "both are part 1/3")
}

// Workers of this machine are one run, as the machine that leads sees it, with its files alone.
func TestWorkersAreOneRun(t *testing.T) {
	t.Setenv(asProgram, "1")
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
	t.Setenv(asProgram, "1")
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
	if len(got) < 100+10 || len(got) >= 200 || report.Completed < 100+10 || len(report.Client.Parts()) != 2 {
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

// Strings and files that are no way into a run are refused with the reason.
func TestWorkerRefused(t *testing.T) {
	t.Parallel()
	benchtop("worker").expect(t, 1, "the join string on standard input: EOF")
	benchtop("serve", "--part", "1/4", "--max-concurrency", "3").expect(t, 2,
		"3 in flight cannot be split among 4 machines")
	benchtop("serve", "--part", "1/4", "--find", "--goodput", "ttft:9").expect(t, 2,
		"a search needs the answers of all parts")
	benchtop("worker", "--join", "x").expect(t, 2, "it does not begin with benchtop://")
	benchtop("worker", "--join", "$NO_SUCH_JOIN").expect(t, 2, "--join: the variable NO_SUCH_JOIN is not set")
	benchtop("worker", "--join", "@/nowhere").expect(t, 2, "/nowhere")
	benchtop("serve", "--workers", "0").expect(t, 2, "--workers 0: must be from 1 to 1000")
	benchtop("serve", "--workers", "a,ssh://b").expect(t, 2, "expected a number, or ssh://HOST")
	benchtop("serve", "--workers", "2", "--part", "1/2").expect(t, 2, "--workers and --part: choose one")
	benchtop("serve", "--nats", "nats://a:1").expect(t, 2, "--nats: needs --workers")
}
