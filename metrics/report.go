package metrics

import (
	"encoding/binary"
	"slices"
	"strings"
	"time"
)

// Report is the result of a run. All rates are per second of Duration.
type Report struct {
	Plan Plan
	// Ended is the offset at which the run was over.
	Ended time.Duration
	// Duration is Ended less the warm-up, in seconds.
	Duration float64
	// Counts are of the requests without the warm-up, by the objectives in force at the end.
	Counts
	// Tool is the other benchmark that measured, with what its figures mean; "" for benchtop and vLLM's.
	Tool string
	// Uncounted: the result of another benchmark does not say how many requests failed.
	Uncounted bool
	// NotSent requests of the plan, without the warm-up, were never sent. No figure counts them.
	NotSent int
	// Interrupted is set where the run ended before its plan. A plan with a duration ends when its time is over, even
	// with unsent requests.
	Interrupted *Interruption
	// Unreached requests in a row failed at the end, because the server was gone; 0 where it was there.
	Unreached int
	// Conclusion decides exit code and screen. Trouble is the reason for which the requests make the run a failure, ""
	// for none.
	Conclusion Conclusion
	Trouble    string

	// InputThroughput is the number of Inputs per second.
	InputThroughput float64
	// RTFx is the inverse real-time factor: Audio by Duration; 0 without recordings.
	RTFx float64
	// InputSources and OutputSources are the sources of the counts of tokens.
	InputSources, OutputSources map[TokenSource]int
	Lengths                     AnswerLengths
	Repeats                     Repeats
	// FirstCalls are the times to the first tool call, Acceptance the shares of draft tokens that each request's answer
	// took over.
	FirstCalls, Acceptance               Statistic
	RequestThroughput                    float64
	OutputThroughput, TotalThroughput    float64
	Goodput                              *float64 // nil without objectives
	PeakOutputPerSecond, PeakConcurrency int      // by seconds from the first start, as vLLM counts: of chunks
	PeakOutputTokens                     int      // the most output tokens in one second of the run; see PeakSecond
	ExactPeakConcurrency                 int      // of intervals [start, end), with failures and cut requests
	Statistics                           Statistics
	// Speeds are the output speeds of users in tokens/s, each the reciprocal of a request's TPOT, which is the time per
	// token of one user's answer. AtOnce successes of several tokens have none, because their output came at once; see
	// Request.Pace.
	Speeds Statistic
	// Tries is the TTFT of the last tries alone, where the plan has users try again.
	Tries  Statistic
	AtOnce int
	// VLLM is the reading of vLLM 0.33, nil where it is the same.
	VLLM *VLLMReading
	// Client is the health of the client. Workers are the machines, where they are several.
	Client  Client
	Workers []Worker
	// ScheduledRate, SentRate and DoneRate are requests per second: asked for by the schedule, sent, and completed,
	// each over the time from the first to the last of them. 0 where there were fewer than two.
	ScheduledRate, SentRate, DoneRate float64
	// SteadyState is set for a closed loop with a concurrency limit.
	SteadyState *SteadyState
	// Levels are the loads of the run in order of time: one for a steady load.
	Levels []LoadLevel
	Answer Answer
	Gates  []GateResult
	// RateSteps are the moments when the whole part of a ramp over requests rose.
	RateSteps []RateStep
	// Probes, SpecDecode and Diffusion as in Run.
	Probes     *Probes
	SpecDecode *SpecDecode
	Diffusion  *Diffusion
	// Server and GPUs are nil without samples.
	Server *ServerReport
	GPUs   *GPUReport
	// Servers are the shares of several servers in the load, in the order of the plan; nil with one server.
	Servers []Group
	// Classes are those of the requests; nil where they have none. Turns are the places in conversations of several
	// turns.
	Classes, Turns []Group
	// Compared are the places of each axis of the plan; nil without axes.
	Compared []Comparison
	// Sessions are the conversations; nil where none has several turns.
	Sessions *Sessions
	// Wrong are the answers that had to have a form and have not, those for the most frequent reason first.
	Wrong []WrongAnswers
	// Checks are those of known answers, nil where none was checked; Garbage are the answers of the load that are
	// garbage.
	Checks  *AnswerChecks
	Garbage []WrongAnswers
	// Split divides the time to the first chunk.
	Split TTFTSplit
	// Steered counts the settings of the load during the run: above 0 the load was not that of the plan.
	Steered int
	// Objectives in force at the end, by which Good and Met were counted.
	Objectives SLO
	// Damaged counts the lines of the journal that were left out, Missing the requests whose numbers it lacks between
	// those it has, where these have to be consecutive.
	Damaged, Missing int

	Timeline   []*Window
	Failures   []FailureCount
	Events     []LogEntry
	Histograms Histograms

	// Rows holds one row per finished request in data-set order, Details more of each if the plan asks for detail, in
	// the same order.
	Rows    []Row
	Details []DetailedRequest
	// FailedRequests are those of Rows that failed, in data-set order: all if the plan asks for detail, else the first
	// MostFailedRequests. They have no text.
	FailedRequests []DetailedRequest
}

// Judged reports whether requests were judged by any objectives in force at the end.
func (r *Report) Judges() bool { return r.Plan.Judges(r.Objectives) }

// CachedShare of the whole run.
func (r *Report) CachedShare() (share float64, source CacheSource) {
	return CachedShare(r.Cached, r.Server)
}

// MostFailedRequests bounds the failed requests of a report without detail.
const MostFailedRequests = 1000

// DetailedRequest is a request as results with details have it. Times that are not known are Never.
type DetailedRequest struct {
	Index, InputTokens, OutputTokens int // OutputTokens is 0 for a failure
	// Start is when its first byte was sent, or the attempt began that gave no connection.
	Start, TTFT, ServerQueue, ServerPrefill time.Duration

	Text  string // foreign
	Error string // foreign text, or the kind of the failure; "" for a success
	Gaps  []byte // between chunks, as varints: numbers would take many times the memory
}

// Detail is the request without its chunks.
func (r *Request) Detail() DetailedRequest {
	d := DetailedRequest{Index: r.Index, InputTokens: r.InputTokens, Start: r.Began(), TTFT: r.TTFT(),
		ServerQueue: r.ServerQueue, ServerPrefill: r.ServerPrefill, Text: r.Text, Error: r.FailureText()}
	if d.Error == "" {
		d.OutputTokens = r.OutputTokens
	}
	const usual = 4 // bytes
	d.Gaps = make([]byte, 0, usual*len(r.Chunks))
	for i := 1; i < len(r.Chunks); i++ {
		d.Gaps = binary.AppendVarint(d.Gaps, int64(r.Gap(i)))
	}
	return d
}

// ITLs are the gaps between chunks in seconds; buf is reused.
func (d *DetailedRequest) ITLs(buf []float64) []float64 {
	buf = buf[:0]
	for b := d.Gaps; len(b) > 0; {
		gap, n := binary.Varint(b)
		buf, b = append(buf, time.Duration(gap).Seconds()), b[n:]
	}
	return buf
}

// Row is a request in the report, in seconds.
type Row struct {
	Index             int
	Latency, SlotWait float64
}

// Interruption is the early end of a run.
type Interruption struct {
	// Reason as text, such as StoppedByUser.
	Reason string `json:"reason"`
	// Cancelled requests were cut in flight, Unsent ones never started.
	Cancelled int `json:"cancelled"`
	Unsent    int `json:"unsent"`
}

// VLLMReading is the reading of the successes by vLLM 0.33, which ignores reasoning_content and refusals.
type VLLMReading struct {
	// TTFT is that of the requests in which vLLM counts a chunk.
	TTFT Statistic
	// Unread are the successes in which it counts none, and that it calls failed.
	Unread int
}

// notableTokenDelay is the share of the median TTFT from which on the first token comes noticeably later than the first
// chunk.
const notableTokenDelay = 0.1

// TokenAfterChunk reports whether the first token came later than the first chunk by more than a tenth, in the median.
func (r *Report) TokenAfterChunk() bool {
	token, chunk := r.Statistics[FirstToken], r.Statistics[TTFT]
	return chunk.N > 0 && token.N > 0 && TokenAfterChunk(token.Median, chunk.Median)
}

func TokenAfterChunk(token, chunk float64) bool { return token > (1+notableTokenDelay)*chunk }

const (
	// MinSlotWaitMS is the wait for a slot, in milliseconds, from which on the limit shaped the load.
	MinSlotWaitMS = 1
	// minSentShare is the lowest share of the scheduled rate that counts as sent in time, minSentRequests the smallest
	// number of requests whose rate is meaningful, unless they waited for slots.
	minSentShare    = 0.95
	minSentRequests = 20
	// manyTokens is the mean number of tokens of a chunk from which on ITL, the gap between chunks, is far from the
	// time of a token.
	manyTokens = 1.3
)

// WaitedForSlot reports whether a limit on requests in flight shaped the load.
func (r *Report) WaitedForSlot() bool {
	limited := r.Plan.MaxConcurrency > 0 ||
		slices.ContainsFunc(r.Plan.Stages, func(s Stage) bool { return s.Users() > 0 }) ||
		slices.ContainsFunc(r.Events, LogEntry.SetsUsers)
	return limited && r.Statistics[SlotWait].Max >= MinSlotWaitMS
}

// SentShort reports whether the sent rate is well below the scheduled one.
func (r *Report) SentShort() bool {
	telling := r.Completed+r.Failed >= minSentRequests || r.WaitedForSlot()
	return telling && r.Plan.Paced() && r.SentRate > 0 && r.SentRate < minSentShare*r.ScheduledRate
}

// TokensPerChunk is the mean number of tokens of a chunk, and whether chunks hold several whose number the server did
// not say.
func (r *Report) TokensPerChunk() (mean float64, several bool) {
	counted, itl := r.OutputSources[TokensFromUsage], r.Statistics[ITL].N
	if !r.Plan.Generates() || counted == 0 || counted < r.Completed || r.Statistics[TokenITL].N > 0 || itl == 0 {
		return 0, false
	}
	mean = float64(r.OutputTokens) / float64(itl+r.Completed)
	return mean, mean >= manyTokens
}

// SteadyState is the part of a closed loop with its full load; see docs/metrics.md. Throughputs are per second
// of the window, latencies in milliseconds.
type SteadyState struct {
	Start, End time.Duration
	// Target is the concurrency limit, Threshold the share of it that counts as full, ThresholdAbs that number of
	// requests, Peak the highest number of successes in flight at once.
	Target       int
	Threshold    float64
	ThresholdAbs int
	Peak         int
	// Started and Completed in the window, and Total successes of the run.
	Started, Completed, Total int
	// Warning as text, "" for none.
	Warning string

	RequestThroughput, InputThroughput, OutputThroughput, TotalThroughput float64
	// TTFT has the percentiles of the plan, TPOT has 90 and 99.
	TTFT, TPOT Statistic
}

// SteadyWindow is the part of a level in which requests in flight and throughput did not change, with the figures in
// it; see docs/metrics.md. Start is End where the level was never steady.
type SteadyWindow struct {
	SteadyState
	// Share of the level, from 0 to 1.
	Share float64
}

// Repeats are the successes whose prompts were sent before in the run, nearly whole, where each is a request of its
// own.
type Repeats struct {
	Again, First int
	// AgainTTFT and FirstTTFT are the medians of those that were and of the others, in milliseconds.
	AgainTTFT, FirstTTFT float64
}

// Conclusion is the conclusion of a run. The constants are in order of rank: of several that hold, the greatest counts.
type Conclusion int

const (
	// Fine: the run completed its plan, or drained because its user stopped it.
	Fine Conclusion = iota
	// GateMissed: a gate of the plan is missed.
	GateMissed
	// RunFailed: no request succeeded, more than half failed, the server did not answer at the end, or the result could
	// not be saved in its place.
	RunFailed
	// HungUp: the run was ended because its terminal was lost.
	HungUp
	// Terminated: SIGTERM ended the run.
	Terminated
	// Aborted: the user cut the requests in flight.
	Aborted
)

// Reasons for which a run ends before its plan, as they stand in its journal.
const (
	StoppedByUser  = "stopped by the user"
	AbortedByUser  = "aborted by the user"
	EndedBySIGTERM = "SIGTERM"
	TerminalLost   = "the terminal was lost"
	// Sufficed: a comparison had enough.
	Sufficed = "the comparison had enough"
	// RefusedByServer is the beginning of a reason, which goes on with the server's words.
	RefusedByServer = "the server refused the first 20 requests alike"
	// PartsLost is the beginning of a reason, too: machines of the run did not come back.
	PartsLost = "parts of the run were lost"
)

// ConclusionOf is the conclusion that follows from the reason of an early end.
func ConclusionOf(reason string) Conclusion {
	if strings.HasPrefix(reason, RefusedByServer) || strings.HasPrefix(reason, PartsLost) {
		return RunFailed
	}
	return map[string]Conclusion{AbortedByUser: Aborted, EndedBySIGTERM: Terminated, TerminalLost: HungUp}[reason]
}

// ServerGone reports whether the server did not answer any more when the run ended.
func (r *Report) ServerGone() bool { return r.Unreached > 0 }
