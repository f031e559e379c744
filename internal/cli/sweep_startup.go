package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"benchtop/internal/argv"
	"benchtop/internal/jsonscan"
	"benchtop/internal/launch"
	"benchtop/internal/pyjson"
	"benchtop/internal/session"
	"benchtop/internal/spec"
	"benchtop/internal/sweep"
	"benchtop/internal/usage"
	"benchtop/metrics/grid"
)

const sweepStartupText = `
Measures the start-up of a server for each combination of parameters, and writes the directories of
'vllm bench sweep startup': SERVE--NAME-STARTUP--NAME/run=0.json, summary.json, summary.csv. A parameter that is a flag
of 'benchtop startup' counts there, any other is a flag of the server. Parameters of a load, such as
max_concurrency, are ignored, so that a file for 'sweep serve' can be used.

  benchtop sweep startup --startup-cmd 'vllm bench startup --model M' --serve-params serve.json

Ctrl-C stops the server and keeps what was measured; --resume continues.`

// sweepStartupOptions are measurements of start-up times over combinations of parameters.
type sweepStartupOptions struct {
	experimentOptions
	command, serveParams, startupParams string
	strict, show                        bool
	screen                              spec.Screen
	flags                               argv.Flags

	words             []string // of the command
	servers, startups []sweep.Item
}

func newSweepStartupOptions() *sweepStartupOptions {
	o := &sweepStartupOptions{flags: argv.Flags{Synopsis: "sweep startup [flags]", Text: sweepStartupText}}
	f := o.flags.Group("Commands")
	f.StringVar(&o.command, "startup-cmd", "vllm bench startup", "command that measures, as one word in quotes")
	f.BoolVar(&o.show, "show-stdout", false, "print the report of each run, and what the servers print")
	f = o.flags.Group("Parameters")
	f.StringVar(&o.serveParams, "serve-params", "", "JSON file with parameters of the server")
	f.StringVar(&o.startupParams, "startup-params", "", "JSON file with parameters of the measurement")
	f.BoolVar(&o.strict, "strict-params", false, "refuse parameters of a load instead of ignoring them")
	o.experimentOptions.define(&o.flags, 1)
	f = o.flags.Group("Screen")
	f.BoolVar(&o.screen.Plain, "no-tui", false, "no screen: lines on standard output")
	o.screen.DefineLooks(f)
	return o
}

// parse reads the command line and its files, and checks the command of every combination.
func (o *sweepStartupOptions) parse(env *session.Environment, args []string) error {
	rest, err := env.Parse(&o.flags, args)
	p := usage.Problems{err, noArguments("sweep startup", o.arguments(rest))}
	words, err := argv.Split(o.command)
	if err == nil {
		o.words, err = commandWords(words, "startup", "write 'vllm bench startup --model M …', or 'benchtop startup …'")
	}
	p.Flag("startup-cmd", err)
	o.servers, err = sweep.ReadItems(o.serveParams)
	p.Flag("serve-params", err)
	o.startups, err = sweep.ReadItems(o.startupParams)
	p.Flag("startup-params", err)
	o.experimentOptions.check(&p)
	p = append(p, o.screen.CheckLooks())
	if errors.Join(p...) == nil {
		o.checkPairs(env, &p)
	}
	if err := errors.Join(p...); err != nil {
		return usage.Wrap(err)
	}
	return nil
}

// checkPairs checks the commands of all combinations.
func (o *sweepStartupOptions) checkPairs(env *session.Environment, p *usage.Problems) {
	o.servers = o.supported(env, p, "serve-params", o.servers)
	o.startups = o.supported(env, p, "startup-params", o.startups)
	var dirs []string
	bad := toldOnce(p)
	for _, c := range o.pairs() {
		dirs = append(dirs, c.Dir())
		if _, err := o.startup(env, c); err != nil {
			bad("--startup-cmd"+with(c), err)
		}
	}
	if err := sweep.CheckNames(dirs); err != nil {
		*p = append(*p, err)
	}
}

// supported are the items of a file without parameters of a load, which are ignored or refused.
func (o *sweepStartupOptions) supported(env *session.Environment, p *usage.Problems, flag string,
	items []sweep.Item) (all []sweep.Item) {
	for _, it := range items {
		var kept sweep.Item
		var ignored []string
		for _, m := range it {
			if ofLoad(m.Name) {
				ignored = append(ignored, m.Name)
			} else {
				kept = append(kept, m)
			}
		}
		switch list := strings.Join(ignored, ", "); {
		case list == "":
		case o.strict:
			p.Bad("--%s: unsupported startup params for %s: %s", flag, it.Name(), list)
		default:
			env.Warn([]string{fmt.Sprintf("Ignoring unsupported startup params for %s: %s", it.Name(), list)})
		}
		all = append(all, kept)
	}
	return all
}

// with names the parameters of a combination.
func with(c sweep.Combination) string {
	if list := slices.Concat(c.Server, c.Bench).String(); list != "" {
		return " with " + list
	}
	return ""
}

// shared are the flags of a load that servers have as well.
var shared = []string{"model", "tokenizer", "tokenizer-mode", "trust-remote-code", "seed", "host", "port",
	"served-model-name", "lora-modules", "profile"}

// ofLoad reports whether a parameter is a flag of a load alone.
func ofLoad(key string) bool {
	name, _, _ := strings.Cut(argv.Dashes(key), ".")
	return !slices.Contains(shared, name) && spec.New().Flags.All().Lookup(name) != nil &&
		newStartupOptions().flags.All().Lookup(name) == nil
}

func (o *sweepStartupOptions) pairs() (all []sweep.Combination) {
	for _, server := range o.servers {
		for _, startup := range o.startups {
			all = append(all, sweep.Combination{Server: server, Bench: startup,
				Place: sweep.ItemsDir("SERVE-", server, "STARTUP-", startup)})
		}
	}
	return all
}

// startup is the measurement of a combination, without the file of its result. The server's flags go to the command of
// --serve-cmd if there is one.
func (o *sweepStartupOptions) startup(env *session.Environment, c sweep.Combination) (*startupOptions, error) {
	s := newStartupOptions()
	var own, others sweep.Item
	for _, m := range slices.Concat(c.Server, c.Bench) {
		name, _, _ := strings.Cut(argv.Dashes(m.Name), ".")
		if s.flags.All().Lookup(name) != nil {
			own = append(own, m)
		} else {
			others = append(others, m)
		}
	}
	own = own.With("output-json", string(jsonscan.Quote("")))
	args := own.Apply(o.words)
	if command, _ := argv.Part(s.flags.All(), args); slices.ContainsFunc(command,
		func(w string) bool { return strings.HasPrefix(argv.Dashes(w), "--serve-cmd") }) {
		err := s.parse(env, args)
		if err == nil {
			s.engine.command = others.Apply(s.engine.command)
		}
		return s, err
	}
	return s, s.parse(env, others.Apply(args))
}

// startupRunner performs the runs of a sweep.
type startupRunner struct {
	o    *sweepStartupOptions
	env  *session.Environment
	news func(string)
}

// Lines are those of vLLM, but for the command, which is the server's.
func (r startupRunner) Lines(run sweep.Run) []string {
	lines := []string{"Serve overrides: " + run.Server.Repr(), "Startup overrides: " + run.Bench.Repr(),
		"Run Number: " + strconv.Itoa(run.Number)}
	if s, err := r.o.startup(r.env, run.Combination); err == nil { // checked
		lines = append(lines, "Server command: "+pyjson.ReprWords(launch.Hide(s.engine.command)))
	}
	return lines
}

func (r startupRunner) Run(ctx context.Context, run sweep.Run) error {
	s, err := r.o.startup(r.env, run.Combination)
	if err != nil {
		return err
	}
	s.json, s.engine.show, s.news = run.Path, r.o.show, r.news
	report := io.Discard
	if r.o.show {
		report = r.env.Stdout
	}
	return s.measure(ctx, r.env, report)
}

// hideServer is a command of startup as a line without secrets, also within the value of --serve-cmd.
func hideServer(words []string) string {
	return strings.Join(launch.Hide(strings.Fields(strings.Join(words, " "))), " ")
}

func runSweepStartup(env *session.Environment, args []string) int {
	o := newSweepStartupOptions()
	if err := o.parse(env, args); err != nil {
		return env.Fail(session.ExitUsage, err)
	}
	m := &sweep.Manifest{
		Version: session.Version(), Kind: "startup", Server: sweep.Params(o.servers), Bench: sweep.Params(o.startups),
		Settings: []sweep.Setting{{Flag: "startup-cmd", Value: hideServer(o.words)}},
	}
	o.screen.Plain = o.screen.Plain || o.dryRun
	return o.perform(env, m, func() (sweep.Outcome, error) {
		return env.Series(&o.screen, true, func(_ *session.Runner, lines io.Writer) (s *sweep.Sweep) {
			runner := startupRunner{o: o, env: env, news: func(line string) { s.Logged(line) }}
			s = sweep.New(sweep.Options{
				Title: "sweep startup", Dir: o.dir(), ID: m.ID(), Pairs: o.pairs(), Runs: o.runs, Runner: runner,
				DryRun: o.dryRun, Out: lines,
			})
			s.ServerIs(grid.ServerNone, nil)
			return s
		})
	})
}
