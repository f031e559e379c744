//go:build unix

package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/session"
	"benchtop/internal/simulator"
)

// The tests of latency and throughput of vLLM's suite are measured, with a pair of files each, which are those that
// export-suite and compare read.
func TestOfflineSuites(t *testing.T) {
	host, port, _ := strings.Cut(strings.TrimPrefix(simulated(t, nil), "http://"), ":")
	dir := t.TempDir()
	t.Setenv("REMOTE_HOST", host)
	t.Setenv("REMOTE_PORT", port)
	put := func(name, content string) string {
		path := filepath.Join(dir, name)
		assert.Fine(t, os.WriteFile(path, fmt.Appendf(nil, content, simulator.Defaults().Model), 0o600))
		return path
	}
	latency := put("latency-tests.json", `[{"test_name": "latency_a_tp1", "environment_variables": {"HF_TOKEN": "canary"},
		"parameters": {"model": %q, "tensor_parallel_size": 1, "load_format": "dummy", "num_iters_warmup": 1, "num_iters": 2, "input_len": 5, "output_len": 2}}]`)
	throughput := put("throughput-tests.json", `[{"test_name": "throughput_a_tp1",
		"parameters": {"model": %q, "tensor_parallel_size": 1, "load_format": "dummy", "num_prompts": 3, "header": "Authorization=Bearer canary", "dataset_name": "random", "random_input_len": 5, "random_output_len": 2}}]`)
	for kind, file := range map[string]string{"latency": latency, "throughput": throughput} {
		args := []string{"sweep", "serve", "--no-tui", "--suite", file, "-o", dir, "-e", kind[:3]}
		r := benchtop(append(args, "--dry-run")...)
		assert.Lacks(t, r.stdout+r.stderr, "canary")
		r.expect(t, session.ExitFine, "Client command: vllm bench "+kind+" --model "+simulator.Defaults().Model,
			"--load-format dummy", "will be saved at")
		benchtop(args...).expect(t, session.ExitFine, "1 run measured")
		benchtop(append(args, "--resume")...).expect(t, session.ExitFine, "0 runs measured, 1 found")
		stem := filepath.Join(dir, kind[:3], kind+"_a_tp1")
		raw, err := os.ReadFile(stem + ".commands")
		var commands map[string]string
		if err != nil || json.Unmarshal(raw, &commands) != nil ||
			!strings.HasPrefix(commands[kind+"_command"], "vllm bench "+kind+" --model") ||
			commands["gpu_type"] == "" || strings.Contains(string(raw), "canary") {
			t.Errorf("%v, %s", err, raw)
		}
		benchtop("compare", stem+".json", stem+".json").expect(t, session.ExitFine, kind+"_a_tp1")
	}
	benchtop("sweep", "serve", "--suite", put("bad.json",
		`[{"test_name": "latency_a", "parameters": {"model": %q, "num_iters": 0}}]`), "-o", dir).
		expect(t, session.ExitUsage, "--suite, latency_a: --num-iters 0: must be at least 1")
	benchtop("sweep", "serve", "--suite", put("worse.json", `[{"test_name": "startup_a"}, {"test_name": "latency_b", "parameters": {}}, {"test_name": "latency_a", "parameters": {"model": %[1]q}},
		{"test_name": "throughput_a", "parameters": {"model": %[1]q}}]`), "-o", dir).expect(t, session.ExitUsage, "test 1 startup_a: expected a test_name that begins with serving_, latency_ or throughput_",
		"test 2 latency_b: expected a model in parameters",
		"test 4 throughput_a: tests of another kind stand before it; give each kind a file")
}
