package metrics

import "time"

// Report is a run, finished. All rates are per second of Duration.
type Report struct {
	Plan Plan
	// Ended is the offset at which the run was over.
	Ended time.Duration
	// Duration is Ended less the warm-up, in seconds.
	Duration float64
	// Completed are the successes.
	Completed, Failed int
	// NotSent requests of the plan were never sent, those of the warm-up aside. They are in none of the figures.
	NotSent int
	// Interrupted is there when the run ended before its plan did. A plan with a duration ends when its time is over,
	// whatever was not sent by then.
	Interrupted *Interrupted
	// Unreached requests failed by connect or reset after the last sign of the server.
	Unreached int
	// Conclusion is what came out of the run: exit code and screen follow it. Trouble says why its requests make it a failure,
	// "" if they do not.
	Conclusion Conclusion
	Trouble    string

	// Tokens of successful requests, and whose counts they are.
	InputTokens, OutputTokens int
	// Inputs are the prompts of the successes, InputThroughput how many a second: more than requests where these carry several.
	Inputs          int
	InputThroughput float64
	// CachedTokens as in Totals.
	CachedTokens                         int
	InputSources, OutputSources          map[TokenSource]int
	Lengths                              AnswerLengths
	RequestThroughput                    float64
	OutputThroughput, TotalThroughput    float64
	Goodput                              *float64 // nil without objectives
	PeakOutputPerSecond, PeakConcurrency int      // by one-second buckets from the first start, as vLLM counts
	ExactPeakConcurrency                 int      // by sweeping over [start, end), failures and what was cut included
	Statistics                           Statistics
	// VLLM is how vLLM 0.33 reads the run, nil where it reads the same.
	VLLM    *VLLMReading
	Redials int // connections that were replaced: see Request.Redials
	// Client is what the run shows of the client itself.
	Client Client
	// Good successes met every objective in force at the end; Met holds the share of successes that met each objective.
	Good int
	Met  []ObjectiveShare
	// PlannedGood met every objective of the plan, whatever was set later: gates go by these.
	PlannedGood int
	// ScheduledRate, SentRate and DoneRate are requests per second: asked for by the schedule, sent, and completed,
	// each over the time from the first to the last of them. 0 where there were fewer than two.
	ScheduledRate, SentRate, DoneRate float64
	// WarmedUp requests of the warm-up are in none of the figures.
	WarmedUp int
	// SteadyState is there for a closed loop with a concurrency limit.
	SteadyState *SteadyState
	// Levels are the loads the run went through, in order of time: one for a steady load.
	Levels []LoadLevel
	Answer Answer
	Gates  []GateResult
	// RateSteps are the moments when the whole part of a ramp over requests rose.
	RateSteps []RateStep
	// Probes, SpecDecode and Diffusion as in Run.
	Probes     *Probes
	SpecDecode *SpecDecode
	Diffusion  *Diffusion
	// Server and GPUs are nil where nobody looked at them.
	Server *ServerReport
	GPUs   *GPUReport
	// Split says where the time until the first chunk went.
	Split TTFTSplit
	// Steered counts how often the load was set while the run was on: above 0 the load was not the plan's.
	Steered int
	// Objectives in force at the end, by which Good and Met were counted.
	Objectives SLO
	// Damaged lines of the journal were left out: what they said is in no figure.
	Damaged int

	Timeline   []Window
	Failures   []FailureCount
	Events     []LogEntry
	Histograms Histograms
	// FirstErrors are what the first ten failed requests in data-set order failed of, in the server's or the system's words
	// or else the kind of the failure: foreign text.
	FirstErrors []string

	// Rows holds one row per finished request in data-set order; Details the requests themselves in the same order if
	// the plan asks for detail.
	Rows    []Row
	Details []Request
}

// Row is what the report keeps of every request, in seconds.
type Row struct {
	Index             int
	Latency, SlotWait float64
}

// Interrupted says how a run was cut short.
type Interrupted struct {
	// Reason in words, such as StoppedByUser.
	Reason string `json:"reason"`
	// Cancelled requests were cut in flight, Unsent ones never started.
	Cancelled int `json:"cancelled"`
	Unsent    int `json:"unsent"`
}

// VLLMReading is how vLLM 0.33 reads the successes of a run: it does not read reasoning_content.
type VLLMReading struct {
	// TTFT is that of the requests in which vLLM counts a chunk.
	TTFT Statistic
	// Unread are the successes in which it counts none, and that it calls failed.
	Unread int
}

// notableTokenDelay is the share of the median TTFT from which on the first token comes noticeably later than the first chunk.
const notableTokenDelay = 0.1

// TokenAfterChunk reports whether the first token came later than the first chunk by more than a tenth, in the median.
func (r *Report) TokenAfterChunk() bool {
	return r.Statistics[FirstToken].N > 0 && TokenAfterChunk(r.Statistics[FirstToken].Median, r.Statistics[TTFT].Median)
}

func TokenAfterChunk(token, chunk float64) bool { return token > (1+notableTokenDelay)*chunk }

// SteadyState is the part of a closed loop in which it had its full load; see docs/metrics.md. Throughputs are per second
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
	// Warning in words, "" for none.
	Warning string

	RequestThroughput, InputThroughput, OutputThroughput, TotalThroughput float64
	// TTFT has the percentiles of the plan, TPOT has 90 and 99.
	TTFT, TPOT Statistic
}

// Conclusion is what came out of a run. The constants stand in order of rank: of several that hold, the greatest counts.
type Conclusion int

const (
	// Fine: the run did what it was to do, or drained because its user stopped it.
	Fine Conclusion = iota
	// GateMissed: a gate of the plan is missed.
	GateMissed
	// RunFailed: no request succeeded, more than half failed, the server did not answer at the end, or the result is not where it
	// was to be.
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
)

// ConclusionOf is what the reason of an early end says about the run by itself.
func ConclusionOf(reason string) Conclusion {
	switch reason {
	case AbortedByUser:
		return Aborted
	case EndedBySIGTERM:
		return Terminated
	case TerminalLost:
		return HungUp
	}
	return Fine
}

// fewestGone is the number of requests at the end of a run that must have met no server before it counts as one that does not answer.
const fewestGone = 3

// ServerGone reports whether the server did not answer any more when the run ended.
func (r *Report) ServerGone() bool { return r.Unreached >= fewestGone }
