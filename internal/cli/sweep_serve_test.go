//go:build unix

package cli

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/internal/files"
	"benchtop/internal/session"
	"benchtop/internal/simulator"
)

// sweepTest is a directory with parameter files, and the command line of a sweep of simulated servers in it.
type sweepTest struct {
	t         *testing.T
	dir, port string
}

func newSweepTest(t *testing.T) *sweepTest {
	return &sweepTest{t, t.TempDir(), unused(t)}
}

func (s *sweepTest) put(name, content string) string {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	assert.Fine(s.t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// args sweep two servers and two loads, with canaries for secrets.
func (s *sweepTest) args(more ...string) []string {
	self := program(s.t)
	return append([]string{
		"sweep", "serve", "--serve-cmd",
		fmt.Sprintf("%s simulate --port %s --log '%s'", self, s.port, filepath.Join(s.dir, "requests.jsonl")),
		"--serve-params", s.put("s.json",
			`[{"spec_tokens": 0}, {"_benchmark_name": "spec", "spec_tokens": 3, "request_metrics": true}]`),
		"--bench-cmd",
		"vllm bench serve --port " + s.port + " --dataset-name random --random-input-len 16 --random-output-len 2 " +
			"--num-prompts=50 --disable-tqdm --header Authorization=canary",
		"--bench-params", s.put("b.json",
			`{"low": {"num_prompts": 4, "max_concurrency": 1}, "high": {"num-prompts": 6, "max_concurrency": 3}}`),
		"--num-runs", "2", "-o", s.dir, "-e", "x",
	}, more...)
}

// free reports whether nothing listens at the port of the servers.
func (s *sweepTest) free() bool {
	c, err := net.Dial("tcp", "127.0.0.1:"+s.port)
	if err == nil {
		_ = c.Close()
	}
	return err != nil
}

// check reads the directory by the rules of vLLM's sweeps.
func (s *sweepTest) check() {
	t := s.t
	t.Helper()
	for _, c := range []struct {
		dir       string
		completed float64
		want      map[string]any
	}{
		{"SERVE--spec_tokens=0-BENCH--low", 4,
			map[string]any{"spec_tokens": 0.0, "_benchmark_name": "low", "max_concurrency": 1.0}},
		{"SERVE--spec_tokens=0-BENCH--high", 6,
			map[string]any{"spec_tokens": 0.0, "_benchmark_name": "high", "num-prompts": 6.0}},
		{"SERVE--spec-BENCH--low", 4,
			map[string]any{"spec_tokens": 3.0, "request_metrics": true, "_benchmark_name": "low"}},
		{"SERVE--spec-BENCH--high", 6, map[string]any{"spec_tokens": 3.0}},
	} {
		var summary []map[string]any
		raw, err := os.ReadFile(filepath.Join(s.dir, "x", c.dir, "summary.json"))
		if err != nil || json.Unmarshal(raw, &summary) != nil || len(summary) != 2 {
			t.Fatalf("%s: %v, %d records", c.dir, err, len(summary))
		}
		for n, r := range summary {
			if r["run_number"] != float64(n) || r["completed"] != c.completed || r["failed"] != 0.0 ||
				r["p99_e2el_ms"] == nil {
				t.Errorf("%s, run %d: %v completed, %v failed", c.dir, n, r["completed"], r["failed"])
			}
			for key, want := range c.want {
				if r[key] != want {
					t.Errorf("%s, run %d: %s is %v, want %v", c.dir, n, key, r[key], want)
				}
			}
		}
	}
	table, err := os.ReadFile(filepath.Join(s.dir, "x", "summary.csv"))
	if err != nil || !strings.HasPrefix(string(table), ",date,endpoint_type,backend,") ||
		strings.Contains(string(table), ",benchtop,") {
		t.Errorf("%v, %.100s", err, table)
	}
	if !s.free() {
		t.Error("a server is left")
	}
}

// The sweep starts each server once, hides secrets, and finds what it has measured.
func TestSweepServe(t *testing.T) {
	t.Parallel()
	s := newSweepTest(t)
	dry := benchtop(s.args("--dry-run")...)
	dry.expect(t, session.ExitFine, "Server overrides: {'_benchmark_name': 'spec', 'spec_tokens': 3, "+
		"'request_metrics': True}\n", "'--spec-tokens', '3', '--request-metrics']\n",
		"Benchmark overrides: {'_benchmark_name': 'low', 'num_prompts': 4, 'max_concurrency': 1}\nRun Number: 1\n",
		"'--num-prompts', '4'",
		"'--percentile-metrics', 'ttft,tpot,itl,e2el', '--save-result', '--result-dir', ",
		"Experiment will be saved at: ")
	if _, err := os.Stat(filepath.Join(s.dir, "x")); err == nil {
		t.Error("a dry run made a directory")
	}
	first := benchtop(s.args("--warmup-num-prompts", "1")...)
	first.expect(t, session.ExitFine, "8 runs measured.\nExperiment has been saved at: ")
	s.check()
	page := filepath.Join(s.dir, "sweep.html")
	benchtop(s.args("--warmup-num-prompts", "1", "--resume", "--html", page)...).expect(t, session.ExitFine,
		"0 runs measured, 8 found", "page written to ")
	written, err := os.ReadFile(page)
	for _, want := range []string{">SERVE--spec_tokens=0-BENCH--low<", "<svg ", "for each GPU"} {
		if !strings.Contains(string(written), want) {
			t.Errorf("%v: the page has no %s", err, want)
		}
	}
	benchtop(s.args("--resume")...).expect(t, session.ExitUsage, `--warmup-num-prompts was "1" and is "0" now`)
	benchtop(s.args()...).expect(t, session.ExitUsage, "cannot overwrite")
	release := assert.Must(files.Hold(filepath.Join(s.dir, "x")))(t)
	benchtop(s.args("--warmup-num-prompts", "1", "--resume")...).expect(t, session.ExitFailed,
		"in use by another benchtop")
	release()
	for _, words := range []string{dry.stdout, first.stdout, first.stderr} {
		if strings.Contains(words, "canary") {
			t.Error("a secret is printed")
		}
	}
	_ = filepath.WalkDir(filepath.Join(s.dir, "x"), func(path string, d os.DirEntry, err error) error {
		if raw, err := os.ReadFile(path); err == nil && strings.Contains(string(raw), "canary") {
			t.Errorf("%s has a secret", path)
		}
		return err
	})
}

// Killed at any moment, a sweep leaves no process, and is continued to the same end.
func TestSweepKilled(t *testing.T) {
	t.Parallel()
	s := newSweepTest(t)
	self := program(t)
	dir := filepath.Join(s.dir, "x")
	more := func() []string { // it may be killed before it has a directory
		if _, err := os.Stat(dir); err != nil {
			return nil
		}
		return []string{"--resume"}
	}
	for range 2 {
		p := exec.Command(self, s.args(more()...)...)
		assert.Fine(t, p.Start())
		killer := time.AfterFunc(time.Duration(rand.IntN(1000))*time.Millisecond, func() { _ = p.Process.Kill() })
		_ = p.Wait()
		killer.Stop()
		for !s.free() {
			time.Sleep(10 * time.Millisecond)
		}
	}
	benchtop(s.args(more()...)...).expect(t, session.ExitFine, "Experiment has been saved at")
	s.check()
}

// Ctrl-C stops the server and says how to go on.
func TestSweepInterrupted(t *testing.T) {
	s := newSweepTest(t)
	go func() {
		if eventually(func() bool {
			found, _ := filepath.Glob(filepath.Join(s.dir, "x", "*", "run=0.json"))
			return found != nil
		}) {
			_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
		}
	}()
	benchtop(s.args()...).expect(t, session.ExitAborted, "--resume -e x")
	if !s.free() {
		t.Error("a server is left")
	}
}

// Everything that is wrong is reported before a server starts.
func TestSweepServeUsage(t *testing.T) {
	s := newSweepTest(t)
	benchtop("sweep", "serve", "--serve-cmd", "vllm 'serve", "--bench-cmd", "wrk http://x", "--bench-params",
		s.put("p.json", `[3]`), "--num-runs", "0", "--link-vars", "a", "--resume").expect(t, session.ExitUsage,
		"--serve-cmd: ", "--bench-cmd: \"wrk http://x\" is not the command", "write 'vllm bench serve --model M …'",
		"entry 1: a number instead of an object", "--num-runs 0", "--link-vars: ", "--resume: name the experiment")
	benchtop("sweep", "serve", "--serve-cmd", "no-such-program", "--bench-cmd", "vllm bench serve --num-prompts 3",
		"--bench-params",
		s.put("p.json", `[{"num_prompts": "many"}, {"no_such_flag": 1}]`), "-o", s.dir).expect(t, session.ExitUsage,
		"--bench-cmd with num_prompts=many: --num-prompts many:",
		"--bench-cmd with no_such_flag=1: --no-such-flag: unknown flag", `--serve-cmd: exec: "no-such-program"`)
	benchtop("sweep", "serve", "--dry-run", "--bench-cmd", "vllm bench serve", "--bench-params",
		s.put("p.json", `[{"header": "a=b"}]`), "-o", s.dir).expect(t, session.ExitFine,
		"Benchmark overrides: {'header': 'a=***'}")
	benchtop("sweep", "serve", "--suite", "suite.json", "--html", "page.html").expect(t, session.ExitUsage,
		"--html with --suite")
	benchtop("sweep", "serve", "--suite", s.put("suite.json", `[{"test_name": "x"}]`), "--bench-cmd",
		"vllm bench serve").expect(t, session.ExitUsage, "--bench-cmd: the file of --suite",
		"test 1 x: expected a test_name")
	benchtop("sweep", "serve_workload", "--bench-cmd", "vllm bench serve", "--bench-params",
		s.put("p.json", `[{"max-concurrency": 3}]`), "--workload-var", "max_concurrency", "--workload-iters",
		"1").expect(t, session.ExitUsage,
		"--workload-iters 1: must be at least 2", "sets max_concurrency, which --workload-var varies")
}

// A suite and a scan load a server that runs already.
func TestSweepRunningServer(t *testing.T) {
	host, port, _ := strings.Cut(strings.TrimPrefix(simulated(t, nil), "http://"), ":")
	dir := t.TempDir()
	t.Setenv("REMOTE_HOST", host)
	t.Setenv("REMOTE_PORT", port)
	file := filepath.Join(dir, "suite.json")
	model := simulator.Defaults().Model
	suite := fmt.Sprintf(`[{"test_name": "serving_a", "qps_list": ["inf"], "server_environment_variables": {"HF_TOKEN": "canary"}, "server_parameters": {"model": %[1]q, "dtype": "half"},
		"client_parameters": {"model": %[1]q, "num_prompts": 3, "random_input_len": 8, "random_output_len": 2}}]`, model)
	assert.Fine(t, os.WriteFile(file, []byte(suite), 0o600))
	benchtop("sweep", "serve", "--suite", file, "-o", dir, "-e", "suite").expect(t, session.ExitFine, "1 run measured")
	if raw, err := os.ReadFile(filepath.Join(dir, "suite", "manifest.json")); err != nil ||
		strings.Contains(string(raw), "canary") {
		t.Errorf("%v, %s", err, raw)
	}
	var commands map[string]string
	raw, err := os.ReadFile(filepath.Join(dir, "suite", "serving_a_qps_inf_concurrency_3.commands"))
	if err != nil || json.Unmarshal(raw, &commands) != nil ||
		commands["server_command"] != "vllm serve "+model+" --dtype half" ||
		!strings.HasPrefix(commands["client_command"], "vllm bench serve --save-result") || commands["gpu_type"] == "" {
		t.Errorf("%v, %s", err, raw)
	}
	benchtop("sweep", "serve-workload", "--bench-cmd",
		"benchtop serve --host "+host+" --port "+port+" --num-prompts 4 --random-input-len 8 --random-output-len 2",
		"--workload-var", "max_concurrency",
		"--workload-iters", "2", "--num-runs", "1", "-o", dir, "-e", "scan").expect(t, session.ExitFine,
		"Dataset size: 4", "[WL END]", "2 runs measured")
	for _, name := range []string{"BENCH--max_concurrency=1-WL--max_concurrency=1",
		"BENCH--max_concurrency=4-WL--max_concurrency=4"} {
		if _, err := os.Stat(filepath.Join(dir, "scan", name, "summary.json")); err != nil {
			t.Error(err)
		}
	}
}
