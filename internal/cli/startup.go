package cli

import (
	"cmp"
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
	"benchtop/internal/cli/argv"
	"benchtop/internal/files"
	"benchtop/internal/launch"
	"benchtop/internal/startup"
	"benchtop/internal/usage"
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
	json, serve        string
	ready              int // seconds
	show               bool
	flags              argv.Flags
	server             []string // the command, set by parse
}

func newStartupOptions() *startupOptions {
	o := &startupOptions{flags: argv.Flags{Synopsis: "startup (--model M [flags of 'vllm serve'] | --serve-cmd COMMAND) [flags]", Text: startupText}}
	f := o.flags.Group("Startup")
	f.StringVar(&o.serve, "serve-cmd", "", "command of the server, as one word in quotes (default: 'vllm serve' with --model and all flags not listed here)")
	f.IntVar(&o.cold, "num-iters-cold", 3, "cold starts")
	f.IntVar(&o.warmup, "num-iters-warmup", 1, "starts before the warm ones that are not recorded")
	f.IntVar(&o.warm, "num-iters-warm", 3, "warm starts")
	f.StringVar(&o.json, "output-json", "", "write the result to this file")
	f.IntVar(&o.ready, "server-ready-timeout", int(launch.DefaultReady/time.Second), "most seconds from the server's start until it is healthy")
	f.BoolVar(&o.show, "show-stdout", false, "print what the server prints")
	return o
}

// parse reads a command line. Flags of other names are the server's.
func (o *startupOptions) parse(env *environment, args []string) error {
	own, engine := o.sort(args)
	rest, err := env.parse(&o.flags, own)
	if errors.As(err, new(argv.Help)) {
		return err
	}
	problems := usage.Problems{err}
	engine = append(rest, engine...)
	switch i := slices.IndexFunc(engine, func(w string) bool { return w == "--model" || strings.HasPrefix(w, "--model=") }); {
	case o.serve != "":
		o.server, err = argv.Split(o.serve)
		problems.Flag("serve-cmd", err)
		problems.BadIf(len(engine) > 0, "%s: with --serve-cmd the flags of the server belong into its command", usage.Quote(strings.Join(engine, " ")))
	case i < 0:
		problems.Bad("no server: name a model with --model, or a command with --serve-cmd")
	default:
		end := i + 1
		if engine[i] == "--model" {
			end = min(i+2, len(engine))
		}
		model := flagValue(engine[i:end], "--model")
		problems.BadIf(model == "", "--model: a value is missing; expected the name of a model, or its directory")
		o.server = append([]string{"vllm", "serve", model}, slices.Delete(engine, i, end)...)
	}
	if len(o.server) > 0 {
		if _, err := launch.AddressOf(o.server); err != nil {
			problems = append(problems, err)
		}
	}
	for name, n := range map[string]int{"cold": o.cold, "warmup": o.warmup, "warm": o.warm} {
		problems.BadIf(n < 0, "--num-iters-%s %d: must not be negative", name, n)
	}
	problems.BadIf(o.cold+o.warm == 0, "--num-iters-cold 0 and --num-iters-warm 0: nothing would be measured")
	problems.BadIf(o.ready < 1, "--server-ready-timeout %d: must be at least 1", o.ready)
	if dir := filepath.Dir(o.json); o.json != "" {
		info, err := os.Stat(dir)
		problems.BadIf(err != nil || !info.IsDir(), "--output-json %s: there is no directory %s", usage.Quote(o.json), usage.Quote(dir))
	}
	if err := errors.Join(problems...); err != nil {
		return usage.Wrap(err)
	}
	return nil
}

// sort parts the flags of this command, with their values, from all other words.
func (o *startupOptions) sort(args []string) (own, others []string) {
	all := o.flags.All()
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		name, _, joined := strings.Cut(word, "=")
		f := all.Lookup(argv.Dashes(strings.TrimPrefix(name, "--")))
		switch {
		case word == "-h" || name == "--help":
			own = append(own, word)
		case f == nil || !strings.HasPrefix(name, "--"):
			others = append(others, word)
		default:
			own = append(own, word)
			if !joined && f.NoOptDefVal == "" && len(args) > 0 {
				own = append(own, args[0])
				args = args[1:]
			}
		}
	}
	return own, others
}

func runStartup(env *environment, args []string) int {
	o := newStartupOptions()
	if err := o.parse(env, args); err != nil {
		return env.fail(exitUsage, err)
	}
	return env.failed(untilStopped(func(ctx context.Context) error { return o.measure(ctx, env, env.stdout) }))
}

// measure starts and stops the server, and prints and saves the result. An error leaves what was measured before it.
func (o *startupOptions) measure(ctx context.Context, env *environment, report io.Writer) error {
	guard, err := guardCommand()
	if err != nil {
		return err
	}
	key, model := serverKey(o.server), serverModel(o.server)
	env.say("server command: " + strings.Join(launch.Hide(o.server), " "))
	log := func(string) {}
	if o.show {
		log = func(line string) { fmt.Fprintln(env.stderr, line) }
	}
	r, failed := startup.Run(ctx, startup.Options{
		Server: launch.Options{Command: o.server, Ready: time.Duration(o.ready) * time.Second, Guard: guard},
		Key:    key, Model: model, Cold: o.cold, WarmUp: o.warmup, Warm: o.warm, Say: env.say, Log: log,
	})
	if len(r.Starts) == 0 {
		return failed
	}
	if err := r.Text(report); err != nil {
		return errors.Join(failed, err)
	}
	if o.json == "" {
		return failed
	}
	err = files.Write(o.json, func(w io.Writer) error { return r.JSON(w, version(), launch.Hide(o.server)) })
	if err == nil && os.Getenv(pytorchVariable) != "" {
		err = r.PyTorch(o.arguments(r.Model), filepath.Base(o.json), func(key string, content func(io.Writer) error) error {
			return files.Write(files.Stem(o.json)+"."+key+files.PyTorchSuffix, content)
		})
	}
	if err != nil {
		err = fmt.Errorf("--output-json: %w; choose another file", err)
	} else {
		env.say("saved in " + o.json)
	}
	return errors.Join(failed, err)
}

// arguments are the flags of this command with their values.
func (o *startupOptions) arguments(model string) []export.Arg {
	all := []export.Arg{{Name: "model", Value: model}}
	o.flags.VisitAll(func(f *pflag.Flag) {
		all = append(all, export.Arg{Name: strings.ReplaceAll(f.Name, "-", "_"), Value: typed(f, f.Value.String())})
	})
	i := slices.IndexFunc(all, func(a export.Arg) bool { return a.Name == "serve_cmd" })
	all[i].Value = strings.Join(launch.Hide(o.server), " ")
	return all
}

// guardCommand runs the guard of a server command.
func guardCommand() ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("the path of this program is not known: %w", err)
	}
	return []string{self, launch.GuardCommand}, nil
}

// serverKey is the key of a server's API: that of its command, or of the environment that it is started in.
func serverKey(command []string) string {
	return cmp.Or(flagValue(command, "--api-key"), os.Getenv("VLLM_API_KEY"))
}

// flagValue is the last value of a flag in a command line, "" for none.
func flagValue(words []string, flag string) (value string) {
	for i, word := range words {
		name, v, joined := strings.Cut(word, "=")
		if !joined && i+1 < len(words) {
			v = words[i+1]
		}
		if argv.Dashes(name) == flag {
			value = v
		}
	}
	return value
}

// serverModel is the model of a server command: the value of --model, or the word behind serve; "" if there is neither.
func serverModel(command []string) string {
	behind := ""
	if i := slices.Index(command, "serve") + 1; i > 0 && i < len(command) && !strings.HasPrefix(command[i], "-") {
		behind = command[i]
	}
	return cmp.Or(flagValue(command, "--model"), behind)
}
