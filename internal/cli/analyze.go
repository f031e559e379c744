package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"benchtop/datasets"
	"benchtop/datasets/lengths"
	"benchtop/datasets/textfile"
	"benchtop/datasets/tokenizer"
	"benchtop/export"
	"benchtop/internal/cli/argv"
	"benchtop/internal/preview"
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
ShareGPT conversations, chats, traces of lengths and times, with hash ids of blocks or without. All of its rows are analyzed. Lengths
that it lacks are counted by the local tokenizer, or else estimated. Without FILE, the requests that 'benchtop serve' would send
with the same flags are analyzed.`

// fileFlags are flags that have an effect on a file; the others choose and draw from a data set.
var fileFlags = map[string]bool{"json": true, "tokenizer": true, "skip-tokenizer-init": true, "model": true, "served-model-name": true, "header": true,
	"base-url": true, "host": true, "port": true, "insecure": true, "timed-trace-chunk-hash-size": true, "timed-trace-sec-multiplier": true,
	"timed-trace-label-timestamp": true, "timed-trace-label-input-length": true, "timed-trace-label-output-length": true, "timed-trace-label-hash-ids": true}

func runAnalyze(env *environment, args []string) int {
	o := &datasetOptions{flags: argv.Flags{Synopsis: "dataset analyze [flags] [FILE]", Text: analyzeText}}
	asJSON := false
	o.define(func(f *pflag.FlagSet) {
		f.BoolVar(&asJSON, "json", false, "print the analysis as JSON instead of text")
	})
	rest, err := env.parse(&o.flags, args)
	if errors.As(err, new(argv.Help)) {
		return env.fail(exitUsage, err)
	}
	problems := usage.Problems{err}
	var analyze func(ctx context.Context) (*preview.Analysis, error)
	switch len(rest) {
	case 0:
		problems = append(problems, o.check(env)...)
		analyze = func(ctx context.Context) (*preview.Analysis, error) { return o.analyzeDrawn(ctx, env) }
	case 1:
		problems = append(problems, o.checkFile()...)
		analyze = func(ctx context.Context) (*preview.Analysis, error) { return o.analyzeFile(ctx, env, rest[0]) }
	default:
		problems.Bad("dataset analyze takes one file, got %d: %s", len(rest), usage.Quote(strings.Join(rest, " ")))
	}
	if err := errors.Join(problems...); err != nil {
		return env.fail(exitUsage, err)
	}
	return env.failed(untilStopped(func(ctx context.Context) error {
		a, err := analyze(ctx)
		if err != nil {
			return err
		}
		if asJSON {
			data, err := json.Marshal(a)
			if err == nil {
				_, err = fmt.Fprintf(env.stdout, "%s\n", data)
			}
			return err
		}
		return a.Text(env.stdout, preview.Options{ASCII: term.Plain(os.Getenv), Columns: columns(env.stdout, 120), Clean: export.Clean})
	}))
}

// checkFile finds flags that have no effect on a file.
func (o *datasetOptions) checkFile() (problems usage.Problems) {
	o.flags.VisitAll(func(f *pflag.Flag) {
		problems.BadIf(f.Changed && !fileFlags[f.Name], "--%s: a file is analyzed as a whole; to analyze the requests drawn from it, give --dataset-name and --dataset-path instead of FILE", f.Name)
	})
	f := o.traceOptions()
	all := o.flags.All()
	problems.BadIf(all.Changed("timed-trace-chunk-hash-size") && (f.ChunkSize < 1 || f.ChunkSize > lengths.Most), "--timed-trace-chunk-hash-size %d: must be at least 1", f.ChunkSize)
	problems.BadIf(all.Changed("timed-trace-sec-multiplier") && !(f.Unit > 0 && f.Unit <= 1e9), "--timed-trace-sec-multiplier %v: must be a number above 0", f.Unit)
	return append(problems, o.server.Check()...)
}

// analyzeDrawn analyzes the requests that serve would send.
func (o *datasetOptions) analyzeDrawn(ctx context.Context, env *environment) (*preview.Analysis, error) {
	client := o.server.Target.Client()
	defer client.CloseIdleConnections()
	source, tokenizing, err := o.open(ctx, env, client)
	if err != nil {
		return nil, err
	}
	a := preview.NewAnalysis()
	timed := o.prompts.SelfTiming()
	err = eachDrawn(ctx, source, func(c datasets.Conversation) error {
		a.AddConversation(&c, timed)
		return nil
	})
	a.About = preview.About{Source: source.Description(), Tokens: strings.TrimPrefix(tokenizing.String(), "tokens ")}
	if words := tokenizing.Rendered(); words != "" {
		a.About.Notes = []string{words}
	}
	return a, err
}

// analyzeFile analyzes all of a file.
func (o *datasetOptions) analyzeFile(ctx context.Context, env *environment, path string) (*preview.Analysis, error) {
	client := o.server.Target.Client()
	defer client.CloseIdleConnections()
	options := o.traceOptions()
	options.Path = path
	options.Counter = func(ctx context.Context) (tokenizer.Counter, string, error) {
		drawing, err := o.drawing(ctx, env, client)
		if err != nil {
			return nil, "", err
		}
		counting, err := drawing.Counting(ctx)
		if err != nil {
			return nil, "", err
		}
		env.warn(counting.Notes)
		return counting.Counter, strings.TrimPrefix(counting.String(), "tokens "), nil
	}
	a, err := preview.AnalyzeFile(ctx, options)
	if counting, ok := errors.AsType[preview.CounterError](err); ok {
		return nil, counting.Unwrap()
	}
	if err != nil && ctx.Err() == nil {
		err = usage.Wrap(textfile.At(path, err))
	}
	return a, err
}

// traceOptions are the flags of traces that were given. Their defaults are those of one data set, and not of all files.
func (o *datasetOptions) traceOptions() (f preview.FileOptions) {
	const prefix = "timed-trace-"
	all := o.flags.All()
	for flag, to := range map[string]*string{"label-timestamp": &f.Columns.Timestamp, "label-input-length": &f.Columns.Input, "label-output-length": &f.Columns.Output,
		"label-hash-ids": &f.Columns.HashIDs} {
		if all.Changed(prefix + flag) {
			*to, _ = all.GetString(prefix + flag) // a flag of that type
		}
	}
	if all.Changed(prefix + "chunk-hash-size") {
		f.ChunkSize, _ = all.GetInt(prefix + "chunk-hash-size")
	}
	if all.Changed(prefix + "sec-multiplier") {
		f.Unit, _ = all.GetFloat64(prefix + "sec-multiplier")
	}
	return f
}
