package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"benchtop/datasets"
	"benchtop/datasets/lengths"
	"benchtop/datasets/textfile"
	"benchtop/datasets/trace"
	"benchtop/internal/argv"
	"benchtop/internal/hf/tokenizer"
	"benchtop/internal/preview"
	"benchtop/internal/session"
	"benchtop/internal/text"
	"benchtop/internal/usage"
	"benchtop/tui/term"
)

const analyzeText = `
Shows what is in a data set or a trace: prompt and output lengths and which come together, the hits of a prefix cache without
limits by block size, the rate and burstiness of arrivals, and flags for about such a load. Nothing is sent.

  benchtop dataset analyze trace.jsonl
  benchtop dataset analyze AzureLLMInferenceTrace_code.csv --json
  benchtop dataset analyze --dataset-name sharegpt --dataset-path s.json --model org/name

FILE is JSON Lines, JSON, CSV or Parquet, recognized by its columns: prompts as 'dataset --jsonl' writes them, prompts for custom,
ShareGPT conversations, chats, traces of lengths and times, with hash ids of blocks or without, sessions of agents. All of its
rows are analyzed. Lengths that it lacks are counted by the local tokenizer, or else estimated. Without FILE, the requests that
'benchtop serve' would send with the same flags are analyzed.`

// fileFlags are flags that have an effect on a file; the others choose and draw from a data set.
var fileFlags = []string{"json", "tokenizer", "skip-tokenizer-init", "model", "served-model-name", "header", "base-url",
	"host", "port", "insecure",
	"trace-columns", "trace-unit", chunkFlag, hashIDsFlag}

const chunkFlag, hashIDsFlag = "timed-trace-chunk-hash-size", "timed-trace-label-hash-ids"

func runAnalyze(env *session.Environment, args []string) int {
	o := &datasetOptions{flags: argv.Flags{Synopsis: "dataset analyze [flags] [FILE]", Text: analyzeText}}
	asJSON := false
	o.define(func(f *pflag.FlagSet) {
		f.BoolVar(&asJSON, "json", false, "print the analysis as JSON instead of text")
	})
	rest, err := env.Parse(&o.flags, args)
	if errors.As(err, new(argv.Help)) {
		return env.Fail(session.ExitUsage, err)
	}
	problems := usage.Problems{err}
	var analyze func(ctx context.Context) (*preview.Analysis, error)
	switch len(rest) {
	case 0:
		problems = append(problems, o.check(env)...)
		analyze = func(ctx context.Context) (*preview.Analysis, error) { return o.analyzeDrawn(ctx, env) }
	case 1:
		file, wrong := o.checkFile(rest[0])
		problems = append(problems, wrong...)
		analyze = func(ctx context.Context) (*preview.Analysis, error) { return o.analyzeFile(ctx, env, file) }
	default:
		problems.Bad("dataset analyze takes one file, got %d: %s", len(rest), usage.Quote(strings.Join(rest, " ")))
	}
	if err := errors.Join(problems...); err != nil {
		return env.Fail(session.ExitUsage, err)
	}
	return env.Failed(session.UntilStopped(func(ctx context.Context) error {
		a, err := analyze(ctx)
		if err != nil {
			return err
		}
		if asJSON {
			data, err := json.Marshal(a)
			if err == nil {
				_, err = fmt.Fprintf(env.Stdout, "%s\n", data)
			}
			return err
		}
		return a.Text(env.Stdout,
			preview.Options{ASCII: term.Plain(os.Getenv), Columns: columns(env.Stdout, 120), Clean: text.Clean})
	}))
}

// checkFile reads the flags that say how a file is read, and finds those that have no effect on one. The defaults of
// others are those of a data set, and not of all files.
func (o *datasetOptions) checkFile(path string) (f preview.FileOptions, problems usage.Problems) {
	f.Path = path
	var err error
	o.flags.VisitAll(func(x *pflag.Flag) {
		switch {
		case !x.Changed:
		case !slices.Contains(fileFlags, x.Name):
			problems.Bad("--%s: a file is analyzed as a whole; to analyze the requests drawn from it, give "+
				"--dataset-name and --dataset-path instead of FILE", x.Name)
		case x.Name == "trace-columns":
			f.Columns, err = trace.ParseColumns(x.Value.String())
			problems.Flag(x.Name, err)
		case x.Name == "trace-unit":
			if f.Unit, err = trace.ParseUnit(x.Value.String()); err != nil {
				problems.Bad("--trace-unit %w", err)
			}
		case x.Name == chunkFlag:
			f.ChunkSize, _ = strconv.Atoi(x.Value.String()) // it is a number
			problems.BadIf(f.ChunkSize < 1 || f.ChunkSize > lengths.Most, "--%s %d: must be between 1 and %d", x.Name,
				f.ChunkSize, lengths.Most)
		}
	})
	if hashes := o.flags.All().Lookup(hashIDsFlag); hashes.Changed {
		f.Columns.HashIDs = hashes.Value.String()
	}
	return f, append(problems, o.server.Check()...)
}

// analyzeDrawn analyzes the requests that serve would send.
func (o *datasetOptions) analyzeDrawn(ctx context.Context, env *session.Environment) (*preview.Analysis, error) {
	client := o.server.Target.Client()
	defer client.CloseIdleConnections()
	flow, tokenizing, err := o.open(ctx, env, client)
	if err != nil {
		return nil, err
	}
	a := preview.NewAnalysis()
	timed := o.prompts.SelfTiming()
	err = eachDrawn(ctx, flow, func(c datasets.Conversation) error {
		return a.AddConversation(&c, timed)
	})
	a.About = preview.About{Source: flow.About, Tokens: strings.TrimPrefix(tokenizing.String(), "tokens ")}
	if words := tokenizing.Rendered(); words != "" {
		a.About.Notes = []string{words}
	}
	return a, err
}

// analyzeFile analyzes all of a file.
func (o *datasetOptions) analyzeFile(ctx context.Context, env *session.Environment,
	file preview.FileOptions) (*preview.Analysis, error) {
	client := o.server.Target.Client()
	defer client.CloseIdleConnections()
	file.Counter = func(ctx context.Context) (tokenizer.Counter, string, error) {
		drawing, err := o.drawing(ctx, env, client)
		if err != nil {
			return nil, "", err
		}
		counting, err := drawing.Counting(ctx)
		if err != nil {
			return nil, "", err
		}
		env.Warn(counting.Notes)
		return counting.Counter, strings.TrimPrefix(counting.String(), "tokens "), nil
	}
	file.Every = 5 * time.Second
	file.Progress = func(done, total int) { env.Tell(fmt.Sprintf("%d of %d rows analyzed", done, total)) }
	a, err := preview.AnalyzeFile(ctx, file)
	if counting, ok := errors.AsType[preview.CounterError](err); ok {
		return nil, counting.Unwrap()
	}
	if err != nil && ctx.Err() == nil {
		err = usage.Wrap(textfile.At(file.Path, err))
	}
	return a, err
}
