package metrics

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
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
	return strings.Join(Each(s, func(o Objective) string { return fmt.Sprintf("%s:%g", o.Metric.Key(), o.LimitMS) }), " ")
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
	return JoinWords(keys, " or ")
}

// MetObjectives counts, of some successes, those that met the objective on each latency; all of them where there is none.
type MetObjectives [NumObjectives]int

// ObjectivesMet marks the objectives that a request met; true where there is no such objective.
type ObjectivesMet [NumObjectives]bool

// Good reports whether all of them were met.
func (v ObjectivesMet) Good() bool { return !slices.Contains(v[:], false) }

// MetCount counts, of some successes, those that were good, and those that met each objective.
type MetCount struct {
	Good int
	Met  MetObjectives
}

// Add counts one more success.
func (c *MetCount) Add(v ObjectivesMet) {
	if v.Good() {
		c.Good++
	}
	for l, ok := range v {
		if ok {
			c.Met[l]++
		}
	}
}

// Join adds the counts of another one.
func (c *MetCount) Join(o MetCount) {
	c.Good += o.Good
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

// Ratio is the latency nearest to its limit, or furthest beyond it, over that limit: at most 1 exactly if Judge finds the outcome good.
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

// EnoughGood is the share of requests, of 1, that must meet the objectives: the highest of the gates on goodput, then asked is true; else
// the constant of that name.
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

// asksForGood reports whether the gate asks for a share of good requests. The limit of a plan from a file may be any number.
func (g Gate) asksForGood() bool {
	return g.Metric == gateGoodput && (g.Op == "<" || g.Op == "<=") && g.Limit >= 0 && g.Limit <= 1
}

// Outcome is a request in the form of vLLM's formulas: in seconds, as 64-bit floats. The figures agree to the last digits because the
// arithmetic and the order of additions are the same.
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

// OtherObjectives are the latencies that an objective may limit and that do not follow from TTFT, E2EL and the output tokens.
type OtherObjectives [NumObjectives - E2EL - 1]time.Duration

func (r *Request) OtherObjectives() (out OtherObjectives) {
	for i := range out {
		out[i] = rows[int(E2EL)+1+i].of(r)
	}
	return out
}

// objective is a latency as an objective judges it. A request with fewer than two output tokens counts as having a TPOT of 0.
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

// LoadLevel is a stretch of the run at one load, with its figures.
type LoadLevel struct {
	// From and To are offsets from the start of the run.
	From, To time.Duration
	// Offered is the load: requests per second that were scheduled, or the number of users of a closed loop.
	Offered float64
	// Users: Offered counts users.
	Users bool
	// Completed is the share of the offered load that the server completed at its pace, from 0 to 1: see saturation.Pace. Failed
	// requests are not completed.
	Completed float64
	// Requests were scheduled in the level and ended without being cut; Good of them met every objective, counted from their load
	// times, because under a rate the wait for a slot is an effect of the server.
	Requests, Good int
	// Sent is the rate of requests that were sent in the level, Done that of successes that ended in it, per second.
	Sent, Done float64
	// TTFT and ITL of the requests scheduled in the level, in milliseconds; that of ITL is an estimate from a Histogram. Wait is TTFT
	// from the load time.
	TTFTp50, TTFTp99, WaitP99, ITLp99 float64
	// Limited lists, in a few words each, how this client limited the figures of the level, which then are no evidence of the
	// server.
	Limited []string
	// Standing against the objectives.
	Standing Standing
	// Others are the figures of the tiers after the first, in the order of the plan.
	Others []TierLevel
}

// TierLevel is a level as one tier judges it; see LoadLevel.
type TierLevel struct {
	Requests, Good int
	Standing       Standing
}

// Tier is the level as the tier with this number judges it, from 0.
func (v *LoadLevel) Tier(i int) TierLevel {
	if i > 0 && i <= len(v.Others) {
		return v.Others[i-1]
	}
	return TierLevel{v.Requests, v.Good, v.Standing}
}

// Standing of a level against the objectives.
type Standing string

const (
	// LevelOpen: no objectives, or too few requests.
	LevelOpen Standing = ""
	// LevelWithin: enough of its requests met the objectives, and it was completed.
	LevelWithin Standing = "within"
	// LevelMissed: too few did. LevelBehind: enough did, but less than EnoughCompleted of the offered load was completed.
	LevelMissed Standing = "missed"
	LevelBehind Standing = "behind"
	// LevelLimited: this client limited the figures. LevelUnanswered: too many requests got no answer because the server was gone.
	LevelLimited    Standing = "limited"
	LevelUnanswered Standing = "unanswered"
)

// Evidence reports whether a level of this standing says anything about its load.
func (s Standing) Evidence() bool { return s != LevelLimited && s != LevelUnanswered }

// EnoughCompleted is the share of the offered load that a level within the objectives must complete.
const EnoughCompleted = 0.95

// Achieved is the load that was completed, in the unit of Offered. Users without pause achieve their number.
func (v *LoadLevel) Achieved() float64 {
	if v.Users {
		return v.Offered
	}
	return v.Offered * v.Completed
}

// Answer is the headline result: the load at which the server saturates, and the highest that was within the objectives.
type Answer struct {
	// Saturates: the server keeps up with the load From, and not with the load To. Both are offered loads of levels; of users, From is
	// the highest number up to which more users added throughput.
	Saturates bool
	From, To  float64
	// Confirmed is false while the run is on and a single level shows saturation, which may be noise.
	Confirmed bool
	// Before and After index the two levels. Shown is the level whose waits show it: After, or a higher load where the queue
	// had to grow first.
	Before, After, Shown int
	// Within: a level was within the objectives. Highest is the load that the highest such level achieved.
	Within  bool
	Highest float64
	// HighestLevel indexes that level.
	HighestLevel int
	// Confidence is the probability that the true share of good requests at Highest is enough; 0 where Within is false.
	Confidence float64
	// Others are the highest loads of the tiers after the first, in the order of the plan.
	Others []TierAnswer
	// SaturatedAt is the moment of the run at which the load passed saturation; Never without one.
	SaturatedAt time.Duration
	// Users: loads are numbers of users rather than requests per second.
	Users bool
	// Why is the reason for which no saturation was found, in a few words; "" if it was found.
	Why string
	// Bottleneck of the levels past saturation, or of the whole run without one.
	Bottleneck Bottleneck
	// PeakOutput is the highest mean of the output tokens per second over five seconds; see PeakOutput.
	PeakOutput float64
}

// TierAnswer is the highest load within the objectives of one tier; see Answer.
type TierAnswer struct {
	Within       bool
	Highest      float64
	HighestLevel int
	Confidence   float64
}

// Tier is the answer for the tier with this number, from 0.
func (a *Answer) Tier(i int) TierAnswer {
	if i > 0 && i <= len(a.Others) {
		return a.Others[i-1]
	}
	return TierAnswer{a.Within, a.Highest, a.HighestLevel, a.Confidence}
}

// closeLevels is the relative distance up to which one number represents the levels on both sides of saturation.
const closeLevels = 0.1

// At is the load at which the server saturates: the middle between From and To where they are close enough for one number.
func (a *Answer) At() (load float64, close bool) {
	if !a.Saturates || a.To > a.From*(1+closeLevels) {
		return 0, false
	}
	return (a.From + a.To) / 2, true
}
