package cli

import (
	"fmt"
	"path/filepath"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/files"
	"benchtop/internal/session"
	"benchtop/metrics"
	"benchtop/metrics/event"
)

// What users do changes neither the prompts nor the arrivals of a seed.
func TestUsersLeaveTheWorkload(t *testing.T) {
	t.Parallel()
	url, workloads, left := simulated(t, nil), map[string]bool{}, 0
	others := []string{"--abandon", "60%,ttft>20s", "--retry", "backoff", "--read-rate", "1MB/s"}
	for i, habits := range [][]string{nil, others} {
		dir := t.TempDir()
		args := append([]string{"serve", url, "--no-tui", "--num-prompts", "12", "--request-rate", "60", "--seed", "4",
			"--random-input-len", "20", "--random-output-len", "16", "--random-range-ratio", "0.5", "--save-result",
			"--result-dir", dir, "--result-filename", "r.json"}, habits...)
		r := benchtop(args...)
		r.expect(t, session.ExitFine)
		source := assert.Must(files.ReadRun(filepath.Join(dir, "r.json")))(t)
		var all [12]string
		for q, err := range event.Requests(source(event.Pick{})) {
			assert.Fine(t, err)
			all[q.Index] = fmt.Sprint(q.Scheduled, q.DatasetTokens, q.MaxTokens)
			if q.Failure == metrics.Abandoned {
				left += i
			}
		}
		workloads[fmt.Sprint(all)] = true
	}
	if len(workloads) != 1 || left < 3 {
		t.Errorf("%d left, workloads %v", left, workloads)
	}
}
