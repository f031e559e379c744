package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"benchtop/export"
	"benchtop/internal/telemetry"
	"benchtop/metrics"
)

// outcome is how a run ended.
type outcome struct {
	report metrics.Report
	path   string // where the result is, "" for nowhere
	err    error  // of the source, the journal or the saving
	saved  bool   // nothing that should be on disk is missing
	// beside are the other files that were written, warnings why one was not.
	beside, warnings []string
}

// perform runs the load and saves the result; it needs no screen. A bug on the way must not leave the terminal as it is, nor
// lose what the journal has.
func (s *session) perform() (o outcome) {
	defer func() {
		if bug := recover(); bug != nil {
			_ = s.journal.Flush()
			o.err = fmt.Errorf("benchtop broke while it finished the run: %v; %s\n%s", bug, s.whereTheJournalIs(), debug.Stack())
			o.saved, o.report.Conclusion = false, metrics.RunFailed
		}
	}()
	run, err := s.measure()
	close(s.ran)
	s.countAnswers(&run)
	o = s.keep(run)
	o.err = errors.Join(err, o.err)
	if o.err != nil || !o.saved {
		o.report.Conclusion = max(o.report.Conclusion, metrics.RunFailed)
	}
	s.recorder.Finish(&o.report)
	return o
}

// measure runs the load to its end.
func (s *session) measure() (metrics.Run, error) {
	watching, stop := context.WithCancel(context.Background())
	defer stop()
	var watch sync.WaitGroup
	watch.Go(func() { s.watchJournal(watching) })
	watch.Go(func() { s.walkStages(s.untilStopped(watching)) })
	watch.Go(func() { s.steer(s.untilStopped(watching)) })
	watch.Go(func() { s.search(s.untilStopped(watching)) })
	dialled := s.load.Connections.Stats().Dialled // ahead of the run
	watch.Go(func() { s.watchClient(watching, dialled) })
	watch.Go(func() { s.watchServer(watching) })
	watch.Go(func() { s.watchGPUs(watching) })
	watch.Go(func() { s.judge(watching) })
	err := s.engine.Run(context.Background(), s.source)
	stop()
	s.supplies.close()
	watch.Wait()
	run := s.soFar()
	run.Ended = s.engine.Ended()
	if s.load.ProbeRate > 0 {
		probes := s.engine.Probes()
		run.Probes = &probes
	}
	if s.side != nil {
		for _, n := range s.side.end(&run) {
			s.log(metrics.Warn, n)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	run.Events, run.Reason = s.events, s.reason // what was logged meanwhile as well
	if run.Reason == "" && err != nil {
		run.Reason = err.Error()
	}
	return run, err
}

// soFar is what is known of the run by now beside its requests, but for how it ended.
func (s *session) soFar() metrics.Run {
	snapshot, stamps := s.recorder.Snapshot(), s.recorder.Stamps()
	run := metrics.Run{
		Plan: s.plan, Client: snapshot.Client, Stamps: &stamps,
		Server: snapshot.Server, ServerKind: snapshot.ServerKind, ServerAbsent: snapshot.ServerAbsent,
		GPUs: snapshot.GPUs, GPUsAbsent: snapshot.GPUsAbsent,
		Unsent: s.unsent(snapshot.Totals.Due),
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	run.Events = slices.Clone(s.events)
	return run
}

// unsent is how many requests of the plan have not become due. Where its clock ends the run and the load was steered, nobody
// knows how many there were to be.
func (s *session) unsent(due int) int {
	if s.plan.Duration > 0 && s.helm.steered() {
		return 0
	}
	return max(0, s.plan.Requests-due)
}

// keep computes the report and saves it, with all that stands beside it.
func (s *session) keep(run metrics.Run) (o outcome) {
	telemetry.SaveMemory() // no chunk waits any more
	o.saved = true
	var problems []error
	_ = s.journal.Close(run) // finish saves whatever the file lacks
	var err error
	o.report, err = metrics.Summarize(s.journal.Records(), run)
	problems = append(problems, err)
	if s.files != nil {
		var last io.Writer
		if !isTerminal(s.env.stdout) {
			last = s.env.stdout
		}
		if o.path, err = s.files.finish(o.report, s.journal, last); err != nil {
			problems = append(problems, fmt.Errorf("saving: %w", err))
		}
		o.saved = o.path == s.files.path
		o.warnings = s.files.notes()
	}
	beside, warnings := s.draw(o.report, o.path)
	o.beside, o.warnings = beside, append(o.warnings, warnings...)
	if unseen := export.UnseenGPUs(&o.report); unseen != "" {
		o.warnings = append(o.warnings, unseen)
	}
	if s.files != nil {
		problem := "see the report"
		if o.saved {
			problem = ""
			if err := s.files.pack(); err != nil {
				o.warnings = append(o.warnings, err.Error())
			}
		}
		s.recorder.SetSaving(o.path, problem)
	}
	o.err = errors.Join(problems...)
	return o
}

// watchJournal tells when the journal cannot be written, and when it can be again.
func (s *session) watchJournal(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for failing, over := false, false; !over; {
		select {
		case <-ctx.Done():
			over = true
			_ = s.journal.Flush() // so that the last word is true
		case <-tick.C:
		}
		err := s.journal.Err()
		switch {
		case err != nil && !failing:
			s.recorder.SetSaving("", err.Error())
			s.announce(metrics.Error, "the journal cannot be written, the run goes on in memory: "+err.Error())
		case err == nil && failing:
			s.recorder.SetSaving(s.files.path, "")
			s.announce(metrics.Info, "the journal is written again, and nothing is missing in it")
		}
		failing = err != nil
	}
}

// announce logs an event that a person has to hear of at once, with a dashboard or without.
func (s *session) announce(level metrics.Level, words string) {
	s.log(level, words)
	if !s.drawn() {
		fmt.Fprintf(s.env.stderr, "benchtop: %s\n", words)
	}
}

// drawn says that a dashboard is on the terminal.
func (s *session) drawn() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown && !s.noUI
}

// judgeEvery is how often the answer is computed while the run is on.
const judgeEvery = 2 * time.Second

// judge keeps the answer of the run so far up to date, for whoever looks at it.
func (s *session) judge(ctx context.Context) {
	tick := time.NewTicker(judgeEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if s.watched() {
				s.recorder.Judge()
			}
		}
	}
}

// watched says that a dashboard or a viewer shows the run.
func (s *session) watched() bool {
	if s.drawn() {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.host.Viewers() > 0
}
