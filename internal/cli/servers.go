package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"benchtop/internal/session"
)

// listening begins the line with the address of a server of ours, which its parent process reads.
const listening = "listening on "

// listenOptions say where a server of ours listens, and when it ends.
type listenOptions struct {
	host       string
	port       int
	withParent bool
}

func (o *listenOptions) define(f *pflag.FlagSet, port int) {
	f.StringVar(&o.host, "host", "127.0.0.1", "address to listen on")
	f.IntVar(&o.port, "port", port, "port to listen on; 0 for a free one")
}

func (o *listenOptions) defineEnd(f *pflag.FlagSet) {
	f.BoolVar(&o.withParent, "exit-with-stdin", false, "stop when standard input ends")
}

// serve serves until a signal or the end of the input, which a parent process closes however it dies. It calls ready
// with the address once it listens.
func (o *listenOptions) serve(env *session.Environment, serve func(net.Listener) error, stop func() error,
	ready func(url string)) error {
	address := net.JoinHostPort(o.host, strconv.Itoa(o.port))
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w; choose another with --port", address, err)
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if o.withParent {
		go func() {
			_, _ = io.Copy(io.Discard, env.Stdin)
			cancel()
		}()
	}
	ready("http://" + l.Addr().String())
	served := make(chan error, 1)
	go func() { served <- serve(l) }()
	select {
	case err := <-served:
		return errors.Join(fmt.Errorf("serving on %s: %w", address, err), stop())
	case <-ctx.Done():
	}
	err = stop()
	<-served // its error is that it was closed
	return err
}

// child is a server of ours in a process of its own. It ends with this process, however that dies, since its standard
// input is a pipe from it.
type child struct {
	url      string
	process  *exec.Cmd
	lifeline interface{ Close() error }
}

// startChild runs a command of ours that serves until its standard input ends, and returns once it listens. Errors call
// it what.
func startChild(what string, args ...string) (*child, error) {
	trouble := func(err error) error { return fmt.Errorf("starting %s: %w", what, err) }
	self, err := os.Executable()
	if err != nil {
		return nil, trouble(err)
	}
	c := exec.Command(self, args...)
	detach(c)
	c.Stderr = os.Stderr
	lifeline, err1 := c.StdinPipe()
	out, err2 := c.StdoutPipe()
	if err := cmp.Or(err1, err2); err != nil {
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
		return nil, trouble(fmt.Errorf("its first line was %q, not its address", line))
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
