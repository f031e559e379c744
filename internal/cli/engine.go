package cli

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"benchtop/internal/argv"
	"benchtop/internal/launch"
	"benchtop/internal/session"
	"benchtop/internal/usage"
)

// engineOptions are the server that a command starts for its measurement.
type engineOptions struct {
	serve   string // the command as one word
	ready   int    // seconds
	show    bool
	command []string // the command; nil for none
}

func (o *engineOptions) define(f *pflag.FlagSet) {
	f.StringVar(&o.serve, "serve-cmd", "",
		"command of the server, as one word in quotes (default: 'vllm serve' with --model and all flags not listed "+
			"here)")
	f.IntVar(&o.ready, "server-ready-timeout", int(launch.DefaultReady/time.Second),
		"most seconds from the server's start until it is healthy")
	f.BoolVar(&o.show, "show-stdout", false, "print what the server prints")
}

// choose makes the command from the words that are no flags of ours: --model and flags of vLLM's engine.
func (o *engineOptions) choose(words []string) (p usage.Problems) {
	o.command = nil
	switch i := slices.IndexFunc(words,
		func(w string) bool { return w == "--model" || strings.HasPrefix(w, "--model=") }); {
	case o.serve != "":
		var err error
		o.command, err = argv.Split(o.serve)
		p.Flag("serve-cmd", err)
		p.BadIf(len(words) > 0, "%s: with --serve-cmd, put the flags of the server into its command",
			usage.Quote(strings.Join(words, " ")))
	case i < 0:
		p.Bad("no server: name a model with --model, or a command with --serve-cmd")
	default:
		end := i + 1
		if words[i] == "--model" {
			end = min(i+2, len(words))
		}
		model := flagValue(words[i:end], "--model")
		p.BadIf(model == "", "--model: a value is missing; expected the name of a model, or its directory")
		o.command = append([]string{"vllm", "serve", model}, slices.Delete(slices.Clone(words), i, end)...)
	}
	if len(o.command) > 0 {
		if _, err := launch.AddressOf(o.command); err != nil {
			p = append(p, err)
		}
	}
	p.BadIf(o.ready < 1, "--server-ready-timeout %d: must be at least 1", o.ready)
	return p
}

// freePort gives the command a port of its own, unless it names one.
func (o *engineOptions) freePort() error {
	if o.serve != "" || flagValue(o.command, "--port") != "" {
		return nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	o.command = append(o.command, "--host", "127.0.0.1", "--port", strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
	return nil
}

// start starts the server with more variables in its environment, and waits until it is healthy. The caller stops it.
func (o *engineOptions) start(ctx context.Context, env *session.Environment,
	variables ...string) (*launch.Server, error) {
	guard, err := guardCommand()
	if err != nil {
		return nil, err
	}
	env.Say("server command: " + strings.Join(launch.Hide(o.command), " "))
	s, err := launch.Start(ctx, launch.Options{Command: o.command, Env: variables,
		Ready: time.Duration(o.ready) * time.Second, Guard: guard, Log: o.log(env)})
	if err != nil {
		return nil, err
	}
	if err := s.Ready(ctx); err != nil {
		_ = s.Stop()
		return nil, err
	}
	return s, nil
}

// log takes what the server prints.
func (o *engineOptions) log(env *session.Environment) func(string) {
	if !o.show {
		return func(string) {}
	}
	return func(line string) { fmt.Fprintln(env.Stderr, line) }
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
