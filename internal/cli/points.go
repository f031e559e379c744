package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"benchtop/export"
	"benchtop/internal/argv"
	"benchtop/internal/files"
	"benchtop/internal/usage"
	"benchtop/metrics"
)

// pointOptions make several runs from one command line: the sweeps and repetitions of vLLM's Rust client.
type pointOptions struct {
	users, rates, percentiles string
	factor, runs              int

	points []point   // of the flags, at least one; those of a preset are there before
	extra  []float64 // the parsed percentiles
	at     *point    // the one that is run, nil for the command line as it stands
}

// point is one load of a sweep: its name, and the flags it sets. Run counts the repetitions from 1; 0 for a single one.
type point struct {
	label string
	run   int
	set   [][2]string
}

// mostPoints limits the runs of one command line.
const mostPoints = 1000

func (o *pointOptions) define(f *pflag.FlagSet) {
	f.StringVar(&o.users, "sweep-max-concurrency", "", "one run for each of these values of --max-concurrency, as 1,10,50, and a summary of all")
	f.IntVar(&o.factor, "sweep-num-prompts-factor", 0, "with --sweep-max-concurrency: requests of a run, as a multiple of its concurrency")
	f.StringVar(&o.rates, "sweep-request-rate", "", "one run for each of these values of --request-rate, as 1,10,inf, and a summary of all")
	f.StringVar(&o.percentiles, "sweep-summary-percentiles", "", "further percentiles of the summary, which has 50 and 90")
	f.IntVar(&o.runs, "num-runs", 1, "repeat each run so often, and show how much the figures vary")
}

// many says that there is more than one run.
func (o *pointOptions) many() bool {
	return len(o.points) > 1 || o.users != "" || o.rates != "" || o.runs > 1
}

// swept is the flag that has several values, "" for none.
func (o *pointOptions) swept() string {
	switch {
	case o.users != "":
		return "sweep-max-concurrency"
	case o.rates != "":
		return "sweep-request-rate"
	}
	return ""
}

func (o *pointOptions) check() (p usage.Problems) {
	p.BadIf(o.users != "" && o.rates != "", "--sweep-max-concurrency and --sweep-request-rate: choose one; 'benchtop sweep serve' combines parameters")
	p.BadIf(o.factor != 0 && o.users == "", "--sweep-num-prompts-factor: needs --sweep-max-concurrency")
	p.BadIf(o.factor < 0, "--sweep-num-prompts-factor %d: must be at least 1", o.factor)
	p.BadIf(o.percentiles != "" && o.swept() == "", "--sweep-summary-percentiles: needs --sweep-max-concurrency or --sweep-request-rate")
	p.BadIf(o.runs < 1 || o.runs > mostPoints, "--num-runs %d: must be from 1 to %d", o.runs, mostPoints)
	if o.percentiles != "" {
		o.extra = parsePercentiles(&p, "sweep-summary-percentiles", o.percentiles)
	}
	switch {
	case o.users != "":
		o.addUsers(&p)
	case o.rates != "":
		o.addRates(&p)
	case o.points == nil:
		o.points = []point{{}}
	}
	p.BadIf(len(o.points)*max(o.runs, 1) > mostPoints, "--%s and --num-runs: %d runs in all; at most %d", o.swept(), len(o.points)*o.runs, mostPoints)
	return p
}

func (o *pointOptions) addUsers(p *usage.Problems) {
	for item := range strings.SplitSeq(o.users, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(item))
		if err != nil || n < 1 {
			p.Bad("--sweep-max-concurrency: %s is no number of requests of at least 1; write 1,10,50", usage.Quote(item))
			continue
		}
		at := point{label: fmt.Sprintf("concurrency=%d", n), set: [][2]string{{"max-concurrency", strconv.Itoa(n)}}}
		if o.factor > 0 {
			if n > math.MaxInt32/o.factor {
				p.Bad("--sweep-num-prompts-factor %d: %d times that are too many requests", o.factor, n)
			}
			at.set = append(at.set, [2]string{"num-prompts", strconv.Itoa(n * o.factor)})
		}
		o.points = append(o.points, at)
	}
}

func (o *pointOptions) addRates(p *usage.Problems) {
	for item := range strings.SplitSeq(o.rates, ",") {
		var rate argv.Rate
		if err := rate.Set(strings.TrimSpace(item)); err != nil || !(rate > 0) {
			p.Bad("--sweep-request-rate: %s is no rate above 0, nor inf; write 1,10,inf", usage.Quote(item))
			continue
		}
		o.points = append(o.points, point{label: "rate=" + rate.String(), set: [][2]string{{"request-rate", rate.String()}}})
	}
}

// apply sets the flags of the point that is run, if there is one.
func (o *pointOptions) apply(all *pflag.FlagSet) (p usage.Problems) {
	if o.at == nil {
		return nil
	}
	for _, s := range o.at.set {
		p.Flag(s[0], all.Set(s[0], s[1]))
	}
	return p
}

// name puts the point into a file name that was given, so that each run has a file of its own.
func (o *pointOptions) name(save *files.Options) {
	if o.at == nil || save.Name == "" || save.Append {
		return
	}
	end := ""
	if o.at.label != "" {
		end = "-" + o.at.label
	}
	if o.at.run > 0 {
		end += fmt.Sprintf("-run%d", o.at.run)
	}
	stem := files.Stem(save.Name)
	save.Name = stem + end + strings.TrimPrefix(save.Name, stem)
}

// all are the runs in their order, each as the options of its own.
func (o *pointOptions) all(args []string, unasked bool) (singles []*serveOptions, err error) {
	for _, at := range o.points {
		for n := range o.runs {
			at := at
			if o.runs > 1 {
				at.run = n + 1
			}
			single := newServeOptions()
			single.points.at = &at
			single.save.Unasked = unasked
			err := single.parse(args)
			if err == nil {
				err = single.save.Look(false)
			}
			if err != nil {
				return nil, fmt.Errorf("--%s, %s: %w", o.swept(), at.label, err)
			}
			singles = append(singles, single)
		}
	}
	return singles, nil
}

// runPoints performs the runs of a sweep or of repetitions one after another, and prints their reports, then what they have in common.
// A run of which most requests fail does not keep the next from beginning; one that cannot begin, or a signal, does.
func runPoints(e *environment, o *serveOptions, args []string) int {
	singles, err := o.points.all(args, o.save.Unasked)
	if err != nil {
		return e.fail(exitUsage, err)
	}
	if !o.server.Reset && !o.content.Cold() {
		e.warn([]string{"the runs send the same prompts, which the server's prefix cache may answer from the second run on; --reset-prefix-cache or --cache cold prevents that"})
	}
	signal.Ignore(syscall.SIGPIPE)
	defer signal.Reset(syscall.SIGPIPE)
	b := &bench{lines: e.stderr}
	var done []export.RunOf
	conclusion, failed := metrics.Fine, error(nil)
	stopped := untilStopped(func(ctx context.Context) error {
		for i, single := range singles {
			at := single.points.at
			e.say(fmt.Sprintf("run %d of %d%s", i+1, len(singles), strings.TrimRight(": "+at.label, ": ")))
			outcome, err := b.perform(ctx, single)
			r := outcome.Report
			if r.Plan.Started.IsZero() || ctx.Err() != nil {
				return err
			}
			if err := printReport(e.stdout, r, nil, false); err != nil {
				return fmt.Errorf("the report could not be printed: %w", err)
			}
			if outcome.Path != "" {
				fmt.Fprintf(e.stderr, "result saved to %s\n", harmless(outcome.Path))
			}
			if conclusion = max(conclusion, r.Conclusion); err != nil {
				failed = errors.Join(failed, fmt.Errorf("run %d, %s: %w", i+1, at.label, err))
			}
			done = append(done, export.RunOf{Load: at.label, Label: at.name(), Report: r})
		}
		return nil
	})
	if err := printPoints(e, o, done); stopped == nil {
		stopped = err
	}
	switch {
	case stopped != nil:
		return e.failed(stopped)
	case failed != nil:
		return max(e.fail(exitFailed, failed), exitCode(conclusion))
	}
	return exitCode(conclusion)
}

// name is the label with the number of the repetition.
func (at *point) name() string {
	if at.run == 0 {
		return at.label
	}
	return strings.TrimLeft(fmt.Sprintf("%s run %d", at.label, at.run), " ")
}

// printPoints prints how the repetitions of each load vary, and the summary of all loads.
func printPoints(e *environment, o *serveOptions, done []export.RunOf) error {
	if runs := o.points.runs; runs > 1 {
		for i, at := range o.points.points {
			var same []metrics.Report
			for k := i * runs; k < min((i+1)*runs, len(done)); k++ {
				same = append(same, done[k].Report)
			}
			title := "Multi-run Summary"
			if at.label != "" {
				title += ", " + at.label
			}
			if len(same) == 0 {
				break
			}
			if err := export.RunsSpread(e.stdout, title, same); err != nil {
				return err
			}
		}
	}
	if o.points.swept() == "" || len(done) == 0 {
		return printControl(e.stdout, &o.workload, done)
	}
	return export.RunsSummary(e.stdout, done, o.points.extra)
}
