package link

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"time"
)

// SSH says how workers are started on other machines, by the ssh of this one. It never asks for a password: keys and
// known hosts are those of the user's own configuration.
type SSH struct {
	Args []string // of ssh, before those of ours, such as -F FILE
	// Version is that of this program. A benchtop in the PATH of a host is used if its --version prints the same; if it
	// is empty none is, because one version does not mean one program.
	Version string
	// Program is the file of this program, which a host of the same platform gets a copy of where it has none. Worker
	// are its arguments.
	Program string
	Worker  []string
	// Tunnel lets a worker reach the server through ssh, at a port of its own loopback, so that nothing is open to the
	// network. Else it needs a way to the addresses of the join.
	Tunnel bool
}

const (
	// aliveFor bounds what ssh does before the worker runs, without the copy of the program.
	aliveFor = 30 * time.Second
	copyFor  = 10 * time.Minute
)

// allocated is how ssh tells the port that a reverse tunnel got.
var allocated = regexp.MustCompile(`Allocated port (\d+) for remote forward`)

// plain is a word that no shell reads otherwise.
var plain = regexp.MustCompile(`^[A-Za-z0-9_./=:@%+,-]+$`)

// Start starts a worker on each host, HOST, USER@HOST or ssh://USER@HOST:PORT, all at once. If one fails, the others
// are stopped. The join's first address is where a tunnel ends.
func (s SSH) Start(ctx context.Context, hosts []string, j Join) (*Processes, error) {
	program, err := os.ReadFile(s.Program)
	if err != nil {
		return nil, fmt.Errorf("the program that hosts get a copy of: %w", err)
	}
	for _, word := range append(s.Worker, hosts...) {
		if !plain.MatchString(word) {
			return nil, fmt.Errorf("%q is no host or argument for a remote shell: want letters, digits and _./=:@%%+,-",
				word)
		}
	}
	ps := &Processes{exits: make(chan Exit, len(hosts))}
	started, failed := make([]*process, len(hosts)), make([]error, len(hosts))
	var all sync.WaitGroup
	for i, host := range hosts {
		j := j
		j.Worker = i + 1
		all.Go(func() { started[i], failed[i] = s.one(ctx, host, program, j) })
	}
	all.Wait()
	for _, p := range started {
		if p != nil {
			ps.add(p)
		}
	}
	if err := errors.Join(failed...); err != nil {
		ps.Stop()
		return nil, err
	}
	return ps, nil
}

// command is ssh with a script for the remote shell, whichever it is: no single quote, one line.
func (s SSH) command(ctx context.Context, host, script string, more ...string) *exec.Cmd {
	args := append(append([]string{}, s.Args...), "-T", "-o", "BatchMode=yes", "-o", "ExitOnForwardFailure=yes",
		"-o", "ServerAliveInterval=5", "-o", "ConnectTimeout=10", "-o", "LogLevel=INFO")
	args = append(append(args, more...), "--", host, "exec sh -c '"+script+"'")
	cmd := exec.CommandContext(ctx, "ssh", args...)
	cmd.WaitDelay = grace
	inGroup(cmd)
	return cmd
}

// say runs a script and returns what it printed.
func (s SSH) say(ctx context.Context, host, script string, stdin []byte) (string, error) {
	cmd, words := s.command(ctx, host, script), &tail{}
	cmd.Stdin, cmd.Stderr = bytes.NewReader(stdin), words
	out, err := cmd.Output()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return "", fmt.Errorf("host %s: ssh: %w%s%s", host, err, words.said(), hint(words.String()))
	}
	return string(out), nil
}

// hint is what to try about what ssh says.
func hint(words string) string {
	switch {
	case strings.Contains(words, "Host key verification failed"):
		return "\n  connect once by hand with ssh, to check and accept the key of the host"
	case strings.Contains(words, "Permission denied"):
		return "\n  set up a key for it (ssh-copy-id, ssh-agent): benchtop does not ask for passwords"
	case strings.Contains(words, "remote port forwarding failed"), strings.Contains(words, "forwarding request failed"):
		return "\n  its sshd allows no tunnel (AllowTcpForwarding): let workers reach this machine without one"
	}
	return ""
}

// one starts a worker on a host.
func (s SSH) one(ctx context.Context, host string, program []byte, j Join) (*process, error) {
	path, err := s.program(ctx, host, program)
	if err != nil {
		return nil, err
	}
	var more []string
	if s.Tunnel {
		more = []string{"-R", "127.0.0.1:0:" + j.Addresses[0]}
	}
	// The ssh outlives the context, which is that of the start.
	p := newProcess("worker on "+host, s.command(context.WithoutCancel(ctx), host,
		`echo pid $$; exec "`+path+`" `+strings.Join(s.Worker, " "), more...))
	said := &tail{more: make(chan struct{}, 1)}
	p.words.more, p.cmd.Stdout = said.more, said
	if err := p.start(); err != nil {
		return nil, err
	}
	pid, port, err := p.ready(ctx, said, s.Tunnel)
	p.end = func() {} // its standard input has ended
	p.kill = func() {
		s.kill(host, pid)
		_ = p.cmd.Process.Kill() // it has ended already
	}
	if err == nil && s.Tunnel {
		j.Addresses = []string{net.JoinHostPort("127.0.0.1", port)}
	}
	if err == nil {
		err = p.join(j)
	}
	if err != nil {
		p.stop()
		return nil, fmt.Errorf("%w%s", err, hint(p.words.String()))
	}
	return p, nil
}

var processID = regexp.MustCompile(`(?m)^pid (\d+)$`)

// ready waits until the remote shell and the tunnel are there: the process ID of the one and the port of the other.
func (p *process) ready(ctx context.Context, said *tail, tunnel bool) (pid, port string, err error) {
	late := time.NewTimer(aliveFor)
	defer late.Stop()
	for {
		if m := processID.FindStringSubmatch(said.String()); m != nil {
			pid = m[1]
		}
		if m := allocated.FindStringSubmatch(p.words.String()); m != nil {
			port = m[1]
		}
		if pid != "" && (port != "" || !tunnel) {
			return pid, port, nil
		}
		select {
		case <-said.more:
		case <-p.ended:
			if err := p.failure(); err != nil {
				return pid, port, err
			}
			return pid, port, fmt.Errorf("%s ended at once%s", p.name, p.words.said())
		case <-ctx.Done():
			return pid, port, fmt.Errorf("%s: %w", p.name, context.Cause(ctx))
		case <-late.C:
			return pid, port, fmt.Errorf("%s: ssh is not ready after %v%s", p.name, aliveFor, p.words.said())
		}
	}
}

// kill ends a worker that did not end by itself, over a connection of its own.
func (s SSH) kill(host, pid string) {
	if pid == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), aliveFor/2)
	defer cancel()
	// An error means that it has ended by now, or is out of reach.
	_, _ = s.say(ctx, host, "kill -TERM "+pid+" && sleep 1 && kill -KILL "+pid, nil)
}

// program is the path of this program on a host, where it is copied to if it is not there.
func (s SSH) program(ctx context.Context, host string, program []byte) (string, error) {
	if !plain.MatchString(s.Version) && s.Version != "" {
		return "", fmt.Errorf("version %q cannot be compared with that of a host", s.Version)
	}
	cache := fmt.Sprintf("$HOME/.cache/benchtop/%s-%.6x", cmp.Or(s.Version, "unversioned"), sha256.Sum256(program))
	find := `b="` + cache + `/benchtop"; if [ -x "$b" ]; then echo found "$b"; else echo lacks $(uname -sm); fi`
	if s.Version != "" {
		find = `b=$(command -v benchtop) && [ "$("$b" --version 2>&1 </dev/null)" = "benchtop ` + s.Version +
			`" ] && echo found "$b" && exit; ` + find
	}
	short, cancel := context.WithTimeout(ctx, aliveFor)
	defer cancel()
	out, err := s.say(short, host, find, nil)
	if err != nil {
		return "", err
	}
	lines := strings.Split(strings.TrimSpace(out), "\n") // what a shell prints at its start is before
	what, value, _ := strings.Cut(lines[len(lines)-1], " ")
	switch what {
	case "found":
		return value, nil
	case "lacks":
	default:
		return "", fmt.Errorf("host %s: it says neither where benchtop is nor its platform, but %q", host, out)
	}
	here, err := exec.CommandContext(short, "uname", "-sm").Output()
	if own := strings.TrimSpace(string(here)); err != nil || own != value {
		return "", fmt.Errorf("host %s: it is %s and this machine %s, so the program here does not run there;"+
			" install benchtop %s in its PATH", host, value, own, s.Version)
	}
	long, cancelLong := context.WithTimeout(ctx, copyFor)
	defer cancelLong()
	// A connection that breaks ends the input early, as the end of the program would: its size tells.
	out, err = s.say(long, host, fmt.Sprintf(`umask 077; d="%s"; mkdir -p "$d" && t="$d/$$" && cat >"$t" && `+
		`[ $(wc -c <"$t") -eq %d ] && chmod 700 "$t" && mv "$t" "$d/benchtop" && echo found "$d/benchtop"`,
		cache, len(program)), program)
	if _, path, ok := strings.Cut(strings.TrimSpace(out), "found "); ok && err == nil {
		return path, nil
	}
	return "", errors.Join(fmt.Errorf("host %s: benchtop was not copied to %s; is there space?", host, cache), err)
}
