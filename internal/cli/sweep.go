package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"benchtop/internal/argv"
	"benchtop/internal/session"
	"benchtop/internal/usage"
)

// sweepCommands are the subcommands of sweep.
func sweepCommands() []command {
	return []command{
		{"serve", "benchmark each combination of server and benchmark parameters", runSweepServe, nil},
		{"serve_workload", "benchmark each at loads between serial and all at once", runSweepWorkload, nil},
		{"serve_sla", "search the highest load within objectives", runSweepSLA, nil},
		{"startup", "measure the start-up of a server for each combination of parameters", runSweepStartup, nil},
		{"plot", "draw the figures of a sweep as curves", runSweepPlot, nil},
		{"plot_pareto", "draw throughput per user against throughput per GPU", runSweepPareto, nil},
	}
}

func runSweep(env *session.Environment, args []string) int {
	all := sweepCommands()
	if len(args) > 1 && args[0] == "help" {
		args = []string{args[1], "--help"}
	}
	if len(args) == 0 {
		fmt.Fprint(env.Stderr, sweepOverview(all))
		return session.ExitUsage
	}
	if args[0] == "help" || args[0] == "-h" || strings.HasPrefix(args[0], "--help") {
		fmt.Fprint(env.Stdout, sweepOverview(all))
		return session.ExitFine
	}
	var names []string
	for _, c := range all {
		names = append(names, c.name)
		if argv.Dashes(c.name) == argv.Dashes(args[0]) {
			return c.run(env, args[1:])
		}
	}
	if why := noURL("sweep serve", args); why != "" {
		return env.Fail(session.ExitUsage, errors.New(why))
	}
	return env.Fail(session.ExitUsage, fmt.Errorf("sweep has no command %s%s; its commands are %s",
		usage.Quote(args[0]), usage.DidYouMean(args[0], names), strings.Join(names, ", ")))
}

func sweepOverview(all []command) string {
	var b strings.Builder
	b.WriteString("Runs many benchmarks, one after the other, and draws their figures.\n\nusage: benchtop sweep " +
		"COMMAND [flags]\n\n")
	width := len(slices.MaxFunc(all, func(a, b command) int { return len(a.name) - len(b.name) }).name)
	for _, c := range all {
		fmt.Fprintf(&b, "  %-*s  %s\n", width, c.name, c.summary)
	}
	b.WriteString("\n'benchtop sweep COMMAND --help' lists the flags of a command.\n")
	return b.String()
}
