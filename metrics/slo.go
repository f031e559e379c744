package metrics

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"benchtop/internal/text"
)

// Objective is one latency a request must not exceed.
type Objective struct {
	// Metric is one of the latencies before NumObjectives.
	Metric Latency `json:"metric"`
	// LimitMS in milliseconds, inclusive.
	LimitMS float64 `json:"limit_ms"`
}

// SLO is a set of objectives that all have to hold for a request to be good. At most one per metric.
type SLO []Objective

// With returns the SLO with one more objective; a metric that is there already gets the new limit.
func (s SLO) With(o Objective) SLO {
	for i := range s {
		if s[i].Metric == o.Metric {
			s[i].LimitMS = o.LimitMS
			return s
		}
	}
	return append(s, o)
}

// String writes the objectives as ParseObjective reads each.
func (s SLO) String() string {
	words := Each(s, func(o Objective) string { return fmt.Sprintf("%s:%g", o.Metric.Key(), o.LimitMS) })
	return strings.Join(words, " ")
}

// ParseObjective reads NAME:MS, such as "ttft:500".
func ParseObjective(text string) (Objective, error) {
	name, value, ok := strings.Cut(text, ":")
	if !ok {
		return Objective{}, fmt.Errorf("%q: expected NAME:MILLISECONDS, such as ttft:500", text)
	}
	metric, ok := LatencyOf(name)
	if !ok || metric >= NumObjectives {
		return Objective{}, fmt.Errorf("%q: unknown metric %q; use %s", text, name, objectiveNames())
	}
	ms, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || math.IsNaN(ms) || ms < 0 {
		return Objective{}, fmt.Errorf("%q: %q is not a number of milliseconds of 0 or more", text, value)
	}
	return Objective{metric, ms}, nil
}

// objectiveNames are the latencies that an objective may limit.
func objectiveNames() string {
	var keys []string
	for l := range NumObjectives {
		keys = append(keys, l.Key())
	}
	return text.Join(keys, " or ")
}

// MetObjectives counts, of some successes, those that met the objective on each latency; all of them where there is
// none.
type MetObjectives [NumObjectives]int

// ObjectivesMet marks the objectives that a request met; true where there is no such objective.
type ObjectivesMet [NumObjectives]bool

// Good reports whether all of them were met.
func (v ObjectivesMet) Good() bool { return !slices.Contains(v[:], false) }

// ObjectivesMissed marks the objectives that a request missed; the zero value marks none.
type ObjectivesMissed [NumObjectives]bool

// Any reports whether one of them was missed.
func (m ObjectivesMissed) Any() bool { return m != ObjectivesMissed{} }

// MissCount counts requests in flight that have missed an objective, whatever comes: any of them, and each.
type MissCount struct {
	Any int
	Of  MetObjectives
}

// Add counts a request so many times.
func (c *MissCount) Add(m ObjectivesMissed, times int) {
	for l, missed := range m {
		c.Of[l] += times * one(missed)
	}
	c.Any += times * one(m.Any())
}

// MetCount counts, of some successes, those that were good, with their output tokens, and those that met each
// objective.
type MetCount struct {
	Good, GoodTokens int
	Met              MetObjectives
}

// Add counts one more success of so many output tokens.
func (c *MetCount) Add(v ObjectivesMet, tokens int) {
	if v.Good() {
		c.Good++
		c.GoodTokens += tokens
	}
	for l, ok := range v {
		if ok {
			c.Met[l]++
		}
	}
}

// Join adds the counts of another one.
func (c *MetCount) Join(o MetCount) {
	c.Good, c.GoodTokens = c.Good+o.Good, c.GoodTokens+o.GoodTokens
	for l := range c.Met {
		c.Met[l] += o.Met[l]
	}
}

// Chosen is an SLO that was set: an empty one is not nil, which stands for none set.
func (s SLO) Chosen() SLO {
	if s == nil {
		return SLO{}
	}
	return s
}

// Judge holds an outcome against every objective.
func (s SLO) Judge(o *Outcome) (v ObjectivesMet) {
	for l := range v {
		v[l] = true
	}
	for _, g := range s {
		if l := g.Metric; l < NumObjectives {
			v[l] = v[l] && o.objective(l) <= g.LimitMS/1000
		}
	}
	return v
}

// Ratio is the latency nearest to its limit, or furthest beyond it, over that limit: at most 1 exactly if Judge finds
// the outcome good.
func (s SLO) Ratio(o *Outcome) (worst float64) {
	for _, g := range s {
		if g.Metric >= NumObjectives {
			continue
		}
		v, limit := o.objective(g.Metric), g.LimitMS/1000
		switch {
		case v > limit:
			worst = max(worst, v/limit, math.Nextafter(1, 2))
		case limit > 0:
			worst = max(worst, min(v/limit, 1))
		}
	}
	return worst
}

// EnoughGood is the share of requests, of 1, that must meet the objectives where no gate of the plan sets another.
const EnoughGood = 0.95

// EnoughGood is the share of requests, of 1, that must meet the objectives: the highest of the gates on goodput, then
// asked is true; else the constant of that name.
func (p *Plan) EnoughGood() (share float64, asked bool) {
	for _, g := range p.Gates {
		if g.asksForGood() {
			share, asked = max(share, g.Limit), true
		}
	}
	if !asked {
		return EnoughGood, false
	}
	return share, true
}

// Enough reports whether a share of good requests is enough, by the gates on it, or by EnoughGood.
func (p *Plan) Enough(good float64) bool {
	_, asked := p.EnoughGood()
	missed := func(g Gate) bool { return g.asksForGood() && g.Missed(good) }
	return !slices.ContainsFunc(p.Gates, missed) && (asked || good >= EnoughGood)
}

// asksForGood reports whether the gate asks for a share of good requests. The limit of a plan from a file may be any
// number.
func (g Gate) asksForGood() bool {
	return g.Metric == gateGoodput && (g.Op == "<" || g.Op == "<=") && g.Limit >= 0 && g.Limit <= 1
}

// Outcome is a request in the form of vLLM's formulas: in seconds, as 64-bit floats. The figures agree to the last
// digits because the arithmetic and the order of additions are the same.
type Outcome struct {
	Start, TTFT, E2EL, SlotWait float64
	Rest                        OtherObjectives
	ITLs                        []float64
	Input, Output               int
}

func (o *Outcome) TPOT() float64 {
	if o.Output < 2 {
		return -1
	}
	return (o.E2EL - o.TTFT) / float64(o.Output-1)
}

// Outcome converts a successful request without its gaps.
func (r *Request) Outcome() Outcome {
	o := OutcomeOf(r.TTFT(), r.E2EL(), r.OutputTokens, r.OtherObjectives())
	o.Start, o.SlotWait, o.Input = r.Sent.Seconds(), max(0, r.SlotWait()).Seconds(), r.InputTokens
	return o
}

// OutcomeOf is an outcome with the fields that objectives judge.
func OutcomeOf(ttft, e2el time.Duration, output int, rest OtherObjectives) Outcome {
	return Outcome{TTFT: ttft.Seconds(), E2EL: e2el.Seconds(), Output: output, Rest: rest}
}

// OtherObjectives are the latencies that an objective may limit and that do not follow from TTFT, E2EL and the output
// tokens.
type OtherObjectives [NumObjectives - E2EL - 1]time.Duration

func (r *Request) OtherObjectives() (out OtherObjectives) {
	for i := range out {
		out[i] = rows[int(E2EL)+1+i].of(r)
	}
	return out
}

// objective is a latency as an objective judges it. A request with fewer than two output tokens counts as having a TPOT
// of 0.
func (o *Outcome) objective(l Latency) float64 {
	switch l {
	case TTFT:
		return o.TTFT
	case TPOT:
		return max(0, o.TPOT())
	case E2EL:
		return o.E2EL
	}
	return o.Rest[l-E2EL-1].Seconds()
}

// OutcomeWithGaps converts a successful request; buf is reused for the gaps.
func (r *Request) OutcomeWithGaps(buf []float64) Outcome {
	o := r.Outcome()
	o.ITLs = buf[:0]
	for i := 1; i < len(r.Chunks); i++ {
		o.ITLs = append(o.ITLs, r.Gap(i).Seconds())
	}
	return o
}
