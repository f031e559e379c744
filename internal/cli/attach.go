package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"benchtop/internal/argv"
	"benchtop/internal/attach"
	"benchtop/internal/session"
	"benchtop/internal/spec"
	"benchtop/internal/table"
	"benchtop/internal/text"
	"benchtop/metrics"
	"benchtop/tui"
)

const attachText = `
Joins a run that the same user started in another terminal on this machine. Without an argument, joins
the only run there is; otherwise give its process id or socket. q detaches; the run continues.

The terminal that started the run controls it. If that terminal was lost and the run continues because of
--on-hangup continue, this one can take control with c: then q ends the run, and D detaches.`

func runAttach(env *session.Environment, args []string) int {
	flags := argv.Flags{Synopsis: "attach [flags] [PID|SOCKET]", Text: attachText}
	var screen spec.Screen
	screen.DefineLooks(flags.Group("Screen"))
	list := flags.Group("Runs").Bool("list", false,
		"list the runs that can be joined: a table on a terminal, otherwise tab-separated with sockets")
	rest, err := env.Parse(&flags, args)
	if len(rest) > 1 {
		err = errors.Join(err, fmt.Errorf("attach takes one run, got %q", rest))
	}
	if err := errors.Join(err, screen.CheckLooks()); err != nil {
		return env.Fail(session.ExitUsage, err)
	}
	if *list {
		return listRuns(env)
	}
	if !env.Draws(&screen) {
		return env.Fail(session.ExitUsage, errors.New("attach needs a terminal to draw on; --list works without one"))
	}
	path, err := choose(rest)
	if err != nil {
		return env.Fail(session.ExitFailed, err)
	}
	viewer, err := attach.Dial(path, session.Version())
	if err != nil {
		return env.Fail(session.ExitFailed, fmt.Errorf("cannot join the run at %s: %w", path, err))
	}
	defer viewer.Close()
	o := session.DashboardOptions(&screen, viewer.Snapshots(), viewer)
	o.ReadOnly, o.Attached = !viewer.Controls(), true
	if _, err := session.OnTerminal(func(ctx context.Context) error { return tui.Run(ctx, o) }); err != nil {
		return env.Fail(session.ExitFailed, err)
	}
	if err := viewer.Err(); err != nil {
		return env.Fail(session.ExitFailed, err)
	}
	return session.ExitFine
}

// choose finds the socket of the run that was named, or of the only one.
func choose(named []string) (string, error) {
	if len(named) == 1 && strings.ContainsRune(named[0], os.PathSeparator) {
		return named[0], nil
	}
	runs, err := attach.Find()
	switch {
	case err != nil:
		return "", fmt.Errorf("cannot list runs: %w", err)
	case len(named) == 1:
		pid, err := strconv.Atoi(named[0])
		for _, r := range runs {
			if err == nil && r.PID == pid {
				return r.Path, nil
			}
		}
		return "", fmt.Errorf("no run of this user has process id %s; %s", text.Clean(named[0]), runsInWords(runs))
	case len(runs) == 1:
		return runs[0].Path, nil
	}
	return "", errors.New(runsInWords(runs))
}

func runsInWords(runs []attach.RunProcess) string {
	if len(runs) == 0 {
		return "there is no run to join: start one with 'benchtop demo' or 'benchtop serve'"
	}
	return fmt.Sprintf("choose one of the runs, as in 'benchtop attach %d':\n%s", runs[0].PID, runsTable(runs))
}

// runsTable tells runs apart for a person, without a newline at its end.
func runsTable(runs []attach.RunProcess) string {
	t := table.List("", "PID", "FOR", "TARGET", "MODEL", "LOAD")
	for _, r := range runs {
		row := []any{r.PID, metrics.Duration(time.Since(r.Since).Round(time.Second)), "unknown load"}
		if a := r.About; a != (attach.About{}) {
			row = append(row[:2], strings.TrimPrefix(a.Target, "http://"), a.Model, a.Load)
		}
		t.Add(row...)
	}
	return strings.TrimSpace(t.String())
}

// listRuns prints aligned columns on a terminal, else fields between tabs.
func listRuns(env *session.Environment) int {
	runs, err := attach.Find()
	switch {
	case err != nil:
		return env.Fail(session.ExitFailed, fmt.Errorf("cannot list runs: %w", err))
	case len(runs) == 0:
		return session.ExitFine
	case session.IsTerminal(env.Stdout):
		fmt.Fprintln(env.Stdout, runsTable(runs))
		return session.ExitFine
	}
	fmt.Fprintln(env.Stdout, "PID\tSINCE\tSOCKET\tTARGET\tMODEL\tLOAD")
	for _, r := range runs {
		fmt.Fprintf(env.Stdout, "%d\t%s\t%s\t%s\t%s\t%s\n", r.PID, r.Since.Format(time.RFC3339), r.Path,
			text.Clean(r.About.Target), text.Clean(r.About.Model), text.Clean(r.About.Load))
	}
	return session.ExitFine
}
