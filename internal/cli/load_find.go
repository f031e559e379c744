package cli

import (
	"strings"
	"time"

	"github.com/spf13/pflag"

	"benchtop/internal/usage"
	"benchtop/loadgen/shape"
	"benchtop/metrics"
)

// findOptions ask for a search for the highest load within the objectives.
type findOptions struct {
	on bool
	metrics.Find
	within metrics.SLO
}

func (o *findOptions) define(f *pflag.FlagSet) {
	f.BoolVar(&o.on, "find", false, "search for the highest request rate within --goodput: raise it until it is too much, close in, hold the result")
	f.BoolVar(&o.Users, "find-users", false, "search for the highest number of users without pause instead")
	f.Float64Var(&o.From, "find-from", 1, "load the search begins with, in requests per second or users")
	f.Float64Var(&o.Most, "find-most", 1000, "load the search ends at")
	f.DurationVar(&o.Step, "find-step", 10*time.Second, "how long each load of the search takes")
	f.DurationVar(&o.Hold, "find-hold", 30*time.Second, "how long the load that was found is held")
}

// searching says that there is a search.
func (o *findOptions) searching() bool { return o.on || o.Users }

// check reports what does not go with a search.
func (o *findOptions) check(given *pflag.FlagSet, load *loadOptions, slo metrics.SLO) (p usage.Problems) {
	o.within = slo
	if !o.searching() {
		for _, name := range []string{"find-from", "find-most", "find-step", "find-hold"} {
			if given.Changed(name) {
				p.Bad("--%s: needs --find or --find-users", name)
			}
		}
		return p
	}
	if o.on && o.Users && given.Changed("find") {
		p.Bad("--find and --find-users: choose one, a rate or users")
	}
	if len(slo) == 0 {
		p.Bad("--find: say with --goodput what the search has to stay within, as --goodput ttft:500 tpot:50")
	}
	for _, name := range []string{"num-prompts", "request-rate", "ramp-up-strategy", "ramp-over", "stages", "concurrency-stages"} {
		if given.Changed(name) {
			p.Bad("--find and --%s: the search sets the load and ends the run itself; begin it with --find-from, bound it with --find-most or --duration", name)
		}
	}
	if o.Users && load.concurrency > 0 {
		p.Bad("--find-users and --max-concurrency: the search sets the number of users; bound it with --find-most")
	}
	if o.Users && o.Most > 0 && o.Most <= shape.HighestRate {
		if err := room(int(o.Most)); err != nil {
			p.Bad("--find-most %g: %w", o.Most, err)
		}
	}
	return p
}

func (o *findOptions) shape(b shape.Bounds) shape.Shape {
	return shape.NewSearch(b, o.Find, strings.ReplaceAll(o.within.String(), " ", ", "))
}
