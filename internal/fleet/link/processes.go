package link

import (
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"benchtop/internal/text"
)

const (
	// grace is how long a worker has to end after it was asked to.
	grace = 2 * time.Second
	// lastWords is how much of what a process writes to its standard error is kept, in bytes.
	lastWords = 4 << 10
)

// Processes are workers that this process started. Each gets the join string as the first line of its standard input,
// which then stays open: when it ends, the coordinator is gone, and the worker has to end too.
type Processes struct {
	all   []*process
	exits chan Exit
}

// Exit is the end of a worker. Without an error it ended well by itself, or because it was stopped.
type Exit struct {
	Worker int // from 1, in the order in which they were started
	Err    error
}

// process is a worker on this machine, or the ssh to one on another.
type process struct {
	name  string
	cmd   *exec.Cmd
	stdin io.WriteCloser
	words *tail
	end   func() // asks it to end
	kill  func()
	ended chan struct{}
	err   error // how it ended, once it has

	mu       sync.Mutex
	stopping bool
}

// Local starts n workers on this machine: a program with its arguments.
func Local(n int, j Join, program string, args ...string) (*Processes, error) {
	ps := &Processes{exits: make(chan Exit, n)}
	for i := range n {
		p := newProcess(fmt.Sprintf("worker %d", i+1), exec.Command(program, args...))
		err := p.start()
		if err == nil {
			ps.add(p)
			j.Worker = i + 1
			err = p.join(j)
		}
		if err != nil {
			ps.Stop()
			return nil, err
		}
	}
	return ps, nil
}

func newProcess(name string, cmd *exec.Cmd) *process {
	p := &process{name: name, cmd: cmd, words: &tail{}, ended: make(chan struct{})}
	cmd.Stderr = p.words
	cmd.WaitDelay = grace // what it started may hold its standard error open
	inGroup(cmd)
	p.kill = func() { _ = cmd.Process.Kill() } // it has ended already
	p.end = func() {
		if cmd.Process.Signal(syscall.SIGTERM) != nil { // Windows has none
			p.kill()
		}
	}
	return p
}

func (p *process) start() (err error) {
	if p.stdin, err = p.cmd.StdinPipe(); err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	return nil
}

// join writes the join string. It may fail because the process has ended, which then says more.
func (p *process) join(j Join) error {
	if _, err := io.WriteString(p.stdin, j.String()+"\n"); err != nil {
		select {
		case <-p.ended:
			return p.failure()
		case <-time.After(grace):
			return fmt.Errorf("%s: it does not read the join string: %w", p.name, err)
		}
	}
	return nil
}

// failure is how a process ended that was not told to, with its last words.
func (p *process) failure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil || p.stopping {
		return nil
	}
	return fmt.Errorf("%s ended: %w%s", p.name, p.err, p.words.said())
}

func (ps *Processes) add(p *process) {
	ps.all = append(ps.all, p)
	n := len(ps.all)
	go func() {
		<-p.ended
		ps.exits <- Exit{n, p.failure()}
	}()
}

// Exits has the end of each worker once.
func (ps *Processes) Exits() <-chan Exit { return ps.exits }

// Stop ends all workers and waits for them: it asks each, and kills it after two seconds.
func (ps *Processes) Stop() {
	var all sync.WaitGroup
	for _, p := range ps.all {
		all.Go(p.stop)
	}
	all.Wait()
}

func (p *process) stop() {
	p.mu.Lock()
	p.stopping = true
	p.mu.Unlock()
	_ = p.stdin.Close() // closed already
	p.end()
	select {
	case <-p.ended:
	case <-time.After(grace):
		p.kill()
		<-p.ended
	}
}

// tail keeps the last of what is written to it.
type tail struct {
	mu   sync.Mutex
	kept []byte
	more chan struct{} // told of each write, if there is one
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b[max(0, len(b)-lastWords):]...)
	t.kept = append(t.kept[:0], t.kept[max(0, len(t.kept)-lastWords):]...)
	if t.more != nil {
		wake(t.more)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.kept)
}

// said are the last words for an error.
func (t *tail) said() string {
	lines := strings.Split(strings.TrimSpace(t.String()), "\n")
	kept := lines[:0]
	for _, line := range lines {
		if line = text.Clean(strings.TrimSpace(line)); line != "" && !allocated.MatchString(line) {
			kept = append(kept, line)
		}
	}
	if len(kept) == 0 {
		return "; it said nothing"
	}
	return "; its last words:\n  " + strings.Join(kept, "\n  ")
}
