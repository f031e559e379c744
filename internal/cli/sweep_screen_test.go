//go:build unix

package cli

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/session"
)

// A sweep on a terminal: its grid, the dashboard of its run and the way back, and every way out leaves the finished
// runs, no server, and a terminal as it was.
func TestSweepOnATerminal(t *testing.T) {
	for _, c := range []struct {
		name  string
		leave func(x *terminal)
		code  int
	}{
		{"q", func(x *terminal) { x.press("q"); x.wait("Stop the sweep"); x.press("y") }, session.ExitAborted},
		{"SIGTERM", func(x *terminal) { _ = syscall.Kill(x.pid(), syscall.SIGTERM) }, session.ExitTerminated},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			port := unused(t)
			x := open(t, 120, 40,
				fmt.Sprintf(`printf '[{"num_prompts": 2}, {"num_prompts": 5000}]' >bench.json; "$BENCHTOP" sweep `+
					`serve -e own --num-runs 1 `+
					`--bench-params bench.json --serve-cmd "$BENCHTOP simulate --port %s" --bench-cmd 'benchtop serve `+
					`--base-url http://127.0.0.1:%[1]s `+
					`--max-concurrency 1 `+shortPrompts+`'; code=$?; stty -a; (exit $code)`, port))
			x.wait("combinations 1/2")
			x.wait("o dashboard")
			x.press("o")
			x.wait("[1 Overview]")
			x.wait("sweep 2/2")
			x.press("q")
			x.wait("combinations 1/2")
			c.leave(x)
			assert.Equal(t, x.ended(), c.code, "exit code")
			shown := x.history()
			assert.Has(t, shown, " icanon", " echo ", "--resume")
			if _, err := os.Stat(filepath.Join(x.dir, "results", "own", "BENCH--num_prompts=2", "run=0.json")); err !=
				nil {
				t.Error(err)
			}
			if l, err := net.Listen("tcp", "127.0.0.1:"+port); err != nil {
				t.Errorf("the server is still there: %v", err)
			} else {
				l.Close()
			}
		})
	}
}
