package sweep

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"benchtop/internal/findings"
	"benchtop/internal/search"
	"benchtop/internal/text"
	"benchtop/metrics"
	"benchtop/metrics/grid"
)

// The loads that a search, and a scan of loads, can vary, as flags of the client.
const (
	RequestRate    = "request_rate"
	MaxConcurrency = "max_concurrency"
)

// SLA is a search for the highest load within each of several sets: the driver of serve_sla. All sets share its runs.
type SLA struct {
	Sets []Set
	// Variable is RequestRate or MaxConcurrency.
	Variable string
	// From is the first load; 0 for a guess: of a rate a part of the throughput of a run that sends all requests at
	// once, which is made for that, of a concurrency firstUsers. Most is the highest that may be tried.
	From, Most float64
	// Iters is the most runs for a pair, 0 for the search's own number; Repeats the most at one load.
	Iters, Repeats int
	// Prompts is the number of requests of a run, where the benchmark parameters do not have it: a concurrency above it
	// is none.
	Prompts int
	// Found are the answers for a person, a line for each set of each pair.
	Found []string
}

const (
	firstUsers = 16
	// ofThroughput is the part of the highest throughput at which the search for a rate begins.
	ofThroughput = 0.7
)

// unit is that of the loads that a variable sets.
func unit(variable string) metrics.Unit {
	if variable == MaxConcurrency {
		return metrics.Users
	}
	return metrics.RequestsPerSecond
}

func (o *SLA) whole() bool { return unit(o.Variable) == metrics.Users }

// from is the first load for a pair, 0 if it is not known before the first run.
func (o *SLA) from(pair Combination) float64 {
	if o.From == 0 && o.whole() {
		return min(firstUsers, o.most(pair))
	}
	return min(o.From, o.most(pair))
}

// most is the highest load for a pair.
func (o *SLA) most(pair Combination) float64 {
	if n := size(pair.Bench, o.Prompts); o.whole() && n > 0 {
		return min(o.Most, float64(n))
	}
	return o.Most
}

// pairSearch is the search for a pair of parameters.
type pairSearch struct {
	*SLA
	sweep   *Sweep
	pair    Combination
	algo    *search.Search
	runs    map[float64][]Record // by load
	guessed bool                 // a run was made for a guess
}

// search makes runs until the highest load of each set is known.
func (p *pairSearch) search(ctx context.Context) error {
	from := p.from(p.pair)
	if from == 0 {
		record, err := p.run(ctx, allAtOnce, 0)
		if err != nil {
			return err
		}
		p.guessed = true
		from = min(max(twoDigits(ofThroughput*record.Number("request_throughput")), 1e-3), p.Most)
	}
	earlier := p.earlier()
	p.begin(from, earlier)
	for _, load := range slices.Sorted(maps.Keys(earlier)) {
		for n := range earlier[load] {
			if err := p.observe(ctx, load, n); err != nil {
				return err
			}
		}
	}
	if len(earlier) == 0 {
		p.sweep.say("Initial %s to search: %s.", p.Variable, unit(p.Variable).Text(from))
	}
	for {
		probe, more := p.algo.Next()
		p.tell(!more)
		if !more {
			return nil
		}
		if err := p.observe(ctx, probe.Load, len(p.runs[probe.Load])); err != nil {
			return err
		}
	}
}

// begin makes the search. Runs of an earlier search for other sets come on top of its limit.
func (p *pairSearch) begin(from float64, earlier map[float64]int) {
	names := metrics.Each(p.Sets, func(s Set) string { return s.Name })
	runs := cmp.Or(p.Iters, search.RunsFor(len(names)))
	if p.guessed {
		runs = max(1, runs-1)
	}
	if p.others() {
		for _, n := range earlier {
			runs += n
		}
	}
	p.algo = search.New(search.Options{
		From: from, Most: p.most(p.pair), Unit: unit(p.Variable), Tiers: names, Runs: runs, Repeats: p.Repeats,
	})
}

// observe makes a run at a load, or finds it, and judges it.
func (p *pairSearch) observe(ctx context.Context, load float64, number int) error {
	text := loadValue(load)
	p.sweep.say("Testing %s: %s", p.Variable, unit(p.Variable).Text(load))
	record, err := p.run(ctx, text, number)
	if err != nil {
		return err
	}
	if err := p.lacking(record); err != nil {
		return err
	}
	evidence, err := judgeRun(p.Sets, p.file(text, number), record)
	if err != nil {
		return fmt.Errorf("%s: %w", p.file(text, number), err)
	}
	p.runs[load] = append(p.runs[load], record)
	p.algo.Observe(load, evidence)
	for i, e := range evidence {
		p.sweep.say("Validating SLA: %s", verdict(p.Sets[i], record, e))
	}
	return nil
}

// lacking is the error for criteria on keys that results do not have.
func (p *pairSearch) lacking(record Record) error {
	for _, s := range p.Sets {
		for _, c := range s.Criteria {
			if c.Percentile == 0 && record.Get(c.Key) == nil {
				return fmt.Errorf("the results have no key %s, which %s asks for; its percentile may be missing in "+
					"--metric-percentiles of the benchmark's command", c.Key, c)
			}
		}
	}
	return nil
}

// twoDigits rounds a number down.
func twoDigits(v float64) float64 {
	if !(v > 0) || math.IsInf(v, 0) {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(v))-1)
	return math.Floor(v/unit) * unit
}

// loadValue is a load as a flag's value and in the names of directories.
func loadValue(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// verdict is the outcome of one run for a set.
func verdict(s Set, record Record, e search.Evidence) string {
	said := map[bool]string{true: "PASSED", false: "FAILED"}[e.Passed()]
	if e.Missed && e.Good > 0 {
		said += " (not completed as fast as it was asked for)"
	}
	if s.Tier != nil {
		return fmt.Sprintf("%s (%s): %.1f%% of %d requests within | %s", s.Name, s.Conditions(),
			100*float64(e.Good)/float64(max(1, e.Requests)), e.Requests, said)
	}
	return strings.Join(metrics.Each(s.Criteria, func(c Criterion) string {
		if math.IsNaN(record.Number(c.Key)) { // a percentile that the result does not have
			return c.String()
		}
		return fmt.Sprintf("%s = %.2f%s%.2f", c.Key, record.Number(c.Key), c.Op, c.Limit)
	}), ", ") + " | " + said
}

// tell shows the brackets of all sets.
func (p *pairSearch) tell(over bool) {
	p.sweep.searching(p.pair, metrics.Each(p.algo.Results(), func(r search.Result) grid.Search {
		return grid.Search{Tier: r.Tier, Passed: r.Passed, Failed: r.Failed, Confidence: r.Confidence, Over: over}
	}))
}

// Answer is what a search found for a set.
type Answer struct {
	Set Set
	search.Result
	// Achieved is the mean request throughput at the load that passed. Unmet are criteria that ask for at least a
	// figure, and that the runs at that load do not reach: then no load meets the set.
	Achieved float64
	Unmet    []Criterion
}

// answers are those so far.
func (p *pairSearch) answers() (all []Answer) {
	if p.algo == nil {
		return nil
	}
	for i, r := range p.algo.Results() {
		a := Answer{Set: p.Sets[i], Result: r}
		if records := p.runs[r.Passed]; len(records) > 0 {
			for _, record := range records {
				a.Achieved += record.Number("request_throughput") / float64(len(records))
			}
			a.Unmet = a.Set.unmet(records)
		}
		all = append(all, a)
	}
	return all
}

// Text is the answer in a line for a person.
func (a Answer) Text(variable string) string {
	load := unit(variable).Text
	name := "Maximum " + variable + " for SLA " + a.Set.Name + ": "
	known := text.Count(a.Runs, "run") + ", not proven"
	if sure := findings.Confidence(a.Confidence); sure != "" {
		known += ": " + sure + " confidence"
		if a.Proven() {
			known = text.Count(a.Runs, "run") + ", proven: " + sure + " confidence"
		}
	}
	if a.Achieved > 0 {
		known = text.Digits(a.Achieved, 4) + " req/s completed, " + known
	}
	switch {
	case a.Passed == 0 && a.Failed == 0:
		return name + "unknown; " + a.Why + "."
	case a.Passed == 0:
		return name + "none; " + a.Why + "."
	case len(a.Unmet) > 0:
		return name + fmt.Sprintf("none; at %s, the most within the other criteria, %s is not met.", load(a.Passed),
			strings.Join(metrics.Each(a.Unmet, Criterion.String), ", "))
	case a.AtLeast:
		return name + fmt.Sprintf("at least %s (%s); %s.", load(a.Passed), known, a.Why)
	}
	return name + fmt.Sprintf("%s (%s); %s.", load(a.Passed), known, a.Why)
}
