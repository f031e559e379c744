package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"benchtop/export"
	"benchtop/export/page"
	"benchtop/internal/argv"
	"benchtop/internal/compare"
	"benchtop/internal/files"
	"benchtop/internal/replay"
	"benchtop/internal/session"
	"benchtop/internal/spec"
	"benchtop/internal/table"
	"benchtop/internal/telemetry"
	"benchtop/internal/text"
	"benchtop/internal/usage"
	"benchtop/metrics"
	"benchtop/metrics/audit"
	"benchtop/metrics/event"
	"benchtop/metrics/report"
	"benchtop/tui"
)

const reportText = `
Prints the reports of saved runs, recomputed from their journals. FILE is a journal (.jsonl or .jsonl.gz), or
the result (.json) beside it. The journals of all parts of a run (--part) are one run. A truncated journal
gives a report of what it holds. An interim result (-so-far.json) shares the journal of the whole run, so its
report covers the whole run.

On a terminal, a single FILE is replayed on the dashboard: space plays and pauses, < and > change the speed,
comma and full stop seek. The report is printed on exit; --no-tui prints it at once.

--html writes the reports as one page for a browser instead, with charts: the runs one below the other, with a
table of their main figures and their charts over each other first where they are several; of two also the
differences that are more than chance.

--audit says whether a result is fit to publish: valid, not valid or not known, check by check, with the figure
and the rule. Exit code 3 says that one is not valid.`

func runReport(env *session.Environment, args []string) int {
	flags := argv.Flags{Synopsis: "report [flags] FILE...", Text: reportText}
	fs := flags.Group("Output")
	asJSON := fs.Bool("json", false, "print the result as JSON instead of text")
	html := fs.String("html", "", "write an HTML page to this file instead of text")
	fit := fs.Bool("audit", false, "say whether the results are fit to publish, and why not; exit code 3 if not")
	noPlots := fs.Bool("no-plots", false, "no text plots below the report")
	var baseline spec.Baseline
	var screen spec.Screen
	fs = flags.Group("Screen")
	fs.BoolVar(&screen.Plain, "no-tui", false, "print the report without replaying the run")
	screen.DefineLooks(fs)
	baseline.Define(fs)
	rest, err := env.Parse(&flags, args)
	switch {
	case len(rest) > 0:
	case baseline.File != "":
		err = errors.Join(err, fmt.Errorf("--baseline %s: this is the older run; also name the run to compare with it",
			usage.Quote(baseline.File)))
	case err == nil:
		err = errors.New("report takes a file, got none; see 'benchtop report --help'")
	}
	if err := errors.Join(err, screen.CheckLooks()); err != nil {
		return env.Fail(session.ExitUsage, err)
	}
	if *fit && (*html != "" || *asJSON) {
		return env.Fail(session.ExitUsage, errors.New("--audit prints text; --json and --html have the audit anyway"))
	}
	if *html != "" && !isPage(*html) {
		return env.Fail(session.ExitUsage, fmt.Errorf("--html %s: name a file that ends in .html", usage.Quote(*html)))
	}
	runs, notes := files.ReadRuns(rest)
	env.Warn(notes)
	if *html != "" {
		return reportPage(env, *html, runs)
	}
	old, err := session.LoadBaseline(context.Background(), env, &baseline)
	if err != nil {
		return env.Fail(session.ExitUsage, err)
	}
	if len(runs) == 1 && !*asJSON && !*fit && env.Draws(&screen) {
		if err := replayRun(runs[0], &screen, old); err != nil {
			return env.Fail(session.ExitFailed, err)
		}
	}
	return reportAll(env, runs, old, printing{*asJSON, *fit, !*noPlots})
}

// printing is what is printed of a report.
type printing struct{ asJSON, audit, plots bool }

// reportAll prints the reports of files.
func reportAll(env *session.Environment, runs []files.Saved, old *tui.Baseline, p printing) int {
	telemetry.TuneMemory()
	code := session.ExitFine
	for i, run := range runs {
		if len(runs) > 1 && !p.asJSON {
			fmt.Fprintf(env.Stdout, "%s%s\n", map[bool]string{true: "\n"}[i > 0], text.Clean(run.Name))
		}
		fine, err := reportOn(env.Stdout, run, old, p)
		if err != nil {
			code = env.Fail(session.ExitFailed, err)
		} else if !fine && code == session.ExitFine {
			code = session.ExitMissed
		}
		if p.asJSON && len(runs) > 1 {
			fmt.Fprintln(env.Stdout)
		}
	}
	return code
}

// reportPage writes the reports of files as a page.
func reportPage(env *session.Environment, path string, saved []files.Saved) int {
	telemetry.TuneMemory()
	var runs []page.Run
	var problems error
	for _, run := range saved {
		r, err := reportOf(run)
		if problems = errors.Join(problems, err); r != nil {
			runs = append(runs, session.OnPage(run.Name, r))
		}
	}
	if len(runs) > 0 {
		err := files.Write(path, func(w io.Writer) error { return page.WriteCompared(w, evidenceOf(runs), runs...) })
		if problems = errors.Join(problems, err); err == nil {
			fmt.Fprintf(env.Stdout, "report written to %s\n", text.Clean(path))
		}
	}
	if problems != nil {
		return env.Fail(session.ExitFailed, problems)
	}
	return session.ExitFine
}

// isPage reports whether the name of a file is that of a page; another one may be that of a run.
func isPage(path string) bool {
	ending := strings.ToLower(filepath.Ext(path))
	return ending == ".html" || ending == ".htm"
}

// evidenceOf are the tables of the comparison of two runs; of other numbers there are none.
func evidenceOf(runs []page.Run) (all []*table.Table) {
	if len(runs) != 2 {
		return nil
	}
	a, b := runs[0], runs[1]
	proof := compare.ProofOf([2]string{a.Name, b.Name}, "the two runs", []metrics.Report{*a.Report},
		[]metrics.Report{*b.Report})
	tables := proof.Tables()
	for i := range tables {
		all = append(all, &tables[i].Table)
	}
	if note := proof.Note(); note != "" {
		why := table.List("", "")
		why.Add(note)
		all = append(all, why)
	}
	return all
}

// reportOf is the report of a run. It is nil where there is none; an error beside it says what it lacks.
func reportOf(run files.Saved) (*metrics.Report, error) {
	if run.Err != nil {
		return nil, run.Err
	}
	r, damaged := report.From(run.Source)
	if damaged != nil && r.Plan.Started.IsZero() {
		return nil, damaged // before the plan
	}
	return &r, damaged
}

// reportOn prints the report of one run, or its audit, and reports whether that is fine.
func reportOn(w io.Writer, run files.Saved, old *tui.Baseline, p printing) (fine bool, err error) {
	r, damaged := reportOf(run)
	if r == nil {
		return false, damaged
	}
	fine = true
	switch {
	case p.asJSON:
		err = export.JSON(w, *r)
	case p.audit:
		text, outcome := export.Audit(*r)
		_, err = io.WriteString(w, text)
		fine = outcome != audit.Invalid
	default:
		err = session.PrintReport(w, *r, old, p.plots)
	}
	return fine, errors.Join(damaged, err)
}

// replayRun plays a saved run on the dashboard until the user leaves it.
func replayRun(run files.Saved, screen *spec.Screen, baseline *tui.Baseline) error {
	if run.Err != nil {
		return run.Err
	}
	player, err := replay.New(run.Source(event.Pick{}))
	if err != nil {
		return err
	}
	_, err = session.OnTerminal(func(ctx context.Context) error {
		playing, stop := context.WithCancel(ctx)
		snapshots := player.Run(playing)
		defer func() {
			stop()
			for range snapshots { // until the player has ended
			}
		}()
		o := session.DashboardOptions(screen, snapshots, pastRun{player: player})
		o.Player, o.Baseline, o.Quiet = player, baseline, true
		return tui.Run(ctx, o)
	})
	return err
}

// pastRun is a run of the past as its dashboard sees it: it can be looked at.
type pastRun struct {
	tui.NoControl
	player *replay.Player
}

// Inspect says what of single requests the dashboard wants to see.
func (r pastRun) Inspect(l metrics.Inspection) { r.player.Inspect(l) }
