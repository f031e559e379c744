package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"benchtop/export"
	"benchtop/internal/session"
	"benchtop/internal/spec"
	"benchtop/internal/sweep"
	"benchtop/metrics"
	"benchtop/metrics/grid"
)

// points are the runs of a command line while they are performed.
type points struct {
	env        *session.Environment
	asked      *spec.Spec
	singles    []*spec.Spec
	done       map[int]export.RunOf // by their place among the singles
	conclusion metrics.Conclusion
	failed     error
}

// runPoints performs the runs of a sweep or of repetitions one after another, and prints their reports, then what they
// have in common. A run of which most requests fail does not keep the next from beginning; one that cannot begin, or a
// signal, does.
func runPoints(e *session.Environment, o *spec.Spec) int {
	singles, err := o.Runs()
	if err != nil {
		return e.Fail(session.ExitUsage, err)
	}
	if !o.Server.Reset && !o.Request.Cold() {
		e.Warn([]string{"the runs send the same prompts, which the server's prefix cache may answer from the second " +
			"run on; --reset-prefix-cache or --cache cold prevents that"})
	}
	signal.Ignore(syscall.SIGPIPE)
	defer signal.Reset(syscall.SIGPIPE)
	p := &points{env: e, asked: o, singles: singles, done: map[int]export.RunOf{}}
	var pairs []sweep.Combination
	for i, at := range o.Series.Points {
		pairs = append(pairs, sweep.Combination{Place: strconv.Itoa(i), Load: at.Label})
	}
	word, part := "", "workload" // of a preset
	if o.Series.Swept() != "" {
		word, part = "sweep", "load"
	}
	_, stopped := e.Series(&o.Screen, true, func(b *session.Runner, _ io.Writer) *sweep.Sweep {
		return sweep.New(sweep.Options{
			Title: "serve", Word: word, Part: part, Pairs: pairs, Runs: o.Series.Runs, ContinueOnError: true,
			Out: io.Discard,
			Measure: func(ctx context.Context, r sweep.Run) (grid.Figures, error) {
				i, _ := strconv.Atoi(r.Place)
				return p.measure(ctx, b, i*o.Series.Runs+r.Number)
			},
		})
	})
	if err := p.print(); stopped == nil {
		stopped = err
	}
	switch {
	case stopped != nil:
		return e.Failed(stopped)
	case p.failed != nil:
		return max(e.Fail(session.ExitFailed, p.failed), session.ExitCode(p.conclusion))
	}
	return session.ExitCode(p.conclusion)
}

// measure performs one of the runs and prints its report.
func (p *points) measure(ctx context.Context, b *session.Runner, i int) (f grid.Figures, err error) {
	single := p.singles[i]
	at := single.Point()
	p.env.Say(fmt.Sprintf("run %d of %d%s", i+1, len(p.singles), strings.TrimRight(": "+at.Label, ": ")))
	outcome, err := b.Perform(ctx, single)
	r := outcome.Report
	if r.Plan.Started.IsZero() || ctx.Err() != nil {
		if err != nil {
			err = sweep.End{Err: err}
		}
		return f, err
	}
	if err := errors.Join(session.PrintReport(p.env.Stdout, r, nil, false), p.env.Deliver(r)); err != nil {
		return f, sweep.End{Err: fmt.Errorf("the report could not be printed: %w", err)}
	}
	if outcome.Path != "" {
		fmt.Fprintf(p.env.Stderr, "result saved to %s\n", session.Harmless(outcome.Path))
	}
	if p.conclusion = max(p.conclusion, r.Conclusion); err != nil {
		p.failed = errors.Join(p.failed, fmt.Errorf("run %d, %s: %w", i+1, at.Label, err))
	}
	p.done[i] = export.RunOf{Load: at.Label, Label: at.Name(), Report: r}
	if err != nil {
		return f, err
	}
	return sweep.FiguresOf(r)
}

// print prints the command for all runs, since their reports have that for each alone, then how the repetitions of each
// load vary, and the summary of all loads.
func (p *points) print() error {
	done := metrics.Each(slices.Sorted(maps.Keys(p.done)), func(i int) export.RunOf { return p.done[i] })
	series, summary := &p.asked.Series, ""
	if len(done) > 0 {
		summary = session.Again("Repeat all runs", p.asked.Command, p.asked.Settings())
	}
	for i, at := range series.Points {
		var same []metrics.Report
		for k := range series.Runs {
			if run, ok := p.done[i*series.Runs+k]; ok {
				same = append(same, run.Report)
			}
		}
		if series.Runs < 2 || len(same) == 0 {
			continue
		}
		title := strings.TrimSuffix("Multi-run Summary, "+at.Label, ", ")
		summary += export.RunsSpread(title, same)
	}
	frontier, err := "", error(nil)
	if series.Swept() != "" {
		frontier, err = sweep.Frontier(done)
		summary += export.RunsSummary(done, series.Extra) + frontier
	} else {
		summary += control(&p.asked.Preset, done)
	}
	_, unwritten := io.WriteString(p.env.Stdout, summary)
	return errors.Join(err, unwritten)
}

// control compares the run of a preset with its control, where both were made once; "" for others.
func control(o *spec.Preset, done []export.RunOf) string {
	if o.Chosen == nil || o.Chosen.Control == "" || len(done) != 2 || done[1].Label != o.Chosen.Control {
		return ""
	}
	return "\n" + strings.Repeat("=", 50) + "\n" + export.Comparison(done[1].Label, &done[1].Report, &done[0].Report)
}
