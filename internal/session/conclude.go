package session

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"benchtop/export"
	"benchtop/internal/argv"
	"benchtop/internal/run"
	"benchtop/internal/server"
	"benchtop/internal/text"
	"benchtop/metrics"
	"benchtop/tui"
	"benchtop/tui/term"
)

// conclude prints the report and returns the exit code. A terminal that takes no output holds it up, until the way out
// is hastened.
func (e *Environment) conclude(p *Run, o run.Outcome, hastened <-chan struct{}) int {
	if p.Leave != nil {
		p.Leave()
	}
	conclusion := o.Report.Conclusion
	printed := make(chan error, 1)
	go func() {
		err := e.report(p, o)
		e.Warn(p.Server.Close(e.Say))                   // the profiler may take its time
		if r := &o.Report; r.Failed > 0 && err == nil { // which the exit code does not tell
			e.Say(fmt.Sprintf("%d of %d requests failed", r.Failed, r.Counts.Ended()))
		}
		printed <- err
	}()
	var impatient <-chan time.Time
	for {
		select {
		case err := <-printed:
			if err != nil {
				conclusion = max(conclusion, metrics.RunFailed)
			}
			return ExitCode(conclusion)
		case <-hastened:
			hastened, impatient = nil, time.After(patience)
		case <-impatient:
			return ExitCode(conclusion)
		}
	}
}

// report prints the report, where the result is, and what went wrong, which it also returns.
func (e *Environment) report(p *Run, o run.Outcome) error {
	e.release()
	// Standard output may be gone with the terminal.
	err := o.Err
	print := p.Print
	if print == nil {
		print = func(o run.Outcome) error { return PrintReport(e.Stdout, o.Report, p.baseline, !p.Plots.NoPlots) }
	}
	switch problem := errors.Join(print(o), e.Deliver(o.Report)); {
	case problem == nil || errors.Is(problem, syscall.EPIPE) && o.Path != "":
	case o.Path == "":
		err = errors.Join(err, fmt.Errorf("the report could not be printed, and no file was saved: %w", problem))
	default:
		o.Warnings = append(o.Warnings, "the report could not be printed: "+problem.Error())
	}
	if o.Path != "" {
		fmt.Fprintf(e.Stderr, "result saved to %s\n", Harmless(o.Path))
	}
	beside := o.Beside()
	for _, path := range beside.Paths {
		fmt.Fprintf(e.Stderr, "saved %s\n", Harmless(path))
	}
	e.Warn(slices.Concat(o.Warnings, beside.Warnings))
	if d := e.display(); d != nil {
		e.Warn(d.recording.trouble())
	}
	if err == nil {
		err = requestsFailed(&o.Report)
	}
	if err != nil {
		e.Fail(ExitFailed, err)
	} else if !o.Saved {
		err = errors.New("not saved to its place")
	}
	return err
}

// idsRefused matches the words of servers that take prompts of text alone.
var idsRefused = regexp.MustCompile(`(?is)prompt.*\bstring|\bstring.*prompt`)

// requestsFailed is why the requests make a run a failure, nil where they do not.
func requestsFailed(r *metrics.Report) error {
	switch {
	case r.Conclusion != metrics.RunFailed || r.Trouble == "":
		return nil
	case strings.HasPrefix(r.Trouble, metrics.PartsLost):
		return errors.New(r.Trouble)
	case metrics.ConclusionOf(r.Trouble) == metrics.RunFailed:
		words := r.Trouble + advice(r)
		if r.Interrupted != nil && r.Interrupted.Unsent > 0 {
			words += "; --keep-going sends the others as well"
		}
		return errors.New(words)
	case r.Completed == 0 && r.WarmedUp > 0 && r.Failed == 0:
		return fmt.Errorf("all %d requests were in the warm-up, so there are no figures; shorten --warmup %s",
			r.WarmedUp, metrics.Duration(r.Plan.Warmup))
	case r.Plan.InputSource == metrics.TokensFromIDs && slices.ContainsFunc(r.Failures,
		func(f metrics.FailureCount) bool { return slices.ContainsFunc(f.Examples, idsRefused.MatchString) }):
		return errors.New(r.Trouble +
			"; the server takes no prompts of token ids: --calibrate-lengths sends words, --tokenizer makes text")
	}
	return errors.New(r.Trouble + firstFailure(r))
}

// firstFailure is the most frequent failure where nothing else came, in its own words, with what to try.
func firstFailure(r *metrics.Report) string {
	if r.Completed > 0 || len(r.Failures) == 0 {
		return ""
	}
	f, words := &r.Failures[0], ""
	if f.Status > 0 {
		words = fmt.Sprintf(": HTTP %d", f.Status)
	}
	if len(f.Examples) > 0 {
		words += ": " + text.Clip(text.Clean(f.Examples[0]), 200)
	}
	return words + advice(r)
}

// advice is what to try by the status of the most frequent failure, "" for none: where there was no token in place of
// one that was refused, to look at that.
func advice(r *metrics.Report) string {
	if len(r.Failures) == 0 {
		return ""
	}
	status := r.Failures[0].Status
	for _, e := range slices.Backward(r.Events) {
		if e.Mark == metrics.TokenMark && status == http.StatusUnauthorized {
			return "; " + e.Text + ": run the command in a shell"
		}
	}
	asked := slices.ContainsFunc(r.Plan.Spec, func(s metrics.Setting) bool { return s.Flag == "auth-command" })
	return server.Advice(status, r.Plan.Backend, asked)
}

// PrintReport prints everything there is to read about a run, beside an older one unless that is nil; the headline
// result stands last.
func PrintReport(w io.Writer, r metrics.Report, old *tui.Baseline, plots bool) error {
	page := export.Text(r) + export.Servers(r) + export.Groups(r) + export.Answers(r) + export.Telemetry(r)
	if old != nil {
		page += export.Comparison(old.Name, old.Report, &r)
	}
	page += export.Remarks(r)
	if plots {
		page += export.Plots(r, export.PlotOptions{ASCII: term.Plain(os.Getenv)})
	}
	page += export.Tiers(r) + Again("Repeat", r.Plan.Command, r.Plan.Spec)
	_, err := fmt.Fprintf(w, "%s\n%s\n", page, export.Answer(r))
	return err
}

// Again is the command that does again what was asked for: the first word of a command, with these values, but for
// --json, since it changes only where the result goes; "" where they are not known.
func Again(what string, command []string, asked []metrics.Setting) string {
	if asked == nil || len(command) == 0 {
		return ""
	}
	words := metrics.Words(slices.DeleteFunc(slices.Clone(asked),
		func(s metrics.Setting) bool { return s.Flag == "json" }))
	again := argv.ShellWords(append(command[:1:1], words...))
	return fmt.Sprintf("\n%s with: %s\n", what, text.Clean(strings.Join(again, " ")))
}

// ExitCode is the exit code of a conclusion.
func ExitCode(c metrics.Conclusion) int {
	switch c {
	case metrics.Aborted:
		return ExitAborted
	case metrics.Terminated:
		return ExitTerminated
	case metrics.HungUp:
		return ExitHangup
	case metrics.RunFailed:
		return ExitFailed
	case metrics.GateMissed:
		return ExitMissed
	}
	return ExitFine
}
