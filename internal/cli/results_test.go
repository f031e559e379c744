package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/session"
)

// savedRun is a run of two requests in a directory, saved under a name with these flags.
func savedRun(t *testing.T, url, dir, name string, flags ...string) result {
	t.Helper()
	r := benchtop(append([]string{"serve", "--base-url", url, "--num-prompts", "2", "--random-input-len", "5",
		"--random-output-len", "2", "--result-dir", dir, "--result-filename", name}, flags...)...)
	r.expect(t, session.ExitFine)
	return r
}

// compare, export-suite and --baseline take the results of --append-result, Python's NaN, a list of records, and what a
// killed run leaves.
func TestOneReaderOfResults(t *testing.T) {
	t.Parallel()
	url, dir := simulated(t, nil), t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	put := func(name, text string) {
		assert.Fine(t, os.WriteFile(at(name), []byte(text), 0o600))
	}
	for _, users := range []string{"1", "2"} {
		savedRun(t, url, dir, "all.json", "--append-result", "--max-concurrency", users)
	}
	savedRun(t, url, dir, "killed.json", "--save-result", "--max-concurrency", "2")
	put("killed.json", "") // as a kill leaves it
	put("nan.json", `{"completed": 2, "duration": 1, "request_throughput": 2, "max_concurrency": 2, `+
		`"output_throughput": 9, "p99_ttft_ms": NaN, "p99_tpot_ms": Infinity}`)
	put("summary.json", `[{"completed": 2, "duration": 1, "request_throughput": 2, "max_concurrency": 1, "output_throughput": 77.25, "p99_ttft_ms": 3},
		{"completed": 2, "duration": 1, "request_throughput": 2, "max_concurrency": 2, "output_throughput": 88.75, "p99_ttft_ms": 3}]`)
	put("rows.json", `[{"Model": "m", "TP Size": 1, "# of max concurrency.": 8, "Output Tput (tok/s)": 100, "P99": 1, "P99 TTFT (ms)": 1},
		{"Model": "m", "TP Size": 2, "# of max concurrency.": 8, "Output Tput (tok/s)": 200, "P99": 1, "P99 TTFT (ms)": 1}]`)

	benchtop("compare", at("all.json"), at("nan.json")).expect(t, session.ExitFine, "Output Tput (tok/s)", "9.00")
	benchtop("compare", at("summary.json"), at("all.json")).expect(t, session.ExitFine, "77.25", "88.75")
	note := at("killed.json") + " has no whole result; its figures are those of " + at("killed.jsonl.gz")
	benchtop("compare", at("killed.json"), at("all.json")).expect(t, session.ExitFine, note)
	r := benchtop("compare", at("rows.json"), at("rows.json"))
	r.expect(t, session.ExitFine, "TP Size: 1", "TP Size: 2", "100.00", "200.00")
	assert.Lacks(t, r.stdout, "150.00")
	benchtop("export-suite", at("to"), at("all.json"), at("killed.json"), at("nan.json")).expect(t, session.ExitFine,
		note,
		"4 results in")
	if names, _ := filepath.Glob(at("to/serving_*.json")); len(names) != 4 {
		t.Errorf("files %q, want 4", names)
	}
	savedRun(t, url, dir, "new.json", "--save-result", "--baseline", at("summary.json"))
	savedRun(t, url, dir, "newer.json", "--save-result", "--baseline", at("killed.json"))
	benchtop("compare", at("to/none.json"), at("all.json")).expect(t, session.ExitFailed, "no such file")
	put("half.json", `{"completed": 2,`)
	benchtop("compare", at("half.json"), at("all.json")).expect(t, session.ExitFailed,
		at("half.json")+", line 1: the file is truncated, or still being written")
}

// A name with control characters does not reach the terminal as it is.
func TestControlCharactersInNames(t *testing.T) {
	t.Parallel()
	url, dir := simulated(t, nil), t.TempDir()
	const name = "a\x1b]0;title\x07\x1b[31mb.json"
	for _, flags := range [][]string{{"--save-result"}, {"--save-result"}, {"--append-result"},
		{"--save-result", "--max-concurrency", "1", "--num-runs", "2"}} {
		if r := savedRun(t, url, dir, name, flags...); strings.ContainsAny(r.stdout+r.stderr, "\x1b\x07") {
			t.Errorf("%v: %q", flags, r.stderr)
		}
	}
	for _, args := range [][]string{{"compare", filepath.Join(dir, name), filepath.Join(dir, name), "--output",
		filepath.Join(dir, name+".md")}, {"export-suite", filepath.Join(dir, "x\x1b[31m"), filepath.Join(dir, name)}} {
		r := benchtop(args...)
		if r.expect(t, session.ExitFine); strings.ContainsAny(r.stdout+r.stderr, "\x1b\x07") {
			t.Errorf("%s: %q", args[0], r.stdout+r.stderr)
		}
	}
	benchtop("sweep", "serve", "--bench-cmd", "vllm bench serve", "-o", "a\x1b[31m").expect(t, session.ExitUsage,
		`--output-dir "a\x1b[31m": expected a path without control characters`)
}
