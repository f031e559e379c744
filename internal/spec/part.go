package spec

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"benchtop/internal/usage"
	"benchtop/metrics"
)

// partFlag is a flag of a part, K/N, or auto/N where a scheduler has counted this process.
type partFlag struct{ metrics.Part }

// counted are the variables in which schedulers number the processes of a job, from 0.
var counted = []string{"JOB_COMPLETION_INDEX", "SLURM_PROCID"}

func (f *partFlag) Type() string { return "k/n" }

func (f *partFlag) Set(s string) (err error) {
	if n, auto := strings.CutPrefix(s, "auto/"); auto {
		k, err := ordinal()
		if err != nil {
			return err
		}
		s = fmt.Sprintf("%d/%s", k, n)
	}
	f.Part, err = metrics.ParsePart(s)
	return err
}

// ordinal is the number of this process among those of its job, from 1.
func ordinal() (int, error) {
	for _, name := range counted {
		if text := os.Getenv(name); text != "" {
			k, err := strconv.Atoi(text)
			if err != nil || k < 0 {
				return 0, fmt.Errorf("%s is %s: expected the number of this process, from 0", name, usage.Quote(text))
			}
			return k + 1, nil
		}
	}
	return 0, fmt.Errorf("neither %s is set: give K/N, such as 2/4", strings.Join(counted, " nor "))
}

// checkPart refuses what one of several machines cannot do without the others.
func (o *Load) checkPart(p *usage.Problems) {
	if o.Part.N < 2 || o.Led {
		return
	}
	alone := o.Part.Split()
	p.BadIf(alone && o.Searching(),
		"--part and --find: a search needs the answers of all parts; load with stages or a ramp")
	p.BadIf(alone && o.Confirm.Time > 0,
		"--part and --confirm: a proof needs the answers of all parts; leave --confirm out")
	for _, limit := range []int{o.limit(), o.Active} {
		p.BadIf(limit > 0 && limit < o.Part.N, "%d in flight cannot be split among %d machines", limit, o.Part.N)
	}
}

// Leads reports whether this machine does what is done once in a run: it warms the server up, watches it, resets its
// cache.
func (o *Load) Leads() bool { return o.Part.First() && !o.Led }
