package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"benchtop/internal/run"
	"benchtop/internal/telemetry"
	"benchtop/internal/usage"
	"benchtop/metrics"
	"benchtop/tui"
)

// bench performs runs of serve for a command that needs many of them, in this process and one after another. It handles no signals
// and prints no report: a run ends early when its context does.
type bench struct {
	// lines takes progress and warnings, a line each.
	lines io.Writer
	// show is told of each run that begins to be prepared: a screen shows its steps, later its snapshots, and there are no progress
	// lines then. nil for no screen. The snapshots end with the run.
	show func(*tui.Preparation)
	// failures: a run of which most requests fail, by a server that is there, is a measurement like others.
	failures bool
}

// warn prints a warning among the lines of the runs.
func (b *bench) warn(format string, a ...any) {
	fmt.Fprintf(b.lines, "benchtop: WARNING: %s\n", harmless(fmt.Sprintf(format, a...)))
}

// errCut is the error of a run that was ended before its time; its result holds what was measured until then.
var errCut = errors.New("the run was cut short")

// Run performs a run of serve with these arguments, and saves it where they say. It returns once the run is saved and nothing of it
// is left. A cancelled context aborts it; what was measured is saved as that of an aborted run, and the error is errCut, or the
// context's where no request was sent. A run of which most requests failed is saved too, and is an error unless failures allows it.
func (b *bench) Run(ctx context.Context, args []string) error {
	o, err := b.parse(args)
	if err == nil {
		_, err = b.perform(ctx, o)
	}
	return err
}

// parse reads the arguments of a run, and reports all that is wrong with them, without asking the server.
func (b *bench) parse(args []string) (*serveOptions, error) {
	o := newServeOptions()
	err := o.parse(args)
	var p usage.Problems
	if err == nil {
		p.BadIf(o.save.Append, "--append-result: each run has a file of its own here; leave it out")
		p.BadIf(o.points.many(), "--sweep-max-concurrency, --sweep-request-rate, --num-runs, --preset with a control run: this is one run of several; leave them out")
		p.BadIf(o.screen.record != "", "--record: a single run is recorded by 'serve' alone; leave it out")
	}
	return o, errors.Join(append(p, err)...)
}

// perform is Run with the outcome, which is empty where no request was sent.
func (b *bench) perform(ctx context.Context, o *serveOptions) (run.Outcome, error) {
	env := &environment{stdin: strings.NewReader(""), stdout: io.Discard, stderr: b.lines}
	if b.show != nil {
		d := &display{Preparation: tui.NewPreparation(stepsOf(o)...), held: heldLines{released: true}}
		env.dashboard.Store(d)
		b.show(d.Preparation)
	}
	env.warn(o.warnings)
	telemetry.TuneMemory()
	p, err := unbroken(ctx, func(ctx context.Context) (*prepared, error) { return prepare(ctx, env, o) })
	if d := env.display(); err == nil && d != nil && !d.Seal() {
		err = errCut
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		if p != nil {
			env.warn(p.close(env.say))
		}
		return run.Outcome{}, err
	}
	return b.begin(ctx, env, p)
}

// begin performs a run that is prepared.
func (b *bench) begin(ctx context.Context, env *environment, p *prepared) (run.Outcome, error) {
	var r *run.Run
	err := p.reserve(ctx, env)
	if err == nil {
		r, err = p.open(embedded{env})
	}
	if err != nil {
		p.Files.Discard()
		env.warn(p.close(env.say))
		return run.Outcome{}, err
	}
	defer r.Close()
	cut := context.AfterFunc(ctx, func() { r.Command(metrics.Command{Do: metrics.Abort}) })
	defer cut()
	each := p.screen.progress
	if env.display() != nil {
		each = snapshotEvery
	}
	o := play(r, each, false, func(snapshots <-chan metrics.Snapshot) {
		if d := env.display(); d != nil {
			d.Show(snapshots, r, p.baseline)
			return
		}
		progress(env.stderr, snapshots)
	})
	env.warn(p.Server.Close(env.say))
	env.warn(o.Warnings)
	return o, b.failureOf(&o)
}

// failureOf is why the outcome of a run is no measurement of its plan, nil where it is one.
func (b *bench) failureOf(o *run.Outcome) error {
	switch r := &o.Report; {
	case o.Err != nil:
		return o.Err
	case !o.Saved:
		return fmt.Errorf("the result could not be saved in its place; it is in %s", o.Path)
	case r.Interrupted != nil && metrics.ConclusionOf(r.Interrupted.Reason) != metrics.RunFailed:
		return fmt.Errorf("%w: %s", errCut, r.Interrupted.Reason)
	case b.failures && !r.ServerGone():
		return nil
	default:
		return requestsFailed(r)
	}
}

// embedded is the terminal of a run that another command performs: that owns the screen and the process.
type embedded struct{ env *environment }

func (t embedded) Drawn() bool          { return t.env.display() != nil }
func (t embedded) Close()               {}
func (t embedded) Announce(line string) { t.env.say(line) }
func (t embedded) Hasten()              {}
func (t embedded) Leave()               {}
