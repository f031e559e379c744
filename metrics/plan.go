package metrics

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"benchtop/internal/text"
)

// Setting is a flag with the values that it was given. A flag that adds to itself has a setting for each time.
type Setting struct {
	Flag   string   `json:"flag"`
	Values []string `json:"values,omitempty"`
}

// Words are settings as a command line of serve, each flag with its values.
func Words(spec []Setting) (words []string) {
	for _, s := range spec {
		if len(s.Values) == 1 {
			words = append(words, "--"+s.Flag+"="+s.Values[0])
		} else {
			words = append(append(words, "--"+s.Flag), s.Values...)
		}
	}
	return words
}

// Plan is the plan of a run: all that is known before the first request. It is the first line of the journal, so that a
// report can be computed from the journal alone.
type Plan struct {
	// Version of benchtop and Command line, secrets hidden.
	Version string   `json:"version"`
	Command []string `json:"command"`
	// Spec is what was asked for by command line and file, flag by flag, secrets hidden; nil for unknown.
	Spec []Setting `json:"spec,omitempty"`
	// Preset is the published one that was asked for; nil for none.
	Preset *Preset `json:"preset,omitempty"`
	// Started is the wall-clock time of offset 0.
	Started time.Time `json:"started"`

	// BaseURL without user information; Backend is the request protocol by vLLM's name for it.
	BaseURL string `json:"base_url"`
	// Servers are the URLs of all servers of a run with several, BaseURL the first; they share the load by Strategy.
	Servers  []string `json:"servers,omitempty"`
	Strategy string   `json:"url_strategy,omitempty"`
	Backend  string   `json:"backend"`
	// Proxy between client and server, with the environment variable that names it; "" for none.
	Proxy string `json:"proxy,omitempty"`
	Label string `json:"label,omitempty"`
	// Pooling: answers are one piece without tokens (embeddings): no TTFT, TPOT or ITL; tokens are those of prompts.
	Pooling bool `json:"pooling,omitempty"`
	// Whole: answers come in one piece with all their tokens.
	Whole bool `json:"whole,omitempty"`
	// Finishes: by the protocol each answer has a finish reason. It is told of runs with CheckAnswers alone.
	Finishes bool `json:"finishes,omitempty"`
	// ModelID is the model's own name; Context its limit in tokens, 0 if unknown; Tokenizer counted, "" for none.
	ModelID   string `json:"model_id"`
	Context   int    `json:"context,omitempty"`
	Tokenizer string `json:"tokenizer,omitempty"`
	// Dataset as text for a person, and the source of its token counts.
	Dataset     string      `json:"dataset"`
	LeftOut     string      `json:"left_out,omitempty"` // requests that were too long, as text; "" for none
	InputSource TokenSource `json:"input_token_source"`
	// Cache describes the measure against prompts of earlier runs in the prefix cache; "" for none.
	Cache     string `json:"cache,omitempty"`
	Seed      int64  `json:"seed"`
	IgnoreEOS bool   `json:"ignore_eos,omitempty"`
	// OptionalFields are the members of request bodies that benchtop sets by itself and that a server does not need.
	OptionalFields []string `json:"optional_fields,omitempty"`

	// NumPrompts is the requested number, Requests the number that the schedule sends; 0 means as many as fit Duration.
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
	// Conversations describe requests that are turns of conversations; nil for requests of their own.
	Conversations *Conversations `json:"conversations,omitempty"`
	// Workloads are those of a mixture, each a class of requests with objectives of its own; nil for one workload.
	Workloads []Workload `json:"workloads,omitempty"`
	// Axes are those by which the places that serve the run are compared; nil for none.
	Axes []Axis `json:"axes,omitempty"`
	// Pages of metrics are sampled in place of those of the servers; nil for these.
	Pages []Page `json:"metrics_pages,omitempty"`
	// Engines are compared, where the pages of metrics have several.
	Engines bool `json:"engines,omitempty"`
	// Trace says that requests start at times of the data set's own, which are neither a rate nor all at once.
	Trace bool `json:"trace,omitempty"`
	// Load is the load as text for a person.
	Load string `json:"load"`
	// Abandon says when users leave, Retry how they try again, ReadRate how fast they read, as the flags have it; ""
	// for users who stay, try once and read at once.
	Abandon  string `json:"abandon,omitempty"`
	Retry    string `json:"retry,omitempty"`
	ReadRate string `json:"read_rate,omitempty"`
	// Part of the run that this machine sends. All else in the plan is of the whole run.
	Part Part `json:"part,omitzero"`

	// Metrics are the latencies to report; Percentiles from 0 to 100.
	Metrics     []Latency `json:"metrics"`
	Percentiles []float64 `json:"percentiles"`
	Goodput     SLO       `json:"goodput,omitempty"`
	// Tiers are named objectives that the run is judged by side by side; nil for none. Goodput is that of the first.
	Tiers []Tier `json:"tiers,omitempty"`
	// Gates are conditions under which the run counts as failed.
	Gates []Gate `json:"gates,omitempty"`
	// SkipTokenizer leaves figures that need token counts out of the report, as vLLM does without a tokenizer.
	SkipTokenizer bool `json:"skip_tokenizer,omitempty"`
	// SteadyState is the rule for the window of full load.
	SteadyState SteadyStateRule `json:"steady_state"`
	// CacheHit is the share of the prompt tokens that the server's prefix cache is to have; 0 where that is left open.
	CacheHit float64 `json:"cache_hit,omitempty"`
	// GPUPrice is the price of one accelerator an hour, in the user's currency; 0 if unknown.
	GPUPrice float64 `json:"gpu_price,omitempty"`
	// GPUs are the accelerators to sample, "all" or indices as "0,1"; "" for none.
	GPUs string `json:"gpus,omitempty"`
	// Find is the search for the highest load within the objectives, nil for none. Confirm is the most time for holds
	// that prove it, 0 for none.
	Find    *Find         `json:"find,omitempty"`
	Confirm time.Duration `json:"confirm_ns,omitempty"`
	// Metadata are the user's own keys for the result, in the order given.
	Metadata []Pair `json:"metadata,omitempty"`
	// CheckAnswers is the number of known prompts whose answers are checked, 0 for none.
	CheckAnswers int `json:"check_answers,omitempty"`
	// Detailed keeps every request's figures in the report.
	Detailed bool `json:"detailed,omitempty"`
	// Timestamps is the source of the times of chunks: KernelStamps or UserStamps.
	Timestamps string `json:"timestamps,omitempty"`
	// Definitions name the rule of the clocks (see TimingRule) and describe the rules in force: success, clocks,
	// stamps.
	Definitions map[string]string `json:"definitions,omitempty"`
}

// Preset is a set of flags that keeps the rules of a benchmark which others publish. Source names these rules, Changed
// each flag by which the user left them, with how: "--seed changed".
type Preset struct {
	Name    string   `json:"name"`
	Source  string   `json:"source"`
	Changed []string `json:"changed,omitempty"`
}

// Conversations describe requests that are turns of conversations.
type Conversations struct {
	// Count is the number of conversations that are planned; 0 for no end.
	Count int `json:"count"`
	// Turns is the number of turns of each, or their mean.
	Turns float64 `json:"turns"`
	// Replies is the source of the answers in later prompts: "model" or "recorded"; "" where prompts hold no answers.
	Replies string `json:"replies,omitempty"`
	// Active is the most conversations that are under way at once; 0 for no limit.
	Active int `json:"active,omitempty"`
	// Delay is the pause between turns; 0 where there is none, or where the data set has them.
	Delay time.Duration `json:"delay_ns,omitempty"`
	// GlobalPrefix and ConversationPrefix are the shares of a prompt that all turns, or those of a conversation, begin
	// with.
	GlobalPrefix       float64 `json:"global_prefix,omitempty"`
	ConversationPrefix float64 `json:"conversation_prefix,omitempty"`
}

// Workload is one part of a mixture. Its name is the class of its requests.
type Workload struct {
	Name string `json:"name"`
	// Share of the conversations, from 0 to 1.
	Share float64 `json:"share"`
	// Goodput are its objectives; none for those of the run. See Plan.ObjectivesFor.
	Goodput SLO `json:"goodput,omitempty"`
}

// ObjectivesFor are the objectives for requests of a class while some are in force for the run: those of its workload,
// else those of the run. By this rule alone a request is good. Tiers judge all requests alike, so that with tiers
// workloads have none of their own.
func (p *Plan) ObjectivesFor(class string, inForce SLO) SLO {
	if len(p.Tiers) > 0 {
		return inForce
	}
	for i := range p.Workloads[:min(len(p.Workloads), MostClasses)] { // a plan in a file may have any number
		if w := &p.Workloads[i]; len(w.Goodput) > 0 && inClass(class, w.Name) {
			return w.Goodput
		}
	}
	return inForce
}

// Met marks the objectives that a success met while some are in force for the run. Latencies count from sent.
func (p *Plan) Met(q *Request, inForce SLO) ObjectivesMet {
	o := q.Outcome()
	return p.ObjectivesFor(q.Class, inForce).Judge(&o)
}

// MissedInFlight marks the objectives that a request in flight has missed for certain, given the time from sent to its
// first chunk, or so far without one: its TTFT is that or more, and so is its E2EL. It reads fields that were set when
// the request was due. A request of the warm-up misses none.
func (p *Plan) MissedInFlight(q *Request, inForce SLO, wait time.Duration) (m ObjectivesMissed) {
	for _, o := range p.ObjectivesFor(q.Class, inForce) {
		if (o.Metric == TTFT || o.Metric == E2EL) && !p.Warming(q) {
			m[o.Metric] = wait.Seconds() > o.LimitMS/1000
		}
	}
	return m
}

// Share is the number of requests that this machine sends; 0 where it is not known.
func (p *Plan) Share() int {
	if p.Part.Split() && p.Conversations != nil { // parts are of conversations
		return 0
	}
	return p.Part.Of(p.Requests)
}

// inClass reports whether a class is one of a name, or joins it with others.
func inClass(class, name string) bool {
	for found := true; found; {
		var first string
		if first, class, found = strings.Cut(class, ", "); first == name {
			return true
		}
	}
	return false
}

// Judges reports whether any objectives hold while some are in force for the run: these, or those of a workload.
func (p *Plan) Judges(inForce SLO) bool {
	own := func(w Workload) bool { return len(w.Goodput) > 0 }
	return len(inForce) > 0 || len(p.Tiers) == 0 && slices.ContainsFunc(p.Workloads, own)
}

// JudgesGroup reports whether any objectives hold for the requests of a class, or of a group of turns.
func (p *Plan) JudgesGroup(g *Group, inForce SLO) bool {
	if g.Class == "" {
		return p.Judges(inForce)
	}
	return len(p.ObjectivesFor(g.Class, inForce)) > 0
}

// ServerURL is the address of the server with a place in Servers; "" for none.
func (p *Plan) ServerURL(place int) string {
	if place < 0 || place >= len(p.Servers) {
		return ""
	}
	return p.Servers[place]
}

// Address is the base URL for a person, with the number of further servers.
func (p *Plan) Address() string {
	if n := len(p.Servers) - 1; n > 0 {
		return fmt.Sprintf("%s and %d more", p.BaseURL, n)
	}
	return p.BaseURL
}

// Pair is a key of the user's own.
type Pair struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Stage is a stretch of the run with a load of its own.
type Stage struct {
	// Start is its offset from the start of the run, Length its duration.
	Start  time.Duration `json:"start_ns"`
	Length time.Duration `json:"length_ns"`
	Load   `json:"-"`
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

// Warming reports whether a request was scheduled in the warm-up. This rule alone leaves requests out of all figures
// but those of the timeline.
func (p *Plan) Warming(q *Request) bool {
	return p.Warmup > 0 && q.Scheduled != Never && q.Scheduled < p.Warmup
}

// ClosedLoop reports whether the load is a fixed number of requests in flight, each followed by the next without pause.
func (p *Plan) ClosedLoop() bool {
	return p.MaxConcurrency > 0 && p.Rate.Unlimited() && p.Ramp == nil && len(p.Stages) == 0
}

// Paced reports whether the plan has a rate of arrivals.
func (p *Plan) Paced() bool {
	if len(p.Stages) > 0 {
		return slices.ContainsFunc(p.Stages, func(s Stage) bool { return s.Rate() > 0 })
	}
	return p.Ramp != nil || p.Rate > 0 && !p.Rate.Unlimited() || p.Find != nil && p.Find.Unit != Users
}

// LoadAt is the load of the plan at a moment, when so many requests are sent. It has no rate where all requests are due
// at once. A ramp in time comes with its target, and with the time to it in whole seconds. A search begins with this
// load.
func (p *Plan) LoadAt(at time.Duration, sent int) (s LoadSetting) {
	switch stage, r := p.StageAt(at), p.Ramp; {
	case p.Find != nil:
		s.Load = p.Find.Unit.Of(p.Find.From)
	case stage >= 0:
		s.Load = p.Stages[stage].Load
	case p.ClosedLoop():
		s.Load = Users.Of(float64(p.MaxConcurrency))
	case r != nil && r.Over == 0: // over the requests
		s.Value = p.RampRate(sent)
	case r != nil:
		if s.Value = r.RateAt(at); at < r.Over {
			s.RampTo, s.RampOver = r.To, (r.Over - at).Round(time.Second)
		}
	case !p.Rate.Unlimited():
		s.Value = float64(p.Rate)
	}
	return s
}

// Length is the planned time from the start of the run to its last arrival; the last requests end later. It is not
// known for a search, a trace, and a number of requests without a rate.
func (p *Plan) Length() (length time.Duration, known bool) {
	if p.Find != nil {
		return 0, false
	}
	last, gap := p.lastArrival()
	counted := last > 0 && last <= LongestRun.Seconds() // a file may hold any number
	if p.Duration > 0 && !(counted && last+gap < p.Duration.Seconds()) {
		return p.Duration, true
	}
	if !counted {
		return 0, false
	}
	return time.Duration(last * float64(time.Second)).Round(time.Microsecond), true
}

// lastArrival is the time in seconds of the last of a number of requests, and the mean gap to one more; 0 for loads
// without a number or without a rate.
func (p *Plan) lastArrival() (at, gap float64) {
	n := p.Requests
	if p.Conversations != nil {
		n = p.Conversations.Count
	}
	switch r := p.Ramp; {
	case n <= 0 || len(p.Stages) > 0:
		return 0, 0
	case r != nil && r.Over > 0:
		return r.Arrival(float64(n)), 1 / r.To
	case r != nil:
		first, last := p.RampRate(0), p.RampRate(n-1)
		return float64(n-1)*r.meanGap(first, last) + (1/first+1/last)/2, 1 / last
	case p.Rate > 0 && !p.Rate.Unlimited():
		return float64(n) / float64(p.Rate), 1 / float64(p.Rate)
	}
	return 0, 0
}

// SteadyStateRule is the rule for the window of full load of a closed loop.
type SteadyStateRule struct {
	// Off leaves it out.
	Off bool `json:"off,omitempty"`
	// Threshold is the share of the concurrency limit that counts as full; 0 means 0.95.
	Threshold float64 `json:"threshold,omitempty"`
	// MinWindow is the shortest window that needs no warning; 0 means 10 s or a tenth of the run, whichever is longer.
	MinWindow time.Duration `json:"min_window_ns,omitempty"`
}

// Target is the rate of the plan at a moment, in requests per second; 0 where it does not follow from the time alone,
// as where conversations of several requests arrive.
func (p *Plan) Target(at time.Duration) float64 {
	if p.Conversations != nil {
		return 0
	}
	return p.ArrivalRate(at)
}

// ArrivalRate is the rate of the plan's arrivals at a moment, requests or conversations per second; 0 where it does not
// follow from the time alone.
func (p *Plan) ArrivalRate(at time.Duration) float64 {
	if p.Ramp != nil && p.Ramp.Over == 0 {
		return 0
	}
	return p.LoadAt(at, 0).Rate()
}

// Rate is a number of requests per second. Unlimited is the text "inf" in JSON.
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
	if v := float64(r); text.Finite(v) {
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

// TimingRule names which events of a stream are chunks and so set the clocks: those that vLLM 0.33 counts, and
// reasoning_content.
const TimingRule = "vllm-0.33"

// TimedAlike reports whether the clocks of a run follow TimingRule. Rules differ for chat alone: older runs counted
// every event with a choice, as vLLM did before 0.33.
func (p *Plan) TimedAlike() bool {
	return p.Backend != "openai-chat" || p.Definitions["rule"] == TimingRule
}

// LoadTime is the moment that assigns a request to a load. Under a rate it is the scheduled time. A user of a closed
// loop arrives when a slot is free: when the request was due, or, where all requests are due at once, when it was
// admitted.
func (p *Plan) LoadTime(q *Request) time.Duration {
	switch {
	case p.Paced():
		return q.Scheduled
	case p.ClosedLoop() && q.Admitted != Never:
		return q.Admitted
	}
	return q.Due
}

// promptly is the delay up to which a request counts as sent at its load time.
const promptly = 100 * time.Millisecond

// SentTime is the moment at which a request was sent, Never if it was not. A request without a delay counts as sent at
// its load time, so that the last one of a load, which ends with its arrival, belongs to that load.
func (p *Plan) SentTime(q *Request) time.Duration {
	if cause := p.LoadTime(q); q.Sent != Never && cause != Never && q.Sent-cause < promptly {
		return cause
	}
	return q.Sent
}
