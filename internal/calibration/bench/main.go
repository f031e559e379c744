// Command bench measures benchtop itself: the accuracy of its times and their cost, against a server that does no work
// and compared with a client that does the least possible. It prints tables and writes them into docs/accuracy.md and
// docs/accuracy.json. Run it from the root of the repository, best by make bench.
//
// The server and every measured client have a process and, on Linux, cores of their own.
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"benchtop/metrics"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) > 0 && args[0] == childRole {
		return child(ctx)
	}
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	rounds := f.Int("rounds", 0, "rounds of every table; 0 for the table's own number")
	only := f.String("only", "", "measure one table, or those whose names begin with a word: "+names(tables(false)))
	quick := f.Bool("quick", false, "one short round of smaller loads, for trying: prints, and writes nothing")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 || *rounds < 0 {
		return fmt.Errorf("%s: rounds must not be negative, and there is nothing but flags", strings.Join(args, " "))
	}
	chosen := tables(*quick)
	if *only != "" {
		if chosen = named(chosen, *only); len(chosen) == 0 {
			return fmt.Errorf("unknown table %q; use one of %s", *only, names(tables(false)))
		}
	}
	return bench(ctx, chosen, *rounds, !*quick)
}

// bench measures tables and, if keep is true, saves each as soon as it is complete.
func bench(ctx context.Context, chosen []table, rounds int, keep bool) error {
	if err := inRepository(); err != nil {
		return err
	}
	here := thisMachine(ctx)
	fmt.Printf("%s\n\n", here)
	for _, t := range chosen {
		if _, err := withTable(t.name, ""); keep && err != nil {
			return err
		}
	}
	h, err := newHarness(ctx)
	if err != nil {
		return err
	}
	defer h.close()
	for _, t := range chosen {
		if rounds > 0 {
			t.rounds = rounds
		}
		began := time.Now()
		m, err := t.measure(ctx, h)
		if err != nil {
			return fmt.Errorf("table %s: %w", t.name, err)
		}
		text := t.markdown(m, here)
		fmt.Printf("## %s (%s)\n\n%s\n", t.name, time.Since(began).Round(time.Second), text)
		if keep {
			if err := save(t, m, here, text); err != nil {
				return err
			}
		}
	}
	return nil
}

// named are the tables with a name, or with a name that begins with it as a word.
func named(all []table, name string) []table {
	return slices.DeleteFunc(all, func(t table) bool { return t.name != name && !strings.HasPrefix(t.name, name+"-") })
}

// names are the names of the tables, in a list.
func names(all []table) string {
	return strings.Join(metrics.Each(all, func(t table) string { return t.name }), ", ")
}

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
