package cli

import (
	"context"
	"io"
	"os"
	"sync"
	"time"

	"benchtop/export"
	"benchtop/export/journal"
	"benchtop/internal/attach"
	"benchtop/internal/cli/prompts"
	"benchtop/internal/files"
	"benchtop/internal/steering"
	"benchtop/internal/telemetry"
	"benchtop/loadgen"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/live"
	"benchtop/tui"
)

// session is one run, from the first request to the saved result. Everything before it can still be refused; from here on
// nothing that was measured may be lost.
type session struct {
	env    *environment
	plan   metrics.Plan
	load   loadgen.Options
	source loadgen.Source
	// watch is there if it has looked before the run: then before is what it saw.
	watch  *telemetry.ServerWatch
	before *metrics.ServerSecond
	// supplies are what is drawn ahead; nil where nothing is.
	supplies *prompts.Prefetchers
	save     files.Options
	screen   screenOptions
	// notes are warnings from the preparation, remarks what is good to know; both for the log.
	notes, remarks []string
	// side is what is asked of the server beside the load, nil for nothing.
	side *sideline
	// gpus says which accelerators are looked at.
	gpus gpuOptions
	// baseline is an older run to compare with, nil for none.
	baseline *tui.Baseline
	// charts are the pictures to write beside the result.
	charts  chartOptions
	noPlots bool
	// arguments are all flags and their values, for the result's file in PyTorch's form.
	arguments []export.Arg
	// count has the server count the tokens of a text, nil where it does not or nobody needs it.
	count     func(ctx context.Context, text string) (int, error)
	uncounted uncounted
	// leave is called when everything is over, nil for nothing.
	leave func()

	files   *files.Saving
	stream  *event.Stream // of what happens; view, journal and trial are its sinks
	view    *live.View
	journal *journal.Writer
	engine  *loadgen.Engine
	helm    *helm
	trial   *steering.Trial // of the loads of a search, nil for none
	signals chan os.Signal  // nil: watched from the start of the run
	ran     chan struct{}   // closed when the load is over
	over    chan struct{}   // closed when its result is saved as well
	told    chan struct{}   // closed when a signal says that it is time to go
	tell    sync.Once
	noMore  chan struct{} // closed when nothing more is to be sent
	stopped sync.Once

	mu     sync.Mutex // guards everything below
	reason string     // why the run was cut short, "" if it was not
	stage  int        // how often the run was asked to stop
	noUI   bool
	shown  bool         // there is a dashboard, unless noUI
	host   *attach.Host // of other terminals, nil if they cannot join
	lost   bool         // the terminal is gone
	hasty  bool         // the result is not to wait for better counts
	enough func()       // ends the counting of answers, nil before it begins
	looks  [lookers]metrics.Look

	savingNow sync.Mutex     // held while a result of the run so far is written
	asides    sync.WaitGroup // what goes on beside the run and has to end before it is concluded
}

// sigtermDrain is how long requests in flight may go on after SIGTERM or the loss of the terminal.
const sigtermDrain = 2 * time.Second

// run performs the session and returns the exit code.
func (s *session) run() int {
	s.ran, s.over, s.told, s.noMore = make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{})
	s.plan.Started = time.Now()
	dashboard := s.env.display() != nil
	var err error
	if s.files, err = s.save.Reserve(s.plan); err == nil {
		s.lookBefore()
		err = s.begin()
	}
	if err != nil {
		s.env.closeDisplay()
		s.files.Discard()
		s.load.Connections.Close()
		s.closeSide()
		s.supplies.Close()
		if s.leave != nil {
			s.leave()
		}
		return s.env.failed(err)
	}

	// The screen ends when the user leaves it or the terminal is lost. The snapshots end with it, because single requests can
	// still be looked at; without a screen, or after a bug, when the run is over.
	unhandle := s.handleSignals()
	defer unhandle()

	publishing, stopPublishing := context.WithCancel(context.Background())
	defer stopPublishing()
	var outcome outcome
	every := s.screen.progress
	if dashboard {
		every = snapshotEvery
	}
	snapshots := s.view.Publish(publishing, every)
	s.receiveViewers(dashboard)
	go func() {
		defer close(s.over)
		outcome = s.perform()
		if !dashboard || s.view.Recent().State != metrics.Finished {
			stopPublishing()
		}
	}()

	if dashboard {
		s.leftScreen(s.show(snapshots))
	} else {
		progress(s.env.stderr, snapshots)
	}
	<-s.over
	s.host.Close()
	s.asides.Wait()
	return s.conclude(outcome)
}

// show draws the dashboard until the user leaves it or the terminal is gone.
func (s *session) show(snapshots <-chan metrics.Snapshot) error {
	d := s.env.display()
	d.Show(snapshots, s, s.baseline)
	d.recording.tells(func(words string) { s.log(metrics.Warn, words) })
	<-d.left
	return d.err
}

// receiveViewers lets other terminals look at the run, beside the dashboard if there is one. That they cannot is no reason not
// to run.
func (s *session) receiveViewers(dashboard bool) {
	host, err := attach.Listen(viewed{s}, version())
	if err != nil {
		s.log(metrics.Info, "other terminals cannot join this run: "+export.Clean(err.Error()))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown, s.host = dashboard, host
}

// snapshotEvery feeds the dashboard's header rate.
const snapshotEvery = 500 * time.Millisecond

// begin opens the journal and builds the engine around it.
func (s *session) begin() (err error) {
	// The clock starts here; what was prepared until now does not count.
	s.plan.Started = time.Now()
	var file io.Writer // nil for memory
	if s.files != nil {
		file = s.files.Journal
	}
	if err := s.openStream(s.plan.Started, file); err != nil {
		return err
	}
	if s.files != nil {
		s.stream.Tell(metrics.Saving{Path: s.files.Path})
	}
	s.helm = newHelm(s)
	s.helm.tell() // the first snapshot knows it already
	if s.engine, err = loadgen.New(s.load, s.stream); err != nil {
		return err
	}
	if f := s.plan.Find; f != nil && !f.Users {
		s.engine.SetRate(f.From) // there is no schedule
	}
	moved := s.files.Notes()
	s.env.warn(moved)
	s.notes = append(s.notes, moved...)
	for _, n := range s.notes {
		s.log(metrics.Warn, n)
	}
	for _, r := range s.remarks {
		s.log(metrics.Info, r)
	}
	s.log(metrics.Info, s.plan.Load)
	return nil
}

// openStream makes the stream of a run that starts at a moment, and its sinks. The journal goes to a file, or to memory if that
// is nil.
func (s *session) openStream(start time.Time, file io.Writer) (err error) {
	s.load.Start = start
	if s.journal, err = journal.NewWriter(file, s.plan); err != nil {
		return err
	}
	s.view = live.NewView(start, &s.plan)
	s.stream = event.NewStream(start, s.view)
	s.stream.Add(s.journal, event.Done, event.Fact)
	if s.plan.Find != nil {
		s.trial = steering.NewTrial(&s.plan)
		s.stream.Add(s.trial)
	}
	if s.count != nil {
		s.stream.Add(&s.uncounted, event.Done)
	}
	return nil
}

// log tells of something that happened just now.
func (s *session) log(level metrics.Level, text string) {
	s.stream.Tell(metrics.LogEntry{Level: level, Text: text})
}
