package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
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
	self   string // this program
	pin    string // the path of taskset, "" if there is none
	server *exec.Cmd
	hold   io.Closer // the server ends when this is closed
	base   string    // URL of the server
	binary string    // benchtop, built; "" until needed
	tests  string    // the dashboard's tests, built; "" until needed
	folder string    // for both; "" until needed
}

// startMost is how long the server may take to say where it listens.
const startMost = 10 * time.Second

func newLab(ctx context.Context) (*lab, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	l := &lab{self: self}
	if runtime.GOOS == "linux" {
		l.pin, _ = exec.LookPath("taskset")
	}
	l.server = l.child(ctx, lastCore(), roleServer)
	in, err := l.server.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := l.server.StdoutPipe()
	if err != nil {
		return nil, err
	}
	l.hold = in
	if err := l.server.Start(); err != nil {
		return nil, fmt.Errorf("the server's process: %w", err)
	}
	giveUp := time.AfterFunc(startMost, func() { _ = l.server.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	giveUp.Stop()
	if err != nil {
		l.close()
		return nil, fmt.Errorf("the server's process did not say where it listens: %w", err)
	}
	l.base = "http://" + strings.TrimSpace(line)
	return l, nil
}

// close ends the server and removes what was built.
func (l *lab) close() {
	_ = l.hold.Close()
	giveUp := time.AfterFunc(5*time.Second, func() { _ = l.server.Process.Kill() })
	_ = l.server.Wait()
	giveUp.Stop()
	if l.folder != "" {
		_ = os.RemoveAll(l.folder)
	}
}

// child is this program in a role, on certain cores and with so many threads for Go code.
func (l *lab) child(ctx context.Context, on cores, role string) *exec.Cmd {
	c := l.pinned(ctx, on, l.self, role)
	c.Stderr = os.Stderr
	return c
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

// ask runs a child that takes a question and gives an answer, both as JSON.
func (l *lab) ask(ctx context.Context, on cores, role string, question, answer any) error {
	asked, err := json.Marshal(question)
	if err != nil {
		return err
	}
	c := l.child(ctx, on, role)
	c.Stdin = bytes.NewReader(asked)
	out, err := c.Output()
	if err != nil {
		return fmt.Errorf("the process that was to measure: %w", err)
	}
	return json.Unmarshal(out, answer)
}

// question reads what a child was asked, answer says what it found.
func question(q any) error { return json.NewDecoder(os.Stdin).Decode(q) }

func answer(a any) error { return json.NewEncoder(os.Stdout).Encode(a) }

// listen is where the server's child waits for clients.
func listen() (net.Listener, error) { return net.Listen("tcp", "127.0.0.1:0") }

// inRepository reports whether the program runs where it can find what it builds and writes.
func inRepository() error {
	b, err := os.ReadFile("go.mod")
	if err != nil || !bytes.HasPrefix(b, []byte("module benchtop\n")) {
		return errors.New("this is not the root of benchtop's repository: change there, or use make bench")
	}
	return nil
}

// benchtop builds the program as it is released, once.
func (l *lab) benchtop(ctx context.Context) (string, error) {
	if l.binary != "" {
		return l.binary, nil
	}
	program, err := l.build(ctx, "benchtop", "build", "-trimpath", "-ldflags", "-s -w", ".")
	l.binary = program
	return program, err
}

// build puts what the go command makes into the lab's folder and returns its path.
func (l *lab) build(ctx context.Context, name, command string, args ...string) (string, error) {
	if l.folder == "" {
		folder, err := os.MkdirTemp("", "bench")
		if err != nil {
			return "", err
		}
		l.folder = folder
	}
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

// dashboardTests builds the dashboard's tests, once: its benchmarks know how to draw from nothing.
func (l *lab) dashboardTests(ctx context.Context) (string, error) {
	if l.tests != "" {
		return l.tests, nil
	}
	program, err := l.build(ctx, "tui.test", "test", "-c", "./tui")
	l.tests = program
	return program, err
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
