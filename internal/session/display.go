package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"benchtop/internal/spec"
	"benchtop/internal/text"
	"benchtop/metrics"
	"benchtop/tui"
)

// display is the dashboard of a command that prepares a run and performs it: it is there from the first moment on.
//
//	open ── steps of the preparation ──▶ Seal ──▶ Show the run ──▶ left
//	            │ q, a signal, an error
//	            └──────────────────────────────────────────────▶ left
type display struct {
	*tui.Preparation
	recording *castFile          // what the screen shows goes there as well; nil for nowhere
	leave     context.CancelFunc // ends it
	left      chan struct{}      // closed when the terminal is as it was; err is known then
	err       error              // why, nil if the user left
	held      heldLines
}

// openDisplay shows what is being prepared, if there is a terminal to draw on. An error is wrong usage.
func (e *Environment) openDisplay(o *spec.Screen, steps []string) error {
	if !e.Draws(o) {
		if o.Record != "" {
			e.Warn([]string{"--record: there is no dashboard to record"})
		}
		return nil
	}
	ctx, leave := context.WithCancel(context.Background())
	d := &display{Preparation: tui.NewPreparation(steps...), leave: leave, left: make(chan struct{})}
	shown := DashboardOptions(o, nil, nil)
	shown.Preparation = d.Preparation
	var err error
	if d.recording, err = openRecording(o, &shown); err != nil {
		leave()
		return err
	}
	e.dashboard.Store(d)
	go func() {
		defer close(d.left)
		d.err = tui.Run(ctx, shown)
		leave()
		if d.recording != nil {
			d.recording.Close()
		}
	}()
	return nil
}

// closeDisplay ends the dashboard and waits until the terminal is as it was.
func (e *Environment) closeDisplay() {
	if d := e.display(); d != nil {
		d.leave()
		<-d.left
		e.release()
		e.dashboard.Store(nil)
	}
}

// release prints what was held, once the dashboard is gone. A terminal that takes no output holds it up.
func (e *Environment) release() {
	if d := e.display(); d != nil {
		d.held.release(e.Stderr)
	}
}

// watch has a dashboard that ends during the preparation end that too, as a signal would, and the other way round. It
// returns a function that ends the watch. A nil display needs none.
func (d *display) watch(ctx context.Context, signals chan<- os.Signal) (unwatch func()) {
	if d == nil {
		return func() {}
	}
	prepared, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-prepared:
		case <-ctx.Done():
			d.leave()
		case <-d.left:
			switch {
			case d.err == nil:
				signals <- os.Interrupt // q, or Ctrl-C, which is a key like others here
			case errors.Is(d.err, tui.ErrTerminal):
				signals <- syscall.SIGHUP
			}
		}
	}()
	return func() {
		close(prepared)
		<-done
	}
}

// About says what is known of the run by now.
func (e *Environment) About(plan metrics.Plan) {
	if d := e.display(); d != nil {
		d.About(&plan)
	}
}

// Step begins a step of the preparation. Without a dashboard only those that take long say something.
func (e *Environment) Step(name string) {
	if d := e.display(); d != nil {
		d.Step(name)
	}
}

// Tell says what is going on, such as a download: a line, or the words of the step in progress.
func (e *Environment) Tell(what string) {
	what = text.Clean(what)
	if d := e.display(); d != nil {
		d.Say(what)
		return
	}
	fmt.Fprintln(e.Stderr, what)
}

// Show says what came of the step in progress. That is of use on a dashboard alone.
func (e *Environment) Show(what string) {
	if d := e.display(); d != nil {
		d.Say(text.Clean(what))
	}
}

// Count says how much of the step in progress is done; a total of 0 is not known. Without a dashboard it is a line if
// there is a word for it.
func (e *Environment) Count(done, total int, line string) {
	if d := e.display(); d != nil {
		d.Count(done, total)
	} else if line != "" && done > 0 {
		fmt.Fprintf(e.Stderr, "%d %s\n", done, line)
	}
}

// CountEvery is how often it is worth while to tell of progress.
func (e *Environment) CountEvery() time.Duration {
	if e.display() != nil {
		return time.Second / 4
	}
	return time.Second
}
