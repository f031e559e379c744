// Package launch runs the command of a server for as long as it is needed: it starts the command, waits until the
// server answers, reads what it prints, and ends it with all its descendants, also when this program is killed. It
// leaves out what is asked of the server, and where its log is kept.
//
// A guard, a process of this program in a session of its own, stands between this program and the server:
//
//	benchtop ── lifeline ──> guard ── own session ──> server ──> its descendants
//	    ^ <── how it ended ────┘                        │
//	    └────────────── what they print ────────────────┘
//
// The guard ends the server when the lifeline closes, which the system does however this program dies. On Linux every
// descendant that loses its parent becomes a child of the guard, so that a daemon of the server ends with it; on other
// systems it ends the process group alone, on Windows the command's process alone.
package launch

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
	"strings"
	"sync"
	"time"

	"benchtop/internal/usage"
)

// Defaults of Options.
const (
	DefaultReady = 300 * time.Second
	DefaultGrace = 10 * time.Second
)

// Options say which server to run.
type Options struct {
	Command []string      // the program and its arguments; no shell reads them
	Env     []string      // KEY=VALUE, added to the environment of this program
	Ready   time.Duration // limit of Server.Ready; DefaultReady if 0
	Grace   time.Duration // between the request to end and the end by force; DefaultGrace if 0
	// takes each line that the server prints, cleaned; called by one goroutine, which must not wait for long
	Log   func(line string)
	Guard []string // the command line that runs Guard
}

// Server is a running server command. Its methods may be called from several goroutines.
type Server struct {
	o        Options
	address  string
	at       string // the address to dial
	began    time.Time
	guard    *exec.Cmd
	lifeline io.Closer
	pid      int
	died     chan struct{} // the command has ended
	over     chan struct{} // so has the guard
	drained  chan struct{} // all that was printed has been read
	printed  io.Closer
	log      log
	stop     func() error

	mu        sync.Mutex // guards those below
	listening time.Duration
	healthy   time.Duration
	ended     string // how the command ended
	left      string // processes that did not end
}

// Start runs a command. It refuses an address at which a server answers already. The caller stops the server.
func Start(ctx context.Context, o Options) (*Server, error) {
	address, err := AddressOf(o.Command)
	if err != nil {
		return nil, err
	}
	o.Ready, o.Grace = cmp.Or(o.Ready, DefaultReady), cmp.Or(o.Grace, DefaultGrace)
	s := &Server{
		o: o, address: address, at: dialed(address), log: newLog(o), died: make(chan struct{}),
		over: make(chan struct{}), drained: make(chan struct{}),
	}
	s.stop = sync.OnceValue(s.end)
	if s.answers(ctx) {
		return nil, fmt.Errorf("another server answers at %s already%s; stop it, or give the server command another "+
			"--port", address, holder(s.at))
	}
	if err := s.run(ctx); err != nil {
		return nil, fmt.Errorf("cannot start the server command %s: %w", usage.Quote(o.Command[0]), err)
	}
	return s, nil
}

// run starts the guard and waits until the command runs.
func (s *Server) run(ctx context.Context) error {
	args := append(append(s.o.Guard[:len(s.o.Guard):len(s.o.Guard)], s.o.Grace.String()), s.o.Command...)
	s.guard = exec.Command(args[0], args[1:]...)
	s.guard.Env = append(os.Environ(), s.o.Env...)
	apart(s.guard)
	printed, prints, err := os.Pipe()
	if err != nil {
		return err
	}
	s.guard.Stderr, s.printed = prints, printed
	var status io.ReadCloser
	lifeline, err1 := s.guard.StdinPipe()
	status, err2 := s.guard.StdoutPipe()
	err = cmp.Or(err1, err2)
	if err == nil {
		err = s.guard.Start()
	}
	_ = prints.Close()
	if err != nil {
		_ = printed.Close()
		return err
	}
	s.lifeline = lifeline
	go s.read(printed)
	said := bufio.NewReader(status)
	first := make(chan error, 1)
	go s.watch(said, first)
	select {
	case err = <-first:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		return errors.Join(err, s.stop())
	}
	return nil
}

// read takes what the server prints until all its processes have closed it.
func (s *Server) read(printed io.Reader) {
	defer close(s.drained)
	_, _ = io.Copy(&s.log, printed) // its error is that the pipe was closed
	s.log.finish()
}

// watch follows the words of the guard until it ends. The first word decides whether the command runs.
func (s *Server) watch(said *bufio.Reader, first chan<- error) {
	running := false
	for {
		line, err := said.ReadString('\n')
		word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case err != nil: // the guard has ended
			_ = s.guard.Wait()
			if !running {
				first <- cmp.Or(s.failure(), errors.New("its guard ended at once"))
			} else {
				s.lost()
			}
			close(s.over)
			return
		case word == guardStarted:
			var began int64
			_, _ = fmt.Sscan(rest, &s.pid, &began) // the guard is this program
			s.began = time.Now()
			s.began = s.began.Add(-max(0, s.began.Sub(time.Unix(0, began)))) // by the monotonic clock from here on
			running = true
			first <- nil
		case word == guardFailed || word == guardEnded:
			s.mark(&s.ended, rest)
			if running {
				close(s.died)
			}
		case word == guardLeft:
			s.mark(&s.left, rest)
		}
	}
}

// failure is the reason for which a command never ran.
func (s *Server) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended == "" {
		return nil
	}
	return errors.New(s.ended)
}

// lost ends the command's process group after the end of a guard that did not see the command end.
func (s *Server) lost() {
	select {
	case <-s.died:
	default:
		killGroup(s.pid)
		s.mark(&s.ended, "lost its guard process, and was killed")
		close(s.died)
	}
}

func (s *Server) mark(field *string, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*field = value
}

// Address is the base URL of the server.
func (s *Server) Address() string { return s.address }

// Began is when the command ran.
func (s *Server) Began() time.Time { return s.began }

// Died is closed when the command has ended, asked or not; Err then says how.
func (s *Server) Died() <-chan struct{} { return s.died }

// Err says how the command ended, with the last lines that it printed. It is nil while the command runs.
func (s *Server) Err() error {
	select {
	case <-s.died:
	default:
		return nil
	}
	select {
	case <-s.drained: // its last words
	case <-time.After(time.Second): // a descendant still holds the pipe
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Errorf("the server command %s%s", s.ended, s.log.last())
}

// Stop ends the server: it asks all its processes to end, gives them the grace period, and ends those that remain by
// force. It returns once they are gone and the port is free; an error names what is left. It may be called again.
func (s *Server) Stop() error { return s.stop() }

func (s *Server) end() error {
	const forced = 10 * time.Second // the guard kills within this time, or gives up
	_ = s.lifeline.Close()
	select {
	case <-s.over:
	case <-time.After(s.o.Grace + forced + 5*time.Second):
		_ = s.guard.Process.Kill()
		<-s.over
	}
	select {
	case <-s.drained:
	case <-time.After(time.Second): // a process that no guard could end holds the pipe
	}
	_ = s.printed.Close()
	<-s.drained
	s.mu.Lock()
	left := s.left
	s.mu.Unlock()
	if left != "" {
		return fmt.Errorf("processes %s of the server command did not end, not even by force", left)
	}
	if s.began.IsZero() {
		return nil
	}
	return s.portClosed()
}

// portClosed waits until the port is free. Nothing of the server runs any more, so another process holds one that stays
// in use.
func (s *Server) portClosed() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	for s.answers(ctx) {
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("the server command has ended, but %s still answers%s", s.address, holder(s.at))
		}
	}
	return nil
}

// answers reports whether the address takes a connection.
func (s *Server) answers(ctx context.Context) bool {
	d := net.Dialer{Timeout: time.Second}
	c, err := d.DialContext(ctx, "tcp", s.at)
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}
