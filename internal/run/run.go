// Package run performs a run, from the first request to the saved result. One goroutine owns its phase, its load and
// its objectives; keys, signals, the plan's stages, a search and other terminals are commands to it.
//
//	keys, signals, other terminals ──commands──▶ owner: phase.go ──▶ loadgen.Engine
//	                                               │  └──▶ control.Controller ──▲
//	watch: client, server, GPUs, cache ──facts──▶ event.Stream ──▶ live.View, journal, control.Trial
package run

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"benchtop/datasets"
	"benchtop/export/journal"
	"benchtop/internal/answers"
	"benchtop/internal/attach"
	"benchtop/internal/files"
	"benchtop/internal/hf/numpy"
	"benchtop/internal/run/control"
	"benchtop/internal/run/watch"
	"benchtop/loadgen"
	"benchtop/loadgen/shape"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/live"
	"benchtop/metrics/report"
)

// Config is a run that is prepared.
type Config struct {
	Plan    metrics.Plan
	Load    loadgen.Options
	Prompts datasets.Flow
	// Files are where the run is saved, nil for nowhere. LastResort takes the result if no file does; nil for nothing.
	Files      *files.Saving
	LastResort io.Writer
	// Worker is this machine, where the plan is of a part. Led: another machine leads the run.
	Worker metrics.Worker
	Led    bool
	// Fleet sends the requests instead of this machine; nil for this one.
	Fleet Fleet
	// Start is offset 0 of the run, of which Plan.Started is the time; zero for the moment of New.
	Start time.Time
	// Server is asked about itself beside the load; nil for not. GPUs are those of this machine. Unwatched: this
	// process is not sampled, as where time is virtual, of which the kernel knows nothing.
	Server    *watch.Server
	GPUs      watch.GPUs
	Unwatched bool
	// Answers are the known prompts that are sent beside the load, nil for none.
	Answers *answers.Check
	// Share is the part of the prompt tokens that all prompts have in common, see watch.Cache.
	Share func(templateTokens float64) float64
	// Count has the server count the tokens of a text; nil where nothing does.
	Count func(ctx context.Context, text string) (int, error)
	// Room says why this machine cannot hold so many connections, nil if it can.
	Room func(connections int) error
	// Drawn is called when no more prompts are needed.
	Drawn func()
	// Pictures writes what stands beside the result, which is at a path, or nowhere if that is "".
	Pictures func(r metrics.Report, events event.Events, path string) (written, warnings []string)
	// Notes are warnings from the preparation, Remarks what is good to know; both for the log.
	Notes, Remarks []string
	// SurviveHangUp: the run goes on when its terminal is lost. Lost says that it is already.
	SurviveHangUp, Lost bool
	// KeepGoing: the run goes on when its first requests are all refused.
	KeepGoing bool
	Terminal  Terminal
}

// Engine is what sends the requests of a run.
type Engine interface {
	control.Engine
	// Run sends them, and returns when the last has ended.
	Run(ctx context.Context, prompts datasets.Flow) error
	// Drain ends the sending, and cuts what is in flight after a time; Abort cuts it at once.
	Drain(limit time.Duration)
	Abort()
	Ended() time.Duration
	Probes() metrics.Probes
}

// Fleet is an engine of several machines, each of which has a part of the run.
type Fleet interface {
	Engine
	// Hear has the events of the machines go to a stream.
	Hear(stream *event.Stream)
	// Finish completes the end of the run by those of the machines.
	Finish(end *metrics.End)
	// Whole reports whether all machines are in sight.
	Whole() bool
	// Tell passes facts about the load on to the machines, since their journals are to be complete without this one.
	Tell(fact any)
}

// Terminal is the screen and the process around a run. Its methods do not block, but for Leave.
type Terminal interface {
	// Drawn says that a dashboard shows the run; Close ends it.
	Drawn() bool
	Close()
	// Announce prints a line for a person.
	Announce(line string)
	// Hasten: from now on the way out waits for no terminal that takes no output.
	Hasten()
	// Leave ends the process.
	Leave()
}

// Run is one run. Its methods may be called from any goroutine once Do is on its way.
type Run struct {
	config  Config
	start   time.Time
	stream  *event.Stream // of all that happens; view, journal and trial are its sinks
	view    *live.View
	journal *journal.Writer
	fold    *report.Fold
	engine  Engine
	host    *attach.Host // of other terminals, nil if they cannot join
	lost    atomic.Bool  // the terminal is gone

	calls chan func()   // to the owner
	saved chan struct{} // closed when the result is saved
	close chan struct{} // closed by Close
	gone  chan struct{} // closed when there is no owner any more

	sending    context.Context // ends when nothing new is sent any more
	endSending context.CancelFunc
	patient    context.Context // ends when what goes on after the load is to end
	hurry      context.CancelCauseFunc

	// The owner's.
	phase  Phase
	reason string // why the run was cut short, "" if it was not
	load   *control.Controller
	looks  [lookers]metrics.Inspection
	saving bool // a result of the run so far is being written

	uncounted answerCount
	asides    sync.WaitGroup // what goes on beside the run and has to end before it does
}

const (
	// briefDrain is how long requests in flight may go on after SIGTERM or the loss of the terminal.
	briefDrain = 2 * time.Second
	// judgeEvery is how often the answer is computed while the run is watched.
	judgeEvery = 2 * time.Second
	// steeredSeed makes the draws of a load that was set independent of those of the plan.
	steeredSeed = 0x5eed
)

// New opens the journal and builds the engine. The sinks hear of everything as well. The clock of the run starts here;
// preparation does not count.
func New(c Config, sinks ...event.Sink) (*Run, error) {
	r := &Run{
		config: c, start: time.Now(),
		calls: make(chan func()), saved: make(chan struct{}), close: make(chan struct{}), gone: make(chan struct{}),
	}
	r.sending, r.endSending = context.WithCancel(context.Background())
	r.patient, r.hurry = context.WithCancelCause(context.Background())
	r.lost.Store(c.Lost)
	if !c.Start.IsZero() {
		r.start = c.Start
	} else {
		r.config.Plan.Started = r.start
	}
	r.config.Load.Start = r.start
	looks := control.NewLooks(&r.config.Plan)
	trial, err := r.openStream(append(sinks, looks))
	if err != nil {
		return nil, err
	}
	load := &r.config.Load
	load.HoldPaused = c.Plan.Unit() == metrics.Users
	load.SteeredUntil = c.Plan.Duration
	if load.GoesOn = c.Plan.Confirm > 0; load.GoesOn { // the controller ends it
		load.Until, load.SteeredUntil = 0, 0
	}
	load.GoesOn = load.GoesOn || c.Led && c.Plan.Find != nil // its first load comes later
	if load.Steered == nil {
		load.Steered = shape.Gaps(c.Plan.Burstiness, numpy.NewLegacy(uint32(c.Plan.Seed)^steeredSeed))
	}
	if c.Fleet != nil {
		r.engine = c.Fleet
		c.Fleet.Hear(r.stream)
	} else if r.engine, err = loadgen.New(*load, r.stream); err != nil {
		return nil, err
	}
	var whole func() bool
	if c.Fleet != nil {
		whole = c.Fleet.Whole
	}
	r.load = control.New(control.Options{
		Plan: &r.config.Plan, Start: r.start, Led: c.Led, Engine: r.engine, Tell: r.lead, Connect: r.connect,
		Room: c.Room, Whole: whole, Trial: trial, Looks: looks, Judged: r.judged,
	})
	if c.Plan.Part.Split() {
		r.stream.Tell(c.Worker)
	}
	for _, n := range c.Notes {
		r.Log(metrics.Warn, n)
	}
	for _, n := range c.Remarks {
		r.Log(metrics.Info, n)
	}
	r.Log(metrics.Info, c.Plan.Load)
	return r, nil
}

// openStream makes the stream of events and its sinks. The journal goes to a file, or to memory where nothing is saved.
func (r *Run) openStream(sinks []event.Sink) (trial *control.Trial, err error) {
	var file io.Writer
	if r.config.Files != nil {
		file = r.config.Files.Journal
	}
	plan := &r.config.Plan
	if r.journal, err = journal.NewWriter(file, *plan); err != nil {
		return nil, err
	}
	r.view = live.NewView(r.start, plan)
	r.stream = event.NewStream(r.start, append(sinks, r.view)...)
	r.stream.Add(r.journal, event.Done, event.Fact)
	r.fold = report.NewFold(plan)
	r.stream.Add(r.fold, event.Sent, event.Done)
	if plan.Find != nil {
		trial = control.NewTrial(plan)
		r.stream.Add(trial)
	}
	if r.config.Count != nil {
		r.stream.Add(&r.uncounted, event.Done)
	}
	if !r.config.KeepGoing {
		r.stream.Add(&refusals{stop: r.refuse}, event.Sent, event.Done)
	}
	if r.config.Files != nil {
		r.stream.Tell(metrics.Saving{Path: r.config.Files.Path})
	}
	return trial, nil
}

// lead files a fact about the load, and has the other machines of the run file it.
func (r *Run) lead(fact any) {
	r.stream.Tell(fact)
	if f := r.config.Fleet; f != nil && leads(fact) {
		f.Tell(fact)
	}
}

// judged is the answer of the run so far, and the levels that it follows from.
func (r *Run) judged() (a metrics.Answer, levels []metrics.LoadLevel) {
	r.view.Judge()
	s := r.view.Snapshot()
	if s.Answer != nil {
		a = *s.Answer
	}
	return a, s.Levels
}

// connect opens the connections of more users, beside the run. A missing one is dialled when it is needed.
func (r *Run) connect(users int) {
	if r.config.Fleet != nil {
		return
	}
	r.asides.Go(func() {
		ctx, cancel := context.WithTimeout(r.sending, control.ConnectAhead)
		defer cancel()
		_ = r.config.Load.Connections.Open(ctx, users)
	})
}

// own carries out commands and moves the load until Close. Whatever else the run does waits for none of it.
func (r *Run) own() {
	defer close(r.gone)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case f := <-r.calls:
			f()
		case <-timer.C:
			if bug := caught(r.load.Move); bug != nil {
				r.broke(bug)
				_ = caught(r.load.Close)
			}
		case <-r.close:
			return
		}
		timer.Reset(r.load.Next() - time.Since(r.start))
	}
}

// call has the owner do something and waits for that. It returns false if there is no owner any more, or if a bug was
// in the way, which is logged: the run goes on.
func (r *Run) call(f func()) bool {
	ran, bug := r.owned(f)
	if bug != nil {
		r.broke(bug)
	}
	return ran && bug == nil
}

// must is call for the run itself, which a bug ends.
func (r *Run) must(f func()) {
	if _, bug := r.owned(f); bug != nil {
		panic(bug)
	}
}

// owned has the owner do something; ran is false if there is no owner any more.
func (r *Run) owned(f func()) (ran bool, bug error) {
	done := make(chan error, 1)
	select {
	case r.calls <- func() { done <- caught(f) }:
		return true, <-done
	case <-r.gone:
		return false, nil
	}
}

// caught does something and returns the bug that ended it.
func caught(f func()) (bug error) {
	defer func() {
		if b := recover(); b != nil {
			bug = fmt.Errorf("%v\n%s", b, debug.Stack())
		}
	}()
	f()
	return nil
}

func (r *Run) broke(bug error) {
	first, _, _ := strings.Cut(bug.Error(), "\n")
	r.Log(metrics.Error, "benchtop failed in a command; the run continues: "+first)
}

// Journal is that of the run so far.
func (r *Run) Journal() io.ReaderAt { return r.journal }

// View is the live view of the run.
func (r *Run) View() *live.View { return r.view }

// Log tells of something that happened just now.
func (r *Run) Log(level metrics.Level, text string) {
	r.stream.Tell(metrics.LogEntry{Level: level, Text: text})
}

// announce logs an event that a person has to hear of at once, with a dashboard or without.
func (r *Run) announce(level metrics.Level, text string) {
	r.Log(level, text)
	if t := r.config.Terminal; !t.Drawn() {
		t.Announce(text)
	}
}

// Saved is closed when the result is saved, or its failure is known.
func (r *Run) Saved() <-chan struct{} { return r.saved }

// Flush brings all that was measured to the disk, and says for a person where it is.
func (r *Run) Flush() string {
	_ = r.journal.Flush()
	f := r.config.Files
	if f == nil {
		return "nothing was saved"
	}
	return fmt.Sprintf("measurements saved in %s (benchtop report %[1]s)", f.JournalName)
}

// Close ends what is left of a run whose result is saved.
func (r *Run) Close() {
	r.host.Close()
	r.asides.Wait()
	close(r.close)
	<-r.gone
}
