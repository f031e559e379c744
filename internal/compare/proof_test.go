package compare

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"benchtop/export"
	"benchtop/internal/assert"
	"benchtop/internal/compare/evidence"
	"benchtop/metrics"
)

// A run counts once, though a sweep keeps it in a file of its own and in a list of all, and beside an interim result;
// runs of other lengths are of another workload.
func TestRunsCountOnce(t *testing.T) {
	dir := t.TempDir()
	result := func(date, length string) string {
		return `{"date": "` + date + `", "backend": "openai", "model_id": "m", "completed": 10, "duration": 5, ` +
			`"request_rate": 2, "mean_ttft_ms": 20, "request_throughput": 2, "benchtop": {"command": ["serve", ` +
			`"--random-input-len", "` + length + `"]}}`
	}
	a, b, long := result("20261129-060000", "32"), result("20261129-060100", "32"), result("20261129-060200", "99")
	for name, content := range map[string]string{"run=0.json": a, "run=1.json": b,
		"summary.json":      "[" + a + "," + b + "]",
		"run=1-so-far.json": b, "long.json": long} {
		assert.Fine(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	c, _, err := Read([]string{dir})
	got := c.runs
	if err != nil || len(got.loads) != 2 {
		t.Fatalf("%v, %v", got, err)
	}
	for load, n := range map[string]int{
		"dataset name random, input len 32, output len 128, 2 req/s": 2,
		"dataset name random, input len 99, output len 128, 2 req/s": 1,
	} {
		if len(got.byLoad[load]) != n {
			t.Errorf("%s: %d runs, want %d, of %q", load, len(got.byLoad[load]), n, got.loads)
		}
	}
}

// Loads of results that do not tell their workload meet those of the same load; others meet only their own workload.
func TestLoadsMeet(t *testing.T) {
	dir := t.TempDir()
	side := func(name, format string) Configuration {
		t.Helper()
		path := filepath.Join(dir, name+".json")
		content := ""
		for _, rate := range []int{2, 4} {
			content += fmt.Sprintf(format, rate) + "\n"
		}
		assert.Fine(t, os.WriteFile(path, []byte(content), 0o600))
		c, _, err := Read([]string{path})
		assert.Fine(t, err)
		return c
	}
	own := `{"model_id": "m", "completed": 10, "failed": 0, "duration": 1%[1]d, "request_rate": %[1]d, ` +
		`"mean_ttft_ms": 20, "request_throughput": 2, "benchtop": {"command": ["serve", "--random-input-len", "LEN"]}}`
	short := side("short", strings.Replace(own, "LEN", "32", 1))
	long := side("long", strings.Replace(own, "LEN", "99", 1))
	sglang := side("sglang", `{"completed": 10, "duration": 1%[1]d, "request_rate": %[1]d, "mean_e2e_latency_ms": 9, `+
		`"mean_ttft_ms": 20, "request_throughput": 2}`)
	for name, c := range map[string]struct {
		a, b  *Configuration
		loads int
	}{"own and another's": {&short, &sglang, 2}, "another's and own": {&sglang, &short, 2}, "own": {&short, &short, 2},
		"two workloads": {&short, &long, 0}} {
		proofs := Prove(c.a, c.b)
		assert.Equal(t, len(proofs), c.loads, "%s: loads", name)
		for i := range proofs {
			foreign := c.a == &sglang || c.b == &sglang
			named := func(d Difference) bool { return d.What == "benchmark" }
			if foreign != slices.ContainsFunc(proofs[i].Differences, named) {
				t.Errorf("%s: %v", name, proofs[i].Differences)
			}
		}
	}
}

// Arrivals of another pattern are another load. Without a rate there is none, nor do old results tell it.
func TestArrivalPatterns(t *testing.T) {
	for values, want := range map[string]string{
		`"request_rate": 2`:                                          "2 req/s",
		`"request_rate": 2, "burstiness": 1.0`:                       "2 req/s",
		`"request_rate": 2, "burstiness": 0.5, "max_concurrency": 3`: "2 req/s (burstiness 0.5), at most 3 in flight",
		`"request_rate": 2, "burstiness": "inf"`:                     "2 req/s (burstiness inf)",
		`"request_rate": "inf", "burstiness": 0.5`:                   "all at once",
	} {
		r := assert.Must(export.ReadResult([]byte(`{"completed": 10, "duration": 5, ` + values + `}`)))(t)
		assert.Equal(t, loadOf(&r.Plan), want, "%s", values)
	}
}

// Chance adds up over loads that were tested, and only over those.
func TestMultiplicity(t *testing.T) {
	tested := Proof{Result: evidence.Result{Rows: []evidence.Row{{Change: .1}}}}
	short := Proof{Result: evidence.Result{Rows: []evidence.Row{{Change: math.NaN()}}}}
	for want, proofs := range map[string][]Proof{"": {tested, short},
		"all 3: of servers that are alike, up to 15 %": {tested, short, tested, tested}} {
		if got := Multiplicity(proofs); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A part of a run is not the whole, and that is told.
func TestPartAgainstWhole(t *testing.T) {
	whole, part := metrics.Report{}, metrics.Report{}
	whole.Plan.Part.N, part.Plan.Part = 2, metrics.Part{K: 1, N: 2}
	want := Difference{"part of the load", "1/2", "all"}
	got := differences([]metrics.Report{part}, []metrics.Report{whole})
	if !slices.Contains(got, want) {
		t.Errorf("%v", got)
	}
	for _, d := range differences([]metrics.Report{whole}, []metrics.Report{whole}) {
		t.Errorf("a run differs from itself in %s", d.What)
	}
}

// Users who leave, try again or read slowly are a difference of the runs, and not of the server.
func TestUsersDiffer(t *testing.T) {
	plain, others := metrics.Report{}, metrics.Report{}
	others.Plan.Retry, others.Plan.ReadRate = "backoff,tries=5,most=30s", "4KB/s"
	found := differences([]metrics.Report{plain}, []metrics.Report{others})
	i := slices.IndexFunc(found, func(d Difference) bool { return d.What == "users" })
	if i < 0 || found[i].A != "wait" || found[i].B != "retry backoff,tries=5,most=30s, read-rate 4KB/s" {
		t.Errorf("%+v", found)
	}
	if found := differences([]metrics.Report{others}, []metrics.Report{others}); len(found) > 0 {
		t.Errorf("%+v", found)
	}
}
