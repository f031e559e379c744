package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"benchtop/export"
	"benchtop/loadgen"
	"benchtop/metrics"
	"benchtop/tui"
)

// session is one run, from the first request to the saved result. Everything before it can still be refused; from here on
// nothing that was measured may be lost.
type session struct {
	env    *environment
	plan   metrics.Plan
	load   loadgen.Options
	source loadgen.Source
	save   savingOptions
	screen screenOptions
	// notes are warnings from the preparation, remarks what is good to know; both for the log.
	notes, remarks []string
	// side is what is asked of the server beside the load, nil for nothing.
	side *sideline
	// charts are the pictures to write beside the result.
	charts  chartOptions
	noPlots bool
	// arguments are all flags and their values, for the result's file in PyTorch's form.
	arguments []export.Arg
	// leave is called when everything is over, nil for nothing.
	leave func()

	files    *saving
	recorder *metrics.Recorder
	journal  *export.Journal
	engine   *loadgen.Engine
	over     chan struct{} // closed when the run is over and saved
	told     chan struct{} // closed when a signal says that it is time to go
	tell     sync.Once

	mu      sync.Mutex // guards everything below
	events  []metrics.Event
	reason  string // why the run was cut short, "" if it was not
	code    int    // the exit code that follows from the reason
	stage   int    // how often the run was asked to stop
	noUI    bool
	lost    bool // the terminal is gone
	closeUI context.CancelFunc
}

// sigtermDrain is how long requests in flight may go on after SIGTERM or the loss of the terminal.
const sigtermDrain = 2 * time.Second

// run performs the session and returns the exit code.
func (s *session) run() int {
	s.plan.Started = time.Now()
	files, err := s.save.reserve(s.plan)
	if err != nil {
		var usage usageError
		if errors.As(err, &usage) {
			return s.env.fail(exitUsage, err)
		}
		return s.env.fail(exitFailed, err)
	}
	s.files = files
	if s.side != nil {
		s.notes = append(s.notes, s.side.begin()...)
	}
	if err := s.begin(); err != nil {
		s.files.abandon()
		return s.env.fail(exitFailed, err)
	}

	// The screen ends when the user leaves it or the terminal is lost, the snapshots when the run is over.
	ui, closeUI := context.WithCancel(context.Background())
	defer closeUI()
	s.closeUI, s.over, s.told = closeUI, make(chan struct{}), make(chan struct{})
	unhandle := s.handleSignals()
	defer unhandle()

	publishing, stopPublishing := context.WithCancel(context.Background())
	defer stopPublishing()
	var outcome outcome
	dashboard := s.screen.dashboard(s.env)
	every := s.screen.progress
	if dashboard {
		every = snapshotEvery
	}
	snapshots := s.recorder.Publish(publishing, every)
	go func() {
		defer close(s.over)
		outcome = s.perform()
		stopPublishing()
	}()

	if dashboard {
		err := tui.Run(ui, s.screen.options(snapshots, s))
		s.leftScreen(err)
	} else {
		progress(s.env.stderr, snapshots)
	}
	<-s.over
	return s.conclude(outcome)
}

// snapshotEvery feeds the dashboard's header rate.
const snapshotEvery = 500 * time.Millisecond

// begin opens the journal and builds the engine around it.
func (s *session) begin() (err error) {
	if s.files != nil {
		s.journal, err = export.NewJournal(s.files.journal, s.plan)
	} else {
		s.journal, err = export.NewJournal(nil, s.plan)
	}
	if err != nil {
		return err
	}
	// The clock starts here; what was prepared until now does not count.
	start := time.Now()
	s.load.Start = start
	s.recorder = metrics.NewRecorder(start, &s.plan)
	if s.files != nil {
		s.recorder.SetSaving(s.files.path, "")
	}
	s.engine, err = loadgen.New(s.load, loadgen.Observers(s.recorder, journaled{s.journal}))
	if err != nil {
		return err
	}
	if s.files != nil && s.files.moved != "" {
		s.notes = append(s.notes, "an older result of the same name is now "+s.files.moved)
	}
	for _, n := range s.notes {
		s.log(metrics.Warn, n)
	}
	for _, r := range s.remarks {
		s.log(metrics.Info, r)
	}
	s.log(metrics.Info, s.plan.Load)
	return nil
}

// journaled is the journal as an observer: it hears of requests when they are done.
type journaled struct{ *export.Journal }

func (journaled) Due(*metrics.Request)   {}
func (journaled) Sent(*metrics.Request)  {}
func (journaled) Chunk(*metrics.Request) {}

// log files something that happened just now.
func (s *session) log(level metrics.Level, text string) {
	s.file(metrics.Event{Level: level, Text: text})
}

// file puts an event of this moment into the log, the journal and the report.
func (s *session) file(e metrics.Event) {
	e.At = time.Since(s.load.Start).Round(time.Microsecond)
	s.mu.Lock()
	s.events = append(s.events, e)
	s.mu.Unlock()
	s.recorder.Log(e)
	s.journal.Event(e)
}

// outcome is how a run ended.
type outcome struct {
	report metrics.Report
	path   string // where the result is, "" for nowhere
	err    error  // of the source, the journal or the saving
	saved  bool   // nothing that should be on disk is missing
	// beside are the other files that were written, warnings why one was not.
	beside, warnings []string
}

// perform runs the load and saves the result; it needs no screen.
func (s *session) perform() (o outcome) {
	watching, stop := context.WithCancel(context.Background())
	var watch sync.WaitGroup
	watch.Go(func() { s.watchJournal(watching) })
	watch.Go(func() { s.walkStages(watching) })
	err := s.engine.Run(context.Background(), s.source)
	ended := time.Since(s.load.Start).Round(time.Microsecond)
	stop()
	watch.Wait()
	var beside metrics.Run
	if s.load.ProbeRate > 0 {
		probes := s.engine.Probes()
		beside.Probes = &probes
	}
	if s.side != nil {
		for _, n := range s.side.end(&beside) {
			s.log(metrics.Warn, n)
		}
	}

	due := s.recorder.Snapshot().Totals.Due
	s.mu.Lock()
	run := metrics.Run{
		Plan: s.plan, Ended: ended, Events: s.events, Reason: s.reason,
		Probes: beside.Probes, SpecDecode: beside.SpecDecode, Diffusion: beside.Diffusion,
	}
	s.mu.Unlock()
	if run.Reason == "" && err != nil {
		run.Reason = err.Error()
	}
	run.Unsent = max(0, s.plan.Requests-due)
	if totals := s.recorder.Snapshot().Totals; run.Reason == "" && (run.Unsent > 0 || totals.Cancelled > 0) {
		run.Reason = "the time was over before all requests were sent"
	}
	o.saved = true
	if e := s.journal.Close(run); e != nil {
		err = errors.Join(err, fmt.Errorf("journal: %w", e))
		o.saved = false
	}
	report, e := metrics.Summarize(s.journal.Records(), run)
	err = errors.Join(err, e)
	o.report = report
	if s.files != nil {
		var last io.Writer
		if !isTerminal(s.env.stdout) {
			last = s.env.stdout
		}
		path, e := s.files.finish(report, s.journal, last)
		if e != nil {
			err = errors.Join(err, fmt.Errorf("saving: %w", e))
		}
		o.path = path
		o.saved = o.saved && path == s.files.path
	}
	o.beside, o.warnings = s.draw(report)
	if s.files != nil {
		if o.saved {
			if e := s.files.pack(); e != nil {
				err = errors.Join(err, e)
			}
		}
		problem := ""
		if !o.saved {
			problem = "see the report"
		}
		s.recorder.SetSaving(o.path, problem)
	}
	o.err = err
	s.recorder.Finish(&o.report)
	return o
}

// watchJournal tells the screen when the journal can no longer be written.
func (s *session) watchJournal(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := s.journal.Err(); err != nil {
				s.recorder.SetSaving("", err.Error())
				s.log(metrics.Error, "the journal cannot be written any more, the run goes on in memory: "+err.Error())
				return
			}
		}
	}
}

// conclude prints the report and returns the exit code. A terminal that takes no output holds it up, until a signal says
// that it is time to go.
func (s *session) conclude(o outcome) int {
	if s.leave != nil {
		s.leave()
	}
	code := s.exitCode()
	if code == exitFine && missed(&o.report) {
		code = exitMissed
	}
	said := make(chan error, 1)
	go func() {
		err := s.say(o)
		if s.side != nil { // the profiler may take its time
			for _, note := range s.side.close() {
				s.env.warn([]string{note})
			}
		}
		said <- err
	}()
	var impatient <-chan time.Time
	for told := s.told; ; {
		select {
		case err := <-said:
			if err != nil {
				return exitFailed
			}
			return code
		case <-told:
			told, impatient = nil, time.After(patience)
		case <-impatient:
			if !o.saved || o.err != nil {
				return exitFailed
			}
			return code
		}
	}
}

// say prints the report, where the result is, and what went wrong, which it also returns.
func (s *session) say(o outcome) error {
	// Standard output may be gone with the terminal.
	err := o.err
	plots := !s.noPlots
	if e := printReport(s.env.stdout, o.report, plots); e != nil && o.path == "" {
		err = errors.Join(err, fmt.Errorf("the report could not be printed and was not to be saved: %w", e))
	}
	if o.path != "" {
		fmt.Fprintf(s.env.stderr, "result saved to %s\n", o.path)
	}
	for _, path := range o.beside {
		fmt.Fprintf(s.env.stderr, "saved %s\n", path)
	}
	s.env.warn(o.warnings)
	if err == nil && s.exitCode() == exitFine && o.report.Completed == 0 {
		err = errors.New("no request succeeded")
	}
	if err != nil {
		s.env.fail(exitFailed, err)
	} else if !o.saved {
		err = errors.New("not saved where it was to be")
	}
	return err
}

// printReport prints everything there is to read about a run; the answer a person came for stands last.
func printReport(w io.Writer, r metrics.Report, plots bool) error {
	err := errors.Join(export.Text(w, r), export.Remarks(w, r))
	if plots {
		err = errors.Join(err, export.Plots(w, r, export.PlotOptions{ASCII: tui.PlainTerminal(os.Getenv)}))
	}
	_, e := fmt.Fprintf(w, "\n%s\n", export.Answer(r))
	return errors.Join(err, e)
}

// exitCode is the exit code that follows from how the run was ended.
func (s *session) exitCode() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.code
}

// missed says whether a condition of the user's makes the run a failure.
func missed(r *metrics.Report) bool {
	return slices.ContainsFunc(r.Gates, func(g metrics.GateResult) bool { return g.Missed })
}

// Drain and Abort are the dashboard's hands on the run; signals use the same.

// Drain sends nothing new and lets what is in flight finish.
func (s *session) Drain() { s.stop("stopped by the user", exitFine, s.load.Drain) }

// Abort cuts what is in flight.
func (s *session) Abort() { s.abort("aborted by the user", exitAborted) }

func (s *session) abort(reason string, code int) {
	s.mu.Lock()
	s.stage = max(s.stage, 2)
	s.reason, s.code = reason, code
	s.recorder.SetState(metrics.Aborting, metrics.Never)
	s.mu.Unlock()
	s.log(metrics.Warn, reason+": cutting what is in flight")
	go s.engine.Abort()
}

// stop drains the run; the first reason counts, and only that returns true.
func (s *session) stop(reason string, code int, limit time.Duration) bool {
	s.mu.Lock()
	if s.stage > 0 {
		s.mu.Unlock()
		return false
	}
	s.stage, s.reason, s.code = 1, reason, code
	s.recorder.SetState(metrics.Draining, time.Since(s.load.Start)+limit)
	s.mu.Unlock()
	s.log(metrics.Info, fmt.Sprintf("%s: sending no more, waiting up to %s for requests in flight", reason, limit))
	go s.engine.Drain(limit)
	return true
}

// leftScreen decides what the end of the dashboard means for the run.
func (s *session) leftScreen(err error) {
	select {
	case <-s.over:
		return
	default:
	}
	s.mu.Lock()
	stage, noUI := s.stage, s.noUI
	s.mu.Unlock()
	switch {
	case noUI:
		// A signal closed it and has said already how the run ends.
	case err != nil && errors.Is(err, tui.ErrTerminal):
		s.hangUp()
	case err != nil:
		// The dashboard broke; the run is worth more than the picture.
		fmt.Fprintf(s.env.stderr, "benchtop: the dashboard broke, the run goes on without it: %s\n", err)
	case stage >= 2:
		s.leaveNow()
	}
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
	s.files.abandon()
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
	return fmt.Sprintf("what was measured is in %s (benchtop report %[1]s)", s.files.journalName)
}
