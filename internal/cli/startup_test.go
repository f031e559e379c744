//go:build unix

package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"benchtop/internal/session"
)

// The server is started, measured and stopped, cold and warm.
func TestStartup(t *testing.T) {
	t.Setenv(session.PytorchVariable, "1")
	self := program(t)
	dir := t.TempDir()
	server := self + " simulate --port " + unused(t) + " --api-key=canary-key"
	benchtop("startup", "--serve-cmd", server, "--num-iters-cold", "1", "--output-json", filepath.Join(dir, "o.json")).
		expect(t, session.ExitFailed, "start 1 of 5 (cold): the server command exited with status 2",
			"--api-key: unknown flag", "simulate --port", "--api-key=***")
	r := benchtop("startup", "--serve-cmd", strings.TrimSuffix(server, " --api-key=canary-key"), "--num_iters_cold=1",
		"--num-iters-warmup", "0", "--num-iters-warm", "1",
		"--output-json", filepath.Join(dir, "o.json"))
	r.expect(t, session.ExitFine, "COLD STARTUP:\nAvg startup time: ", "WARM STARTUP:", "First token after",
		"[1/2] cold", "[2/2] warm: ready after")
	if strings.Contains(r.stdout+r.stderr, "canary") {
		t.Error("a key is shown")
	}
	data, err := os.ReadFile(filepath.Join(dir, "o.json"))
	var keys map[string]any
	if err == nil {
		err = json.Unmarshal(data, &keys)
	}
	if took, _ := keys["avg_warm_startup_time"].(float64); err != nil || took <= 0 ||
		keys["benchtop"].(map[string]any)["interrupted"] != false {
		t.Errorf("error %v, result %s", err, data)
	}
	for _, key := range []string{"cold_startup", "warm_startup"} {
		if _, err := os.Stat(filepath.Join(dir, "o."+key+".pytorch.json")); err != nil {
			t.Error(err)
		}
	}
}

// Wrong usage is reported at once; flags of other names are the server's.
func TestStartupUsage(t *testing.T) {
	for _, c := range []struct {
		args string
		want []string
	}{
		{"", []string{"no server: name a model with --model, or a command with --serve-cmd"}},
		{"--model", []string{"--model: a value is missing"}},
		{"--model m --port x --num-iters-cold -1 --server-ready-timeout 0",
			[]string{"has --port x:", "--num-iters-cold -1: must not be", "--server-ready-timeout 0:"}},
		{"--serve-cmd 'x --tensor-parallel-size 2",
			[]string{"--serve-cmd: a quotation mark", `"--tensor-parallel-size 2": with --serve-cmd`}},
		{"--model=m --num-iters-cold 0 --num-iters-warm 0 --output-json no/such/o.json",
			[]string{"nothing would be measured", "there is no directory no/such"}},
	} {
		benchtop(append([]string{"startup"}, strings.Fields(c.args)...)...).expect(t, session.ExitUsage, c.want...)
	}
	for args, want := range map[string]string{
		"--model m -tp 2 --num-iters-cold 1":               "vllm serve m -tp 2",
		"--port 9 --model=m --show-stdout --enforce-eager": "vllm serve m --port 9 --enforce-eager",
		"--num_iters_warm=2 --model m --dtype half":        "vllm serve m --dtype half",
	} {
		o := newStartupOptions()
		if err := o.parse(&session.Environment{}, strings.Fields(args)); err != nil ||
			strings.Join(o.engine.command, " ") != want {
			t.Errorf("%s: server %q, error %v, want %s", args, o.engine.command, err, want)
		}
	}
}
