package spec

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"benchtop/internal/argv"
	"benchtop/internal/files"
	"benchtop/internal/usage"
)

// Series make several runs from one command line: the sweeps and repetitions of vLLM's Rust client.
type Series struct {
	users, rates, percentiles string
	prompts, warmups, Runs    int

	Points []Point   // of the flags, at least one; those of a preset are there before
	Extra  []float64 // the parsed percentiles
	at     *Point    // the one that is run, nil for what is asked for as it stands
}

// Point is one load of a sweep: its name, and the flags it sets. Run counts the repetitions from 1; 0 for a single one.
type Point struct {
	Label string
	run   int
	set   []argv.Value
	rate  argv.Rate
	users int
}

// MostPoints limits the runs of one command line.
const MostPoints = 1000

func (o *Series) define(f *pflag.FlagSet) {
	f.StringVar(&o.users, "sweep-max-concurrency", "",
		"one run for each of these values of --max-concurrency, as 1,10,50, and a summary of all")
	f.IntVar(&o.prompts, "sweep-num-prompts-factor", 0,
		"with --sweep-max-concurrency: requests of a run, as a multiple of its concurrency")
	f.IntVar(&o.warmups, "sweep-num-warmups-factor", 0,
		"with --sweep-max-concurrency: warm-up requests of a run, as a multiple of its concurrency")
	f.StringVar(&o.rates, "sweep-request-rate", "",
		"one run for each of these values of --request-rate, as 1,10,inf, and a summary of all")
	f.StringVar(&o.percentiles, "sweep-summary-percentiles", "",
		"further percentiles of the summary, which has 50 and 90")
	f.IntVar(&o.Runs, "num-runs", 1, "repeat each run so often, and show how much the figures vary")
}

// Many says that there is more than one run.
func (o *Series) Many() bool {
	return len(o.Points) > 1 || o.users != "" || o.rates != "" || o.Runs > 1
}

// Swept is the flag that has several values, "" for none.
func (o *Series) Swept() string {
	switch {
	case o.users != "":
		return "sweep-max-concurrency"
	case o.rates != "":
		return "sweep-request-rate"
	}
	return ""
}

func (o *Series) check() (p usage.Problems) {
	p.BadIf(o.users != "" && o.rates != "",
		"--sweep-max-concurrency and --sweep-request-rate: choose one; 'benchtop sweep serve' combines parameters")
	for _, f := range o.factors() {
		p.BadIf(f.by != 0 && o.users == "", "--sweep-%s-factor: needs --sweep-max-concurrency", f.flag)
		p.BadIf(f.by < 0, "--sweep-%s-factor %d: must be at least 1", f.flag, f.by)
	}
	p.BadIf(o.percentiles != "" && o.Swept() == "",
		"--sweep-summary-percentiles: needs --sweep-max-concurrency or --sweep-request-rate")
	p.BadIf(o.Runs < 1 || o.Runs > MostPoints, "--num-runs %d: must be from 1 to %d", o.Runs, MostPoints)
	if o.percentiles != "" {
		o.Extra = parsePercentiles(&p, "sweep-summary-percentiles", o.percentiles)
	}
	switch {
	case o.users != "":
		o.addUsers(&p)
	case o.rates != "":
		o.addRates(&p)
	case o.Points == nil:
		o.Points = []Point{{}}
	}
	p.BadIf(len(o.Points)*max(o.Runs, 1) > MostPoints, "--%s and --num-runs: %d runs in all; at most %d", o.Swept(),
		len(o.Points)*o.Runs, MostPoints)
	return p
}

// factor sets a flag to a multiple of the concurrency, unless it is 0.
type factor struct {
	flag string
	by   int
}

func (o *Series) factors() []factor {
	return []factor{{"num-prompts", o.prompts}, {"num-warmups", o.warmups}}
}

func (o *Series) addUsers(p *usage.Problems) {
	for item := range strings.SplitSeq(o.users, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(item))
		if err != nil || n < 1 {
			p.Bad("--sweep-max-concurrency %s: must be whole numbers of at least 1, as 1,10,50", usage.Quote(item))
			continue
		}
		at := Point{Label: fmt.Sprintf("concurrency=%d", n), users: n,
			set: []argv.Value{argv.To("max-concurrency", n)}}
		for _, f := range o.factors() {
			if f.by > 0 {
				p.BadIf(n > math.MaxInt32/f.by, "--sweep-%s-factor %d: %d times that are too many requests", f.flag,
					f.by, n)
				at.set = append(at.set, argv.To(f.flag, n*f.by))
			}
		}
		o.Points = append(o.Points, at)
	}
}

func (o *Series) addRates(p *usage.Problems) {
	for item := range strings.SplitSeq(o.rates, ",") {
		var rate argv.Rate
		if err := rate.Set(strings.TrimSpace(item)); err != nil || !(rate > 0) {
			p.Bad("--sweep-request-rate: %s: rate must be positive or inf; write 1,10,inf", usage.Quote(item))
			continue
		}
		o.Points = append(o.Points,
			Point{Label: "rate=" + rate.String(), rate: rate, set: []argv.Value{argv.To("request-rate", &rate)}})
	}
}

// lend has the rest of what is asked for checked with the load of the first point.
func (o *Series) lend(to *Load) {
	switch {
	case o.Swept() == "" || len(o.Points) == 0:
	case o.users != "":
		to.concurrency = o.Points[0].users
	default:
		to.Rate = o.Points[0].rate
	}
}

// name puts the point into a file name that was given, so that each run has a file of its own.
func (o *Series) name(save *files.Options) {
	if o.at == nil || save.Name == "" || save.Append {
		return
	}
	end := ""
	if o.at.Label != "" {
		end = "-" + o.at.Label
	}
	if o.at.run > 0 {
		end += fmt.Sprintf("-run%d", o.at.run)
	}
	stem := files.Stem(save.Name)
	save.Name = stem + end + strings.TrimPrefix(save.Name, stem)
}

// Runs are those that are asked for, in their order, each with what is asked of it alone.
func (o *Spec) Runs() (singles []*Spec, err error) {
	values := slices.DeleteFunc(o.Values(), func(v argv.Value) bool {
		return slices.Contains([]string{"sweep-max-concurrency", "sweep-num-prompts-factor",
			"sweep-num-warmups-factor", "sweep-request-rate", "sweep-summary-percentiles", "num-runs"}, v.Name)
	})
	if o.Preset.Chosen != nil && len(o.Series.Points) > 1 && o.Series.Swept() == "" {
		values = append(values, argv.To("no-control", true)) // each is one of the two
	}
	for _, at := range o.Series.Points {
		for n := range o.Series.Runs {
			if o.Series.Runs > 1 {
				at.run = n + 1
			}
			single, err := o.single(values, at)
			if err != nil {
				if at.Label != "" {
					err = fmt.Errorf("--%s, %s: %w", cmp.Or(o.Series.Swept(), "preset"), at.Label, err)
				}
				return nil, err
			}
			singles = append(singles, single)
		}
	}
	return singles, nil
}

// single is one of several runs: these values with those of a point.
func (o *Spec) single(values []argv.Value, at Point) (*Spec, error) {
	single := New()
	single.Server.Places = o.Server.Places
	single.Series.at, single.Series.Extra, single.Save.Unasked = &at, o.Series.Extra, o.Save.Unasked
	err := single.Take(append(slices.Clone(values), at.set...))
	single.Command = o.Command
	if err == nil {
		err = single.Save.Look(false)
	}
	return single, err
}

// Part is one of several runs that share the requests of this one, each with a draw of its own; the label is in the
// name of its file.
func (o *Spec) Part(label string, number, of int) (*Spec, error) {
	at := Point{Label: label, set: []argv.Value{argv.To("seed", o.Load.Seed+int64(number))}}
	if o.Load.duration > 0 {
		at.set = append(at.set, argv.To("duration", o.Load.duration/time.Duration(of)))
	}
	if o.Load.PromptsGiven || o.Load.duration == 0 {
		at.set = append(at.set, argv.To("num-prompts", (o.Load.Prompts+of-1)/of))
	}
	return o.single(o.Values(), at)
}

// Point is the load of a run that is one of several.
func (o *Spec) Point() *Point { return o.Series.at }

// Name is the label with the number of the repetition.
func (at *Point) Name() string {
	if at.run == 0 {
		return at.Label
	}
	return strings.TrimLeft(fmt.Sprintf("%s run %d", at.Label, at.run), " ")
}
