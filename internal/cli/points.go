package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"strings"
	"syscall"

	"benchtop/export"
	"benchtop/internal/session"
	"benchtop/internal/spec"
	"benchtop/metrics"
)

// runPoints performs the runs of a sweep or of repetitions one after another, and prints their reports, then what they have in common.
// A run of which most requests fail does not keep the next from beginning; one that cannot begin, or a signal, does.
func runPoints(e *session.Environment, o *spec.Spec) int {
	singles, err := o.Runs()
	if err != nil {
		return e.Fail(session.ExitUsage, err)
	}
	if !o.Server.Reset && !o.Request.Cold() {
		e.Warn([]string{"the runs send the same prompts, which the server's prefix cache may answer from the second run on; --reset-prefix-cache or --cache cold prevents that"})
	}
	signal.Ignore(syscall.SIGPIPE)
	defer signal.Reset(syscall.SIGPIPE)
	b := &session.Runner{Lines: e.Stderr}
	var done []export.RunOf
	conclusion, failed := metrics.Fine, error(nil)
	stopped := session.UntilStopped(func(ctx context.Context) error {
		for i, single := range singles {
			at := single.Point()
			e.Say(fmt.Sprintf("run %d of %d%s", i+1, len(singles), strings.TrimRight(": "+at.Label, ": ")))
			outcome, err := b.Perform(ctx, single)
			r := outcome.Report
			if r.Plan.Started.IsZero() || ctx.Err() != nil {
				return err
			}
			if err := session.PrintReport(e.Stdout, r, nil, false); err != nil {
				return fmt.Errorf("the report could not be printed: %w", err)
			}
			if outcome.Path != "" {
				fmt.Fprintf(e.Stderr, "result saved to %s\n", session.Harmless(outcome.Path))
			}
			if conclusion = max(conclusion, r.Conclusion); err != nil {
				failed = errors.Join(failed, fmt.Errorf("run %d, %s: %w", i+1, at.Label, err))
			}
			done = append(done, export.RunOf{Load: at.Label, Label: at.Name(), Report: r})
		}
		return nil
	})
	if err := printPoints(e, o, done); stopped == nil {
		stopped = err
	}
	switch {
	case stopped != nil:
		return e.Failed(stopped)
	case failed != nil:
		return max(e.Fail(session.ExitFailed, failed), session.ExitCode(conclusion))
	}
	return session.ExitCode(conclusion)
}

// printPoints prints how the repetitions of each load vary, and the summary of all loads.
func printPoints(e *session.Environment, o *spec.Spec, done []export.RunOf) error {
	if runs := o.Series.Runs; runs > 1 {
		for i, at := range o.Series.Points {
			var same []metrics.Report
			for k := i * runs; k < min((i+1)*runs, len(done)); k++ {
				same = append(same, done[k].Report)
			}
			title := "Multi-run Summary"
			if at.Label != "" {
				title += ", " + at.Label
			}
			if len(same) == 0 {
				break
			}
			if err := export.RunsSpread(e.Stdout, title, same); err != nil {
				return err
			}
		}
	}
	if o.Series.Swept() == "" || len(done) == 0 {
		return printControl(e.Stdout, &o.Preset, done)
	}
	return export.RunsSummary(e.Stdout, done, o.Series.Extra)
}

// printControl compares the run of a preset with its control, where both were made once.
func printControl(w io.Writer, o *spec.Preset, done []export.RunOf) error {
	if o.Chosen == nil || o.Chosen.Control == "" || len(done) != 2 || done[1].Label != o.Chosen.Control {
		return nil
	}
	if _, err := fmt.Fprintf(w, "\n%s\n", strings.Repeat("=", 50)); err != nil {
		return err
	}
	return export.Comparison(w, done[1].Label, &done[1].Report, &done[0].Report)
}
