package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"benchtop/internal/argv"
	"benchtop/internal/files"
	"benchtop/internal/secret"
	"benchtop/internal/server"
	"benchtop/internal/session"
	"benchtop/internal/text"
	"benchtop/internal/usage"
	"benchtop/metrics"
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
			env.Say("wrote " + *output + "; run it with: " + runOf(*output))
		}
		return err
	}))
}

// runOf is the command that runs a profile of a file.
func runOf(file string) string {
	return strings.Join(argv.ShellWords([]string{"serve", "--config", file}), " ") + "#chat"
}

// writeProfiles writes the flags that reach the server, and profiles for usual loads.
func writeProfiles(w io.Writer, o *server.Options, flags *argv.Flags, m server.Model, file string) error {
	comment := func(format string, a ...any) { fmt.Fprintf(w, "# %s\n", text.Clean(fmt.Sprintf(format, a...))) }
	comment("Flags of 'benchtop serve' for %s, which serves %s.", o.Target,
		cmp.Or(m.ID, "a model that it does not name"))
	comment("Run a profile with: %s", runOf(file))
	comment("A key is a flag without its dashes; 'benchtop serve --help=WORD' explains it. Flags of the command line")
	comment("come first. What is commented out is a suggestion.")
	own := slices.DeleteFunc(flags.Values(), func(v argv.Value) bool {
		return v.Name == "output" || v.Name == "overwrite" || v.Name == "model"
	})
	settings, hidden := withoutSecrets(flags.Settings(append(own, argv.To("model", m.ID)), o.Secrets()))
	if err := argv.WriteFile(w, settings); err != nil {
		return err
	}
	for _, flag := range hidden {
		comment("%s: a secret is left out; write %s", flag, inFile[flag])
	}
	if len(m.Known) > 1 {
		comment("other models: %s", text.List(m.Known[1:], 8))
	}
	length := 1024
	if m.Context > 0 {
		comment("A prompt and its answer have at most %d tokens together.", m.Context)
		length = min(length, m.Context/2)
	}
	if !slices.ContainsFunc(own, func(v argv.Value) bool { return v.Name == "api-key" || v.Name == "auth-command" }) {
		comment("api-key: $MY_KEY              # or @FILE; without it $OPENAI_API_KEY is sent")
	}
	_, err := io.WriteString(w, strings.NewReplacer("LENGTH", strconv.Itoa(length)).Replace(profilesText))
	return err
}

// inFile is how a file has the secrets of a flag.
var inFile = map[string]string{
	"api-key":      "@FILE or $NAME of a variable",
	"auth-command": "it here, or the name of a script, which is shown",
	"base-url":     "user and password as header: Authorization=Basic $NAME of a variable, or Authorization=@FILE",
	"header":       "KEY=@FILE or KEY=$NAME of a variable",
}

// withoutSecrets are the settings of a file, without values that a secret was taken out of, and the flags of those. A
// URL stays without its user.
func withoutSecrets(settings []metrics.Setting) (kept []metrics.Setting, hidden []string) {
	for _, s := range settings {
		if strings.Contains(strings.Join(s.Values, " "), secret.Mask) {
			hidden = append(hidden, s.Flag)
		}
		for i, v := range s.Values {
			s.Values[i] = strings.ReplaceAll(v, "://"+secret.Mask+"@", "://")
		}
		s.Values = slices.DeleteFunc(s.Values, func(v string) bool { return strings.Contains(v, secret.Mask) })
		if len(s.Values) > 0 {
			kept = append(kept, s)
		}
	}
	return kept, slices.Compact(hidden)
}

const profilesText = `
# tokenizer: FILE               # where the server's own, or that of its model, is not found
goodput: [ttft:500, tpot:50]    # of all profiles; objectives in milliseconds, for the share of good requests and the saturation point

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
