package metrics

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Gate is a condition under which a run counts as failed, such as "p99_ttft_ms>500" or "goodput<90%".
type Gate struct {
	// Metric is the name of a figure of the result.
	Metric string `json:"metric"`
	// Op is one of <, <=, > and >=.
	Op string `json:"op"`
	// Limit in the unit of the metric; a share of 1 where Percent.
	Limit float64 `json:"limit"`
	// Percent: the limit was written in per cent.
	Percent bool `json:"percent,omitempty"`
}

// GateResult is a gate with its result.
type GateResult struct {
	Gate Gate
	// Value of the metric; Known is false where nothing was measured that could give one.
	Value float64
	Known bool
	// Missed: the condition holds, or the value is not known. While a run is on, an unknown value is not missed yet.
	Missed bool
}

// Missed reports whether a value of the metric makes the run count as failed. An unknown operator always does.
func (g Gate) Missed(value float64) bool {
	switch g.Op {
	case "<":
		return value < g.Limit
	case "<=":
		return value <= g.Limit
	case ">":
		return value > g.Limit
	case ">=":
		return value >= g.Limit
	}
	return true
}

// NeedsObjectives reports whether the metric means something only for a run with objectives.
func (g Gate) NeedsObjectives() bool {
	f, _ := parseFigure(g.Metric)
	return f.number != nil && f.number.objectives
}

// String is the gate in a form that ParseGate reads back to the same gate. Latencies are in milliseconds.
func (g Gate) String() string {
	limit := strconv.FormatFloat(g.Limit, 'f', -1, 64)
	if g.Percent {
		limit = hundredfold(limit) + "%"
	}
	return g.Metric + g.Op + limit
}

// hundredfold moves the point of a decimal number two places to the right. Multiplying could change the last digit.
func hundredfold(number string) string {
	whole, fraction, _ := strings.Cut(number, ".")
	fraction += "00"
	number = cmp.Or(strings.TrimLeft(whole+fraction[:2], "0"), "0")
	if fraction = strings.TrimRight(fraction[2:], "0"); fraction != "" {
		number += "." + fraction
	}
	return number
}

const gateForm = "expected METRIC, one of < <= > >=, and a number, such as 'goodput<90%' or 'p99_ttft_ms>500'"

var (
	gateParts   = regexp.MustCompile(`^([^<>]*[^<>\s])\s*(<=|>=|<|>)\s*(\S+)$`)
	limitParts  = regexp.MustCompile(`^([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))(?:[eE]([+-]?[0-9]{1,4}))?(%|ms|s)?$`)
	latencyName = regexp.MustCompile(`^(mean|median|std|min|max|p([0-9]+(?:\.[0-9]+)?))_(.+)$`)
)

// ParseGate reads METRIC OP NUMBER[%|ms|s], with or without spaces around OP: 'goodput<90%', 'p99_ttft_ms > 500',
// 'mean_e2el>=2.5s'. The metric is one of the result's names; goodput and error_rate are shares of the requests that
// finished, as a number up to 1 or in per cent. The unit of a latency may be left out of its name, and its limit is in
// milliseconds unless it ends in s. The error is one sentence for the person who wrote the text.
func ParseGate(text string) (Gate, error) {
	parts := gateParts.FindStringSubmatch(strings.TrimSpace(text))
	if parts == nil {
		return Gate{}, fmt.Errorf("%q: %s", text, gateForm)
	}
	f, ok := parseFigure(parts[1])
	if !ok {
		hint := ""
		if latency, statistic, two := strings.Cut(parts[1], "_"); two { // the other way round
			if f, ok := parseFigure(statistic + "_" + latency); ok {
				hint = " (did you mean " + f.String() + "?)"
			}
		}
		return Gate{}, fmt.Errorf("%q: unknown metric %q%s; %s", text, parts[1], hint, gateHelp())
	}
	g := Gate{Metric: f.String(), Op: parts[2]}
	if f.number != nil && f.number.verdict != nil && g.Op[0] != '<' {
		return Gate{}, fmt.Errorf("%q: a gate on %s takes < or <=, such as '%s<30'", text, g.Metric, g.Metric)
	}
	if err := g.parseLimit(parts[3], f); err != nil {
		return Gate{}, fmt.Errorf("%q: %w", text, err)
	}
	return g, nil
}

func (g *Gate) parseLimit(text string, f figure) error {
	parts := limitParts.FindStringSubmatch(text)
	if parts == nil {
		return fmt.Errorf("%q is not a number; %s", text, gateForm)
	}
	number, exponent, unit := parts[1], parts[2], parts[3]
	tens, _ := strconv.Atoi(cmp.Or(exponent, "0")) // four digits at most
	switch {
	case unit == "%" && !f.share():
		return fmt.Errorf("%s is not a share, so its limit cannot be in per cent", f)
	case unit == "%":
		g.Percent = true
		tens -= 2
	case unit != "" && f.number != nil:
		return fmt.Errorf("%s is not a time, so its limit cannot be in %s", f, unit)
	case unit == "s":
		tens += 3
	}
	// The unit goes into the exponent rather than into a factor, so that 0.3% is the number nearest to 0.003.
	limit, err := strconv.ParseFloat(number+"e"+strconv.Itoa(tens), 64)
	switch {
	case err != nil || math.IsInf(limit, 0):
		return fmt.Errorf("the limit %s is too large", text)
	case math.Signbit(limit):
		return fmt.Errorf("the limit %s must be 0 or more", text)
	case f.share() && !g.Percent && (limit > 1 || limit == 1 && g.Op == ">"): // nothing is above 1
		return fmt.Errorf("%s is a share of 1, so its limit cannot be %s; did you mean %s%%?", f, text, text)
	case f.share() && limit > 1:
		return fmt.Errorf("%s cannot be more than 100%%, so its limit cannot be %s", f, text)
	}
	g.Limit = limit
	return nil
}

// gateNumber is a metric of gates that is a single number.
type gateNumber struct {
	name string
	// share: it is one of the requests that finished. objectives: it means something only for a run with objectives.
	share, objectives bool
	value             func(*gateFigures) (value float64, known bool)
	// verdict: the gate is on a conclusion, so that value is a bound of it, which Gate.Verdict explains.
	verdict func(a *Answer, levels []LoadLevel) (least, most float64)
}

var gateNumbers = []gateNumber{
	{name: gateGoodput, share: true, objectives: true,
		value: func(g *gateFigures) (float64, bool) { return g.part(g.Good) }},
	{name: "error_rate", share: true, value: func(g *gateFigures) (float64, bool) { return g.part(g.Failed) }},
	{name: GateChangedAnswers, share: true, value: func(g *gateFigures) (float64, bool) {
		if g.checks == nil {
			return 0, false
		}
		return g.checks.Share(), g.checks.Known() && !g.checks.Sampled
	}},
	{name: "request_goodput", objectives: true, value: func(g *gateFigures) (float64, bool) { return g.rate(g.Good) }},
	{name: "request_throughput", value: func(g *gateFigures) (float64, bool) { return g.rate(g.Completed) }},
	{name: "output_throughput", value: func(g *gateFigures) (float64, bool) { return g.rate(g.OutputTokens) }},
	{name: "total_token_throughput", value: func(g *gateFigures) (float64, bool) {
		return g.rate(g.InputTokens + g.OutputTokens)
	}},
	{name: gateCompleted, value: func(g *gateFigures) (float64, bool) { return float64(g.Completed), true }},
	{name: "failed", value: func(g *gateFigures) (float64, bool) { return float64(g.Failed), true }},
	{name: "max_concurrent_requests", value: func(g *gateFigures) (float64, bool) {
		return float64(g.concurrent()), g.Completed > 0
	}},
	{name: "slo", objectives: true, verdict: (*Answer).withinBounds},
	{name: "saturation", verdict: (*Answer).saturationBounds},
}

const (
	gateGoodput   = "goodput"
	gateCompleted = "completed"
	// GateChangedAnswers is for runs that check answers.
	GateChangedAnswers = "changed_answers"
)

// Latency is the one whose statistic the gate limits; not ok for a single number.
func (g *Gate) Latency() (l Latency, ok bool) {
	f, known := parseFigure(g.Metric)
	return f.latency, known && f.number == nil
}

// figure is the metric of a gate, taken apart: a single number, or a statistic of a latency.
type figure struct {
	number    *gateNumber // nil for a latency
	statistic string      // "mean", "median", "std", "min", "max", or "p" for a percentile
	p         float64     // of a percentile, from 0 to 100
	latency   Latency
}

func parseFigure(name string) (figure, bool) {
	if i := slices.IndexFunc(gateNumbers, func(n gateNumber) bool { return n.name == name }); i >= 0 {
		return figure{number: &gateNumbers[i]}, true
	}
	parts := latencyName.FindStringSubmatch(name)
	if parts == nil {
		return figure{}, false
	}
	l, ok := LatencyOf(strings.TrimSuffix(parts[3], "_ms"))
	f := figure{statistic: parts[1], latency: l}
	if parts[2] != "" {
		p, err := strconv.ParseFloat(parts[2], 64)
		if err != nil || p > 100 {
			return figure{}, false
		}
		f.statistic, f.p = "p", p
	}
	return f, ok
}

// String is the name in the result.
func (f figure) String() string {
	name := f.statistic
	switch {
	case f.number != nil:
		return f.number.name
	case name == "p":
		name += strconv.FormatFloat(f.p, 'f', -1, 64)
	}
	return name + "_" + f.latency.Key() + "_ms"
}

func (f figure) share() bool { return f.number != nil && f.number.share }

// gateHelp lists the metrics.
func gateHelp() string {
	names := Each(gateNumbers, func(n gateNumber) string { return n.name })
	return "use " + strings.Join(names, ", ") + ", or mean, median, std, min, max or p0 to p100 of " +
		strings.Join(LatencyKeys(), ", ") + ", as p99_ttft_ms"
}

// gateFigures holds the figures that gates check, of a run that is on or over.
type gateFigures struct {
	Counts
	concurrent func() int // takes long in a long run
	objectives bool
	seconds    float64
	latency    func(l Latency, p float64) Statistic
	answer     *Answer // nil for none yet
	levels     []LoadLevel
	checks     *AnswerChecks // nil for none
}

// part is a share of the requests that ended.
func (g *gateFigures) part(n int) (share float64, known bool) {
	return Share(n, g.Ended()), g.Ended() > 0
}

func (g *gateFigures) rate(n int) (perSecond float64, known bool) {
	return PerSecond(float64(n), g.seconds), g.Ended() > 0 && g.seconds > 0
}

// value is that of a gate's metric, or the bound that decides a gate on a conclusion; false where nothing was measured
// that could give one.
func (g *gateFigures) value(gate Gate) (value float64, known bool) {
	f, ok := parseFigure(gate.Metric)
	if !ok {
		return 0, false
	}
	if n := f.number; n != nil {
		switch allowed := g.objectives || !n.objectives; {
		case n.verdict == nil:
			value, known = n.value(g)
			return value, known && allowed
		case g.answer == nil || !allowed:
			return 0, false
		}
		return gate.verdict(n.verdict(g.answer, g.levels))
	}
	s := g.latency(f.latency, f.p)
	if f.statistic == "p" {
		value, _ = s.Percentile(f.p)
	} else {
		all := map[string]float64{"mean": s.Mean, "median": s.Median, "std": s.Std, "min": s.Min, "max": s.Max}
		value = all[f.statistic]
	}
	return value, s.N > 0
}

// verdict is the bound of a conclusion that decides the gate; not known where the evidence does not reach its limit
// from either side.
func (g Gate) verdict(least, most float64) (bound float64, known bool) {
	switch {
	case least > 0 && !g.Missed(least):
		return least, true
	case !math.IsInf(most, 1) && g.Missed(math.Nextafter(most, 0)): // what is below most is below the limit
		return math.Nextafter(most, 0), true
	}
	return 0, false
}

// withinBounds are bounds of the highest load within the objectives: the load that is proven, and the lowest load above
// it that was proven to be too high; 0 and infinity for none.
func (a *Answer) withinBounds(levels []LoadLevel) (least, most float64) {
	least, most = a.Proven, math.Inf(1)
	for i := range levels {
		if v := &levels[i]; v.Standing.Failed() && v.Confidence >= EnoughConfidence && v.Offered > least {
			most = min(most, v.Offered)
		}
	}
	if a.Saturates && a.Confirmed && a.Capacity.Known() {
		most = min(most, a.Capacity.High)
	}
	return least, most
}

// saturationBounds are bounds of the load at which the server saturates.
func (a *Answer) saturationBounds([]LoadLevel) (least, most float64) {
	switch {
	case a.Drifting || a.Saturates && !a.Confirmed:
		return 0, math.Inf(1)
	case a.Saturates && a.Capacity.Known():
		return a.Capacity.Low, a.Capacity.High
	case a.Saturates && a.To > 0:
		return a.From, a.To
	case a.Unit != Users: // a load that is proven was served
		return a.Proven, math.Inf(1)
	}
	return 0, math.Inf(1)
}

// GatedPercentiles are the percentiles of a latency that gates name.
func GatedPercentiles(gates []Gate, latency Latency) []float64 {
	var all []float64
	for _, g := range gates {
		f, ok := parseFigure(g.Metric)
		if ok && f.statistic == "p" && f.latency == latency && !slices.Contains(all, f.p) {
			all = append(all, f.p)
		}
	}
	return all
}

// CheckGates checks the gates of the plan. A figure without a sample is missed, because it cannot be shown to be kept.
func (r *Report) CheckGates() []GateResult {
	g := gateFigures{
		Counts:     r.Counts,
		concurrent: func() int { return r.PeakConcurrency },
		seconds:    r.Duration,
		latency:    func(l Latency, _ float64) Statistic { return r.Statistics[l] },
		answer:     &r.Answer, levels: r.Levels, checks: r.Checks,
	}
	return g.check(&r.Plan, r.Objectives, func(gate Gate, v float64, known bool) bool {
		return !known || gate.Missed(v)
	})
}

// check returns the results of a plan's gates. They go by the objectives of the plan, so that later ones cannot make
// them pass.
func (g *gateFigures) check(p *Plan, inForce SLO,
	missed func(gate Gate, v float64, known bool) bool) (all []GateResult) {
	if g.objectives = p.Judges(p.Goodput); inForce != nil && !slices.Equal(inForce, p.Goodput) {
		g.Good = g.PlannedGood
	}
	for _, gate := range p.Gates {
		v, known := g.value(gate)
		all = append(all, GateResult{Gate: gate, Value: v, Known: known, Missed: missed(gate, v, known)})
	}
	return all
}

// CheckGates checks the gates for the run so far, without its warm-up, with latencies from the histograms. Unknown
// values are not missed yet, nor are too few completed requests. Once there is a report, its results count.
func (s *Snapshot) CheckGates() []GateResult {
	if s.Report != nil {
		return s.Report.Gates
	}
	if s.Plan == nil {
		return nil
	}
	g := gateFigures{
		Counts: s.Totals, concurrent: s.touched, seconds: (s.At - s.Plan.Warmup).Seconds(),
		latency: func(l Latency, p float64) Statistic { return s.Histograms[l].statistic(p) },
		answer:  s.Answer, levels: s.Levels, checks: s.Checks,
	}
	return g.check(s.Plan, s.Objectives, func(gate Gate, v float64, known bool) bool {
		grows := gate.Metric == gateCompleted && (gate.Op == "<" || gate.Op == "<=")
		return known && !grows && gate.Missed(v)
	})
}

// touched is the largest number of requests that were in flight at any time of one second. The report counts only
// successes, and its seconds begin with the first of them.
func (s *Snapshot) touched() int {
	most, before, joined := s.Before.Touched, 0, Joined(s.Windows)
	for i, w := range s.Windows {
		if w.Start+time.Second > s.Plan.Warmup && (i > joined || joined == 0) { // Before has the first one, too
			most = max(most, before+w.Sent)
		}
		before = w.Waiting + w.Running
	}
	return most
}
