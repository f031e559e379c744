package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"

	"benchtop/datasets"
	"benchtop/datasets/hub"
	"benchtop/internal/cli/argv"
	"benchtop/internal/cli/prompts"
	"benchtop/internal/cli/server"
	"benchtop/internal/files"
	"benchtop/internal/usage"
)

const slicesText = `
Cuts a text into prompts for the data set custom, as vLLM's helper does: each begins at a random place and has the tokens
asked for; behind the end of the text comes its beginning.

  benchtop dataset slices --input book.txt --output prompts.jsonl --tokenizer DIR --input-len 1024`

func runSlices(env *environment, args []string) int {
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
	f.StringVar(&ratio, "range-ratio", "0.0", `lengths vary by this share; or {"input": 0.1, "output": 0.5}`)
	f.Int64Var(&o.Seed, "seed", 0, "seed of all draws")
	f.Bool("trust-remote-code", false, "accepted without effect: no code from elsewhere is ever run")
	rest, err := env.parse(&flags, args)
	problems := usage.Problems{err, noArguments("dataset slices", rest)}
	if output == "" {
		problems.Bad("--output: give the file to write")
	}
	switch tokens.Name {
	case "":
		problems.Bad("--tokenizer: give the tokenizer that cuts the text")
	case prompts.Estimate:
		problems.Bad("--tokenizer %s: an estimate cannot cut a text; give a tokenizer.json, the directory with it, or a model's name on the hub", prompts.Estimate)
	}
	var bad error
	if o.Ratio, bad = datasets.ParseRangeRatio(ratio); bad != nil {
		problems.Bad("--range-ratio %s: %s", usage.Quote(ratio), bad)
	} else {
		problems = append(problems, o.Validate())
	}
	if err := errors.Join(problems...); err != nil {
		return env.fail(exitUsage, err)
	}
	if err := untilStopped(func(ctx context.Context) error { return slice(ctx, env, o, tokens, output) }); err != nil {
		return env.failed(err)
	}
	return exitFine
}

func slice(ctx context.Context, env *environment, o datasets.SlicesOptions, tokens prompts.TokenizerOptions, output string) error {
	m, err := tokens.Find(ctx, hub.New(hub.Options{Progress: env.tell}), server.Model{})
	if err != nil {
		return err
	}
	lines, err := openWhole(ctx, "output", output)
	if err != nil {
		return err
	}
	g := &gate{w: lines}
	_, err = files.OrStopped(ctx, func() (struct{}, error) { return struct{}{}, datasets.WriteSlices(g, o, m.Local) })
	if !g.shut() && err != nil && ctx.Err() == nil {
		err = usage.Wrap(err) // it is about the text
	}
	return lines.Finish(err)
}

// gate is a writer that can be shut while another goroutine writes.
type gate struct {
	w io.Writer

	mu     sync.Mutex // guards the rest, and w
	closed bool
	failed bool
}

func (g *gate) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return 0, os.ErrClosed
	}
	n, err := g.w.Write(p)
	g.failed = g.failed || err != nil
	return n, err
}

// shut lets nothing more through, and reports whether w had failed.
func (g *gate) shut() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	return g.failed
}
