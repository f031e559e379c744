package cli

import (
	"errors"
	"fmt"
	"slices"

	"benchtop/internal/cli/argv"
	"benchtop/internal/cli/prompts"
	"benchtop/internal/cli/server"
	"benchtop/internal/files"
	"benchtop/metrics"
)

// serveOptions is what the flags of serve fill.
type serveOptions struct {
	server  server.Options
	content prompts.RequestOptions
	prompts prompts.Options
	load    loadOptions
	client  clientOptions
	report  reportOptions
	save    files.Options
	screen  screenOptions
	gpus    gpuOptions
	old     baselineOptions
	// command is the command line without secrets, warnings what its writer may not have meant.
	command  []string
	warnings []string
	notes    []string // about flags that do nothing here, for the log
	flags    argv.Flags
}

// newServeOptions defines the flags. Names, defaults and meanings are vLLM's where vLLM has the flag.
func newServeOptions() *serveOptions {
	o := &serveOptions{flags: argv.Flags{Synopsis: "serve [flags]", Text: serveText}}
	o.server.Define(o.flags.Group("Server"))
	o.prompts.Define(&o.flags)
	o.content.Define(o.flags.Group("Requests"))
	o.load.define(o.flags.Group("Load"))
	o.client.define(o.flags.Group("Client"))
	report := o.flags.Group("Report")
	o.report.define(report)
	o.save.Define(report)
	o.gpus.define(o.flags.Group("Server and GPUs"))
	screen := o.flags.Group("Screen")
	o.screen.define(screen)
	o.old.define(screen)
	argv.DefineInert(o.flags.Group("Accepted without effect"))
	return o
}

// parse reads a command line and checks everything that can be checked without the server.
func (o *serveOptions) parse(args []string) error {
	rest, warnings, err := o.flags.Parse(args)
	if errors.As(err, new(argv.Help)) {
		return err
	}
	all := o.flags.All()
	o.warnings = warnings
	problems := []error{err}
	if len(rest) > 0 {
		problems = append(problems, fmt.Errorf("serve takes no arguments, got %q: 'vllm serve MODEL' starts a server, "+
			"'benchtop serve --model MODEL' loads one", rest))
	}
	problems = append(problems, o.server.Check()...)
	o.load.allRows = o.prompts.Needs().AllRows
	o.load.selfTimed = o.prompts.SelfTiming()
	problems = append(problems, o.load.check(all, metrics.SLO(o.report.goodput))...)
	problems = append(problems, o.content.Check(all, o.server.Protocol)...)
	problems = append(problems, o.prompts.Check(all, o.load.shape(), o.load.seed, o.load.find.searching(), o.server.Protocol)...)
	problems = append(problems, o.report.check(all, o.server.Protocol)...)
	problems = append(problems, o.client.check(), o.save.Check(), o.screen.check(), o.gpus.check())
	if o.screen.onHangup == hangupContinue && o.save.Never {
		problems = append(problems, errors.New("--on-hangup continue with --no-save: nobody would ever see the result"))
	}
	o.command = argv.HideSecrets(append([]string{"serve"}, args...), o.server.Secrets())
	o.notes = slices.Concat(argv.InertNotes(all), o.prompts.LengthNotes(all), o.content.Notes)
	return errors.Join(problems...)
}
