package cli

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// child is a server of ours in a process of its own. It lives no longer than we do: its standard input is a pipe that
// closes with us, however we end.
type child struct {
	url      string
	process  *exec.Cmd
	lifeline interface{ Close() error }
}

// startChild runs one of our own commands that serve until their standard input ends, and returns once it listens. what
// names it for a person.
func startChild(what string, args ...string) (*child, error) {
	trouble := func(err error) error { return fmt.Errorf("starting %s: %w", what, err) }
	self, err := os.Executable()
	if err != nil {
		return nil, trouble(err)
	}
	c := exec.Command(self, args...)
	detach(c)
	c.Stderr = os.Stderr
	lifeline, err := c.StdinPipe()
	if err != nil {
		return nil, trouble(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, trouble(err)
	}
	if err := c.Start(); err != nil {
		return nil, trouble(err)
	}
	s := &child{process: c, lifeline: lifeline}
	line, err := bufio.NewReader(out).ReadString('\n')
	address, ok := strings.CutPrefix(line, listening)
	if err != nil || !ok {
		s.stop()
		return nil, trouble(fmt.Errorf("it said %q instead of its address", line))
	}
	s.url = strings.Fields(address)[0]
	return s, nil
}

// stop ends the server and waits for it. It may be called again.
func (c *child) stop() {
	_ = c.lifeline.Close()
	killer := time.AfterFunc(3*time.Second, func() { _ = c.process.Process.Kill() })
	defer killer.Stop()
	_ = c.process.Wait()
}
