//go:build unix

package telemetry

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"benchtop/internal/assert"
)

// watchedChild is the environment variable that makes TestStopped the stopped process. Its value is the interval at
// which that process samples itself.
const watchedChild = "BENCHTOP_TEST_WATCHED"

// watched samples itself until its input ends, then prints the longest stall and the time that was sampled.
func watched(every time.Duration) {
	p := WatchProcess()
	defer p.Close()
	over := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(over)
	}()
	fmt.Println("ready")
	var stood, took time.Duration
	sample := func() {
		s := p.Sample(time.Hour)
		took += s.Took
		if s.Stall >= 50*ms { // the stop in parts, not the noise of a machine with other work
			stood += s.Stall
		}
	}
	ticks := time.NewTicker(every)
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
			sample()
		case <-over:
			sample()
			fmt.Println(stood.Nanoseconds(), took.Nanoseconds())
			return
		}
	}
}

// A process that was really stopped reports the length of the stop once, whether it samples itself seldom, often or at
// the moment when it continues.
func TestStopped(t *testing.T) {
	if every, err := time.ParseDuration(os.Getenv(watchedChild)); err == nil {
		watched(every)
		return
	}
	for _, every := range []time.Duration{time.Hour, 200 * ms, 7 * ms} {
		t.Run(every.String(), func(t *testing.T) {
			t.Parallel()
			stopped, stood, took := stopChild(t, every)
			if stood < stopped*8/10 {
				t.Errorf("stalled for %v, was stopped for %v", stood, stopped)
			}
			if stood > took {
				t.Errorf("stalled for %v of %v", stood, took)
			}
		})
	}
}

// stopChild stops a child for at least the time stopped. The child reports stood and took.
func stopChild(t *testing.T, every time.Duration) (stopped, stood, took time.Duration) {
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestStopped$", "-test.count=1")
	c.Env = append(os.Environ(), watchedChild+"="+every.String())
	in, err := c.StdinPipe()
	assert.Fine(t, err)
	out, err := c.StdoutPipe()
	assert.Fine(t, err)
	assert.Fine(t, c.Start())
	lines := bufio.NewScanner(out)
	await(t, lines, "ready")
	time.Sleep(100 * ms)
	signalled(t, c, syscall.SIGSTOP)
	began := time.Now()
	time.Sleep(600 * ms)
	stopped = time.Since(began)
	signalled(t, c, syscall.SIGCONT)
	time.Sleep(100 * ms)
	assert.Fine(t, in.Close())
	f := strings.Fields(await(t, lines, ""))
	if err := c.Wait(); err != nil || len(f) != 2 {
		t.Fatalf("child said %q and ended with %v", f, err)
	}
	return stopped, nanoseconds(t, f[0]), nanoseconds(t, f[1])
}

func signalled(t *testing.T, c *exec.Cmd, s syscall.Signal) {
	t.Helper()
	assert.Fine(t, c.Process.Signal(s))
}

// await reads a line of the child, which must be want unless that is empty. Wait reads the rest.
func await(t *testing.T, lines *bufio.Scanner, want string) string {
	t.Helper()
	if !lines.Scan() || want != "" && lines.Text() != want {
		t.Fatalf("child said %q (%v), want %q", lines.Text(), lines.Err(), want)
	}
	return lines.Text()
}

func nanoseconds(t *testing.T, text string) time.Duration {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	assert.Fine(t, err)
	return time.Duration(n)
}
