package cli

import (
	"errors"
	"fmt"
	"io"

	"benchtop/internal/argv"
	"benchtop/internal/session"
	"benchtop/internal/spec"
	"benchtop/internal/sweep"
	"benchtop/internal/usage"
	"benchtop/metrics"
)

const sweepSLAText = `
Searches, for each combination of server and benchmark parameters, the highest request rate or concurrency that meets
objectives. Every load is one run of --bench-cmd; a load near the border is run up to --num-runs times, each with another seed.
Several sets of objectives are searched at once and share their runs.

  benchtop sweep serve_sla --bench-cmd 'vllm bench serve --model M --num-prompts 500' --tier gold=ttft:200,tpot:20 --tier bronze=ttft:800
  benchtop sweep serve_sla --serve-cmd 'vllm serve M' --bench-cmd '…' --sla-params sla.json --sla-variable max_concurrency

--sla-params is a list of sets, [{"p99_ttft_ms": "<=200", "p99_tpot_ms": "<=20"}, …], of keys of the result. A percentile of a
latency is met if that share of all requests is within the limit, over all runs of a load; failed requests are not.
The answers are printed and stored in sla.json beside the runs.`

// slaOptions are the flags of serve_sla.
type slaOptions struct {
	*sweepOptions
	file, variable string
	tiers          spec.Tiers
	iters          int
	from, most     float64

	sets []sweep.Set
}

// slaKind is the name of the subcommand.
const slaKind = "serve_sla"

// mostLoad is the highest load that a search tries unless a flag says otherwise.
const mostLoad = 8192

func newSLAOptions() *slaOptions {
	o := &slaOptions{sweepOptions: newSweepOptions(slaKind, sweepSLAText)}
	f := o.flags.Group("Search")
	f.StringVar(&o.file, "sla-params", "", "JSON file with sets of conditions on the result")
	o.tiers.Define(f)
	f.StringVar(&o.variable, "sla-variable", sweep.RequestRate,
		"load to search: "+sweep.RequestRate+" or "+sweep.MaxConcurrency)
	argv.OneOf(f, "sla-variable", sweep.RequestRate, sweep.MaxConcurrency)
	f.IntVar(&o.iters, "sla-iters", 0, "most runs for a combination; 0 for 12, and 2 more for each further set")
	f.Float64Var(&o.from, "sla-from", 0,
		"load at which the search starts; 0 for a part of what the server can do, or for 16 users")
	f.Float64Var(&o.most, "sla-most", mostLoad,
		"highest load that is tried; at most as many users as a run has requests")
	o.flags.All().Lookup("num-runs").Usage = "most runs of one load near the border"
	f.Lookup("tier").Usage = "named objectives in milliseconds, as gold=ttft:200,tpot:20; repeatable; met if 95 % of " +
		"the requests are good"
	return o
}

// parse reads the command line and the sets.
func (o *slaOptions) parse(env *session.Environment, args []string) error {
	err := o.sweepOptions.parse(env, args)
	p := usage.Problems{err}
	o.tiers.Check(&p)
	p.BadIf(o.file == "" && len(o.tiers) == 0, "--sla-params or --tier is missing: the objectives of the search")
	p.BadIf(o.iters < 0, "--sla-iters %d: must not be negative", o.iters)
	p.BadIf(!(o.most > 0 && o.most <= 1e6), "--sla-most %g: must be more than 0 and at most a million", o.most)
	p.BadIf(!(o.from >= 0 && o.from <= o.most), "--sla-from %g: must be from 0 to --sla-most", o.from)
	whole := o.variable == sweep.MaxConcurrency
	p.BadIf(whole && (o.from != float64(int(o.from)) || o.most != float64(int(o.most))),
		"--sla-from, --sla-most: users are whole numbers")
	o.sets = sweep.TierSets(o.tiers)
	if o.file != "" {
		fromFile, err := sweep.ReadSets(o.file)
		p.Flag("sla-params", err)
		o.sets = append(o.sets, fromFile...)
	}
	p.BadIf(len(o.sets) > metrics.MostTiers, "%d sets of objectives; at most %d are searched at once", len(o.sets),
		metrics.MostTiers)
	for _, it := range o.benches {
		p.BadIf(it.Sets(o.variable), "--bench-params, entry %s: %s is what the search sets; leave it out",
			usage.Quote(it.Name()), o.variable)
	}
	return errors.Join(p...)
}

func runSweepSLA(env *session.Environment, args []string) int {
	o := newSLAOptions()
	if err := o.parse(env, args); err != nil {
		return env.Fail(session.ExitUsage, err)
	}
	search := &sweep.SLA{Sets: o.sets, Variable: o.variable, From: o.from, Most: o.most, Iters: o.iters,
		Repeats: o.runs, Prompts: promptsOf(o.client)}
	var first []sweep.Combination
	for _, pair := range o.pairs() {
		first = append(first, search.Planned(pair)...)
	}
	if err := o.check(first); err != nil {
		return env.Fail(session.ExitUsage, err)
	}
	m := o.manifest(sweep.Setting{Flag: "sla-variable", Value: o.variable})
	drawn := false
	code := o.perform(env, m, func(b *session.Runner, lines io.Writer) sweep.Options {
		drawn, b.Failures = lines == io.Discard, true
		so := o.options(b, lines, m.ID())
		so.Driver, so.Variable, so.Runs = search, o.variable, 1
		return so
	})
	if drawn || len(first) > 1 {
		for _, line := range search.Found {
			fmt.Fprintln(env.Stdout, session.Harmless(line))
		}
	}
	return code
}
