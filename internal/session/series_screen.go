package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"

	"benchtop/internal/spec"
	"benchtop/internal/sweep"
	"benchtop/internal/usage"
	"benchtop/tui"
)

// Series performs several runs: on a screen where there is a terminal to draw on, else with lines on standard output.
// build makes them for a way to perform a run and a place for their lines; from there to the end the environment's
// standard output and error are not the terminal that is drawn on, and what they take is printed afterwards. A signal
// stops the series, and so does the loss of the terminal unless --on-hangup says otherwise; the error is then a
// StoppedError. A command that returns by itself has its screen end with the last run, unless a key was pressed; it
// shows the dashboard of each run.
func (e *Environment) Series(o *spec.Screen, returns bool,
	build func(b *Runner, lines io.Writer) *sweep.Sweep) (sweep.Outcome, error) {
	signals := WatchSignals()
	defer signal.Stop(signals)
	goOn := o.OnHangup == spec.HangupContinue
	ctx, stop := UntilSignal(signals, goOn)
	v, err := e.openSeries(o)
	if err != nil {
		stop()
		return sweep.Outcome{}, err
	}
	b, lines := &Runner{Lines: e.Stderr}, e.Stdout
	if v != nil {
		b, lines = &Runner{Lines: &v.held, show: v.show}, io.Discard
		v.returns = returns
	}
	s := build(b, lines)
	left := make(chan error, 1)
	go func() { left <- v.run(ctx, s, goOn) }()
	out, err := s.Run(ctx)
	why := <-left // the user reads the last screen as long as he likes
	sig, _ := stop()
	v.close(e)
	switch {
	case sig != nil && err != nil:
		err = StoppedError{sig}
	case errors.Is(why, tui.ErrTerminal) && errors.Is(err, sweep.ErrStopped):
		err = StoppedError{syscall.SIGHUP}
	case why != nil && !errors.Is(why, tui.ErrTerminal) && sig == nil:
		fmt.Fprintf(e.Stderr, "benchtop: the screen failed, and the runs went on without it: %s\n", why)
	}
	return out, err
}

// seriesScreen is the screen of a sweep; nil for none.
type seriesScreen struct {
	options   tui.Options
	recording *castFile
	runs      chan *tui.Preparation // the latest run
	held      heldLines
	output    bytes.Buffer // of the environment, while the screen is drawn
	returns   bool

	stdout, stderr io.Writer // those of the environment
}

func (e *Environment) openSeries(o *spec.Screen) (v *seriesScreen, err error) {
	if !e.Draws(o) {
		return nil, nil
	}
	v = &seriesScreen{options: DashboardOptions(o, nil, nil), runs: make(chan *tui.Preparation, 1), stdout: e.Stdout,
		stderr: e.Stderr}
	if v.recording, err = openRecording(o, &v.options); err != nil {
		return nil, err
	}
	e.Stdout, e.Stderr = &v.output, &v.held
	return v, nil
}

// show has the screen show the dashboard of a run. It does not wait.
func (v *seriesScreen) show(p *tui.Preparation) {
	for {
		select {
		case v.runs <- p:
			return
		default:
		}
		select {
		case <-v.runs:
		default:
		}
	}
}

// run draws until the user leaves, ctx ends or the terminal is lost. Leaving before the end, and with goOn unset the
// loss of the terminal, stop the sweep.
func (v *seriesScreen) run(ctx context.Context, s *sweep.Sweep, goOn bool) error {
	if v == nil {
		return nil
	}
	err := tui.RunSweep(ctx, tui.SweepOptions{Screen: v.options, Snapshots: s.Snapshots(), Runs: v.runs, Control: s,
		Leave: v.returns, Inside: v.returns})
	if err == nil || errors.Is(err, tui.ErrTerminal) && !goOn {
		s.Stop()
	}
	return err
}

// close prints what was held while the screen was drawn.
func (v *seriesScreen) close(e *Environment) {
	if v == nil {
		return
	}
	e.Stdout, e.Stderr = v.stdout, v.stderr
	if v.recording != nil {
		v.recording.Close()
	}
	if _, err := v.output.WriteTo(e.Stdout); err != nil {
		v.held.hold("benchtop: the output could not be printed: " + err.Error())
	}
	v.held.release(e.Stderr)
	e.Warn(v.recording.trouble())
}

// recorded has a screen recorded to the file of --record; nil for none.
func openRecording(o *spec.Screen, shown *tui.Options) (*castFile, error) {
	if o.Record == "" {
		return nil, nil
	}
	f, err := os.Create(o.Record)
	if err != nil {
		return nil, usage.Errorf("--record: %w; choose another file", err)
	}
	c := &castFile{to: f}
	shown.Record = c
	return c, nil
}

// heldLines keeps different lines for the normal screen until they are released.
type heldLines struct {
	mu       sync.Mutex // guards those below
	lines    []string
	released bool // they are printed, and so are those that follow
}

// heldMost bounds the lines: a sweep of many runs may warn in each.
const heldMost = 200

// hold keeps a line, and says whether it did.
func (h *heldLines) hold(line string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.released && len(h.lines) < heldMost && !slices.Contains(h.lines, line) {
		h.lines = append(h.lines, line)
	}
	return !h.released
}

func (h *heldLines) Write(b []byte) (int, error) {
	for line := range strings.SplitSeq(strings.TrimRight(string(b), "\n"), "\n") {
		h.hold(line)
	}
	return len(b), nil
}

// release prints the lines.
func (h *heldLines) release(to io.Writer) {
	h.mu.Lock()
	lines := h.lines
	h.lines, h.released = nil, true
	h.mu.Unlock()
	for _, line := range lines {
		fmt.Fprintln(to, line)
	}
}
