//go:build unix

package cli

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"benchtop/export/journal"
	"benchtop/internal/assert"
	"benchtop/internal/session"
	"benchtop/metrics"
	"benchtop/metrics/report"
)

// A server that is started for the measurement is stopped after it.
func TestStartedServer(t *testing.T) {
	t.Parallel()
	self := program(t)
	l := assert.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	l.Close()
	serve := self + " simulate --port " + port
	benchtop("latency", "--serve-cmd", serve, "--num-iters", "2", "--num-iters-warmup", "0", "--batch-size", "2",
		"--output-len", "2").
		expect(t, session.ExitFine, "server command: ", "Avg latency: ")
	if _, err := http.Get("http://127.0.0.1:" + port + "/health"); err == nil {
		t.Error("the server still answers")
	}
}

// The time for which the screen stays after the last iteration is none of the measurement.
func TestLatencyEndsBeforeItsScreen(t *testing.T) {
	t.Parallel()
	x := open(t, 80, 24, fmt.Sprintf(`"$BENCHTOP" latency --serve-cmd "$BENCHTOP simulate --port %s" --num-iters 2 `+
		`--num-iters-warmup 0 --batch-size 2 --output-json o.json`, unused(t)))
	x.wait("run 1/2")
	x.press("Escape")
	x.wait("q quit")
	time.Sleep(time.Second)
	x.press("q")
	assert.Equal(t, x.ended(), session.ExitFine, "exit code")
	run, requests, err := report.Gather(journal.Read(filepath.Join(x.dir, "o.jsonl.gz")))
	assert.Fine(t, err)
	var last metrics.Request
	for last = range requests {
	}
	if told := benchtop("report", filepath.Join(x.dir, "o.json")).stdout; strings.Contains(told, "TTFT") ||
		!strings.Contains(told, "Mean E2EL") {
		t.Errorf("answers that came in one piece are told of as\n%s", told)
	}
	if after := run.Ended - last.Done; last.Index != 1 || after >= time.Second {
		t.Errorf("the measurement ends %s after request %d", after, last.Index)
	}
}

// A measurement that is killed loses nothing: its journal has all requests that were done.
func TestOfflineKilled(t *testing.T) {
	t.Parallel()
	path := program(t)
	for _, c := range []struct {
		args             string
		warmUp, requests int
	}{
		{"throughput --num-prompts 20 " + shortPrompts, 0, 15},
		{"latency --batch-size 2 --output-len 4 --num-iters 9 --num-iters-warmup 2 --requests simultaneous", 4, 12},
		{"latency --batch-size 2 --output-len 4 --num-iters 9 --num-iters-warmup 2", 2, 5},
	} {
		t.Run(c.args, func(t *testing.T) {
			t.Parallel()
			server, letGo := held(t, c.warmUp+c.requests)
			defer letGo()
			dir := t.TempDir()
			command := exec.Command(path, append(strings.Fields(c.args), "--base-url", server.url, "--output-json",
				filepath.Join(dir, "o.json"))...)
			var said bytes.Buffer
			command.Stdout, command.Stderr = &said, &said
			assert.Fine(t, command.Start())
			written := eventually(func() bool {
				raw, _ := os.ReadFile(filepath.Join(dir, "o.jsonl"))
				return bytes.Count(raw, []byte(`{"index":`)) == c.requests
			})
			_ = command.Process.Kill()
			_ = command.Wait()
			if !written {
				t.Fatalf("the requests are not in the journal; the program said:\n%s", &said)
			}
			benchtop("report", filepath.Join(dir, "o.json")).expect(t, session.ExitFine,
				fmt.Sprintf("Successful requests:                     %-10d\n", c.requests),
				"Interrupted: its journal is truncated")
		})
	}
}
