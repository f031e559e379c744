package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"benchtop/internal/argv"
	"benchtop/internal/files"
	"benchtop/internal/secret"
	"benchtop/internal/server"
	"benchtop/internal/session"
	"benchtop/internal/text"
	"benchtop/internal/usage"
)

const initText = `
Asks a server for its models and writes a file of flags for it, with comments, to start from. Run it with
'benchtop serve --config FILE#chat', where chat is one of the profiles in it.

  benchtop init http://127.0.0.1:8000
  benchtop init http://127.0.0.1:8000 --api-key '$MY_KEY' --output staging.yaml`

func runInit(env *session.Environment, args []string) int {
	flags := argv.Flags{Synopsis: "init [flags] [URL]", Text: initText}
	f := flags.Group("Output")
	output := f.StringP("output", "o", "benchtop.yaml", "file to write; - for standard output")
	overwrite := f.Bool("overwrite", false, "replace the file if it exists")
	var o server.Options
	o.DefineAddress(flags.Group("Server"))
	rest, err := env.Parse(&flags, args)
	if errors.As(err, new(argv.Help)) {
		return env.Fail(session.ExitUsage, err)
	}
	problems := append(usage.Problems{err}, o.TakeURL(&flags, rest)...)
	problems = append(problems, o.Check()...)
	_, taken := os.Stat(*output)
	problems.BadIf(*output != "-" && taken == nil && !*overwrite,
		"--output %s: the file exists; choose another name, or add --overwrite", usage.Quote(*output))
	env.Warn(o.Warnings)
	if err := errors.Join(problems...); err != nil {
		return env.Fail(session.ExitUsage, err)
	}
	return env.Failed(session.UntilStopped(func(ctx context.Context) error {
		if err := server.Reach(ctx, o.Target); err != nil {
			return err
		}
		client := o.Target.Client()
		defer client.CloseIdleConnections()
		m, err := o.Ask(ctx, client)
		if err != nil {
			return err
		}
		if *output == "-" {
			return writeProfiles(env.Stdout, &o, &flags, m, "FILE")
		}
		err = files.Write(*output, func(w io.Writer) error { return writeProfiles(w, &o, &flags, m, *output) })
		if err == nil {
			env.Say(fmt.Sprintf("wrote %s; run it with: benchtop serve --config %[1]s#chat", *output))
		}
		return err
	}))
}

// writeProfiles writes the flags that reach the server, and profiles for usual loads.
func writeProfiles(w io.Writer, o *server.Options, flags *argv.Flags, m server.Model, file string) error {
	comment := func(format string, a ...any) { fmt.Fprintf(w, "# %s\n", text.Clean(fmt.Sprintf(format, a...))) }
	comment("Flags of 'benchtop serve' for %s, which serves %s.", o.Target,
		cmp.Or(m.ID, "a model that it does not name"))
	comment("Run a profile with: benchtop serve --config %s#chat", file)
	comment("A key is a flag without its dashes; 'benchtop serve --help=WORD' explains it. Flags of the command line")
	comment("come first. What is commented out is a suggestion.")
	var own []argv.Value
	keyless := true
	for _, v := range flags.Values() {
		switch {
		case v.Name == "output" || v.Name == "overwrite" || v.Name == "model":
		case v.Name == "api-key" && !secret.Reference.MatchString(strings.Join(v.Texts, "")): // it would be hidden
		default:
			own, keyless = append(own, v), keyless && v.Name != "api-key"
		}
	}
	if err := argv.WriteFile(w, flags.Settings(append(own, argv.To("model", m.ID)), o.Secrets())); err != nil {
		return err
	}
	if len(m.Known) > 1 {
		comment("other models: %s", text.List(m.Known[1:], 8))
	}
	length := "1024"
	if m.Context > 0 {
		comment("A prompt and its answer have at most %d tokens together.", m.Context)
		if length = "1024"; m.Context < 2048 {
			length = fmt.Sprint(m.Context / 2)
		}
	}
	if keyless {
		comment("api-key: $MY_KEY              # or @FILE; without it $OPENAI_API_KEY is sent")
	}
	_, err := io.WriteString(w, strings.NewReplacer("LENGTH", length).Replace(profilesText))
	return err
}

const profilesText = `
goodput: [ttft:500, tpot:50]    # objectives in milliseconds, for the share of good requests and the saturation point

profiles:
  # Users who wait for each answer: the server sets the pace.
  chat:
    backend: openai-chat
    dataset-name: random        # or sharegpt, with dataset-path; 'benchtop docs datasets' has all
    random-input-len: LENGTH
    random-output-len: 128
    max-concurrency: 16
    duration: 1m

  # Requests that arrive at random, at a fixed rate.
  rate:
    random-input-len: LENGTH
    random-output-len: 128
    request-rate: 4
    num-prompts: 200

  # The highest rate within the objectives: raised until they are missed, then held until it is proven.
  find:
    random-input-len: LENGTH
    random-output-len: 128
    find: true

  # For CI: fails with exit code 3 when a condition is met.
  gate:
    random-input-len: LENGTH
    random-output-len: 128
    max-concurrency: 8
    num-prompts: 200
    fail-on: ["goodput<95%", "p99_ttft_ms>1000"]
    no-tui: true
`
