package cli

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/session"
)

// historyOf fills a folder with results of a run each minute, whose TTFT rises by a tenth at the 17th.
func historyOf(t *testing.T, label string) (dir string) {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	t.Setenv("NO_COLOR", "1")
	t.Setenv("LC_ALL", "C.UTF-8")
	dir = t.TempDir()
	words, _ := json.Marshal(label)
	for i := range 24 {
		result := fmt.Sprintf(`{"date": "20261129-12%02d00", "backend": "vllm", "label": %s, "model_id": %[2]s, `+
			`"completed": 10, "failed": 0, "duration": 5.%[1]d, "request_rate": "inf", "max_concurrency": 4, `+
			`"request_throughput": 2.0, "p99_ttft_ms": %[3]d}`, i, words, 100+i%3+i/16*10)
		assert.Fine(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("run-%02d.json", i)), []byte(result), 0o600))
	}
	return dir
}

func TestHistory(t *testing.T) {
	dir := historyOf(t, "base")
	for _, name := range []string{"x.json", "run-07-so-far.json"} {
		assert.Fine(t, os.WriteFile(filepath.Join(dir, name), []byte("{}"), 0o600))
	}
	all := benchtop("history", dir)
	all.expect(t, session.ExitFine, "24 runs, latencies in ms", "TTFT p99", "2026-11-29 12:00",
		"run-23", "at most 4 in flight", "1 other JSON file left out", "x.json: not a result",
		"1 interim result left out")
	if strings.Index(all.stdout, "run-22") > strings.Index(all.stdout, "run-23") ||
		strings.Contains(all.stdout, "tok/s") {
		t.Error(all.stdout)
	}
	benchtop("history", dir, "--last", "1", "--filter", "label=BA*").expect(t, session.ExitFine, "1 run,", "run-23")
	trend := benchtop("history", dir, "--figure", "p99_ttft")
	trend.expect(t, session.ExitFine, "p99_ttft_ms of base, at most 4 in flight", "24 runs, ", "▁", "^",
		"since 2026-11-29 12:16, run run-16: +9.9% (101 to 111), worse")
	if strings.Count(trend.stdout, "since") != 1 {
		t.Error(trend.stdout)
	}
	var list []struct {
		Runs    []struct{ Value float64 }
		Changes []struct {
			Name          string
			Before, After float64
		}
	}
	out := benchtop("history", dir, "--figure", "p99_ttft_ms", "--format", "json").stdout
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list) != 1 || len(list[0].Runs) != 24 ||
		list[0].Changes[0].Name != "run-16" || list[0].Changes[0].After != 111 {
		t.Error(out, err)
	}
	benchtop("history", dir, "--format", "json").expect(t, session.ExitFine, `"p99_ttft_ms": 112`, `"name": "run-16"`)
	benchtop("history", dir, "--format", "markdown", "--figure", "failed").expect(t, session.ExitFine, "| Figure |")
	benchtop("history", t.TempDir()).expect(t, session.ExitFailed, "has no results of serving")
	benchtop("history", dir, "--figure", "p99_tftt").expect(t, session.ExitUsage, "no run has such a key",
		"p99_ttft_ms")
	benchtop("history", dir, "--filter", "label=none", "--figure", "failed", "--format", "json").expect(t,
		session.ExitFine, "no run has all of these values", "[]")
	link := filepath.Join(t.TempDir(), "link")
	assert.Fine(t, os.Symlink(dir, link))
	t.Setenv("HOME", "")
	t.Setenv("XDG_CACHE_HOME", "")
	benchtop("history", link).expect(t, session.ExitFine, "24 runs", "the index is not saved")
	benchtop("history", dir, "--filter", "x").expect(t, session.ExitUsage, "expected KEY=VALUE")
	benchtop("history", dir, dir).expect(t, session.ExitUsage, "takes one folder, got 2")
}

// Foreign text is inert in every format: no control characters, no HTML, no formula.
func TestHistoryInert(t *testing.T) {
	dir := historyOf(t, "=cmd|' /C calc'!A0\x1b[31m\u009b31m<script>|`")
	for _, args := range [][]string{{}, {"--figure", "p99_ttft_ms"}} {
		for _, format := range []string{"text", "csv", "markdown", "json"} {
			got := benchtop(append([]string{"history", dir, "--format", format}, args...)...)
			got.expect(t, session.ExitFine, "calc")
			if strings.ContainsAny(got.stdout, "\x1b\u009b") {
				t.Errorf("%s: %q", format, got.stdout)
			}
			if (format == "markdown" || format == "json") && strings.Contains(got.stdout, "<script") {
				t.Errorf("%s: %q", format, got.stdout)
			}
			if format != "csv" {
				continue
			}
			rows, err := csv.NewReader(strings.NewReader(got.stdout)).ReadAll()
			for _, row := range rows {
				for _, cell := range row {
					if strings.HasPrefix(cell, "=") {
						t.Errorf("a formula: %q", cell)
					}
				}
			}
			if err != nil || len(rows) != 25 {
				t.Error(len(rows), err)
			}
		}
	}
}
