package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"benchtop/internal/argv"
	"benchtop/internal/files"
	"benchtop/internal/session"
	"benchtop/internal/spec"
	"benchtop/internal/sweep"
	"benchtop/internal/usage"
)

// experimentOptions say where the results of a sweep are kept, and how often each combination is measured.
type experimentOptions struct {
	outputDir, name string
	runs            int
	resume, dryRun  bool
}

func (o *experimentOptions) define(flags *argv.Flags, runs int) {
	flags.Group("Parameters").IntVar(&o.runs, "num-runs", runs, "measurements of each combination")
	f := flags.Group("Results")
	f.StringVarP(&o.outputDir, "output-dir", "o", "results", "directory of all experiments")
	f.StringVarP(&o.name, "experiment-name", "e", "", "directory of this experiment below it (default: the time)")
	f.Var((*resumption)(o), "resume",
		"continue the experiment of --experiment-name, or of a name given here: measure only what is missing")
	f.Lookup("resume").NoOptDefVal = "true"
	f.BoolVar(&o.dryRun, "dry-run", false, "print what would be run, and run nothing")
}

// resumption is the value of --resume: a switch, or the name of the experiment.
type resumption experimentOptions

func (r *resumption) String() string { return strconv.FormatBool(r.resume) }

func (r *resumption) Type() string { return "bool" }

func (r *resumption) Set(text string) (err error) {
	if r.resume, err = strconv.ParseBool(text); err != nil {
		r.resume, r.name = true, text
	}
	return nil
}

// arguments takes the name behind --resume, as vLLM's first sweeps had it, from the arguments of a command, and returns
// the others.
func (o *experimentOptions) arguments(rest []string) []string {
	if o.resume && o.name == "" && len(rest) == 1 {
		o.name, rest = rest[0], nil
	}
	return rest
}

// check finds what is wrong with the flags, and names an experiment that has no name.
func (o *experimentOptions) check(p *usage.Problems) {
	p.BadIf(o.runs < 1 || o.runs > spec.MostPoints, "--num-runs %d: must be from 1 to %d", o.runs, spec.MostPoints)
	p.BadIf(o.resume &&
		o.name == "", "--resume: name the experiment to continue, as --resume NAME or with --experiment-name")
	p.BadIf(o.name != "" && (o.name != filepath.Base(o.name) || o.name[0] == '.' || strings.ContainsFunc(o.name,
		unicode.IsControl)), "--experiment-name %s: expected the name of a directory", usage.Quote(o.name))
	p.BadIf(strings.ContainsFunc(o.outputDir, unicode.IsControl),
		"--output-dir %s: expected a path without control characters", usage.Quote(o.outputDir))
	if o.name == "" {
		o.name = time.Now().Format("20060102_150405")
	}
}

// toldOnce adds the lines of errors to problems, each once: many commands have the same.
func toldOnce(p *usage.Problems) func(where string, err error) {
	told := map[string]bool{}
	return func(where string, err error) {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			if !told[line] {
				p.Bad("%s: %s", where, line)
			}
			told[line] = true
		}
	}
}

// dir is the directory of the experiment.
func (o *experimentOptions) dir() string { return filepath.Join(o.outputDir, o.name) }

// perform opens the directory of an experiment, runs its sweep, says what came of it, and returns the exit code.
func (o *experimentOptions) perform(env *session.Environment, m *sweep.Manifest,
	run func() (sweep.Outcome, error)) int {
	if err := m.Open(o.dir(), o.resume); err != nil {
		return env.Fail(session.ExitUsage, err)
	}
	if !o.dryRun {
		release, err := files.Hold(o.dir())
		if err != nil {
			return env.Fail(session.ExitFailed, err)
		}
		defer release()
		if err := m.Write(o.dir()); err != nil {
			return env.Fail(session.ExitFailed, err)
		}
	}
	outcome, err := run()
	switch {
	case o.dryRun && err == nil:
		fmt.Fprintf(env.Stdout, "Experiment will be saved at: %s\n", session.Harmless(o.dir()))
		return session.ExitFine
	case err != nil:
		code := env.Failed(err)
		env.Say(fmt.Sprintf("%s; what was measured is in %s. Continue with the same command and --resume -e %s",
			outcome, o.dir(), o.name))
		return code
	}
	fmt.Fprintf(env.Stdout, "%s.\nExperiment has been saved at: %s\n", outcome, session.Harmless(o.dir()))
	if outcome.Failed > 0 {
		return session.ExitFailed
	}
	return session.ExitFine
}

// commandWords are the arguments of a subcommand in a command line, which has to be one of this program or of vLLM.
func commandWords(words []string, name, advice string) ([]string, error) {
	if len(words) == 0 {
		return nil, errors.New("missing; " + advice)
	}
	program := strings.TrimSuffix(filepath.Base(words[0]), ".exe")
	switch {
	case program == "benchtop" && len(words) > 1 && words[1] == name:
		return words[2:], nil
	case slices.Contains([]string{"vllm", "vllm-rs", "benchtop"}, program) && len(words) > 2 && words[1] == "bench" &&
		words[2] == name:
		return words[3:], nil
	}
	return nil, fmt.Errorf("%s is not the command that a sweep can run; %s",
		usage.Quote(strings.Join(words[:min(len(words), 3)], " ")), advice)
}
