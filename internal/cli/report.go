package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/pflag"

	"benchtop/export"
	"benchtop/internal/argv"
	"benchtop/internal/files"
	"benchtop/internal/replay"
	"benchtop/internal/telemetry"
	"benchtop/internal/text"
	"benchtop/internal/usage"
	"benchtop/metrics"
	"benchtop/metrics/report"
	"benchtop/tui"
)

const reportText = `
Prints the reports of saved runs, recomputed from their journals. FILE is a journal (.jsonl or .jsonl.gz), or
the result (.json) beside it. A truncated journal gives a report of what it holds. An interim result
(-so-far.json) shares the journal of the whole run, so its report covers the whole run.

On a terminal, a single FILE is replayed on the dashboard: space plays and pauses, < and > change the speed,
comma and full stop seek. The report is printed on exit; --no-tui prints it at once.`

func runReport(env *environment, args []string) int {
	flags := argv.Flags{Synopsis: "report [flags] FILE...", Text: reportText}
	fs := flags.Group("Output")
	asJSON := fs.Bool("json", false, "print the result as JSON instead of text")
	noPlots := fs.Bool("no-plots", false, "no text plots below the report")
	var baseline baselineOptions
	var screen screenOptions
	fs = flags.Group("Screen")
	fs.BoolVar(&screen.plain, "no-tui", false, "print the report without replaying the run")
	screen.defineLooks(fs)
	baseline.define(fs)
	rest, err := env.parse(&flags, args)
	switch {
	case len(rest) > 0:
	case baseline.file != "":
		err = errors.Join(err, fmt.Errorf("--baseline %s: this is the older run; also name the run to compare with it", usage.Quote(baseline.file)))
	default:
		err = errors.Join(err, errors.New("report takes a file, got none; see 'benchtop report --help'"))
	}
	if err := errors.Join(err, screen.checkLooks()); err != nil {
		return env.fail(exitUsage, err)
	}
	old, err := loadBaseline(context.Background(), env, &baseline)
	if err != nil {
		return env.fail(exitUsage, err)
	}
	if len(rest) == 1 && !*asJSON && env.draws(&screen) {
		if err := replayRun(rest[0], &screen, old); err != nil {
			return env.fail(exitFailed, err)
		}
	}
	telemetry.SaveMemory()
	code := exitFine
	for i, file := range rest {
		if len(rest) > 1 && !*asJSON {
			fmt.Fprintf(env.stdout, "%s%s\n", map[bool]string{true: "\n"}[i > 0], text.Clean(file))
		}
		if err := reportOn(env.stdout, file, old, *asJSON, !*noPlots); err != nil {
			code = env.fail(exitFailed, err)
		}
		if *asJSON && len(rest) > 1 {
			fmt.Fprintln(env.stdout)
		}
	}
	return code
}

// reportOn prints the report of one file.
func reportOn(w io.Writer, file string, old *tui.Baseline, asJSON, plots bool) error {
	events, err := files.ReadRun(file)
	if err != nil {
		return err
	}
	r, damaged := report.Of(events)
	if damaged != nil && r.Plan.Started.IsZero() {
		return damaged // before the plan
	}
	if asJSON {
		err = export.JSON(w, r)
	} else {
		err = printReport(w, r, old, plots)
	}
	return errors.Join(damaged, err)
}

// baselineOptions name an older run to compare with.
type baselineOptions struct{ file string }

func (o *baselineOptions) define(f *pflag.FlagSet) {
	f.StringVar(&o.file, "baseline", "", "compare with a saved run on the dashboard and in the report: its result (.json) or journal, or a result of vllm bench")
}

// loadBaseline reads the older run, nil if none was named. A truncated one is used up to its end, with a warning. Errors other than ctx's
// are wrong usage.
func loadBaseline(ctx context.Context, env *environment, o *baselineOptions) (*tui.Baseline, error) {
	if o.file == "" {
		return nil, nil
	}
	env.Step(stepBaseline)
	report, err := files.OrStopped(ctx, func() (metrics.Report, error) { return files.ReadReport(o.file) })
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && report.Completed+report.Failed > 0:
		env.warn([]string{fmt.Sprintf("--baseline: %s; only the %d requests before that are used", err, report.Completed+report.Failed)})
	case err != nil:
		return nil, usage.Errorf("--baseline: %w", err)
	}
	if !report.Plan.TimedAlike() {
		env.warn([]string{fmt.Sprintf("--baseline: %s does not say that its chat streams were timed as in vLLM 0.33: its TTFT, TPOT and ITL may not be comparable",
			filepath.Base(o.file))})
	}
	env.Show(filepath.Base(o.file))
	return &tui.Baseline{Name: filepath.Base(o.file), Report: &report}, nil
}

// replayRun plays a saved run on the dashboard until the user leaves it.
func replayRun(file string, screen *screenOptions, baseline *tui.Baseline) error {
	events, err := files.ReadRun(file)
	if err != nil {
		return err
	}
	player, err := replay.New(events)
	if err != nil {
		return err
	}
	_, err = onTerminal(func(ctx context.Context) error {
		playing, stop := context.WithCancel(ctx)
		snapshots := player.Run(playing)
		defer func() {
			stop()
			for range snapshots { // until the player has ended
			}
		}()
		o := dashboardOptions(screen, snapshots, replayed{player: player})
		o.Player, o.Baseline, o.Quiet = player, baseline, true
		return tui.Run(ctx, o)
	})
	return err
}

// replayed is a run of the past as its dashboard sees it: it can be looked at.
type replayed struct {
	tui.NoControl
	player *replay.Player
}

// Inspect says what of single requests the dashboard wants to see.
func (r replayed) Inspect(l metrics.Inspection) { r.player.Inspect(l) }
