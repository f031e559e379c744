package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// lab is where clients are measured: a metronome in a process of its own, on the last core, and clients on the others.
type lab struct {
	pin     string // the path of taskset, "" if there is none
	folder  string // for what is built and for runs
	program string // benchtop, as it is released
	tests   string // the dashboard's tests, built; "" until needed
	server  *exec.Cmd
	hold    io.Closer // the server ends when this is closed
	base    string    // URL of the server
}

// startMost is how long the server may take to say where it listens.
const startMost = 10 * time.Second

func newLab(ctx context.Context) (l *lab, err error) {
	l = &lab{}
	if runtime.GOOS == "linux" {
		l.pin, _ = exec.LookPath("taskset")
	}
	if l.folder, err = os.MkdirTemp("", "bench"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	if l.program, err = l.build(ctx, "benchtop", "build", "-trimpath", "-ldflags", "-s -w", "."); err != nil {
		return nil, err
	}
	server := l.pinned(ctx, lastCore(), l.program, "metronome", "--port", "0", "--exit-with-stdin")
	server.Stderr = os.Stderr
	out, err := server.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if l.hold, err = server.StdinPipe(); err != nil {
		return nil, err
	}
	if err := server.Start(); err != nil {
		return nil, fmt.Errorf("the server's process: %w", err)
	}
	l.server = server
	giveUp := time.AfterFunc(startMost, func() { _ = server.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	giveUp.Stop()
	if err != nil {
		return nil, fmt.Errorf("the server's process did not say where it listens: %w", err)
	}
	l.base = strings.TrimPrefix(strings.TrimSpace(line), "listening on ")
	return l, nil
}

// close ends the server and removes what was built.
func (l *lab) close() {
	if l.server != nil {
		_ = l.hold.Close()
		giveUp := time.AfterFunc(5*time.Second, func() { _ = l.server.Process.Kill() })
		_ = l.server.Wait()
		giveUp.Stop()
	}
	_ = os.RemoveAll(l.folder)
}

// pinned is a program on certain cores and with so many threads for Go code.
func (l *lab) pinned(ctx context.Context, on cores, program string, args ...string) *exec.Cmd {
	args = append([]string{program}, args...)
	if l.pin != "" {
		args = append([]string{l.pin, "-c", on.list}, args...)
	}
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Env = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(on.procs))
	return c
}

// inRepository reports whether the program runs where it can find what it builds and writes.
func inRepository() error {
	b, err := os.ReadFile("go.mod")
	if err != nil || !bytes.HasPrefix(b, []byte("module benchtop\n")) {
		return errors.New("this is not the root of benchtop's repository: change there, or use make bench")
	}
	return nil
}

// build puts what the go command makes into the lab's folder and returns its path.
func (l *lab) build(ctx context.Context, name, command string, args ...string) (string, error) {
	program := filepath.Join(l.folder, name)
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	build := exec.CommandContext(ctx, "go", append([]string{command, "-o", program}, args...)...)
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return "", fmt.Errorf("building %s: %w", name, err)
	}
	return program, nil
}

// cores are those on which a process may run, as taskset wants them, and the number of threads for Go code that go with them.
type cores struct {
	list  string
	procs int
}

func firstCore() cores { return cores{"0", 1} }

// lastCore is the server's.
func lastCore() cores { return cores{strconv.Itoa(runtime.NumCPU() - 1), 2} }

// allButLast are those the server does not have; the only one where there is one.
func allButLast() cores { return firstCores(max(1, runtime.NumCPU()-1)) }

func allCores() cores { return firstCores(runtime.NumCPU()) }

func firstCores(n int) cores {
	if n == 1 {
		return firstCore()
	}
	return cores{"0-" + strconv.Itoa(n-1), n}
}
