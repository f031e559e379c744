package metrics

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Plan is what a run set out to do: everything about it that is known before the first request. It goes into the first
// line of the journal, so that a report can be computed from the journal alone.
type Plan struct {
	// Version of benchtop and Command line, secrets hidden.
	Version string   `json:"version"`
	Command []string `json:"command"`
	// Started is the wall-clock time of offset 0.
	Started time.Time `json:"started"`

	// BaseURL without user information; Backend is the request protocol by vLLM's name for it.
	BaseURL string `json:"base_url"`
	Backend string `json:"backend"`
	Label   string `json:"label,omitempty"`
	// Pooling: an answer comes in one piece and holds no tokens, as that of an embeddings endpoint. Such a run has no TTFT, TPOT or
	// ITL, and its tokens are those of the prompts.
	Pooling bool `json:"pooling,omitempty"`
	// ModelID is the model's own name; Tokenizer what counted tokens, "" if nothing did.
	ModelID   string `json:"model_id"`
	Tokenizer string `json:"tokenizer,omitempty"`
	// Dataset in words for a person, and how its tokens were counted.
	Dataset     string      `json:"dataset"`
	InputSource TokenSource `json:"input_token_source"`
	// Cache says, in words, what keeps the server from knowing prompts of earlier runs; "" for nothing.
	Cache     string `json:"cache,omitempty"`
	Seed      int64  `json:"seed"`
	IgnoreEOS bool   `json:"ignore_eos,omitempty"`
	// OptionalFields are the members of the request bodies that benchtop set by itself and that a server can do without.
	OptionalFields []string `json:"optional_fields,omitempty"`

	// NumPrompts is the number asked for, Requests the number the schedule will send; 0 means as many as fit Duration.
	NumPrompts int           `json:"num_prompts"`
	Requests   int           `json:"requests"`
	Duration   time.Duration `json:"duration_ns,omitempty"`
	// Rate in requests per second; Unlimited means all at once.
	Rate       Rate    `json:"request_rate"`
	Burstiness float64 `json:"burstiness"`
	// MaxConcurrency in requests in flight; 0 means no limit.
	MaxConcurrency int   `json:"max_concurrency,omitempty"`
	Ramp           *Ramp `json:"ramp,omitempty"`
	// Stages of the load in order of time, the first at offset 0; nil for a load of one piece.
	Stages []Stage `json:"stages,omitempty"`
	// Warmup is the beginning of the run that is in no figure: requests scheduled before it do not count.
	Warmup time.Duration `json:"warmup_ns,omitempty"`
	// Load is the load in words for a person.
	Load string `json:"load"`

	// Metrics are the latencies to report; Percentiles from 0 to 100.
	Metrics     []Latency `json:"metrics"`
	Percentiles []float64 `json:"percentiles"`
	Goodput     SLO       `json:"goodput,omitempty"`
	// Gates are conditions under which the run counts as failed.
	Gates []Gate `json:"gates,omitempty"`
	// SkipTokenizer leaves out of the report whatever needs token counts, as vLLM does without a tokenizer.
	SkipTokenizer bool `json:"skip_tokenizer,omitempty"`
	// SteadyState says how the window of full load is found.
	SteadyState SteadyStateRule `json:"steady_state"`
	// GPUPrice is what one accelerator costs an hour, in the user's currency; 0 if that is not known.
	GPUPrice float64 `json:"gpu_price,omitempty"`
	// GPUs are the accelerators that were asked for, "all" or indices as "0,1"; "" where nobody asked for any.
	GPUs string `json:"gpus,omitempty"`
	// Find says that the run searches for the highest load within the objectives; nil if it does not.
	Find *Find `json:"find,omitempty"`
	// Metadata are the user's own keys for the result, in the order given.
	Metadata []Pair `json:"metadata,omitempty"`
	// Detailed keeps every request's figures in the report.
	Detailed bool `json:"detailed,omitempty"`
	// Timestamps is how chunks are timed: KernelStamps or UserStamps.
	Timestamps string `json:"timestamps,omitempty"`
	// Definitions name the rule of the clocks (see TimingRule) and say, in words, which rules were in force: success, clocks, stamps.
	Definitions map[string]string `json:"definitions,omitempty"`
}

// Pair is a key of the user's own.
type Pair struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Stage is a stretch of the run with a load of its own: either a rate or a number of users.
type Stage struct {
	// Start is its offset from the start of the run, Length how long it takes.
	Start  time.Duration `json:"start_ns"`
	Length time.Duration `json:"length_ns"`
	// Rate in requests per second; 0 in a stage of users.
	Rate float64 `json:"rate,omitempty"`
	// Users are requests in flight at most, without pause; 0 in a stage of a rate.
	Users int `json:"users,omitempty"`
}

// String is the load of the stage for a person.
func (s Stage) String() string {
	if s.Users > 0 {
		return fmt.Sprintf("%d users", s.Users)
	}
	return fmt.Sprintf("%g req/s", s.Rate)
}

// End is the offset at which the stage is over.
func (s Stage) End() time.Duration { return s.Start + s.Length }

// StageAt returns the number of the stage at a moment, from 0; -1 where the plan has none. The last one goes on.
func (p *Plan) StageAt(at time.Duration) int {
	for i := len(p.Stages) - 1; i >= 0; i-- {
		if at >= p.Stages[i].Start || i == 0 {
			return i
		}
	}
	return -1
}

// Warming reports whether a request belongs to the warm-up: it was scheduled before its end. This is the one rule by which
// a request is left out of all figures but those of the timeline.
func (p *Plan) Warming(q *Request) bool {
	return p.Warmup > 0 && q.Scheduled != Never && q.Scheduled < p.Warmup
}

// ClosedLoop reports whether the load is a fixed number of requests in flight, each followed by the next without pause.
func (p *Plan) ClosedLoop() bool {
	return p.MaxConcurrency > 0 && p.Rate.Unlimited() && p.Ramp == nil && len(p.Stages) == 0
}

// InUsers reports whether the load is counted in users who never pause, rather than in requests per second.
func (p *Plan) InUsers() bool {
	switch {
	case len(p.Stages) > 0:
		return p.Stages[0].Users > 0
	case p.Find != nil:
		return p.Find.Users
	}
	return p.ClosedLoop()
}

// Paced reports whether the plan says how many requests come in a second.
func (p *Plan) Paced() bool {
	if len(p.Stages) > 0 {
		return slices.ContainsFunc(p.Stages, func(s Stage) bool { return s.Rate > 0 })
	}
	return p.Ramp != nil || p.Rate > 0 && !p.Rate.Unlimited() || p.Find != nil && !p.Find.Users
}

// LoadAt is the load that the plan asks for at a moment, when so many requests are sent. It has no rate where all requests are due
// at once. A ramp in time says where it goes, and in how many whole seconds. A search begins with this load and moves it itself.
func (p *Plan) LoadAt(at time.Duration, sent int) LoadSetting {
	switch stage, r := p.StageAt(at), p.Ramp; {
	case p.Find != nil && p.Find.Users:
		return LoadSetting{Users: int(p.Find.From)}
	case p.Find != nil:
		return LoadSetting{Rate: p.Find.From}
	case stage >= 0:
		return LoadSetting{Rate: p.Stages[stage].Rate, Users: p.Stages[stage].Users}
	case p.ClosedLoop():
		return LoadSetting{Users: p.MaxConcurrency}
	case r != nil && r.Over == 0: // over the requests
		return LoadSetting{Rate: p.RampRate(sent)}
	case r != nil && at < r.Over:
		return LoadSetting{Rate: r.RateAt(at), RampTo: r.To, RampOver: (r.Over - at).Round(time.Second)}
	case r != nil:
		return LoadSetting{Rate: r.RateAt(at)}
	case p.Rate.Unlimited():
		return LoadSetting{}
	}
	return LoadSetting{Rate: float64(p.Rate)}
}

// SteadyStateRule is how the window of full load of a closed loop is found.
type SteadyStateRule struct {
	// Off leaves it out.
	Off bool `json:"off,omitempty"`
	// Threshold is the share of the concurrency limit that counts as full; 0 means 0.95.
	Threshold float64 `json:"threshold,omitempty"`
	// MinWindow is the shortest window that needs no warning; 0 means 10 s or a tenth of the run, whichever is longer.
	MinWindow time.Duration `json:"min_window_ns,omitempty"`
}

// Ramp is a rate that changes over the run.
type Ramp struct {
	// Strategy is "linear" or "exponential".
	Strategy string `json:"strategy"`
	// From and To in requests per second.
	From float64 `json:"from"`
	To   float64 `json:"to"`
	// Over is the time the ramp takes; 0 means that it runs over the number of requests, as vLLM's does.
	Over time.Duration `json:"over_ns,omitempty"`
	// Requests are those over which the ramp was drawn. A plan may send fewer, where its duration ends it; 0 means as many
	// as the plan sends.
	Requests int `json:"requests,omitempty"`
}

// RateOf is the rate before request index, from 0, of n that a ramp over the requests asks for, in requests per second.
func (r *Ramp) RateOf(index, n int) float64 { return r.part(float64(index) / float64(max(n-1, 1))) }

// RampRate is the rate before a request, by its index, that the plan's ramp over the requests asks for; beyond the last of them
// that before the last.
func (p *Plan) RampRate(index int) float64 {
	n := p.Ramp.Requests
	if n == 0 {
		n = p.Requests
	}
	return p.Ramp.RateOf(min(index, max(n-1, 0)), n)
}

// RateAt is the rate a ramp in time asks for, in requests per second.
func (r *Ramp) RateAt(at time.Duration) float64 {
	return r.part(min(max(at.Seconds()/r.Over.Seconds(), 0), 1))
}

// part is the rate when a part of the ramp is behind, from 0 to 1.
func (r *Ramp) part(p float64) float64 {
	if r.Strategy == "exponential" {
		return r.From * math.Pow(r.To/r.From, p)
	}
	return r.From + float64((r.To-r.From)*p) // the conversion keeps processors from fusing the two, which would round otherwise
}

// Target is the rate the plan asks for at a moment, in requests per second; 0 where time alone does not tell one.
func (p *Plan) Target(at time.Duration) float64 {
	if p.Ramp != nil && p.Ramp.Over == 0 {
		return 0
	}
	return p.LoadAt(at, 0).Rate
}

// Rate is a number of requests per second. Unlimited travels through JSON as the text "inf".
type Rate float64

// Unlimited reports whether the rate sends everything at once.
func (r Rate) Unlimited() bool { return math.IsInf(float64(r), 1) }

// String writes a number as a flag takes it, or "inf".
func (r Rate) String() string {
	if r.Unlimited() {
		return "inf"
	}
	return strconv.FormatFloat(float64(r), 'g', -1, 64)
}

// MarshalJSON writes a number or "inf".
func (r Rate) MarshalJSON() ([]byte, error) {
	if v := float64(r); !math.IsInf(v, 0) && !math.IsNaN(v) {
		return json.Marshal(v)
	}
	return json.Marshal(strings.ToLower(r.String()))
}

// UnmarshalJSON reads a number or "inf".
func (r *Rate) UnmarshalJSON(b []byte) (err error) {
	var text string
	if json.Unmarshal(b, &text) != nil {
		return json.Unmarshal(b, (*float64)(r))
	}
	*(*float64)(r), err = strconv.ParseFloat(text, 64)
	return err
}

// Find is how the highest load within the objectives is searched for: from From upwards, at most to Most, in requests per
// second or users, and held for Hold when it was found.
type Find struct {
	From  float64       `json:"from"`
	Most  float64       `json:"most"`
	Step  time.Duration `json:"step_ns"`
	Hold  time.Duration `json:"hold_ns"`
	Users bool          `json:"users,omitempty"`
}

// FirstWait is the latency by which a run is watched and its levels of load are judged: TTFT, or E2EL where an answer comes in one
// piece.
func (p *Plan) FirstWait() Latency {
	if p.Pooling {
		return E2EL
	}
	return TTFT
}

// TimingRule names which events of a stream are chunks and so set the clocks: those that vLLM 0.33 counts, and reasoning_content.
const TimingRule = "vllm-0.33"

// TimedAlike reports whether the clocks of a run follow TimingRule. Rules differ for chat alone: runs before there was a name counted
// every event with a choice, and so did vLLM before 0.33.
func (p *Plan) TimedAlike() bool {
	return p.Backend != "openai-chat" || p.Definitions["rule"] == TimingRule
}

// LoadTime is the moment that decides to which load a request belongs: a user of a closed loop comes when a slot is free. That
// is when the request was due, but where all of them are due at once, it is when it was admitted.
func (p *Plan) LoadTime(q *Request) time.Duration {
	switch {
	case p.Paced():
		return q.Scheduled
	case p.ClosedLoop() && q.Admitted != Never:
		return q.Admitted
	}
	return q.Due
}

// promptly is how soon a request must go out to count as sent when it came.
const promptly = 100 * time.Millisecond

// SentTime is the moment at which a request was sent, Never if it was not. One that nothing held back was sent when it came: the
// last of a load, too, belongs to that load, which ends as it comes.
func (p *Plan) SentTime(q *Request) time.Duration {
	if cause := p.LoadTime(q); q.Sent != Never && cause != Never && q.Sent-cause < promptly {
		return cause
	}
	return q.Sent
}
