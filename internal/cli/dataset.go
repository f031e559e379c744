package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"benchtop/datasets"
	"benchtop/internal/argv"
	"benchtop/internal/files"
	"benchtop/internal/hf/hub"
	"benchtop/internal/hf/numpy"
	"benchtop/internal/preview"
	"benchtop/internal/prompts"
	"benchtop/internal/server"
	"benchtop/internal/session"
	"benchtop/internal/spec"
	"benchtop/internal/telemetry"
	"benchtop/internal/text"
	"benchtop/internal/usage"
	"benchtop/loadgen/protocol"
	"benchtop/loadgen/shape"
	"benchtop/tui/term"
)

const datasetText = `
Shows the prompts that 'benchtop serve' would send with the same flags, without sending them: number of requests, prompt
and output lengths, the first prompts, and with --jsonl all of them.

  benchtop dataset --dataset-name random --tokenizer DIR --random-input-len 1024 --num-prompts 1000
  benchtop dataset --dataset-name sharegpt --dataset-path s.json --model org/name --jsonl prompts.jsonl

The local tokenizer counts the tokens. A server counts them only if one is given with --base-url or --host.
'benchtop dataset analyze FILE' shows what is in a data set or a trace: lengths, shared prefixes, arrivals.
'benchtop dataset slices --input TEXT --output FILE' cuts a text into prompts for the data set custom.`

// datasetCommands are the subcommands of dataset.
func datasetCommands() []command {
	return []command{
		{"analyze", "show what is in a data set or a trace: lengths, shared prefixes, arrivals", runAnalyze, nil},
		{"slices", "cut a text into prompts for the data set custom", runSlices, nil},
	}
}

// datasetOptions are the flags of dataset.
type datasetOptions struct {
	prompts prompts.Options
	server  server.Options
	load    spec.Load
	prefix  string
	first   int
	lines   string
	flags   argv.Flags
}

func newDatasetOptions() *datasetOptions {
	o := &datasetOptions{flags: argv.Flags{Synopsis: "dataset [flags]", Text: datasetText}}
	o.define(func(f *pflag.FlagSet) {
		f.IntVar(&o.first, "first", 3, "number of prompts to show")
		f.StringVar(&o.lines, "jsonl", "",
			"write all requests to this file, as JSON lines; - for standard output, with nothing else on it")
	})
	return o
}

// define adds the flags, those of the output from a function.
func (o *datasetOptions) define(output func(*pflag.FlagSet)) {
	o.prompts.Define(&o.flags)
	f := o.flags.Group("Requests")
	o.load.DefineDraws(f)
	f.StringVar(&o.prefix, "request-id-prefix", "", "prefix of request ids (default: bench- and 8 random digits)")
	server := o.flags.Group("Server that counts tokens if there is no local tokenizer")
	o.server.DefineAddress(server)
	server.Lookup("base-url").Usage = "server that counts; overrides host and port"
	server.Lookup("model").Usage = "model whose tokenizer is used (default: the server's first)"
	server.Lookup("served-model-name").Usage = "the server's name for the model"
	server.Lookup("header").Usage = "headers for the server, as KEY=VALUE KEY=VALUE; never shown"
	output(o.flags.Group("Output"))
	argv.DefineInert(o.flags.Group("Accepted without effect"), o.flags.All())
}

func runDataset(env *session.Environment, args []string) int {
	switch {
	case len(args) > 0 && args[0] == "slices":
		return runSlices(env, args[1:])
	case len(args) > 0 && args[0] == "analyze":
		return runAnalyze(env, args[1:])
	}
	o := newDatasetOptions()
	rest, err := env.Parse(&o.flags, args)
	if errors.As(err, new(argv.Help)) {
		return env.Fail(session.ExitUsage, err)
	}
	problems := usage.Problems{err, noArguments("dataset", rest, datasetCommands()...)}
	problems = append(problems, o.check(env)...)
	problems.BadIf(o.first < 0, "--first %d: must be 0 or more", o.first)
	if err := errors.Join(problems...); err != nil {
		return env.Fail(session.ExitUsage, err)
	}
	return env.Failed(session.UntilStopped(func(ctx context.Context) error { return o.run(ctx, env) }))
}

// check finds what is wrong with the flags, and prints the warnings about them.
func (o *datasetOptions) check(env *session.Environment) usage.Problems {
	all := o.flags.All()
	env.Warn(slices.Concat(argv.InertNotes(all), o.prompts.LengthNotes(all)))
	problems := usage.Problems(o.server.Check())
	var to protocol.Protocol
	if all.Changed("backend") {
		to = o.server.Protocol
	}
	o.load.Rate, o.load.Burstiness, o.load.AllRows = 1, 1, o.prompts.Needs().AllRows
	o.load.CheckDraws(&problems)
	problems.BadIf(o.load.Prompts > shape.MostArrivals, "--num-prompts %d: the maximum for one run is %d",
		o.load.Prompts, shape.MostArrivals)
	problems = append(problems, o.prompts.Check(all, o.load.Shape(), o.load.Seed, false, to)...)
	if p := protocol.Holding(o.prompts.Needs().Forms); p != nil && to == nil &&
		(o.server.Protocol == nil || !o.server.Protocol.Traits().Forms.Overlap(o.prompts.Needs().Forms)) {
		o.server.Protocol = p // one that can send them
	}
	return problems
}

// drawing prepares to draw. A server is asked only if its address was given.
func (o *datasetOptions) drawing(ctx context.Context, env *session.Environment,
	client *http.Client) (d prompts.Drawing, err error) {
	all := o.flags.All()
	m, askServer := server.Model{Named: o.server.Model},
		all.Changed("base-url") || all.Changed("host") || all.Changed("port")
	if askServer {
		m, err = o.server.Ask(ctx, client)
	}
	return prompts.Drawing{Options: &o.prompts, Server: &o.server, Client: client, Model: m, AskServer: askServer,
		Draws: numpy.NewStreams(uint32(o.load.Seed)), IDPrefix: o.prefix, To: env}, err
}

// open draws the requests.
func (o *datasetOptions) open(ctx context.Context, env *session.Environment,
	client *http.Client) (datasets.Flow, *prompts.Tokenizing, error) {
	drawing, err := o.drawing(ctx, env, client)
	if err != nil {
		return datasets.Flow{}, nil, err
	}
	telemetry.TuneMemory()
	flow, tokenizing, err := drawing.Open(ctx)
	if err == nil {
		env.Warn(tokenizing.Notes)
	}
	return flow, tokenizing, err
}

// run draws the requests and describes them.
func (o *datasetOptions) run(ctx context.Context, env *session.Environment) error {
	client := o.server.Target.Client()
	defer client.CloseIdleConnections()
	flow, tokenizing, err := o.open(ctx, env, client)
	if err != nil {
		return err
	}
	return o.write(ctx, env, flow, tokenizing)
}

func (o *datasetOptions) write(ctx context.Context, env *session.Environment, flow datasets.Flow,
	m *prompts.Tokenizing) (err error) {
	lines, err := o.openLines(ctx, env)
	if err != nil {
		return err
	}
	defer func() { err = lines.Finish(err) }()
	view := preview.New(o.first)
	var line []byte
	err = eachDrawn(ctx, flow, func(c datasets.Conversation) (err error) {
		if err := view.Add(c); err != nil {
			return err
		}
		if lines != nil {
			if line, err = preview.AppendLine(line[:0], &c, o.prompts.Needs().Timed || o.prompts.SelfTiming()); err !=
				nil {
				return err
			}
			if _, err = lines.Write(line); err != nil {
				return fmt.Errorf("writing %s: %w", o.lines, err)
			}
		}
		return nil
	})
	if err != nil || o.lines == "-" {
		return err
	}
	fmt.Fprintf(env.Stdout, "%s\n", text.Clean(flow.About))
	fmt.Fprintf(env.Stdout, "%-20s %s\n", "tokens", text.Clean(strings.TrimPrefix(m.String(), "tokens ")))
	if words := m.Rendered(); words != "" {
		fmt.Fprintf(env.Stdout, "%s\n", text.Clean(words))
	}
	if words := prompts.OffLength(flow); words != "" {
		fmt.Fprintf(env.Stdout, "%s\n", words)
	}
	return view.Text(env.Stdout,
		preview.Options{ASCII: term.Plain(os.Getenv), Columns: columns(env.Stdout, 100), Clean: text.Clean})
}

// eachDrawn calls do with every conversation of a flow, and closes it.
func eachDrawn(ctx context.Context, flow datasets.Flow, do func(datasets.Conversation) error) error {
	defer flow.End()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		c, err := flow.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return prompts.DrawError(err)
		}
		if err := do(c); err != nil {
			return err
		}
	}
}

// columns is the width of text on a terminal, at most what is easy to read; 0 if w is none.
func columns(w io.Writer, most int) int {
	if width := term.Columns(w); width > 0 {
		return min(max(width, 60), most)
	}
	return 0
}

// openLines opens the file for the JSON lines, nil if none were asked for.
func (o *datasetOptions) openLines(ctx context.Context, env *session.Environment) (*files.Whole, error) {
	switch o.lines {
	case "":
		return nil, nil
	case "-":
		return files.WriteTo(env.Stdout), nil
	}
	return openWhole(ctx, "jsonl", o.lines)
}

// openWhole opens the file that a flag names.
func openWhole(ctx context.Context, flag, path string) (*files.Whole, error) {
	w, err := files.OpenWhole(ctx, path)
	if err != nil && ctx.Err() == nil {
		err = usage.Errorf("--%s: %w", flag, err)
	}
	return w, err
}

const slicesText = `
Cuts a text into prompts for the data set custom, as vLLM's helper does: each starts at a random place and has the given
length; past its end, the text wraps around.

  benchtop dataset slices --input book.txt --output prompts.jsonl --tokenizer DIR --input-len 1024`

func runSlices(env *session.Environment, args []string) int {
	flags := argv.Flags{Synopsis: "dataset slices [flags]", Text: slicesText}
	f := flags.Group("Slices")
	o := datasets.SlicesDefaults()
	var ratio, output string
	var tokens prompts.TokenizerOptions
	f.StringVar(&o.Path, "input", "", "the text, a file in UTF-8")
	f.StringVar(&output, "output", "", "the prompts, a file in JSON lines")
	f.StringVar(&tokens.Name, "tokenizer", "", "tokenizer.json, the directory with it, or a model's name on the hub")
	f.IntVar(&o.Prompts, "num-prompts", o.Prompts, "number of prompts")
	f.IntVar(&o.InputLen, "input-len", o.InputLen, "prompt length in tokens")
	f.IntVar(&o.OutputLen, "output-len", o.OutputLen, "output length in tokens")
	f.StringVar(&ratio, "range-ratio", "0.0", `vary lengths by up to this share; or {"input": 0.1, "output": 0.5}`)
	f.Int64Var(&o.Seed, "seed", 0, "random seed")
	f.Bool("trust-remote-code", false, "accepted without effect: remote code is never run")
	rest, err := env.Parse(&flags, args)
	problems := usage.Problems{err, noArguments("dataset slices", rest)}
	problems.BadIf(output == "", "--output: give the file to write")
	switch tokens.Name {
	case "":
		problems.Bad("--tokenizer: give the tokenizer that cuts the text")
	case prompts.Estimate:
		problems.Bad("--tokenizer %s: an estimate cannot cut a text; give a tokenizer.json, the directory with it, or "+
			"a model's name on the hub", prompts.Estimate)
	}
	var bad error
	if o.Ratio, bad = datasets.ParseRangeRatio(ratio); bad != nil {
		problems.Bad("--range-ratio %s: %s", usage.Quote(ratio), bad)
	} else {
		problems = append(problems, o.Validate())
	}
	if err := errors.Join(problems...); err != nil {
		return env.Fail(session.ExitUsage, err)
	}
	return env.Failed(
		session.UntilStopped(func(ctx context.Context) error { return slice(ctx, env, o, tokens, output) }))
}

func slice(ctx context.Context, env *session.Environment, o datasets.SlicesOptions, tokens prompts.TokenizerOptions,
	output string) error {
	m, err := tokens.Find(ctx, hub.New(hub.Options{Progress: env.Tell}), server.Model{})
	if err != nil {
		return err
	}
	lines, err := openWhole(ctx, "output", output)
	if err != nil {
		return err
	}
	_, err = files.OrStopped(ctx,
		func() (struct{}, error) { return struct{}{}, datasets.WriteSlices(lines, o, m.Local) })
	if err != nil && ctx.Err() == nil && lines.Flush() == nil {
		err = usage.Wrap(err) // it is about the text
	}
	return lines.Finish(err)
}
