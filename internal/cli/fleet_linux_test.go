package cli

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"benchtop/internal/assert"
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
	r := assert.Must(reportOf(runs[0]))(t)
	return all, *r
}

// sameWorkload compares what was sent, and when it was to be, where all began together.
func sameWorkload(t *testing.T, got, want map[int]metrics.Request, timed bool) {
	t.Helper()
	assert.Equal(t, len(got), len(want), "requests")
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
		"--seed", "7", "--reset-prefix-cache", "--save-result", "--result-filename", name}
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
	benchtop(append(loadOfParts(url, path("cold.json")), "--part", "1/3", "--cache", "cold")...).expect(t, 0,
		"each machine has a salt of its own")
	benchtop("report", "--no-tui", all[0], all[0]).expect(t, 0, "is not of the run of", "both are part 1/3")
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
