package cli

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"benchtop/internal/argv"
	"benchtop/internal/dashboard"
	"benchtop/internal/files"
	"benchtop/internal/jsonscan"
	"benchtop/internal/launch"
	"benchtop/internal/pyjson"
	"benchtop/internal/secret"
	"benchtop/internal/session"
	"benchtop/internal/sweep"
	"benchtop/internal/usage"
)

// suite runs the tests of a file of vLLM's performance suite: a pair of files for each load, NAME.json and
// NAME.commands, in the experiment's directory.
type suite struct {
	*sweepOptions
	tests  map[string]sweep.Test
	remote []string // address of a server that runs already, as flags of the client
	gpus   string
	all    []sweep.Combination
}

// runSuite performs the suite of --suite. The variables of the suite's script that choose tests, requests and a remote
// server count.
func (o *sweepOptions) runSuite(env *session.Environment) int {
	var p usage.Problems
	for _, f := range []string{"serve-cmd", "bench-cmd", "after-bench-cmd", "serve-params", "bench-params", "link-vars",
		"warmup-num-prompts"} {
		p.BadIf(o.flags.All().Changed(f), "--%s: the file of --suite has the commands and parameters", f)
	}
	if !o.flags.All().Changed("num-runs") {
		o.runs = 1
	}
	p.BadIf(o.runs != 1, "--num-runs %d: a suite measures each load once", o.runs)
	o.experimentOptions.check(&p)
	o.dryRun = o.dryRun || truthy(os.Getenv("DRY_RUN"))
	tests, err := sweep.ReadSuite(o.suite, os.Getenv)
	p.Flag("suite", err)
	if len(p) > 0 {
		return env.Fail(session.ExitUsage, errors.Join(p...))
	}
	if truthy(os.Getenv("ENABLE_ADAPTIVE_CONCURRENCY")) {
		env.Warn([]string{"ENABLE_ADAPTIVE_CONCURRENCY is not followed: 'benchtop sweep serve_sla' searches for the " +
			"highest concurrency"})
	}
	s := &suite{sweepOptions: o, tests: map[string]sweep.Test{}}
	if host := os.Getenv("REMOTE_HOST"); host != "" {
		s.remote = []string{"--host", host}
		if port := os.Getenv("REMOTE_PORT"); port != "" {
			s.remote = append(s.remote, "--port", port)
		}
	}
	for _, t := range tests {
		s.add(t)
	}
	file, err := os.ReadFile(o.suite)
	if err != nil {
		return env.Fail(session.ExitFailed, err)
	}
	m := &sweep.Manifest{Version: session.Version(), Kind: "serve --suite", Settings: []sweep.Setting{
		{Flag: "suite", Value: fmt.Sprintf("sha256 %x", sha256.Sum256(file))},
		{Flag: "remote", Value: strings.Join(s.remote, " ")}}}
	check := s.check
	if o.args = s.client; tests[0].Kind != sweep.Serving {
		check = s.checkOffline
	} else if s.remote == nil {
		o.server = func(it sweep.Item) ([]string, []string) {
			t := s.tests[it.Name()]
			return s.command(t), t.Env
		}
	}
	if err := check(s.all); err != nil {
		return env.Fail(session.ExitUsage, err)
	}
	s.gpus = gpuNames()
	return o.perform(env, m, func(b *session.Runner, lines io.Writer) sweep.Options {
		so := o.options(b, lines, m.ID())
		so.Title, so.Pairs, so.Runner = "sweep serve --suite", s.all, &suiteRunner{s, b}
		return so
	})
}

func truthy(v string) bool { return v != "" && v != "0" }

func (s *suite) add(t sweep.Test) {
	s.tests[t.Name] = t
	server := sweep.Item{}.With("_benchmark_name", string(pyjson.AppendString(nil, t.Name)))
	for _, l := range t.Loads {
		stem := t.Stem(l)
		s.all = append(s.all, sweep.Combination{Server: server, Bench: l.Item(), Place: stem, File: stem + ".json"})
	}
	if stem := sweep.FileName(t.Name); t.Kind != sweep.Serving {
		s.all = append(s.all, sweep.Combination{Server: server, Place: stem, File: stem + ".json"})
	}
}

func (s *suite) test(c sweep.Combination) sweep.Test { return s.tests[c.Server.Name()] }

// command is that of a test's server.
func (s *suite) command(t sweep.Test) []string {
	params := slices.DeleteFunc(slices.Clone(t.Server), func(m jsonscan.Member) bool { return m.Name == "model" })
	return append([]string{"vllm", "serve", t.Model}, params.Words()...)
}

// client are the arguments of serve for a run, in the order of the suite's script.
func (s *suite) client(r sweep.Run) []string {
	t, load := s.test(r.Combination), r.Bench
	params := t.Client
	if n := load.Get(sweep.Prompts); n != nil {
		load, params = load[:len(load)-1], params.With(sweep.Prompts, string(n)) // the last one
	}
	args := append([]string{"--save-result", "--result-dir", filepath.Dir(r.Path), "--result-filename",
		filepath.Base(r.Path)}, load.Words()...)
	var metadata []string
	for _, key := range []string{"tensor_parallel_size", "compilation_config.mode", "optimization_level"} {
		if v := t.Server.Get(key); v != nil {
			metadata = append(metadata, key+"="+pyjson.Str(v))
		}
	}
	if metadata != nil {
		args = append(append(args, "--metadata"), metadata...)
	}
	return slices.Concat(args, params.Words(), s.remote)
}

// suiteRunner performs the runs of a suite. It resets no caches, as the suite's script does not.
type suiteRunner struct {
	*suite
	bench *session.Runner
}

// checkOffline finds what is wrong with the tests of latency or throughput.
func (s *suite) checkOffline(all []sweep.Combination) error {
	var p usage.Problems
	quiet := &session.Environment{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard}
	bad := toldOnce(&p)
	for _, c := range all {
		parse := newLatencyOptions().parse
		if s.test(c).Kind != "latency" {
			parse = newThroughputOptions().parse
		}
		if err := parse(quiet, s.offline(c)); err != nil {
			bad("--suite, "+c.Place, err)
		}
	}
	return errors.Join(p...)
}

// offline are the arguments of latency or throughput for a test, without the file of the result.
func (s *suite) offline(c sweep.Combination) []string {
	return append(s.test(c).Client.Words(), s.remote...)
}

// Lines are the commands of a run.
func (s *suiteRunner) Lines(r sweep.Run) []string {
	return []string{"Test: " + r.Place, "Client command: " + s.clientLine(r)}
}

func (s *suiteRunner) clientLine(r sweep.Run) string {
	kind, words := s.test(r.Combination).Kind, append(s.offline(r.Combination), "--output-json", r.Path)
	if kind == sweep.Serving {
		return "vllm bench serve " + shellLine(secret.HideWords(s.client(r), s.base.Server.Secrets()))
	}
	return "vllm bench " + kind + " " + shellLine(launch.Hide(words))
}

// Run measures, and writes the commands down beside the result.
func (s *suiteRunner) Run(ctx context.Context, r sweep.Run) error {
	t, line := s.test(r.Combination), s.clientLine(r)
	commands := dashboard.Commands{GPU: s.gpus}
	err := error(nil)
	switch t.Kind {
	case sweep.Serving:
		commands.Server, commands.Client = shellLine(launch.Hide(s.command(t))), line
		err = s.bench.Run(ctx, s.client(r))
	case "latency":
		commands.Latency, err = line, s.itself(ctx, r, t)
	default:
		commands.Throughput, err = line, s.itself(ctx, r, t)
	}
	if err != nil {
		return err
	}
	return files.Write(strings.TrimSuffix(r.Path, ".json")+dashboard.CommandsSuffix, commands.JSON)
}

// itself runs latency or throughput in a process of its own, with the variables of the test, which are the server's.
func (s *suiteRunner) itself(ctx context.Context, r sweep.Run, t sweep.Test) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("the path of this program is not known: %w", err)
	}
	c := exec.CommandContext(ctx, self, slices.Concat([]string{t.Kind}, s.offline(r.Combination),
		[]string{"--output-json", r.Path})...)
	c.Env, c.Stderr = append(os.Environ(), t.Env...), s.bench.Lines
	c.Cancel, c.WaitDelay = func() error { return c.Process.Signal(os.Interrupt) }, 30*time.Second
	if err := c.Run(); err != nil {
		return fmt.Errorf("%s: %w", t.Kind, err)
	}
	return nil
}

// shellLine are words quoted for a shell.
func shellLine(words []string) string { return strings.Join(argv.ShellWords(words)[1:], " ") }

// gpuNames are the names of the GPUs, a line each, as the suite has them; CPU without any.
func gpuNames() string {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	names, err := exec.CommandContext(ctx, "nvidia-smi", "--query-gpu=name", "--format=csv,noheader").Output()
	if text := strings.TrimSpace(string(names)); err == nil && text != "" {
		return text
	}
	return "CPU"
}
