package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"benchtop/internal/argv"
	"benchtop/internal/compare"
	"benchtop/internal/compare/evidence"
	"benchtop/internal/launch"
	"benchtop/internal/run"
	"benchtop/internal/secret"
	"benchtop/internal/session"
	"benchtop/internal/spec"
	"benchtop/internal/sweep"
	"benchtop/internal/usage"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/grid"
)

const abText = `
Sends every request of one draw to two servers, A and B, and says for each figure whether B is better, worse, or the
difference may be chance, at a level of 1 %. A side is the URL of a server, a profile as FILE.yaml or
FILE.yaml#NAME, or the command of a server in quotes. All other flags are those of 'benchtop serve'; --num-prompts or
--duration is the budget of each side. With --figure and --precision it stops early.

  benchtop ab http://old:8000 http://new:8000 --num-prompts 1000 --max-concurrency 16
  benchtop ab --a 'vllm serve M' --b 'vllm serve M --max-num-seqs 64' --request-rate 4 --fail-on 'mean_tpot_ms>+5%'

--paired blocks sends the draw in parts, each to one side and then to the other, in random order, so that servers may
share a machine; two commands for one port start in turn. --paired duet loads both at once, so that what disturbs one
disturbs the other. Each run sends a cache salt of its own unless --cache says otherwise.`

// The ways to pair requests.
const (
	inBlocks = "blocks"
	asDuet   = "duet"
)

// abOptions are the flags of ab.
type abOptions struct {
	comparison
	texts         [2]string
	paired        string
	blocks, ready int
	figures       []string
	precision     float64
	flags         argv.Flags
	sides         [2]abSide
	guard         []string
	env           *session.Environment
	enough        chan struct{}
	duet          [2]abRun

	mu      sync.Mutex // guards those below
	pairs   []*evidence.Pairs
	reports [2][]metrics.Report
	look    int
	proof   compare.Proof // of the last look
	narrow  bool          // its intervals are
	failed  error         // of the first run that did
}

// abSide is one of the two.
type abSide struct {
	name, label string
	command     []string // of its server; nil for one that runs already
	address     string
	spec        *spec.Spec
	server      *launch.Server
}

// abRun is a run that is over.
type abRun struct {
	run.Outcome
	err error
}

func newAB() *abOptions {
	o := &abOptions{comparison: comparison{name: "ab"}, enough: make(chan struct{}),
		flags: argv.Flags{Synopsis: "ab A B [flags of serve]", Text: abText}}
	f := o.flags.Group("Comparison")
	f.StringVar(&o.texts[0], "a", "",
		"the first side, as the first argument: URL, FILE.yaml#PROFILE, or the command of a server in quotes")
	f.StringVar(&o.texts[1], "b", "", "the second side, as the second argument")
	f.StringVar(&o.paired, "paired", inBlocks,
		"how requests meet: blocks (in parts, in random order) or duet (at once)")
	argv.OneOf(f, "paired", inBlocks, asDuet)
	f.IntVar(&o.blocks, "blocks", 16, "parts of the draw with --paired blocks, a multiple of 4, at least 16 to decide "+
		"all figures")
	f.Var(argv.List(&o.figures, "figure", argv.Text), "figure",
		"figures whose intervals have to be narrow, as p99_itl_ms; repeatable (default: mean_ttft_ms, mean_tpot_ms)")
	f.Float64Var(&o.precision, "precision", 1,
		"stop at a quarter, half or three quarters of the budget where the interval of each --figure is within so "+
			"many percent; 0 for never")
	o.defineGates(f, "exit with 3 where B surely changed by more, as 'mean_tpot_ms>+5%'; repeatable")
	f.IntVar(&o.ready, "server-ready-timeout", int(launch.DefaultReady/time.Second),
		"most seconds from a server's start until it is healthy")
	o.define(o.flags.Group("Output"))
	return o
}

// parse reads the command line of both sides.
func (o *abOptions) parse(env *session.Environment, args []string) (err error) {
	own, others := argv.Part(o.flags.All(), args)
	rest, err := env.Parse(&o.flags, own)
	if errors.As(err, new(argv.Help)) {
		return err
	}
	for i := range o.texts {
		if o.texts[i] == "" && len(others) > 0 && !strings.HasPrefix(others[0], "-") {
			o.texts[i], others = others[0], others[1:]
		}
	}
	p := usage.Problems{err, noArguments("ab", rest)}
	p.OneOf("paired", o.paired, inBlocks, asDuet)
	p.BadIf(o.blocks < 2*evidence.Looks || o.blocks%evidence.Looks != 0 || o.blocks > spec.MostPoints,
		"--blocks %d: must be a multiple of %d, from %d to %d", o.blocks, evidence.Looks, 2*evidence.Looks,
		spec.MostPoints)
	p.BadIf(!(o.precision >= 0), "--precision %g: must not be negative", o.precision)
	p.BadIf(o.ready < 1, "--server-ready-timeout %d: must be at least 1", o.ready)
	if len(o.figures) == 0 {
		o.figures = []string{"mean_ttft_ms", "mean_tpot_ms"}
	}
	for _, key := range o.figures {
		p.OneOf("figure", key, evidence.Keys()...)
	}
	o.comparison.check(&p)
	bad := toldOnce(&p)
	for i := range o.sides {
		s := &o.sides[i]
		s.name = [...]string{"A", "B"}[i]
		if err := s.parse(o.texts[i], others); err != nil {
			bad("--"+strings.ToLower(s.name), err)
		}
	}
	if err := errors.Join(p...); err != nil {
		return usage.Wrap(err)
	}
	o.guard, err = guardCommand()
	return errors.Join(err, o.check())
}

// parse reads a side, and the flags of its runs.
func (s *abSide) parse(text string, flags []string) (err error) {
	s.label = secret.Hide(text)
	args := append([]string{"--cache", "cold", "--label", strings.ToLower(s.name)}, flags...)
	file, _, _ := strings.Cut(text, "#")
	switch words, err := argv.Split(text); {
	case err != nil:
		return err
	case len(words) == 0:
		return errors.New("missing; give the URL of a server, a profile as FILE.yaml#NAME, or a command in quotes")
	case len(words) == 1 && (strings.HasSuffix(file, ".yaml") || strings.HasSuffix(file, ".yml")):
		args = append(args, "--config", text)
	case len(words) == 1:
		args = append(args, "--base-url", text)
	default:
		s.command = words
		if s.address, err = launch.AddressOf(words); err != nil {
			return err
		}
		if _, err := exec.LookPath(words[0]); err != nil {
			return fmt.Errorf("%w; install it, or give the URL of a server that runs already", err)
		}
		s.label = strings.Join(launch.Hide(words), " ")
		args = append(args, "--base-url", s.address)
	}
	var b session.Runner
	s.spec, err = b.Parse(args)
	return err
}

// check finds what the two sides cannot do together.
func (o *abOptions) check() error {
	a, b := &o.sides[0], &o.sides[1]
	var p usage.Problems
	for _, s := range o.sides {
		p.BadIf(s.spec.Report.JSON, "--json: it prints a single run; use --format json")
		p.BadIf(s.spec.Load.Answers > 0, "--check-answers: ab compares no answers; use serve with each server")
		p.BadIf(s.spec.Load.Searching() || s.spec.Load.Confirm.Time > 0,
			"--%s: a search sends each side another load; leave --find, --find-users and --confirm out",
			strings.ToLower(s.name))
	}
	p.BadIf(a.spec.Report.Prometheus != "" && o.paired == asDuet,
		"--prometheus: it shows one run at a time; use --paired blocks")
	p.BadIf(a.command != nil && a.address == b.address && o.paired == asDuet,
		"--paired duet: both commands listen at %s; give one another --port, or use --paired blocks", a.address)
	p.BadIf(a.spec.Load.Seed != b.spec.Load.Seed || a.spec.Prompts.Prompts != b.spec.Prompts.Prompts,
		"--a, --b: the profiles have another seed or number of prompts, so that there would be no pairs")
	if err := errors.Join(p...); err != nil {
		return usage.Wrap(err)
	}
	return nil
}

func runAB(env *session.Environment, args []string) int {
	o := newAB()
	o.env = env
	if err := o.parse(env, args); err != nil {
		return env.Fail(session.ExitUsage, err)
	}
	defer o.stop()
	for i := range o.sides {
		s := &o.sides[i]
		s.spec.Save.Unasked = env.SavesUnasked()
		env.Warn(slices.DeleteFunc(s.spec.Warnings, func(w string) bool {
			return i > 0 && slices.Contains(o.sides[0].spec.Warnings, w)
		}))
		if s.spec.DryRun {
			fmt.Fprintf(env.Stdout, "# %s: %s\n", s.name, session.Harmless(s.label))
			err := session.UntilStopped(func(ctx context.Context) error { return env.DryRun(ctx, s.spec) })
			if err != nil || i == 1 {
				return env.Failed(err)
			}
		}
	}
	outcome, err := env.Series(&o.sides[0].spec.Screen, false, o.series)
	if err == nil && outcome.Failed > 0 {
		err = fmt.Errorf("%d of %d runs failed, the first: %w", outcome.Failed, outcome.Done+outcome.Failed, o.failed)
	}
	code := o.print()
	if err != nil {
		return env.Failed(err)
	}
	return code
}

// series are the runs of both sides.
func (o *abOptions) series(b *session.Runner, _ io.Writer) (s *sweep.Sweep) {
	b.Lines = &differentLines{to: b.Lines, told: map[string]bool{}}
	runs := o.blocks
	order := func(n int) []int { return rand.New(rand.NewPCG(uint64(o.sides[0].spec.Load.Seed), uint64(n))).Perm(2) }
	if o.paired == asDuet {
		runs, order = 1, func(int) []int { return []int{0, 1} }
	}
	s = sweep.New(sweep.Options{
		Title: "ab, " + o.paired, Word: "comparison", Part: "side", Runs: runs, Whole: true, ContinueOnError: true,
		Out: io.Discard,
		Pairs: []sweep.Combination{{Place: "0", Load: "A " + session.Harmless(o.sides[0].label)},
			{Place: "1", Load: "B " + session.Harmless(o.sides[1].label)}},
		Driver: &sweep.Turns{Order: order, Enough: func(n int) bool { return o.lookAfter(s, n+1, runs) },
			Together: o.paired == asDuet},
		Measure: func(ctx context.Context, r sweep.Run) (grid.Figures, error) {
			side, _ := strconv.Atoi(r.Place)
			if o.paired == asDuet && side == 0 {
				o.both(ctx, s, b)
			}
			if o.paired == asDuet {
				return gridFigures(&o.duet[side])
			}
			out := o.measure(ctx, s, *b, side, r.Number)
			return gridFigures(&out)
		},
	})
	if o.sides[0].command != nil || o.sides[1].command != nil {
		s.ServerIs(grid.ServerNone, nil)
	}
	return s
}

// differentLines passes each line on once: many runs have the same.
type differentLines struct {
	mu   sync.Mutex
	to   io.Writer
	told map[string]bool
}

func (d *differentLines) Write(line []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.told[string(line)] {
		return len(line), nil
	}
	d.told[string(line)] = true
	return d.to.Write(line)
}

// gridFigures are those of a run for the screen.
func gridFigures(r *abRun) (grid.Figures, error) {
	if r.err != nil {
		return grid.Unknown(), r.err
	}
	return sweep.FiguresOf(r.Report)
}

// measure performs the run of a side with a part of the draw.
func (o *abOptions) measure(ctx context.Context, s *sweep.Sweep, b session.Runner, side, block int) (out abRun) {
	of, name := &o.sides[side], fmt.Sprintf("%s%d", strings.ToLower(o.sides[side].name), block+1)
	parts := o.blocks
	if o.paired == asDuet {
		parts, name = 1, strings.ToLower(of.name)
	}
	one, err := of.spec.Part(name, block, parts)
	if err == nil {
		err = o.serve(ctx, s, side)
	}
	if err != nil {
		return abRun{err: err}
	}
	b.Failures = true
	b.Sinks = func(plan *metrics.Plan) []event.Sink { return []event.Sink{o.pairsOf(block, plan).Side(side)} }
	out.Outcome, out.err = b.Perform(ctx, one)
	if began := !out.Report.Plan.Started.IsZero(); !began && out.err != nil {
		out.err = sweep.End{Err: fmt.Errorf("%s: %w", of.name, out.err)}
	} else if began {
		o.mu.Lock()
		o.reports[side] = append(o.reports[side], out.Report)
		if o.failed == nil {
			o.failed = out.err
		}
		o.mu.Unlock()
	}
	if out.Path != "" {
		o.env.Say(fmt.Sprintf("%s: result saved to %s", name, session.Harmless(out.Path)))
	}
	return out
}

// pairsOf are those of a block, which the side that comes first begins.
func (o *abOptions) pairsOf(block int, plan *metrics.Plan) *evidence.Pairs {
	o.mu.Lock()
	defer o.mu.Unlock()
	for block >= len(o.pairs) { // runs may have failed before their first request
		o.pairs = append(o.pairs, evidence.NewPairs(plan))
	}
	return o.pairs[block]
}

// both performs the runs of both sides at once, and looks at their pairs meanwhile.
func (o *abOptions) both(ctx context.Context, s *sweep.Sweep, b *session.Runner) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var ready, over sync.WaitGroup
	ready.Add(2)
	for i := range o.duet {
		over.Go(func() {
			x := *b
			waiting := sync.OnceFunc(ready.Done)
			defer waiting()
			x.Enough, x.Beside = o.enough, i == 1
			x.Begin = func(ctx context.Context, _ *session.Run) error {
				waiting()
				ready.Wait()
				return ctx.Err()
			}
			if o.duet[i] = o.measure(ctx, s, x, i, 0); o.duet[i].err != nil {
				stop()
			}
		})
	}
	ended := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() { o.watch(s, ended) })
	over.Wait()
	close(ended)
	watching.Wait()
}

// watch looks at the pairs of runs that are on, when each quarter of them has ended.
func (o *abOptions) watch(s *sweep.Sweep, over <-chan struct{}) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-over:
			return
		case <-tick.C:
		}
		o.mu.Lock()
		part := 0.0
		if len(o.pairs) > 0 {
			part = o.pairs[0].Part()
		}
		o.mu.Unlock()
		if look := o.look + 1; look < evidence.Looks && part >= float64(look)/evidence.Looks {
			if o.lookAt(look) {
				close(o.enough)
				return
			}
		}
		o.show(s)
	}
}

// lookAfter looks at the pairs after so many of all blocks, and says whether they are enough.
func (o *abOptions) lookAfter(s *sweep.Sweep, done, all int) bool {
	defer o.show(s)
	o.mu.Lock()
	for _, p := range o.pairs {
		p.Close()
	}
	o.mu.Unlock()
	if o.paired == asDuet && o.narrow {
		return true // the look that ended the runs is the last
	}
	if look := done * evidence.Looks / all; done*evidence.Looks%all == 0 {
		return o.lookAt(look)
	}
	return false
}

// lookAt is a look, from 1, and says whether the intervals are narrow enough.
func (o *abOptions) lookAt(look int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.look, o.proof = look, o.prove(look)
	o.narrow = o.precision > 0 && !slices.ContainsFunc(o.figures, func(key string) bool {
		i := slices.IndexFunc(o.proof.Rows, func(r evidence.Row) bool { return r.Key == key })
		if i < 0 || o.proof.Rows[i].Verdict == evidence.Short {
			return true
		}
		return !((o.proof.Rows[i].High-o.proof.Rows[i].Low)/2 <= o.precision/100)
	})
	return o.narrow
}

// prove is what the pairs say at a look, 0 for none.
func (o *abOptions) prove(look int) compare.Proof {
	labels := [2]string{o.sides[0].label, o.sides[1].label}
	load := o.sides[0].spec.Load.Shape().Describe(o.sides[0].spec.Prompts.Prompts, metrics.RequestsPerSecond)
	if len(o.pairs) == 0 {
		return compare.Proof{Labels: labels, Load: load}
	}
	return compare.ProofBy(labels, load, o.reports[0], o.reports[1], evidence.ComparePairs(o.pairs, look))
}

// show brings the figures so far to the screen: with the verdicts of the last look, or without.
func (o *abOptions) show(s *sweep.Sweep) {
	o.mu.Lock()
	defer o.mu.Unlock()
	proof := o.prove(0)
	if len(proof.Rows) == 0 {
		return
	}
	for i := range proof.Rows {
		r := &proof.Rows[i]
		k := slices.IndexFunc(o.proof.Rows, func(x evidence.Row) bool { return x.Key == r.Key })
		if k >= 0 && r.Verdict == "" {
			r.Verdict = o.proof.Rows[k].Verdict
		}
	}
	t := proof.Short()
	t.Title = ""
	shown := grid.Table{Title: fmt.Sprintf("A against B, %s, look %d of %d", proof.Units, o.look, evidence.Looks)}
	for i, line := range strings.Split(strings.Trim(t.Text(1000, false), "\n"), "\n") {
		l := grid.TableLine{Text: line}
		if i > 0 { // below the head
			v := proof.Rows[i-1].Verdict
			l.Good, l.Bad = v == evidence.Better, v == evidence.Worse
		}
		shown.Lines = append(shown.Lines, l)
	}
	s.Show(shown)
}

// print prints the evidence and why there are no more pairs, and returns the exit code by the conditions.
func (o *abOptions) print() int {
	code := session.ExitFine
	if o.look == 0 {
		o.proof.Why = "the comparison ended before a quarter of its budget was spent"
	}
	note := "The blocks of both sides went out in random order."
	if o.paired == asDuet {
		note = "Both sides had their load at once."
	}
	note += fmt.Sprintf(" At most %g %% of comparisons of a server with itself have a row that is better or worse. "+
		"Look %d of %d.", 100*evidence.PairedLevel, o.look, evidence.Looks)
	if o.narrow && o.look < evidence.Looks {
		note += fmt.Sprintf(" It ended there: the intervals of %s are within %g %%.", strings.Join(o.figures, ", "),
			o.precision)
	}
	checked := metrics.Each(o.gates, func(g compare.Gate) compare.Checked { return g.Check(&o.proof) })
	if o.proof.Why != "" {
		code, note = session.ExitFailed, "no evidence: "+o.proof.Why
	}
	return max(code, o.conclude(o.env, o.proof.Tables(), note, checked))
}

// serve starts the server of a side, where it is a command that does not run yet; another at its address is stopped.
func (o *abOptions) serve(ctx context.Context, s *sweep.Sweep, side int) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	of, other := &o.sides[side], &o.sides[1-side]
	if of.command == nil {
		return nil
	}
	if of.server != nil {
		select {
		case <-of.server.Died():
			return sweep.End{Err: fmt.Errorf("the server of %s ended: %w", of.name, of.server.Err())}
		default:
			return nil
		}
	}
	if other.server != nil && other.address == of.address {
		s.ServerIs(grid.ServerStopping, nil)
		err := other.server.Stop()
		if other.server = nil; err != nil {
			return sweep.End{Err: err}
		}
	}
	s.ServerIs(grid.ServerStarting, launch.Hide(of.command))
	server, err := launch.Start(ctx, launch.Options{Command: of.command, Guard: o.guard, Log: s.Logged,
		Ready: time.Duration(o.ready) * time.Second})
	if err == nil {
		of.server = server
		err = server.Ready(ctx)
	}
	if err != nil {
		s.ServerIs(grid.ServerFailed, nil)
		return sweep.End{Err: fmt.Errorf("the server of %s: %w", of.name, err)}
	}
	s.ServerIs(grid.ServerReady, nil)
	return nil
}

// stop ends the servers.
func (o *abOptions) stop() {
	for i := range o.sides {
		if s := o.sides[i].server; s != nil {
			if err := s.Stop(); err != nil {
				o.env.Warn([]string{err.Error()})
			}
		}
	}
}
