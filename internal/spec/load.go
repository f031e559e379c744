package spec

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"benchtop/internal/argv"
	"benchtop/internal/usage"
	"benchtop/loadgen"
	"benchtop/loadgen/protocol"
	"benchtop/loadgen/shape"
	"benchtop/metrics"
	"benchtop/metrics/judge"
)

// Load say when requests start.
type Load struct {
	Prompts               int
	Seed                  int64
	Rate, Burstiness      argv.Rate
	concurrency           int
	turnConcurrency       int // the same, as vLLM's client names it for conversations
	Active                int // conversations
	Part                  partFlag
	Led                   bool         // another machine leads the run
	ramp                  metrics.Ramp // From and To are NaN where they are not given
	rates, users          Stages
	duration, warmup      time.Duration
	Warmups               int
	probeRate             float64
	Answers               int // known prompts that are checked
	stall, timeout, drain time.Duration
	KeepGoing             bool
	Users                 Users
	findRate, findUsers   bool // --find and --find-users
	find                  metrics.Find
	Confirm               Confirm

	PromptsGiven bool
	AllRows      bool   // 0 prompts are as many as the data set has
	SelfTimed    bool   // a trace says when requests start
	sources      int    // addresses that connections come from
	within       string // the objectives of a search for a person, "" for none
}

// mostAnswers bounds the known prompts, which are sent one after the other.
const mostAnswers = 1000

// DefineDraws adds the flags that say how many prompts are drawn, and from which seed.
func (o *Load) DefineDraws(f *pflag.FlagSet) {
	f.IntVar(&o.Prompts, "num-prompts", 1000, "number of requests")
	f.Int64Var(&o.Seed, "seed", 0, "random seed, 0 to 4294967295")
}

func (o *Load) define(f *pflag.FlagSet) {
	d := loadgen.Defaults()
	o.Rate, o.Burstiness, o.users.users = argv.Rate(math.Inf(1)), 1, true
	o.DefineDraws(f)
	f.Var(&o.Rate, "request-rate", "requests per second; inf sends all at once")
	f.Var(&o.Burstiness, "burstiness", "burstiness of arrivals: 1 is Poisson, lower is burstier, inf is constant")
	f.IntVar(&o.concurrency, "max-concurrency", 0, "maximum requests in flight; 0 for no limit")
	f.IntVar(&o.turnConcurrency, "multi-turn-concurrency", 0,
		"conversations: maximum requests in flight; none is counted between two turns (default: --max-concurrency)")
	f.IntVar(&o.Active, "max-active-conversations", 0,
		"maximum conversations under way, those between two turns among them; 0 for no limit")
	f.StringVar(&o.ramp.Strategy, "ramp-up-strategy", "",
		"ramp up the rate: linear or exponential; over the requests unless --ramp-over is given")
	f.Float64Var(&o.ramp.From, "ramp-up-start-rps", math.NaN(), "requests per second at the start of the ramp")
	f.Float64Var(&o.ramp.To, "ramp-up-end-rps", math.NaN(), "requests per second at the end of the ramp")
	f.DurationVar(&o.ramp.Over, "ramp-over", 0,
		"ramp over this time; the run ends with the ramp unless --duration or --num-prompts is given")
	for _, name := range []string{"ramp-up-start-rps", "ramp-up-end-rps"} {
		f.Lookup(name).DefValue = "0" // NaN would be shown
	}
	f.Var(&o.rates, "stages", "rate stages, RATE:TIME, as 8:30s,16:30s,32:1m")
	f.Var(&o.users, "concurrency-stages", "closed-loop stages, USERS:TIME, as 1:20s,8:20s,64:1m")
	f.Var(&o.Part, "part",
		"send only part K of N of this run, beside the other parts on other machines with the same flags; 'benchtop "+
			"report' joins their journals; auto/N takes K from Kubernetes or Slurm")
	f.DurationVar(&o.duration, "duration", 0, "stop sending after this time; 0 for no limit")
	f.DurationVar(&o.warmup, "warmup", 0, "exclude this time at the start of the run from all figures")
	f.IntVar(&o.Warmups, "num-warmups", 0, "warm-up requests before the run, excluded from all figures")
	f.Float64Var(&o.probeRate, "probe-request-rate", 0, "tiny probe requests per second beside the load, one at a time")
	f.IntVar(&o.Answers, "check-answers", 0,
		"send so many known prompts alone, then again beside the load for at most 1 % of its tokens, and report which "+
			"answers changed, and answers of the load that are garbage")
	f.DurationVar(&o.stall, "stall-timeout", d.StallTimeout,
		"fail a request when no chunk arrives for this long after its first")
	f.DurationVar(&o.timeout, "request-timeout", d.RequestTimeout, "fail a request after this time")
	f.DurationVar(&o.drain, "drain-timeout", d.Drain, "how long requests in flight may continue after you quit")
	o.Users.define(f)
	f.BoolVar(&o.KeepGoing, "keep-going", false,
		"go on when the server refuses the first 20 requests alike, with status 400, 401, 403, 404, 405 or 422")
	f.BoolVar(&o.findRate, "find", false,
		"search for the highest request rate within --goodput or each --tier; it raises the rate until objectives are "+
			"missed, estimates where the border is by longer and longer steps, and holds a load below it until it is "+
			"proven")
	f.BoolVar(&o.findUsers, "find-users", false, "search for the highest number of closed-loop users instead")
	f.Float64Var(&o.find.From, "find-from", 1, "load at which the search starts, in requests per second or users")
	f.Float64Var(&o.find.Most, "find-most", 1000, "highest load the search tests")
	f.DurationVar(&o.find.Step, "find-step", 10*time.Second,
		"time spent on a load of the search; up to five times as long near the border")
	f.DurationVar(&o.find.Hold, "find-hold", 2*time.Minute,
		"longest time for which a load is held for a proof, which takes a minute or more")
	f.Var(&o.Confirm, "confirm",
		"after a ramp, stages or a search, hold loads for up to this time in all (2m unless given) to prove the "+
			"highest "+
			"within the objectives, first three quarters of the estimate; comes after --duration and --num-prompts")
	_ = f.SetAnnotation("confirm", argv.Variadic, []string{"0"})
}

// Searching reports whether there is a search.
func (o *Load) Searching() bool { return o.findRate || o.findUsers }

// hasRate reports whether requests are limited to a number per second.
func (o *Load) hasRate() bool { return !math.IsInf(float64(o.Rate), 1) }

// Shape is the load of the flags.
func (o *Load) Shape() shape.Shape { return o.shapes()[0] }

// limit is the most requests in flight. Users who each have one conversation under way have at most one request in
// flight each.
func (o *Load) limit() int { return cmp.Or(o.concurrency, o.turnConcurrency, o.Active) }

// onlyActive reports whether conversations are limited and requests are not.
func (o *Load) onlyActive() bool {
	return o.Active > 0 && o.concurrency == 0 && o.turnConcurrency == 0
}

// shapes are all loads that the flags ask for. The first one counts; check refuses most combinations.
func (o *Load) shapes() (all []shape.Shape) {
	least := 1
	if o.AllRows {
		least = 0
	}
	b := shape.Bounds{Count: max(o.Prompts, least), Asked: o.PromptsGiven, Duration: o.duration,
		Limit: o.limit(), OfConversations: o.onlyActive()}
	burstiness := float64(o.Burstiness)
	if o.Searching() {
		find := o.find
		if o.findUsers {
			find.Unit = metrics.Users
		}
		all = append(all, shape.NewSearch(b, find, o.within))
	}
	if o.SelfTimed {
		all = append(all, shape.Trace{Bounds: b})
	}
	if len(o.users.stages) > 0 {
		all = append(all, shape.NewUserStages(b, o.users.stages))
	} else if len(o.rates.stages) > 0 {
		all = append(all, shape.NewStages(b, o.rates.stages, burstiness))
	}
	switch {
	case o.ramp.Strategy != "" && o.ramp.Over > 0:
		all = append(all, shape.NewTimedRamp(b, o.ramp, burstiness))
	case o.ramp.Strategy != "":
		all = append(all, shape.Ramp{Bounds: b, Line: o.ramp, Burstiness: burstiness})
	case len(all) > 0:
	case o.limit() > 0 && o.duration > 0 && !o.hasRate():
		all = append(all, shape.Users{Bounds: b})
	default:
		all = append(all, shape.Rate{Bounds: b, PerSecond: metrics.Rate(o.Rate), Burstiness: burstiness})
	}
	return all
}

// check reports problems of the flags and of the load they make, but where each run of a sweep has one of its own.
func (o *Load) check(given *pflag.FlagSet, within string, swept bool) (p usage.Problems) {
	o.PromptsGiven, o.within = given.Changed("num-prompts"), within
	p.BadIf(!(o.Rate > 0), "--request-rate %s: must be more than 0", &o.Rate)
	p.BadIf(!(o.Burstiness > 0), "--burstiness %s: must be more than 0", &o.Burstiness)
	p.BadIf(o.concurrency < 0, "--max-concurrency %d: must be more than 0, or 0 for no limit", o.concurrency)
	p.BadIf(o.turnConcurrency < 0,
		"--multi-turn-concurrency %d: must be more than 0, or 0 for that of --max-concurrency", o.turnConcurrency)
	p.BadIf(o.turnConcurrency > 0 && o.concurrency > 0,
		"--multi-turn-concurrency and --max-concurrency: choose one; both limit the requests in flight")
	p.BadIf(o.Active < 0, "--max-active-conversations %d: must be more than 0, or 0 for no limit", o.Active)
	o.CheckDraws(&p)
	p.BadIf(o.Warmups < 0, "--num-warmups %d: must not be negative", o.Warmups)
	p.BadIf(!(o.probeRate >= 0) || math.IsInf(o.probeRate, 0), "--probe-request-rate %g: must be a number of 0 or more",
		o.probeRate)
	p.BadIf(o.Answers < 0 || o.Answers > mostAnswers, "--check-answers %d: must be from 0 to %d", o.Answers,
		mostAnswers)
	p.BadIf(o.Answers > 0 && o.Part.Split(), "--check-answers: takes a run of one machine; leave out --part")
	checkTime(&p, "duration", o.duration, 0)
	checkTime(&p, "warmup", o.warmup, 0)
	checkTime(&p, "drain-timeout", o.drain, 0)
	checkTime(&p, "stall-timeout", o.stall, 1)
	checkTime(&p, "request-timeout", o.timeout, 1)
	o.checkRamp(&p)
	o.checkStages(&p)
	o.checkTrace(&p)
	o.checkSearch(&p, given)
	o.checkConfirm(&p, given)
	o.checkPart(&p)
	if swept {
		return p
	}
	for _, s := range o.shapes() {
		p = append(p, s.Validate()...)
	}
	end := o.Shape().End()
	p.BadIf(o.warmup > 0 && end > 0 && o.warmup >= end, "--warmup %s: the run ends after %s",
		metrics.Duration(o.warmup), metrics.Duration(end))
	return p
}

// checkTime checks that a time is between a minimum and a year.
func checkTime(p *usage.Problems, flag string, d, least time.Duration) {
	switch {
	case d > shape.LongestRun:
		p.Bad("--%s %s: more than a year", flag, d)
	case d < 0:
		p.Bad("--%s %s: must not be negative", flag, d)
	case d < least:
		p.Bad("--%s %s: must be more than 0", flag, d)
	}
}

// CheckDraws checks the flags of DefineDraws.
func (o *Load) CheckDraws(p *usage.Problems) {
	p.BadIf(o.Prompts < 1 && !o.AllRows, "--num-prompts %d: must be at least 1", o.Prompts)
	p.BadIf(o.Prompts < 0 && o.AllRows, "--num-prompts %d: must be at least 1, or 0 for every row once", o.Prompts)
	p.BadIf(o.Seed < 0 || o.Seed > math.MaxUint32, "--seed %d: seeds are from 0 to 4294967295", o.Seed)
}

// checkRamp checks the combination of flags; the shape validates the values.
func (o *Load) checkRamp(p *usage.Problems) {
	checkTime(p, "ramp-over", o.ramp.Over, 0)
	if o.ramp.Strategy == "" {
		p.BadIf(o.ramp.Over > 0, "--ramp-over: needs --ramp-up-strategy, --ramp-up-start-rps and --ramp-up-end-rps")
		return
	}
	p.OneOf("ramp-up-strategy", o.ramp.Strategy, "linear", "exponential")
	p.BadIf(o.hasRate(), "--ramp-up-strategy and --request-rate: choose one; a ramp sets its own rates")
}

func (o *Load) checkStages(p *usage.Problems) {
	rates, users := len(o.rates.stages) > 0, len(o.users.stages) > 0
	name := map[bool]string{true: "--stages", false: "--concurrency-stages"}[rates]
	if !rates && !users {
		return
	}
	p.BadIf(rates && users, "--stages and --concurrency-stages: choose one")
	p.BadIf(o.ramp.Strategy != "", "%s and --ramp-up-strategy: choose one", name)
	p.BadIf(o.hasRate(), "%s and --request-rate: choose one; stages set their own load", name)
	p.BadIf(users && o.concurrency > 0, "--concurrency-stages and --max-concurrency: choose one")
	p.BadIf(rates && !slices.ContainsFunc(o.rates.stages, func(s metrics.Stage) bool { return s.Value > 0 }),
		"--stages %s: nothing would be sent", &o.rates)
}

// checkTrace refuses loads beside the times of a trace. A rate is ignored, as with vLLM.
func (o *Load) checkTrace(p *usage.Problems) {
	const words = "--%s: the trace sets the times; add --no-self-timed to use another load"
	p.BadIf(o.SelfTimed && len(o.rates.stages) > 0, words, "stages")
	p.BadIf(o.SelfTimed && len(o.users.stages) > 0, words, "concurrency-stages")
	p.BadIf(o.SelfTimed && o.ramp.Over > 0, words, "ramp-over")
	p.BadIf(o.SelfTimed && o.Searching(), words, "find")
}

// checkSearch reports flags that do not go with a search.
func (o *Load) checkSearch(p *usage.Problems, given *pflag.FlagSet) {
	if !o.Searching() {
		for _, name := range []string{"find-from", "find-most", "find-step", "find-hold"} {
			p.BadIf(given.Changed(name), "--%s: needs --find or --find-users", name)
		}
		return
	}
	p.BadIf(o.findRate && o.findUsers && given.Changed("find"), "--find and --find-users: choose one, a rate or users")
	p.BadIf(o.within == "", "--find: give the objectives with --goodput, as --goodput ttft:500 tpot:50, or with --tier")
	for _, name := range []string{"num-prompts", "request-rate", "ramp-up-strategy", "ramp-over", "stages",
		"concurrency-stages"} {
		p.BadIf(given.Changed(name),
			"--find and --%s: the search sets the load and ends the run; start it with --find-from, limit it with "+
				"--find-most or --duration", name)
	}
	p.BadIf(o.findUsers && o.concurrency > 0,
		"--find-users and --max-concurrency: the search sets the number of users; limit it with --find-most")
	if o.findUsers && o.find.Most > 0 && o.find.Most <= shape.HighestRate {
		p.Flag(fmt.Sprintf("find-most %g", o.find.Most), CheckLimits(int(o.find.Most), o.sources))
	}
}

// checkConfirm refuses a confirmation of a load that has no estimate of the highest within the objectives.
func (o *Load) checkConfirm(p *usage.Problems, given *pflag.FlagSet) {
	if !given.Changed("confirm") {
		return
	}
	const remedy = "add --ramp-up-strategy, --stages, --concurrency-stages or --find"
	stages := len(o.rates.stages) > 0 || len(o.users.stages) > 0
	switch {
	case o.SelfTimed:
		p.Bad("--confirm: the trace sets the times; add --no-self-timed and a ramp or stages")
	case stages || o.ramp.Strategy != "" || o.Searching():
	case !o.hasRate() && o.limit() == 0:
		p.Bad("--confirm: all requests are due at once, so there is no load to hold; " + remedy)
	default:
		p.Bad("--confirm: a single load gives no estimate to hold; " + remedy)
	}
	p.BadIf(o.within == "" && !o.Searching(),
		"--confirm: give the objectives with --goodput, as --goodput ttft:500 tpot:50, or with --tier")
	switch {
	case o.Confirm.Time > shape.LongestRun:
		p.Bad("--confirm %s: more than a year", metrics.Duration(o.Confirm.Time))
	case o.Confirm.Time < judge.FirstLook:
		p.Bad("--confirm %s: must be at least %s; a proof takes %s or more", metrics.Duration(o.Confirm.Time),
			metrics.Duration(judge.FirstLook),
			metrics.Duration(judge.ShortestProof))
	}
}

// Confirm is a flag of a time that may be left out.
type Confirm struct {
	Time  time.Duration // 0 for no confirmation
	given bool          // a time
}

// confirmUsually is the time unless one is given.
const confirmUsually = 2 * time.Minute

func (b *Confirm) String() string {
	if b.Time == 0 {
		return ""
	}
	return metrics.Duration(b.Time)
}

// Type says what the values are.
func (b *Confirm) Type() string { return "[time]" }

// Set reads a time.
func (b *Confirm) Set(s string) error {
	d, err := time.ParseDuration(s)
	switch {
	case b.given:
		return errors.New("one time is enough, such as 2m")
	case err != nil:
		return errors.New("expected a time such as 90s or 2m, or none")
	}
	b.Time, b.given = d, true
	return nil
}

// Reset is for the flag without a time.
func (b *Confirm) Reset() { *b = Confirm{Time: confirmUsually} }

// Send sets what the load asks of the engine.
func (o *Load) Send(e *loadgen.Options, a shape.Arrivals) {
	e.Schedule, e.ClosedLoop, e.Limit, e.Until = a.Schedule, a.ClosedLoop, a.Limit, a.Until
	if e.Active = o.Active; o.onlyActive() {
		e.Limit = 0 // a session may have several requests in flight
	}
	e.Part = o.Part.Part
	if o.Part.First() {
		e.ProbeRate = o.probeRate
	}
	e.Probe = protocol.Smallest(e.Protocol, 1)
	e.Drain, e.StallTimeout, e.RequestTimeout = o.drain, o.stall, o.timeout
	o.Users.send(e, o.Seed)
}

// Plan writes the load into a plan. rows are the conversations of the data set, requests those that are sent.
func (o *Load) Plan(p *metrics.Plan, rows, requests int) {
	p.Seed, p.Rate, p.Burstiness, p.Warmup = o.Seed, metrics.Rate(o.Rate), float64(o.Burstiness), o.warmup
	p.Confirm, p.Part, p.CheckAnswers = o.Confirm.Time, o.Part.Part, o.Answers
	o.Users.plan(p)
	shape.Enter(p, o.Shape(), rows, requests)
}

// Stages is a flag of stages, LOAD:TIME separated by commas.
type Stages struct {
	users  bool
	stages []metrics.Stage
}

// mostStages limits a plan to a plausible size.
const mostStages = 1000

func (v *Stages) String() string {
	all := metrics.Each(v.stages, func(s metrics.Stage) string {
		return metrics.Rate(s.Value).String() + ":" + metrics.Duration(s.Length)
	})
	return strings.Join(all, ",")
}

func (v *Stages) Type() string { return "load:time,..." }

func (v *Stages) Set(s string) error {
	var out []metrics.Stage
	at := time.Duration(0)
	for item := range strings.SplitSeq(s, ",") {
		stage, err := v.stage(strings.TrimSpace(item))
		if err != nil {
			return err
		}
		stage.Start = at
		if at = stage.End(); at > shape.LongestRun {
			return errors.New("the stages take more than a year")
		}
		if out = append(out, stage); len(out) > mostStages {
			return fmt.Errorf("more than %d stages", mostStages)
		}
	}
	v.stages = out
	return nil
}

func (v *Stages) stage(item string) (metrics.Stage, error) {
	load, length, _ := strings.Cut(item, ":")
	d, err := time.ParseDuration(length)
	if err != nil || d <= 0 {
		form, single := "RATE:TIME, such as 16:30s", "--request-rate"
		if v.users {
			form, single = "USERS:TIME, such as 8:20s", "--max-concurrency"
		}
		if length == "" {
			form += "; for a single load use " + single
		}
		return metrics.Stage{}, fmt.Errorf("%q: expected %s", item, form)
	}
	if v.users {
		n, err := strconv.Atoi(load)
		if err != nil || n < 1 {
			return metrics.Stage{}, fmt.Errorf("%q: %q is not a number of users; at least 1", item, load)
		}
		return metrics.Stage{Load: metrics.Users.Of(float64(n)), Length: d}, nil
	}
	r, err := strconv.ParseFloat(load, 64)
	if err != nil || math.IsNaN(r) || math.IsInf(r, 0) || r < 0 {
		return metrics.Stage{}, fmt.Errorf("%q: %q is not a rate in requests per second", item, load)
	}
	return metrics.Stage{Load: metrics.RequestsPerSecond.Of(r), Length: d}, nil
}

// Reset forgets the stages.
func (v *Stages) Reset() { v.stages = nil }
