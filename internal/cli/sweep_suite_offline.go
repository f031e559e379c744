package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"benchtop/internal/dashboard"
	"benchtop/internal/files"
	"benchtop/internal/launch"
	"benchtop/internal/sweep"
	"benchtop/internal/usage"
)

// offlineSuite runs the tests of latency or throughput. Each is that command of this program in a process of its own, with the variables of the
// test, which are the server's.
type offlineSuite struct {
	*suite
	env *environment
}

// run checks the commands of all tests, then performs them.
func (s *offlineSuite) run(m *sweep.Manifest) int {
	var p usage.Problems
	quiet := &environment{stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard}
	bad := toldOnce(&p)
	for _, c := range s.all {
		words := s.words(c)
		parse := newLatencyOptions().parse
		if words[0] != "latency" {
			parse = newThroughputOptions().parse
		}
		if err := parse(quiet, words[1:]); err != nil {
			bad("--suite, "+c.Place, err)
		}
	}
	if err := errors.Join(p...); err != nil {
		return s.env.fail(exitUsage, usage.Wrap(err))
	}
	s.gpus = gpuNames()
	return s.inLines(s.env, m, sweep.Options{Title: "sweep serve --suite", Pairs: s.all, Runs: 1, Runner: s, ContinueOnError: s.goOn})
}

// words are the command of a test, without the file of its result.
func (s *offlineSuite) words(c sweep.Combination) []string {
	t := s.test(c)
	return slices.Concat([]string{t.Kind}, t.Client.Words(), s.remote)
}

func (s *offlineSuite) line(r sweep.Run) string {
	return "vllm bench " + shellLine(launch.Hide(append(s.words(r.Combination), "--output-json", r.Path)))
}

// Lines are the command of a run.
func (s *offlineSuite) Lines(r sweep.Run) []string {
	return []string{"Test: " + r.Place, "Command: " + s.line(r)}
}

// Run measures, and writes the command down beside the result.
func (s *offlineSuite) Run(ctx context.Context, r sweep.Run) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("the path of this program is not known: %w", err)
	}
	c := exec.CommandContext(ctx, self, append(s.words(r.Combination), "--output-json", r.Path)...)
	c.Env = append(os.Environ(), s.test(r.Combination).Env...)
	c.Cancel, c.WaitDelay = func() error { return c.Process.Signal(os.Interrupt) }, 30*time.Second
	if c.Stderr = s.env.stderr; s.show {
		c.Stdout = s.env.stdout
	}
	if err := c.Run(); err != nil {
		return fmt.Errorf("%s: %w", s.test(r.Combination).Kind, err)
	}
	commands := dashboard.Commands{GPU: s.gpus, Latency: s.line(r)}
	if s.test(r.Combination).Kind != "latency" {
		commands.Latency, commands.Throughput = "", s.line(r)
	}
	return files.Write(strings.TrimSuffix(r.Path, ".json")+dashboard.CommandsSuffix, commands.JSON)
}
