package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"benchtop/export"
	"benchtop/metrics"
	"benchtop/tui"
	"benchtop/tui/term"
)

// conclude prints the report and returns the exit code. A terminal that takes no output holds it up, until a signal says
// that it is time to go.
func (s *session) conclude(o outcome) int {
	if s.leave != nil {
		s.leave()
	}
	conclusion := o.report.Conclusion
	said := make(chan error, 1)
	go func() {
		err := s.say(o)
		s.closeSide() // the profiler may take its time
		said <- err
	}()
	var impatient <-chan time.Time
	for told := s.told; ; {
		select {
		case err := <-said:
			if err != nil {
				conclusion = max(conclusion, metrics.RunFailed)
			}
			return exitCode(conclusion)
		case <-told:
			told, impatient = nil, time.After(patience)
		case <-impatient:
			return exitCode(conclusion)
		}
	}
}

func (s *session) closeSide() {
	if s.side != nil {
		s.env.warn(s.side.close())
	}
}

// say prints the report, where the result is, and what went wrong, which it also returns.
func (s *session) say(o outcome) error {
	s.env.release()
	// Standard output may be gone with the terminal.
	err := o.err
	plots := !s.noPlots
	switch e := printReport(s.env.stdout, o.report, s.baseline, plots); {
	case e == nil || errors.Is(e, syscall.EPIPE) && o.path != "":
	case o.path == "":
		err = errors.Join(err, fmt.Errorf("the report could not be printed, and no file has it: %w", e))
	default:
		o.warnings = append(o.warnings, "the report could not be printed: "+e.Error())
	}
	if o.path != "" {
		fmt.Fprintf(s.env.stderr, "result saved to %s\n", o.path)
	}
	for _, path := range o.beside {
		fmt.Fprintf(s.env.stderr, "saved %s\n", path)
	}
	s.env.warn(o.warnings)
	if d := s.env.display(); d != nil {
		s.env.warn(d.recording.trouble())
	}
	if r := &o.report; err == nil && r.Conclusion == metrics.RunFailed && r.Trouble != "" {
		err = errors.New(r.Trouble)
		if r.Completed == 0 && r.WarmedUp > 0 && r.Failed == 0 {
			err = fmt.Errorf("all %d requests belonged to the warm-up, so there are no figures; make --warmup %s shorter", r.WarmedUp, metrics.Duration(r.Plan.Warmup))
		}
	}
	if err != nil {
		s.env.fail(exitFailed, err)
	} else if !o.saved {
		err = errors.New("not saved where it was to be")
	}
	return err
}

// printReport prints everything there is to read about a run, beside an older one unless that is nil; the headline result stands last. It ends with the first
// error: what takes no words takes none of those that follow.
func printReport(w io.Writer, r metrics.Report, old *tui.Baseline, plots bool) error {
	if err := export.Text(w, r); err != nil {
		return err
	}
	if err := export.Beside(w, r); err != nil {
		return err
	}
	if old != nil {
		if err := export.Comparison(w, old.Name, old.Report, &r); err != nil {
			return err
		}
	}
	if err := export.Remarks(w, r); err != nil {
		return err
	}
	if plots {
		if err := export.Plots(w, r, export.PlotOptions{ASCII: term.Plain(os.Getenv)}); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "\n%s\n", export.Answer(r))
	return err
}

// exitCode is the exit code of a conclusion.
func exitCode(c metrics.Conclusion) int {
	switch c {
	case metrics.Aborted:
		return exitAborted
	case metrics.Terminated:
		return exitTerminated
	case metrics.HungUp:
		return exitHangup
	case metrics.RunFailed:
		return exitFailed
	case metrics.GateMissed:
		return exitMissed
	}
	return exitFine
}

// patience is how long the third request to stop waits for a result that is just being written.
const patience = time.Second

// leaveNow ends the process whatever the run does. The journal is complete up to the last flush.
func (s *session) leaveNow() {
	select {
	case <-s.over:
		return // saved meanwhile: the usual way out is as quick
	case <-time.After(patience):
	}
	_ = s.journal.Flush()
	s.files.Abandon()
	fmt.Fprintf(s.env.stderr, "benchtop: left at once; %s\n", s.whereTheJournalIs())
	if s.leave != nil {
		s.leave()
	}
	os.Exit(exitAborted)
}

func (s *session) whereTheJournalIs() string {
	if s.files == nil {
		return "nothing was saved"
	}
	return fmt.Sprintf("what was measured is in %s (benchtop report %[1]s)", s.files.JournalName)
}
