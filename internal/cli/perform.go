package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"benchtop/internal/files"
	"benchtop/internal/prompts"
	"benchtop/internal/run"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/tui"
)

// prepared is a run that only needs to begin. Everything before it can still be refused; from there on nothing that was measured
// may be lost.
type prepared struct {
	run.Config
	save     files.Options
	screen   screenOptions
	baseline *tui.Baseline // an older run to compare with, nil for none
	pictures pictureOptions
	fetching *prompts.Prefetchers // of prompts
	sinks    []event.Sink         // hear of the run's events as well
	// print prints what stands for the report of serve; nil for that.
	print func(o run.Outcome) error
	// leave ends what the run needs besides, such as a simulated server; nil for nothing.
	leave func()
}

// close ends what a run has that does not begin, and says what went wrong.
func (p *prepared) close(say func(string)) (warnings []string) {
	if p.Load.Connections != nil {
		p.Load.Connections.Close()
	}
	p.fetching.Close()
	if p.leave != nil {
		p.leave()
	}
	return p.Server.Close(say)
}

// perform prepares a run and performs it; it returns the exit code. Until the preparation is over a signal, or q, simply ends the
// program, and an error is told on the normal screen. steps are those that are known beforehand.
func (e *environment) perform(o *screenOptions, steps []string, prepare func(context.Context) (*prepared, error)) int {
	signals := watchSignals()
	ctx, stop := untilSignal(signals, o.onHangup == hangupContinue)
	if err := e.openDisplay(o, steps); err != nil {
		stop()
		return e.fail(exitUsage, err)
	}
	unwatch := e.display().watch(ctx, signals)
	p, err := unbroken(ctx, prepare)
	refused := false
	if err == nil {
		err = p.reserve(ctx, e)
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
		p.Files.Discard()
		e.warn(p.close(e.say))
	}
	switch {
	case sig != nil:
		return e.fail(signalCode(sig), fmt.Errorf("stopped before the first request (%s)", sig))
	case err != nil:
		return e.failed(err)
	}
	p.Lost = lost
	return e.begin(p, signals)
}

// unbroken prepares a run; a bug on the way is an error, so that the terminal does not stay as it is.
func unbroken(ctx context.Context, prepare func(context.Context) (*prepared, error)) (p *prepared, err error) {
	defer func() {
		if bug := recover(); bug != nil {
			p, err = nil, fmt.Errorf("benchtop failed while preparing the run: %v\n%s", bug, debug.Stack())
		}
	}()
	return prepare(ctx)
}

// begin performs a run that is prepared, and returns the exit code.
func (e *environment) begin(p *prepared, signals chan os.Signal) int {
	t := &console{env: e, hastened: make(chan struct{}), leave: p.leave, shown: e.display() != nil}
	if !isTerminal(e.stdout) {
		p.LastResort = e.stdout
	}
	r, err := p.open(t)
	if err != nil {
		e.closeDisplay()
		p.Files.Discard()
		e.warn(p.close(e.say))
		return e.failed(err)
	}
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
	var o run.Outcome
	if t.shown {
		o = play(r, snapshotEvery, true, func(snapshots <-chan metrics.Snapshot) { t.show(p, snapshots) })
	} else {
		o = play(r, p.screen.progress, false, func(snapshots <-chan metrics.Snapshot) { progress(e.stderr, snapshots) })
	}
	return e.conclude(p, o, t.hastened)
}

// snapshotEvery feeds the dashboard's header rate.
const snapshotEvery = 500 * time.Millisecond

// play does a run while watch takes its snapshots, a new one each time. They end when the run is over. With lasting they end when
// watch returns, unless a bug ended the run: single requests can still be looked at until the user leaves the screen.
func play(r *run.Run, each time.Duration, lasting bool, watch func(<-chan metrics.Snapshot)) run.Outcome {
	publishing, stop := context.WithCancel(context.Background())
	defer stop()
	snapshots := r.View().Publish(publishing, each)
	r.Host(version())
	outcome := make(chan run.Outcome, 1)
	go func() {
		o := r.Do()
		outcome <- o
		if !lasting || r.View().Recent().State != metrics.Finished {
			stop()
		}
	}()
	watch(snapshots)
	return <-outcome
}

// reserve makes the run's files. A disk that does not answer is not waited for once ctx has ended.
func (p *prepared) reserve(ctx context.Context, env *environment) (err error) {
	p.Plan.Started = time.Now()
	if p.Files, err = reserve(ctx, &p.save, p.Plan); err != nil {
		return err
	}
	moved := p.Files.Notes()
	env.warn(moved)
	p.Notes = append(p.Notes, moved...)
	return nil
}

// reserve makes the files of a plan, or none where ctx has ended.
func reserve(ctx context.Context, save *files.Options, plan metrics.Plan) (*files.Saving, error) {
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

// open builds the run, whose files are reserved; the sinks hear of its events.
func (p *prepared) open(around run.Terminal) (*run.Run, error) {
	p.Terminal, p.Room, p.Drawn, p.Share = around, checkLimits, p.fetching.Close, p.fetching.Share
	p.SurviveHangUp = p.screen.onHangup == hangupContinue
	p.Pictures = p.picturesBeside
	if p.Server != nil {
		p.Server.Poll()
	}
	return run.New(p.Config, p.sinks...)
}

// console is the screen and the process around a run.
type console struct {
	env      *environment
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
func (t *console) show(p *prepared, snapshots <-chan metrics.Snapshot) {
	d := t.env.display()
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
		fmt.Fprintf(t.env.stderr, "benchtop: the dashboard failed; the run continues without it: %s\n", d.err)
	default:
		t.run.ScreenLeft()
	}
}

func (t *console) Drawn() bool { return t.shown && !t.closed.Load() }

func (t *console) Close() {
	t.closed.Store(true)
	if d := t.env.display(); d != nil {
		d.leave()
	}
}

func (t *console) Announce(line string) { t.env.say(line) }

func (t *console) Hasten() { t.once.Do(func() { close(t.hastened) }) }

// patience is how long the third request to stop waits for a result that is just being written.
const patience = time.Second

// Leave ends the process whatever the run does. The journal is complete up to the last flush.
func (t *console) Leave() { t.leaving.Do(t.leaveNow) }

func (t *console) leaveNow() {
	select {
	case <-t.run.Saved():
		return // the usual way out is as quick
	case <-time.After(patience):
	}
	where := t.run.Flush()
	t.files.Abandon()
	fmt.Fprintf(t.env.stderr, "benchtop: exited at once; %s\n", harmless(where))
	if t.leave != nil {
		t.leave()
	}
	os.Exit(exitAborted)
}
