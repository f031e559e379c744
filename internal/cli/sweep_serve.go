package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"benchtop/export/page"
	"benchtop/internal/argv"
	"benchtop/internal/files"
	"benchtop/internal/launch"
	"benchtop/internal/pyjson"
	"benchtop/internal/secret"
	"benchtop/internal/session"
	"benchtop/internal/spec"
	"benchtop/internal/sweep"
	"benchtop/internal/sweep/plot"
	"benchtop/internal/telemetry"
	"benchtop/internal/usage"
	"benchtop/loadgen/target"
)

const sweepServeText = `
Benchmarks each combination of server and benchmark parameters, --num-runs times, and writes the directories
of 'vllm bench sweep serve': SERVE--NAME-BENCH--NAME/run=0.json, summary.json, summary.csv. The server command
is started for each entry of --serve-params and stopped, with all its processes, also if this program is
killed. Without --serve-cmd a server that runs already is loaded. The benchmark is this program's own.

  benchtop sweep serve --serve-cmd 'vllm serve M' --serve-params serve.json \
    --bench-cmd 'vllm bench serve --model M --dataset-name random' --bench-params bench.json

With --suite the commands come from a file of vLLM's performance suite, and NAME.json and NAME.commands are
written for each rate and concurrency, or for each test of latency or throughput. The variables REMOTE_HOST,
REMOTE_PORT, TEST_SELECTOR, MODEL_FILTER, DTYPE_FILTER, PROMPTS_PER_CONCURRENCY, MIN_NUM_PROMPTS,
MAX_NUM_PROMPTS and DRY_RUN count as in its script.

A parameter file is a list of objects, [{"max_num_seqs": 32}, …], or an object of named ones,
{"small": {"max_num_seqs": 32}, …}. A key _benchmark_name names an entry of a list.

Ctrl-C stops the server and keeps what was measured; --resume continues. The exit code is 1 if anything failed,
also with --continue-on-error.`

// sweepOptions are the flags that all sweeps of a server have in common, and the commands and parameters that they
// name.
type sweepOptions struct {
	experimentOptions
	kind                     string
	serveCmd, benchCmd       string
	afterCmd                 string
	serveParams, benchParams string
	linkVars, suite          string
	ready, warmup            int
	show, goOn               bool
	html                     string
	screen                   spec.Screen
	flags                    argv.Flags

	// args are the arguments of the client for a run; server is the command of an item's server with variables of its
	// own, nil for a server that runs already.
	args   func(sweep.Run) []string
	server func(sweep.Item) (command, variables []string)

	serve, client, after []string // the words of the commands
	servers, benches     []sweep.Item
	links                []sweep.Link
	base                 *spec.Spec // of the benchmark command of the first combination
}

func newSweepOptions(kind, text string) *sweepOptions {
	o := &sweepOptions{kind: kind,
		flags: argv.Flags{Synopsis: "sweep " + kind + " --bench-cmd COMMAND [flags]", Text: text}}
	f := o.flags.Group("Commands")
	f.StringVar(&o.serveCmd, "serve-cmd", "",
		"command of the server, as one word in quotes (default: a server that runs already)")
	f.StringVar(&o.benchCmd, "bench-cmd", "",
		"command of the benchmark, as one word in quotes, such as 'vllm bench serve --model M'")
	f.StringVar(&o.afterCmd, "after-bench-cmd", "",
		"command to run after each benchmark, instead of resetting the server's caches")
	f.BoolVar(&o.show, "show-stdout", false, "print what the server and the command after a benchmark print")
	f.IntVar(&o.ready, "server-ready-timeout", int(launch.DefaultReady/time.Second),
		"most seconds from a server's start until it is healthy")
	f = o.flags.Group("Parameters")
	f.StringVar(&o.serveParams, "serve-params", "", "JSON file with parameters of the server")
	f.StringVar(&o.benchParams, "bench-params", "", "JSON file with parameters of the benchmark")
	f.StringVar(&o.linkVars, "link-vars", "", "leave out combinations in which these differ: SERVE_KEY=BENCH_KEY,…")
	f.IntVar(&o.warmup, "warmup-num-prompts", 0,
		"requests of a run before those of each combination that is not counted")
	o.experimentOptions.define(&o.flags, 3)
	f = o.flags.Group("Results")
	f.BoolVar(&o.goOn, "continue-on-error", false, "write a failure down and go on with the next run")
	f.StringVar(&o.html, "html", "",
		"at the end, write the combinations and their Pareto front as an HTML page to this file")
	f = o.flags.Group("Screen")
	f.BoolVar(&o.screen.Plain, "no-tui", false, "no screen: lines on standard output")
	o.screen.DefineLooks(f)
	f.DurationVar(&o.screen.Progress, "progress", 5*time.Second, "time between progress lines")
	o.screen.OnHangup = spec.HangupSave
	return o
}

// parse reads the command line and all that it names. The error has every problem.
func (o *sweepOptions) parse(env *session.Environment, args []string) error {
	rest, err := env.Parse(&o.flags, args)
	p := usage.Problems{err, noArguments("sweep "+o.kind, o.arguments(rest)), o.screen.Check()}
	p.BadIf(o.html != "" && !isPage(o.html), "--html %s: name a file that ends in .html", usage.Quote(o.html))
	if o.suite != "" {
		p.BadIf(o.html != "", "--html with --suite: its tests are no grid; write a page of its folder with "+
			"'benchtop compare --output PAGE.html FOLDER'")
		return errors.Join(p...)
	}
	split := func(flag, line string) []string {
		words, err := argv.Split(line)
		p.Flag(flag, err)
		p.BadIf(err == nil && line != "" && len(words) == 0, "--%s %s: no command in it", flag, usage.Quote(line))
		return words
	}
	o.serve, o.after = split("serve-cmd", o.serveCmd), split("after-bench-cmd", o.afterCmd)
	o.client, err = commandWords(split("bench-cmd", o.benchCmd), "serve",
		"write 'vllm bench serve --model M …', or 'benchtop serve …'; the benchmark is this program's own")
	p.Flag("bench-cmd", err)
	o.servers, err = sweep.ReadItems(o.serveParams)
	p.Flag("serve-params", err)
	o.benches, err = sweep.ReadItems(o.benchParams)
	p.Flag("bench-params", err)
	o.links, err = sweep.ParseLinks(o.linkVars)
	p.Flag("link-vars", err)
	o.experimentOptions.check(&p)
	p.BadIf(o.warmup < 0, "--warmup-num-prompts %d: must not be negative", o.warmup)
	p.BadIf(o.ready < 1, "--server-ready-timeout %d: must be at least 1", o.ready)
	p.BadIf(o.serveCmd == "" && o.serveParams != "",
		"--serve-params: parameters of a server need a --serve-cmd, since a server that runs already keeps its own")
	if err := errors.Join(p...); err != nil {
		return usage.Wrap(err)
	}
	if err := sweep.CheckLinks(o.links, o.servers, o.benches); err != nil {
		return usage.Wrap(err)
	}
	o.args = o.benchArgs
	if len(o.serve) > 0 {
		o.server = func(it sweep.Item) ([]string, []string) { return it.Apply(o.serve), nil }
	}
	return nil
}

// pairs are the combinations of server and benchmark parameters.
func (o *sweepOptions) pairs() (all []sweep.Combination) {
	for _, server := range o.servers {
		for _, bench := range o.benches {
			all = append(all, sweep.Combination{Server: server, Bench: bench})
		}
	}
	return all
}

// check finds what is wrong with the commands of all combinations, without starting a server.
func (o *sweepOptions) check(all []sweep.Combination) error {
	var b session.Runner
	var p usage.Problems
	var dirs []string
	bad := toldOnce(&p)
	where := func(flag string, c, given sweep.Combination) string {
		if o.suite != "" {
			return "--suite, " + c.Place
		}
		return flag + with(given)
	}
	for _, c := range all {
		dirs = append(dirs, cmp.Or(c.File, c.Dir()))
		if base, err := b.Parse(o.args(sweep.Run{Combination: c,
			Path: filepath.Join(o.dir(), cmp.Or(c.File, filepath.Join(c.Dir(), "run=0.json")))})); err != nil {
			bad(where("--bench-cmd", c, sweep.Combination{Bench: c.Bench}), err)
		} else if o.base == nil {
			o.base = base
		}
		if o.server == nil {
			continue
		}
		command, _ := o.server(c.Server)
		if _, err := launch.AddressOf(command); err != nil {
			bad(where("--serve-cmd", c, sweep.Combination{Server: c.Server}), err)
		}
		if _, err := exec.LookPath(command[0]); err != nil {
			bad(where("--serve-cmd", c, sweep.Combination{}),
				fmt.Errorf("%w; install it, or load a server that runs already", err))
		}
	}
	p.BadIf(o.infinity() && slices.Contains(o.serve, "--vector-disk-cache"),
		"--serve-cmd: --vector-disk-cache keeps answers between runs, and nothing resets it")
	if err := errors.Join(append(p, sweep.CheckNames(dirs))...); err != nil {
		return usage.Wrap(err)
	}
	return nil
}

func (o *sweepOptions) infinity() bool {
	return len(o.serve) > 0 && len(o.after) == 0 && strings.HasSuffix(o.serve[0], "infinity_emb")
}

// benchArgs are the arguments of serve for a run.
func (o *sweepOptions) benchArgs(r sweep.Run) []string {
	args := r.Bench.Apply(o.client)
	// with the same prompts and arrivals a repeated run would be no evidence of its own
	if o.kind == slaKind && r.Number > 0 {
		seed, _ := strconv.Atoi(flagValue(args, "--seed")) // checked with the others
		args = sweep.Item{}.With("seed", strconv.Itoa(seed+r.Number)).Apply(args)
	}
	return append(args, "--percentile-metrics", "ttft,tpot,itl,e2el", "--save-result",
		"--result-dir", filepath.Dir(r.Path), "--result-filename", filepath.Base(r.Path))
}

// manifest says how the experiment is made.
func (o *sweepOptions) manifest(more ...sweep.Setting) *sweep.Manifest {
	var secrets []string
	if o.base != nil {
		secrets = o.base.Server.Secrets()
	}
	return &sweep.Manifest{
		Version: session.Version(), Kind: o.kind, Server: sweep.Params(o.servers), Bench: sweep.Params(o.benches),
		Settings: append([]sweep.Setting{
			{Flag: "serve-cmd", Value: shellLine(launch.Hide(o.serve))},
			{Flag: "bench-cmd", Value: shellLine(secret.HideWords(o.client, secrets))},
			{Flag: "after-bench-cmd", Value: shellLine(secret.HideWords(o.after, nil))},
			{Flag: "warmup-num-prompts", Value: strconv.Itoa(o.warmup)},
		}, more...),
	}
}

// options are those of the sweep, for a driver to be added; its lines go to lines.
func (o *sweepOptions) options(b *session.Runner, lines io.Writer, id string) sweep.Options {
	out := sweep.Options{
		Title: "sweep " + o.kind, Dir: o.dir(), ID: id, Pairs: o.pairs(), Links: o.links, Runs: o.runs,
		Warmup: o.warmup,
		Runner: &sweepRunner{o: o, bench: b, lines: lines}, ContinueOnError: o.goOn, DryRun: o.dryRun, Out: lines,
	}
	if o.server != nil {
		out.Servers = &sweep.Servers{
			Command: func(it sweep.Item) []string {
				command, _ := o.server(it)
				return launch.Hide(command)
			},
			Start: func(ctx context.Context, it sweep.Item, log func(string)) (sweep.Server, error) {
				command, variables := o.server(it)
				return o.start(ctx, b, lines, command, variables, log)
			},
		}
	}
	return out
}

// start starts a server command with variables of its own.
func (o *sweepOptions) start(ctx context.Context, b *session.Runner, lines io.Writer, command, variables []string,
	log func(string)) (sweep.Server, error) {
	guard, err := guardCommand()
	if err != nil {
		return nil, err
	}
	if at, err := launch.AddressOf(command); err == nil && o.base.Server.Target != nil &&
		portOf(at) != portOf(o.base.Server.Target.URL("")) {
		b.Warn("the server command listens at %s, but --bench-cmd loads %s; give one of them another --port", at,
			o.base.Server.Target)
	}
	both := log
	if o.show {
		both = func(line string) { log(line); fmt.Fprintln(lines, line) }
	}
	s, err := launch.Start(ctx, launch.Options{
		Command: command, Env: append([]string{"VLLM_SERVER_DEV_MODE=1"}, variables...),
		Ready: time.Duration(o.ready) * time.Second, Log: both, Guard: guard,
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// portOf is the port of a base URL.
func portOf(base string) string { return base[strings.LastIndexByte(base, ':')+1:] }

func runSweepServe(env *session.Environment, args []string) int {
	o := newSweepOptions("serve", sweepServeText)
	o.flags.Group("Commands").StringVar(&o.suite, "suite", "",
		"run the tests of this file of vLLM's performance suite, such as serving-tests.json")
	if err := o.parse(env, args); err != nil {
		return env.Fail(session.ExitUsage, err)
	}
	if o.suite != "" {
		return o.runSuite(env)
	}
	if err := o.check(o.pairs()); err != nil {
		return env.Fail(session.ExitUsage, err)
	}
	m := o.manifest()
	return o.perform(env, m,
		func(b *session.Runner, lines io.Writer) sweep.Options { return o.options(b, lines, m.ID()) })
}

// perform runs the sweep of the options that build makes, and returns the exit code.
func (o *sweepOptions) perform(env *session.Environment, m *sweep.Manifest,
	build func(b *session.Runner, lines io.Writer) sweep.Options) int {
	o.screen.Plain = o.screen.Plain || o.dryRun
	code := o.experimentOptions.perform(env, m, func() (sweep.Outcome, error) {
		return env.Series(&o.screen, false,
			func(b *session.Runner, lines io.Writer) *sweep.Sweep { return sweep.New(build(b, lines)) })
	})
	if o.html == "" || o.dryRun || code == session.ExitUsage {
		return code
	}
	if err := o.page(code == session.ExitFine); err != nil {
		return env.Fail(max(code, session.ExitFailed), err)
	}
	fmt.Fprintf(env.Stdout, "page written to %s\n", session.Harmless(o.html))
	return code
}

// page writes the page of what was measured so far, of a sweep that is whole or not.
func (o *sweepOptions) page(whole bool) error {
	records, err := plot.Read(o.dir(), hideField)
	if err != nil {
		return fmt.Errorf("--html: %w", err)
	}
	note, parts := "", []page.Part{{Table: plot.Grid(records)}}
	switch p, err := plot.NewPareto(records, plot.ParetoOptions{LabelBy: []string{"max_concurrency", "gpu_count"}}); {
	case err != nil:
		note = "No Pareto front: " + err.Error()
	case len(p.Chart.Panels) > 0:
		parts[0].Picture = &p.Chart
	}
	if !whole {
		note = strings.TrimSpace("Runs failed or are missing; the files *.failure.json of the experiment say why. " +
			note)
	}
	return files.Write(o.html, func(w io.Writer) error { return page.Tables(w, "Sweep "+o.name, note, parts) })
}

// sweepRunner performs the runs of a sweep of a server.
type sweepRunner struct {
	o     *sweepOptions
	bench *session.Runner
	lines io.Writer
	told  bool // that caches stay
}

// Lines are those of vLLM.
func (s *sweepRunner) Lines(r sweep.Run) []string {
	words, _ := argv.Split(s.o.benchCmd) // it was read before
	command := append(words[:len(words)-len(s.o.client):len(words)-len(s.o.client)], s.o.benchArgs(r)...)
	return []string{
		"Benchmark overrides: " + r.Bench.Repr(), fmt.Sprintf("Run Number: %d", r.Number),
		"Benchmark command: " + pyjson.ReprWords(secret.HideWords(command, s.o.base.Server.Secrets())),
	}
}

// Run measures, and then runs the command that the user wants, or resets the server's caches, also after a run that
// failed.
func (s *sweepRunner) Run(ctx context.Context, r sweep.Run) error {
	one, err := s.bench.Parse(s.o.benchArgs(r))
	if err != nil {
		return err
	}
	_, err = s.bench.Perform(ctx, one)
	if ctx.Err() != nil {
		return err
	}
	return cmp.Or(err, s.afterBench(ctx, one.Server.Target))
}

func (s *sweepRunner) afterBench(ctx context.Context, at *target.Target) error {
	switch {
	case len(s.o.after) > 0:
		return s.afterCommand(ctx)
	case s.o.infinity():
		return nil
	}
	client := at.Client()
	defer client.CloseIdleConnections()
	err := launch.ResetCaches(ctx, client, at.URL(""))
	if err == nil || !errors.As(err, new(telemetry.NoReset)) ||
		len(s.o.serve) > 0 && strings.HasSuffix(s.o.serve[0], "vllm") {
		return err
	}
	if !s.told {
		s.bench.Warn("the server's caches stay between runs: %v", err)
		s.told = true
	}
	return nil
}

func (s *sweepRunner) afterCommand(ctx context.Context) error {
	c := exec.CommandContext(ctx, s.o.after[0], s.o.after[1:]...)
	c.WaitDelay = time.Second
	c.Stdout, c.Stderr = io.Discard, s.bench.Lines
	if s.o.show {
		c.Stdout = s.lines
	}
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	if err := c.Run(); err != nil {
		return fmt.Errorf("--after-bench-cmd %s: %w", usage.Quote(s.o.after[0]), err)
	}
	return nil
}
