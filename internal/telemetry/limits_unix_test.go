//go:build unix

package telemetry

import (
	"os"
	"os/exec"
	"testing"

	"benchtop/internal/assert"
)

// cappedChild makes TestCheckSocketsRaised check the limit that it was started with.
const cappedChild = "BENCHTOP_TEST_CAPPED"

// The Go runtime has raised the limit as far as it may by the time it is checked.
func TestCheckSocketsRaised(t *testing.T) {
	if os.Getenv(cappedChild) != "" {
		if err := CheckSockets(200); err != nil {
			t.Errorf("200 sockets, hard limit 300: %v", err)
		}
		assert.Fails(t, "300 sockets, hard limit 300", CheckSockets(300), "hard limit is 300")
		return
	}
	c := exec.CommandContext(t.Context(), "sh", "-c",
		`ulimit -Sn 100; ulimit -Hn 300; exec "$0" -test.run='^TestCheckSocketsRaised$' -test.count=1`, os.Args[0])
	c.Env = append(os.Environ(), cappedChild+"=1")
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
