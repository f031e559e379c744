package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"benchtop/export"
	"benchtop/internal/argv"
	"benchtop/internal/files"
	"benchtop/internal/launch"
	"benchtop/internal/session"
	"benchtop/internal/spec"
	"benchtop/internal/startup"
	"benchtop/internal/sweep"
	"benchtop/internal/usage"
	"benchtop/metrics/grid"
)

const startupText = `
Measures how long a server takes from its start until it listens, is healthy and has answered a request for
one token, with cold and with warm caches. The server's log tells where the time went. The server is that of
--serve-cmd, or 'vllm serve M' with all other flags:

  benchtop startup --model M --tensor-parallel-size 2
  benchtop startup --serve-cmd 'python -m my.server --port 9000'

A cold start has empty directories for compiled code (VLLM_CACHE_ROOT, TORCHINDUCTOR_CACHE_DIR,
TRITON_CACHE_DIR), and the model's files are dropped from memory. A warm start has the directories that the
starts before it filled. They are temporary. Ctrl-C stops the server and prints what was measured.`

// startupOptions are a measurement of start-up times.
type startupOptions struct {
	cold, warmup, warm int
	json               string
	flags              argv.Flags
	engine             engineOptions
	screen             spec.Screen
	guard              []string
	news               func(string) // takes what the server and the measurement say; nil for no screen
}

func newStartupOptions() *startupOptions {
	o := &startupOptions{
		flags: argv.Flags{Synopsis: "startup (--model M [flags of 'vllm serve'] | --serve-cmd COMMAND) [flags]",
			Text: startupText}}
	f := o.flags.Group("Startup")
	f.IntVar(&o.cold, "num-iters-cold", 3, "cold starts")
	f.IntVar(&o.warmup, "num-iters-warmup", 1, "starts before the warm ones that are not recorded")
	f.IntVar(&o.warm, "num-iters-warm", 3, "warm starts")
	f.StringVar(&o.json, "output-json", "", "write the result to this file")
	f.BoolVar(&o.screen.Plain, "no-tui", false, "no screen: lines on standard error, the report on standard output")
	o.screen.DefineLooks(f)
	o.engine.define(f)
	return o
}

// parse reads a command line. Flags of other names are the server's.
func (o *startupOptions) parse(env *session.Environment, args []string) error {
	own, others := argv.Part(o.flags.All(), args)
	rest, err := env.Parse(&o.flags, own)
	if errors.As(err, new(argv.Help)) {
		return err
	}
	if why := noURL("startup", slices.Concat(rest, others)); why != "" {
		return usage.Wrap(errors.New(why))
	}
	problems := append(usage.Problems{err}, o.engine.choose(append(rest, others...))...)
	for name, n := range map[string]int{"cold": o.cold, "warmup": o.warmup, "warm": o.warm} {
		problems.BadIf(n < 0, "--num-iters-%s %d: must not be negative", name, n)
	}
	problems.BadIf(o.cold+o.warm == 0, "--num-iters-cold 0 and --num-iters-warm 0: nothing would be measured")
	checkOutput(&problems, o.json)
	problems.Flag("serve-cmd", o.findGuard())
	problems = append(problems, o.screen.CheckLooks())
	if err := errors.Join(problems...); err != nil {
		return usage.Wrap(err)
	}
	return nil
}

// findGuard is the command that guards the server.
func (o *startupOptions) findGuard() (err error) {
	o.guard, err = guardCommand()
	return err
}

// checkOutput checks the file of --output-json, "" for none.
func checkOutput(p *usage.Problems, path string) {
	if path == "" {
		return
	}
	dir := filepath.Dir(path)
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		p.Bad("--output-json %s: there is no directory %s", usage.Quote(path), usage.Quote(dir))
		return
	}
	if err := (&files.Options{Output: path}).Look(false); err != nil {
		*p = append(*p, err)
	}
}

func runStartup(env *session.Environment, args []string) int {
	o := newStartupOptions()
	if err := o.parse(env, args); err != nil {
		return env.Fail(session.ExitUsage, err)
	}
	m, err := startup.New(o.options(env))
	if err != nil {
		return env.Failed(err)
	}
	env.Say(o.commandLine())
	_, failed := env.Series(&o.screen, true, func(_ *session.Runner, _ io.Writer) (s *sweep.Sweep) {
		o.news = func(line string) { s.Logged(line) }
		s = sweep.New(sweep.Options{Title: "startup", Part: "start", Pairs: o.pairs(), Whole: true, Out: io.Discard,
			Measure: func(ctx context.Context, r sweep.Run) (grid.Figures, error) {
				s.ServerIs(grid.ServerStarting, launch.Hide(o.engine.command))
				defer s.ServerIs(grid.ServerNone, nil)
				start, err := m.Start(ctx, startup.Kind(r.Place))
				f := grid.Unknown()
				f.Ready, f.FirstToken = float64(start.Healthy.Milliseconds()), float64(start.FirstToken.Milliseconds())
				return f, err
			}})
		s.ServerIs(grid.ServerNone, nil)
		return s
	})
	r, err := m.Close()
	return env.Failed(o.save(env, r, errors.Join(failed, err), env.Stdout))
}

// pairs are the kinds of starts as a series.
func (o *startupOptions) pairs() (pairs []sweep.Combination) {
	for _, c := range (&startup.Options{Cold: o.cold, WarmUp: o.warmup, Warm: o.warm}).Starts() {
		if c.Times > 0 {
			pairs = append(pairs, sweep.Combination{Place: string(c.Kind), Load: string(c.Kind), Runs: c.Times})
		}
	}
	return pairs
}

func (o *startupOptions) commandLine() string {
	return "server command: " + strings.Join(launch.Hide(o.engine.command), " ")
}

// options are those of the measurement; its news goes to the screen as well, if there is one.
func (o *startupOptions) options(env *session.Environment) startup.Options {
	tell := func(say func(string)) func(string) {
		return func(line string) {
			say(line)
			if o.news != nil {
				o.news(line)
			}
		}
	}
	return startup.Options{
		Server: launch.Options{Command: o.engine.command, Ready: time.Duration(o.engine.ready) * time.Second,
			Guard: o.guard},
		Key: serverKey(o.engine.command), Model: serverModel(o.engine.command),
		Cold: o.cold, WarmUp: o.warmup, Warm: o.warm, Say: tell(env.Say), Log: tell(o.engine.log(env)),
	}
}

// measure starts and stops the server for a run of a sweep, and prints and saves the result. An error leaves what was
// measured before it.
func (o *startupOptions) measure(ctx context.Context, env *session.Environment, report io.Writer) error {
	env.Say(o.commandLine())
	r, failed := startup.Run(ctx, o.options(env))
	return o.save(env, r, failed, report)
}

// save prints and saves a result, and returns why the measurement failed, or that.
func (o *startupOptions) save(env *session.Environment, r startup.Result, failed error, report io.Writer) error {
	if len(r.Starts) == 0 {
		return failed
	}
	if err := r.Text(report); err != nil {
		return errors.Join(failed, err)
	}
	if o.json == "" {
		return failed
	}
	err := files.Write(o.json,
		func(w io.Writer) error { return r.JSON(w, session.Version(), launch.Hide(o.engine.command)) })
	if err == nil && os.Getenv(session.PytorchVariable) != "" {
		err = r.PyTorch(o.arguments(r.Model), filepath.Base(o.json),
			func(key string, content func(io.Writer) error) error {
				return files.Write(files.Stem(o.json)+"."+key+files.PyTorchSuffix, content)
			})
	}
	if err != nil {
		err = fmt.Errorf("--output-json: %w; choose another file", err)
	} else {
		env.Say("saved in " + o.json)
	}
	return errors.Join(failed, err)
}

// arguments are the flags of this command with their values.
func (o *startupOptions) arguments(model string) []export.Arg {
	all := []export.Arg{{Name: "model", Value: model}}
	o.flags.VisitAll(func(f *pflag.Flag) {
		all = append(all,
			export.Arg{Name: strings.ReplaceAll(f.Name, "-", "_"), Value: spec.Typed(f, f.Value.String())})
	})
	i := slices.IndexFunc(all, func(a export.Arg) bool { return a.Name == "serve_cmd" })
	all[i].Value = strings.Join(launch.Hide(o.engine.command), " ")
	return all
}
