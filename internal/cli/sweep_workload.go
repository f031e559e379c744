package cli

import (
	"errors"
	"io"
	"strconv"

	"benchtop/internal/argv"
	"benchtop/internal/session"
	"benchtop/internal/sweep"
	"benchtop/internal/usage"
)

const sweepWorkloadText = `
Benchmarks each combination of server and benchmark parameters at loads between one request after the other
and all at once, and writes the directories of 'vllm bench sweep serve_workload'. The two ends come first; the
levels between them are spaced evenly over what the server did there. Further flags are those of 'sweep serve'.

  benchtop sweep serve_workload --workload-var max_concurrency --bench-cmd 'vllm bench serve --model M'`

func runSweepWorkload(env *session.Environment, args []string) int {
	o := newSweepOptions("serve_workload", sweepWorkloadText)
	f := o.flags.Group("Workload")
	variable := f.String("workload-var", sweep.RequestRate,
		"load to vary: "+sweep.RequestRate+" or "+sweep.MaxConcurrency)
	argv.OneOf(f, "workload-var", sweep.RequestRate, sweep.MaxConcurrency)
	levels := f.Int("workload-iters", 10, "loads in all, the two ends included")
	err := o.parse(env, args)
	var p usage.Problems
	p.BadIf(*levels < 2, "--workload-iters %d: must be at least 2, for the two ends", *levels)
	for _, it := range o.benches {
		p.BadIf(it.Sets(*variable),
			"--bench-params: the entry %s sets %s, which --workload-var varies; remove it there", it, *variable)
	}
	if err := errors.Join(append(p, err)...); err != nil {
		return env.Fail(session.ExitUsage, err)
	}
	w := &sweep.Workload{Variable: *variable, Levels: *levels, Prompts: promptsOf(o.client)}
	var all []sweep.Combination
	for _, pair := range o.pairs() {
		all = append(all, w.Planned(pair)...)
	}
	if err := o.check(all); err != nil {
		return env.Fail(session.ExitUsage, err)
	}
	m := o.manifest(sweep.Setting{Flag: "workload-var", Value: *variable},
		sweep.Setting{Flag: "workload-iters", Value: strconv.Itoa(*levels)})
	return o.perform(env, m, func(b *session.Runner, lines io.Writer) sweep.Options {
		so := o.options(b, lines, m.ID())
		so.Driver, so.Variable = w, *variable
		return so
	})
}

// promptsOf is the number of requests that a benchmark command asks for, as vLLM's sweep reads it.
func promptsOf(client []string) int {
	if n, err := strconv.Atoi(flagValue(client, "--num-prompts")); err == nil && n > 0 {
		return n
	}
	return sweep.DefaultPrompts
}
