package spec

import (
	"github.com/spf13/pflag"

	"benchtop/internal/argv"
	"benchtop/internal/usage"
	"benchtop/metrics"
)

// Tiers are the named objectives of a command.
type Tiers []metrics.Tier

func (o *Tiers) Define(f *pflag.FlagSet) {
	f.Var(argv.List((*[]metrics.Tier)(o), "name=objectives", metrics.ParseTier), "tier",
		"named objectives in milliseconds, as gold=ttft:200,tpot:20; repeatable: the load is judged by each, and the "+
			"first is the run's SLO")
	_ = f.SetAnnotation("tier", argv.Repeatable, nil)
}

func (o Tiers) Check(p *usage.Problems) {
	if err := metrics.CheckTiers(o); err != nil {
		p.Bad("--tier: %w", err)
	}
}

// limits are the objectives of all tiers.
func (o Tiers) limits() (all metrics.SLO) {
	for _, t := range o {
		all = append(all, t.SLO...)
	}
	return all
}
