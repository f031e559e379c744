//go:build unix

package telemetry

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// loweredChild makes TestCheckSocketsRaises lower the limit of its process, which it cannot take back.
const loweredChild = "BENCHTOP_TEST_LOWERED"

func lowered(t *testing.T) {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		t.Fatal(err)
	}
	l.Cur, l.Max = 100, 300
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		t.Fatal(err)
	}
	if err := CheckSockets(200); err != nil {
		t.Errorf("200 sockets, hard limit 300: %v", err)
	}
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil || l.Cur != 300 {
		t.Errorf("the limit is %d (%v), want it raised to 300", l.Cur, err)
	}
	if err := CheckSockets(300); err == nil || !strings.Contains(err.Error(), "hard limit is 300") {
		t.Errorf("300 sockets, hard limit 300: %v", err)
	}
}

func TestCheckSocketsRaises(t *testing.T) {
	if os.Getenv(loweredChild) != "" {
		lowered(t)
		return
	}
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCheckSocketsRaises$", "-test.count=1")
	c.Env = append(os.Environ(), loweredChild+"=1")
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
