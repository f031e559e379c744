package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"benchtop/datasets/agents"
	"benchtop/internal/argv"
	"benchtop/internal/files"
	"benchtop/internal/hf/hub"
	"benchtop/internal/imports"
	"benchtop/internal/prompts"
	"benchtop/internal/server"
	"benchtop/internal/session"
	"benchtop/internal/telemetry"
	"benchtop/internal/usage"
)

const importText = `
Makes sessions of agents from recordings in other formats, a line of JSON each: requests with their lengths, the beginnings that
their prompts share, the time of tools and users between them, and sub-agents. Texts are left out unless --keep-text is given.

  benchtop import traces/ -o sessions.jsonl
  benchtop import agentx.tar.zst -o sessions.jsonl
  benchtop import --format otel spans.jsonl.gz > sessions.jsonl
  benchtop import --tokenizer DIR batch.jsonl -o sessions.jsonl

FILE is a file, a folder, or - for standard input; files may be tar archives, and compressed with gzip or zstd. The formats are
agentx, the traces of kv-cache-tester; otel, spans of the GenAI conventions of OpenTelemetry; and openai-batch, input files of OpenAI's
batch API. They are recognized by their content.`

// importOptions are the flags of import.
type importOptions struct {
	imports.Options
	format    string
	output    string
	overwrite bool
	tokens    prompts.TokenizerOptions
	flags     argv.Flags
	paths     []string
}

func newImportOptions() *importOptions {
	o := &importOptions{flags: argv.Flags{Synopsis: "import [flags] FILE ...", Text: importText}}
	f := o.flags.Group("Input")
	f.StringVar(&o.format, "format", string(imports.Auto), "format of the files: auto, agentx, otel or openai-batch")
	argv.OneOf(f, "format", imports.Formats...)
	f.StringVar(&o.tokens.Name, "tokenizer", "", "tokenizer.json, its directory, or a model's name on the hub, to "+
		"count the tokens of batch files (default: 4 characters a token)")
	f.IntVar(&o.BlockSize, "block-size", imports.DefaultBlockSize, "tokens in a block, where the files do not say it")
	f = o.flags.Group("Output")
	f.StringVarP(&o.output, "output", "o", "-", "file of sessions to write, as JSON lines; - for standard output")
	f.BoolVar(&o.overwrite, "overwrite", false, "replace the file if it exists")
	f.BoolVar(&o.KeepText, "keep-text", false, "keep prompts as chat messages, where the files have them")
	return o
}

func runImport(env *session.Environment, args []string) int {
	o := newImportOptions()
	if err := o.parse(env, args); err != nil {
		return env.Fail(session.ExitUsage, err)
	}
	return env.Failed(session.UntilStopped(func(ctx context.Context) error { return o.run(ctx, env) }))
}

func (o *importOptions) parse(env *session.Environment, args []string) error {
	rest, err := env.Parse(&o.flags, args)
	p := usage.Problems{err}
	p.BadIf(err == nil && len(rest) == 0, "import takes the files to read; see 'benchtop import --help'")
	p.BadIf(o.BlockSize < 1 || o.BlockSize > agents.MaxBlockSize, "--block-size %d: must be between 1 and %d",
		o.BlockSize, agents.MaxBlockSize)
	p.BadIf(o.output == "", "--output: give a file, or - for standard output")
	o.paths, o.Format, o.Stdin = rest, imports.Format(o.format), env.Stdin
	for i, path := range rest {
		p.BadIf(path == "" || path == "-" && i > 0 && rest[i-1] == "-", "import: %s: not a file", usage.Quote(path))
		p.BadIf(path == o.output && path != "-", "--output %s: this is also read; choose another name",
			usage.Quote(path))
	}
	return errors.Join(p...)
}

func (o *importOptions) run(ctx context.Context, env *session.Environment) error {
	if o.output != "-" && !o.overwrite {
		if info, err := os.Stat(o.output); err == nil && info.Mode().IsRegular() {
			return usage.Errorf("--output %s: the file exists; choose another name, or give --overwrite",
				usage.Quote(o.output))
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return usage.Errorf("--output: %w", err)
		}
	}
	telemetry.TuneMemory()
	if err := o.findTokenizer(ctx, env); err != nil {
		return err
	}
	lines, err := o.open(ctx, env)
	if err != nil {
		return err
	}
	var line []byte
	summary, err := imports.Import(ctx, o.paths, o.Options, func(s *agents.Session) error {
		line = s.AppendJSON(line[:0])
		if _, err := lines.Write(line); err != nil {
			return fmt.Errorf("writing %s: %w", o.output, err)
		}
		return nil
	})
	if err := lines.Finish(err); err != nil {
		return err
	}
	for _, words := range summary.Lines() {
		env.Say(session.Harmless(words))
	}
	return nil
}

// open opens the file of sessions.
func (o *importOptions) open(ctx context.Context, env *session.Environment) (*files.Whole, error) {
	if o.output == "-" {
		return files.WriteTo(env.Stdout), nil
	}
	return openWhole(ctx, "output", o.output)
}

// findTokenizer finds the tokenizer that was named.
func (o *importOptions) findTokenizer(ctx context.Context, env *session.Environment) error {
	if o.tokens.Name == "" || o.tokens.Name == prompts.Estimate {
		return nil
	}
	m, err := o.tokens.Find(ctx, hub.New(hub.Options{Progress: env.Tell}), server.Model{})
	if err != nil {
		return err
	}
	env.Warn(m.Notes)
	o.Count = m.Counter.Count
	return nil
}
