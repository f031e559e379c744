package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"benchtop/internal/files"
	"benchtop/internal/prometheus"
	"benchtop/internal/prompts"
	"benchtop/internal/run"
	"benchtop/internal/spec"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/tui"
)

// Run is a run that only needs to begin. Everything before it can still be refused; from there on nothing that was
// measured may be lost.
type Run struct {
	run.Config
	Save     files.Options
	Screen   spec.Screen
	baseline *tui.Baseline    // an older run to compare with, nil for none
	page     *prometheus.Page // of its figures while it is on, nil for none
	Plots    spec.Pictures
	fetching *prompts.Prefetchers // of prompts
	Sinks    []event.Sink         // hear of the run's events as well
	machines *machines            // that send its parts; nil for this one alone
	beside   bool                 // another run of this process is on, which other terminals join
	// print prints what stands for the report of serve; nil for that.
	Print func(o run.Outcome) error
	// leave ends what the run needs besides, such as a simulated server; nil for nothing.
	Leave func()
}

// Close ends what a run has that does not begin, and says what went wrong.
func (p *Run) Close(say func(string)) (warnings []string) {
	if p.Load.Connections != nil {
		p.Load.Connections.Close()
	}
	p.fetching.Close()
	p.page.Close()
	p.machines.disband()
	if p.Leave != nil {
		p.Leave()
	}
	return p.Server.Close(say)
}

// Perform prepares a run and performs it; it returns the exit code. Until the preparation is over a signal, or q,
// simply ends the program, and an error is told on the normal screen. steps are those that are known beforehand.
func (e *Environment) Perform(o *spec.Screen, steps []string, prepare func(context.Context) (*Run, error)) int {
	signals := WatchSignals()
	defer signal.Stop(signals)
	ctx, stop := UntilSignal(signals, o.OnHangup == spec.HangupContinue)
	if err := e.openDisplay(o, steps); err != nil {
		stop()
		return e.Fail(ExitUsage, err)
	}
	unwatch := e.display().watch(ctx, signals)
	p, err := unbroken(ctx, prepare)
	refused := false
	if err == nil {
		err = p.Reserve(ctx, e)
		refused = err != nil
	}
	unwatch()
	sig, lost := stop()
	if d := e.display(); d != nil && sig == nil && err == nil && !d.Seal() {
		sig = os.Interrupt // q at the very end
	}
	if sig != nil || err != nil || lost {
		e.closeDisplay()
	}
	if p != nil && (sig != nil || refused) {
		e.drop(p)
	}
	switch {
	case sig != nil:
		return e.Fail(SignalCode(sig), fmt.Errorf("stopped before the first request (%s)", sig))
	case err != nil:
		return e.Failed(err)
	}
	p.Lost = lost
	return e.begin(p, signals)
}

// unbroken prepares a run; a bug on the way is an error, so that the terminal does not stay as it is.
func unbroken(ctx context.Context, prepare func(context.Context) (*Run, error)) (p *Run, err error) {
	defer func() {
		if bug := recover(); bug != nil {
			p, err = nil, fmt.Errorf("benchtop failed while preparing the run: %v\n%s", bug, debug.Stack())
		}
	}()
	return prepare(ctx)
}

// begin performs a run that is prepared, and returns the exit code.
func (e *Environment) begin(p *Run, signals chan os.Signal) int {
	t := &Console{Env: e, hastened: make(chan struct{}), shown: e.display() != nil, leave: func() {
		p.Load.Target.Token().Stop(0)
		if p.Leave != nil {
			p.Leave()
		}
	}}
	if e.JSON == nil && !IsTerminal(e.Stdout) {
		p.LastResort = e.Stdout
	}
	var r *run.Run
	err := p.startTogether()
	if err == nil {
		r, err = p.Open(t)
	}
	if err != nil {
		e.closeDisplay()
		e.drop(p)
		return e.Failed(err)
	}
	defer p.page.Close()
	defer p.machines.disband()
	t.run, t.files = r, p.Files

	// A reader of our output that went away must not kill the run.
	signal.Ignore(syscall.SIGPIPE)
	defer signal.Reset(syscall.SIGPIPE)
	var handling sync.WaitGroup
	handling.Go(func() {
		for sig := range signals {
			r.Signal(sig)
		}
	})
	defer handling.Wait()
	defer close(signals)
	defer signal.Stop(signals)
	defer r.Close()
	return e.conclude(p, e.play(p, r, t.shown, func(snapshots <-chan metrics.Snapshot) { t.show(p, snapshots) }),
		t.hastened)
}

// drop ends what a run has that does not begin, and removes its files.
func (e *Environment) drop(p *Run) {
	p.Files.Discard()
	e.Warn(p.Close(e.Say))
}

// snapshotEvery feeds the dashboard's header rate.
const snapshotEvery = 500 * time.Millisecond

// play does a run while show has the dashboard take its snapshots, or lines of progress take them where there is none.
// They end when the run is over. With lasting they end when show returns, unless a bug ended the run: single requests
// can still be looked at until the user leaves the screen.
func (e *Environment) play(p *Run, r *run.Run, lasting bool, show func(<-chan metrics.Snapshot)) run.Outcome {
	drawn, each := e.display() != nil, p.Screen.Progress
	if drawn {
		each = snapshotEvery
	}
	publishing, stop := context.WithCancel(context.Background())
	defer stop()
	snapshots := r.View().Publish(publishing, each)
	if !p.beside {
		r.Host(Version())
	}
	outcome := make(chan run.Outcome, 1)
	go func() {
		o := r.Do()
		outcome <- o
		if !lasting || r.View().Recent().State != metrics.Finished {
			stop()
		}
	}()
	if drawn {
		show(snapshots)
	} else {
		progress(e.Stderr, snapshots)
	}
	return <-outcome
}

// Reserve makes the run's files. A disk that does not answer is not waited for once ctx has ended.
func (p *Run) Reserve(ctx context.Context, env *Environment) (err error) {
	if p.Start.IsZero() {
		p.Plan.Started = time.Now()
	}
	if p.Files, err = Reserve(ctx, &p.Save, p.Plan); err != nil {
		return err
	}
	moved := p.Files.Notes()
	env.Warn(moved)
	p.Notes = append(p.Notes, moved...)
	return nil
}

// Reserve makes the files of a plan, or none where ctx has ended.
func Reserve(ctx context.Context, save *files.Options, plan metrics.Plan) (*files.Saving, error) {
	return files.OrStopped(ctx, func() (s *files.Saving, err error) {
		if ctx.Err() == nil {
			s, err = save.Reserve(plan)
		}
		if ctx.Err() != nil {
			s.Discard()
			return nil, ctx.Err()
		}
		return s, err
	})
}

// Open builds the run, whose files are reserved; the sinks hear of its events.
func (p *Run) Open(around run.Terminal) (*run.Run, error) {
	p.Terminal, p.Drawn, p.Share = around, p.fetching.Close, p.fetching.Share
	p.Room = func(connections int) error { return spec.CheckLimits(connections, p.Load.Target.Sources()) }
	p.SurviveHangUp = p.Screen.OnHangup == spec.HangupContinue
	p.Pictures = p.picturesBeside
	if p.Server != nil {
		p.Server.Poll()
	}
	if p.page != nil {
		path := p.Save.Place(p.Plan)
		if p.Files != nil {
			path = p.Files.JournalName
		}
		figures := prometheus.New(files.Stem(filepath.Base(path)), &p.Plan)
		p.page.Show(figures)
		p.Sinks = append(p.Sinks, figures)
	}
	return run.New(p.Config, p.Sinks...)
}

// Console is the screen and the process around a run.
type Console struct {
	Env      *Environment
	run      *run.Run
	files    *files.Saving
	shown    bool // there is a dashboard, until closed
	closed   atomic.Bool
	once     sync.Once
	hastened chan struct{} // closed when the way out must not wait
	leave    func()
	leaving  sync.Once
}

// show draws the dashboard until the user leaves it or the terminal is gone, and says what that means for the run.
func (t *Console) show(p *Run, snapshots <-chan metrics.Snapshot) {
	d := t.Env.display()
	d.Show(snapshots, t.run, p.baseline)
	d.recording.tells(func(words string) { t.run.Log(metrics.Warn, words) })
	<-d.left
	select {
	case <-t.run.Saved():
		return
	default:
	}
	switch {
	case t.closed.Load(): // by a signal, which has said already how the run ends
	case errors.Is(d.err, tui.ErrTerminal):
		t.run.TerminalLost()
	case d.err != nil: // the run is worth more than the picture
		fmt.Fprintf(t.Env.Stderr, "benchtop: the dashboard failed; the run continues without it: %s\n", d.err)
	default:
		t.run.ScreenLeft()
	}
}

func (t *Console) Drawn() bool { return t.shown && !t.closed.Load() }

func (t *Console) Close() {
	t.closed.Store(true)
	if d := t.Env.display(); d != nil {
		d.leave()
	}
}

func (t *Console) Announce(line string) { t.Env.Say(line) }

func (t *Console) Hasten() { t.once.Do(func() { close(t.hastened) }) }

// patience is how long the third request to stop waits for a result that is just being written.
const patience = time.Second

// Leave ends the process whatever the run does. The journal is complete up to the last flush.
func (t *Console) Leave() { t.leaving.Do(t.leaveNow) }

func (t *Console) leaveNow() {
	select {
	case <-t.run.Saved():
		return // the usual way out is as quick
	case <-time.After(patience):
	}
	where := t.run.Flush()
	t.files.Abandon()
	fmt.Fprintf(t.Env.Stderr, "benchtop: exited at once; %s\n", Harmless(where))
	t.leave()
	os.Exit(ExitAborted)
}
