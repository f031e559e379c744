package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"benchtop/internal/run"
	"benchtop/internal/secret"
	"benchtop/internal/spec"
	"benchtop/internal/telemetry"
	"benchtop/internal/usage"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/live"
	"benchtop/tui"
)

// Runner performs runs of serve for a command that needs many of them, in this process and one after another. It
// handles no signals and prints no report: a run ends early when its context does.
type Runner struct {
	// lines takes progress and warnings, a line each.
	Lines io.Writer
	// show is told of each run that begins to be prepared: a screen shows its steps, later its snapshots, and there are
	// no progress lines then. nil for no screen. The snapshots end with the run.
	show func(*tui.Preparation)
	// Sinks hear of the events of a run with a plan; nil for none.
	Sinks func(*metrics.Plan) []event.Sink
	// Begin is called when a run is prepared, and returns when it may begin; nil for at once.
	Begin func(context.Context, *Run) error
	// Opened is called when a run is about to begin; the function that it returns is called when it is saved. nil for
	// nothing.
	Opened func(p *Run, r *run.Run) (over func(), err error)
	// Beside: another run is on, which other terminals join.
	Beside bool
	// Enough ends the sending of a run, whose requests in flight go on; nil for never.
	Enough <-chan struct{}
	// failures: a run of which most requests fail, by a server that is there, is a measurement like others.
	Failures bool
}

// Warn prints a warning among the lines of the runs.
func (b *Runner) Warn(format string, a ...any) {
	fmt.Fprintf(b.Lines, "benchtop: WARNING: %s\n", Harmless(secret.Hide(fmt.Sprintf(format, a...))))
}

// ErrCut is the error of a run that was ended before its time; its result holds what was measured until then.
var ErrCut = errors.New("the run was cut short")

// Run performs a run of serve with these arguments, and saves it where they say. It returns once the run is saved and
// nothing of it is left. A cancelled context aborts it; what was measured is saved as that of an aborted run, and the
// error is ErrCut, or the context's where no request was sent. A run of which most requests failed is saved too, and is
// an error unless failures allows it.
func (b *Runner) Run(ctx context.Context, args []string) error {
	o, err := b.Parse(args)
	if err == nil {
		_, err = b.Perform(ctx, o)
	}
	return err
}

// Parse reads the arguments of a run, and reports all that is wrong with them, without asking the server.
func (b *Runner) Parse(args []string) (*spec.Spec, error) {
	o := spec.New()
	err := o.Parse(args)
	var p usage.Problems
	if err == nil {
		p.BadIf(o.Save.Append, "--append-result: each run has a file of its own here; leave it out")
		p.BadIf(o.Series.Many(), "--sweep-max-concurrency, --sweep-request-rate, --num-runs, --preset with a control "+
			"run: this is one run of several; leave them out")
		p.BadIf(o.Screen.Record != "", "--record: a single run is recorded by 'serve' alone; leave it out")
	}
	return o, errors.Join(append(p, err)...)
}

// Environment is that of a run: it has a dashboard on the screen, if there is one, which shows these steps until the
// run.
func (b *Runner) Environment(steps ...string) *Environment {
	env := &Environment{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: b.Lines}
	if b.show != nil {
		d := &display{Preparation: tui.NewPreparation(steps...), held: heldLines{released: true}}
		env.dashboard.Store(d)
		b.show(d.Preparation)
	}
	return env
}

// Follow has the dashboard, if there is one, show a run that takes no commands. The caller ends the snapshots.
func (e *Environment) Follow(v *live.View) (stop func()) {
	d := e.display()
	if d == nil || !d.Seal() {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	d.Show(v.Publish(ctx, snapshotEvery), tui.NoControl{}, nil)
	return cancel
}

// Perform is Run with the outcome, which is empty where no request was sent.
func (b *Runner) Perform(ctx context.Context, o *spec.Spec) (run.Outcome, error) {
	env := b.Environment(StepsOf(o)...)
	env.Warn(o.Warnings)
	telemetry.TuneMemory()
	p, err := unbroken(ctx, func(ctx context.Context) (*Run, error) { return Prepare(ctx, env, o) })
	if d := env.display(); err == nil && d != nil && !d.Seal() {
		err = ErrCut
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err == nil && b.Begin != nil {
		err = b.Begin(ctx, p)
	}
	if err == nil {
		if p.beside = b.Beside; b.Sinks != nil {
			p.Sinks = b.Sinks(&p.Plan)
		}
		err = p.Reserve(ctx, env)
	}
	var r *run.Run
	if err == nil {
		r, err = p.Open(seriesTerminal{env})
	}
	if err != nil {
		if p != nil {
			env.drop(p)
		}
		return run.Outcome{}, err
	}
	defer p.page.Close()
	defer r.Close()
	if b.Opened != nil {
		over, err := b.Opened(p, r)
		if err != nil {
			env.drop(p)
			return run.Outcome{}, err
		}
		defer over()
	}
	cut := context.AfterFunc(ctx, func() { r.Command(metrics.Command{Do: metrics.Abort}) })
	defer cut()
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case <-b.Enough:
			r.Suffice(metrics.Sufficed)
		case <-over:
		}
	}()
	out := env.play(p, r, false,
		func(snapshots <-chan metrics.Snapshot) { env.display().Show(snapshots, r, p.baseline) })
	env.Warn(p.Server.Close(env.Say))
	env.Warn(slices.Concat(out.Warnings, out.Beside().Warnings))
	return out, b.failureOf(&out)
}

// failureOf is why the outcome of a run is no measurement of its plan, nil where it is one.
func (b *Runner) failureOf(o *run.Outcome) error {
	switch r := &o.Report; {
	case o.Err != nil:
		return o.Err
	case !o.Saved:
		return fmt.Errorf("the result could not be saved in its place; it is in %s", o.Path)
	case r.Interrupted != nil && r.Interrupted.Reason != "" && r.Interrupted.Reason != metrics.Sufficed &&
		metrics.ConclusionOf(r.Interrupted.Reason) != metrics.RunFailed:
		return fmt.Errorf("%w: %s", ErrCut, r.Interrupted.Reason)
	case b.Failures && !r.ServerGone():
		return nil
	default:
		return requestsFailed(r)
	}
}

// seriesTerminal is the terminal of a run that another command performs: that owns the screen and the process.
type seriesTerminal struct{ env *Environment }

func (t seriesTerminal) Drawn() bool { return t.env.display() != nil }

func (t seriesTerminal) Close() {}

func (t seriesTerminal) Announce(line string) { t.env.Say(line) }

func (t seriesTerminal) Hasten() {}

func (t seriesTerminal) Leave() {}
