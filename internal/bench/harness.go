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

// harness measures clients, in processes on other cores, against a metronome in a process on the last core.
type harness struct {
	pin     string // the path of taskset, "" if there is none
	folder  string // for built programs and for runs
	program string // benchtop, built as for a release
	tests   string // the dashboard's tests, built; "" until needed
	server  *exec.Cmd
	hold    io.Closer // the server ends when this is closed
	base    string    // URL of the server
}

// startMost is the longest time until the server prints its address.
const startMost = 10 * time.Second

func newHarness(ctx context.Context) (*harness, error) {
	h := &harness{}
	if runtime.GOOS == "linux" {
		h.pin, _ = exec.LookPath("taskset")
	}
	if err := h.start(ctx); err != nil {
		h.close()
		return nil, err
	}
	return h, nil
}

// start builds benchtop and starts the server.
func (h *harness) start(ctx context.Context) (err error) {
	if h.folder, err = os.MkdirTemp("", "bench"); err != nil {
		return err
	}
	if h.program, err = h.build(ctx, "benchtop", "build", "-trimpath", "-ldflags", "-s -w", "."); err != nil {
		return err
	}
	server := h.pinned(ctx, lastCore(), h.program, "metronome", "--port", "0", "--exit-with-stdin")
	server.Stderr = os.Stderr
	out, err := server.StdoutPipe()
	if err != nil {
		return err
	}
	if h.hold, err = server.StdinPipe(); err != nil {
		return err
	}
	if err := server.Start(); err != nil {
		return fmt.Errorf("the server's process: %w", err)
	}
	h.server = server
	giveUp := time.AfterFunc(startMost, func() { _ = server.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	giveUp.Stop()
	if err != nil {
		return fmt.Errorf("the server's process did not say where it listens: %w", err)
	}
	h.base = strings.TrimPrefix(strings.TrimSpace(line), "listening on ")
	return nil
}

// close ends the server and removes the folder.
func (h *harness) close() {
	if h.server != nil {
		_ = h.hold.Close()
		giveUp := time.AfterFunc(5*time.Second, func() { _ = h.server.Process.Kill() })
		_ = h.server.Wait()
		giveUp.Stop()
	}
	_ = os.RemoveAll(h.folder)
}

// pinned is a command on certain cores with their GOMAXPROCS.
func (h *harness) pinned(ctx context.Context, on cores, program string, args ...string) *exec.Cmd {
	args = append([]string{program}, args...)
	if h.pin != "" {
		args = append([]string{h.pin, "-c", on.list}, args...)
	}
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Env = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(on.procs))
	return c
}

// inRepository reports whether the working directory is the root of the repository.
func inRepository() error {
	b, err := os.ReadFile("go.mod")
	if err != nil || !bytes.HasPrefix(b, []byte("module benchtop\n")) {
		return errors.New("this is not the root of benchtop's repository: change there, or use make bench")
	}
	return nil
}

// build runs the go command to build a program in the harness' folder, and returns its path.
func (h *harness) build(ctx context.Context, name, command string, args ...string) (string, error) {
	program := filepath.Join(h.folder, name)
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

// cores are the cores of a process, in the form of taskset, and their GOMAXPROCS.
type cores struct {
	list  string
	procs int
}

func firstCore() cores { return cores{"0", 1} }

// lastCore is the core of the server.
func lastCore() cores { return cores{strconv.Itoa(runtime.NumCPU() - 1), 2} }

// allButLast are the cores without the server, or the only core.
func allButLast() cores { return firstCores(max(1, runtime.NumCPU()-1)) }

func allCores() cores { return firstCores(runtime.NumCPU()) }

func firstCores(n int) cores {
	if n == 1 {
		return firstCore()
	}
	return cores{"0-" + strconv.Itoa(n-1), n}
}
