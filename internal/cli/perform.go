package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"time"

	"benchtop/export"
	"benchtop/internal/telemetry"
	"benchtop/metrics"
	"benchtop/metrics/report"
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
	end, err := s.measure()
	close(s.ran)
	s.countAnswers()
	s.stream.Tell(end)
	o = s.keep()
	o.err = errors.Join(err, o.err)
	if o.err != nil || !o.saved {
		o.report.Conclusion = max(o.report.Conclusion, metrics.RunFailed)
	}
	s.view.Finish(&o.report)
	return o
}

// measure runs the load to its end, and says how that was.
func (s *session) measure() (metrics.End, error) {
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
	s.supplies.Close()
	watch.Wait()
	end := s.soFar()
	end.Ended = s.engine.Ended()
	if s.load.ProbeRate > 0 {
		probes := s.engine.Probes()
		end.Probes = &probes
	}
	if s.side != nil {
		for _, n := range s.side.end(&end) {
			s.log(metrics.Warn, n)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	end.Reason = s.reason
	if end.Reason == "" && err != nil {
		end.Reason = err.Error()
	}
	return end, err
}

// soFar is how the run would end now, but for when and why.
func (s *session) soFar() metrics.End {
	stamps := s.view.Stamps()
	return metrics.End{Stamps: &stamps, Unsent: s.unsent(s.view.Totals().Due)}
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
func (s *session) keep() (o outcome) {
	telemetry.SaveMemory() // no chunk waits any more
	o.saved = true
	var problems []error
	_ = s.journal.Close() // finish saves whatever the file lacks
	var err error
	if o.report, err = report.Of(s.journal.Events()); err != nil && o.report.Plan.Started.IsZero() {
		o.report.Plan = s.plan // another program cut the journal; the plan is known all the same
	}
	problems = append(problems, err)
	if s.files != nil {
		var last io.Writer
		if !isTerminal(s.env.stdout) {
			last = s.env.stdout
		}
		if o.path, err = s.files.Finish(o.report, s.journal, last); err != nil {
			problems = append(problems, fmt.Errorf("saving: %w", err))
		}
		o.saved = o.path == s.files.Path
		o.warnings = s.files.Notes()
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
			if err := s.files.Pack(); err != nil {
				o.warnings = append(o.warnings, err.Error())
			}
		}
		s.stream.Tell(metrics.Saving{Path: o.path, Problem: problem})
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
			s.stream.Tell(metrics.Saving{Problem: err.Error()})
			s.announce(metrics.Error, "the journal cannot be written, the run goes on in memory: "+err.Error())
		case err == nil && failing:
			s.stream.Tell(metrics.Saving{Path: s.files.Path})
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
				s.view.Judge()
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
