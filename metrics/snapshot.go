package metrics

import "time"

// State is what a run is doing.
type State string

const (
	// Running: sending requests.
	Running State = "running"
	// Draining: sending nothing new, waiting for what is in flight.
	Draining State = "draining"
	// Aborting: cutting what is in flight.
	Aborting State = "aborting"
	// Counting: the load is over, and the server's tokenizer counts answers that came without usage.
	Counting State = "counting"
	// Finished: over, result written or its failure known.
	Finished State = "done"
)

// Totals count requests and tokens since the start. Tokens are those of successful requests. Due and Sent count every
// request, the others leave out those of the warm-up.
type Totals struct {
	Due, Sent, Done, Failed, Cancelled int
	// WarmedUp are the requests of the warm-up that ended, however they did; Done, Failed and Cancelled leave them out.
	WarmedUp                  int
	InputTokens, OutputTokens int
	// CachedTokens of the input tokens came from the server's prefix cache, as far as answers told.
	CachedTokens int
	// MetCount is by the objectives in force.
	MetCount
}

// Level says how much an event matters.
type Level string

const (
	// Info is for the record.
	Info Level = "info"
	// Warn asks for attention.
	Warn Level = "warn"
	// Error tells of something that went wrong.
	Error Level = "error"
)

// LogEntry is a line of the log: something that happened at a moment of the run, in words for a person.
type LogEntry struct {
	At    time.Duration
	Level Level
	Text  string
	// Mark is a few words for a line across the charts over time, "" for none: a new stage, the end of the warm-up.
	Mark string
	// Count says how many like it came in a row; 0 means one.
	Count int
	// Set is the load that was set at this moment, nil if none was. Objectives are those in force from here on, nil if they
	// did not change.
	Set        *LoadSetting
	Objectives *SLO
}

// CacheMark is the mark of the event by which a run says that the server's prefix cache knew more than the prompts have in
// common.
const CacheMark = "cache"

// FoundMark is the mark of the event by which a search says that the load it set last held.
const FoundMark = "found"

// Snapshot is a run so far. It is immutable: whoever holds one may keep it and read it from any goroutine.
type Snapshot struct {
	// At is when it was taken.
	At    time.Duration
	Plan  *Plan
	State State
	// DrainBy is when draining ends by force; Never if it is not draining.
	DrainBy time.Duration
	Totals  Totals
	// Held, Waiting and Running are levels now. In flight is Waiting + Running.
	Held, Waiting, Running int
	// OutputExact says that no request in flight is counted by its chunks.
	OutputExact bool
	// Windows from the start of the run; the last one is still open.
	Windows []Window
	// Histograms of the whole run but its warm-up. A latency counts as soon as it is known, and no more if its request fails.
	Histograms Histograms
	// PlannedGood are the successes that met every objective of the plan, whatever is in force now: gates go by these.
	PlannedGood int
	// Failures by kind, most frequent first.
	Failures []FailureCount
	// Log holds the newest events, oldest first; Marks the first thousand of all events that have a mark.
	Log, Marks []LogEntry
	// SavePath is where the result goes, "" if it is not saved; SaveError why it could not be.
	SavePath, SaveError string
	// Client holds the client's own seconds so far, Verdict what they say of the whole run, Recent of its last seconds.
	Client          []ClientSecond
	Verdict, Recent Verdict
	Telemetry
	// Steering is the load in force now.
	Steering Steering
	// Objectives in force now: those of the plan until somebody sets others.
	Objectives SLO
	// Answer and Levels are the report's, computed of the run so far every few seconds; nil before the first time.
	Answer *Answer
	Levels []LoadLevel
	// Endpoints are what requests were sent to.
	Endpoints []Endpoint
	// Requests and Opened are there for whoever asked, see Recorder.Inspect. Requests are those in flight, the last that ended,
	// the slowest and the failed, at most some hundreds of each, none twice, by index.
	Requests []RequestRow
	Opened   *RequestDetail
	// Replay is there where the run is one of the past, played again.
	Replay *Replay
	// Notice is what the run answers to a viewer in another process, in the snapshot with which it comes; "" for nothing.
	Notice string
	// Report is there once the run is over.
	Report *Report
}

// Endpoint is a thing that requests are sent to: a model at a server.
type Endpoint struct {
	// Model is the name asked for, "" where all requests ask for the same.
	Model string
	// Counts of the whole run, the warm-up included; InFlight is a level.
	Sent, Done, Failed, InFlight, OutputTokens int
	// FirstWait is the latency that the plan names so: TTFT, or E2EL where an answer comes in one piece.
	FirstWait Histogram
}

// Replay says how a run of the past is being played.
type Replay struct {
	Playing bool
	// Speed is a multiple of that of the run.
	Speed float64
	// Length of the run.
	Length time.Duration
}

// Pooling reports whether the run is one of answers without tokens; see Plan.
func (s *Snapshot) Pooling() bool { return s.Plan != nil && s.Plan.Pooling }

// RequestState is where a request is on its way.
type RequestState string

const (
	// StateHeld: due, waiting for a client slot. StateWaiting: sent, no token yet. StateRunning: first token seen.
	StateHeld    RequestState = "held"
	StateWaiting RequestState = "waiting"
	StateRunning RequestState = "running"
	// StateDone, StateFailed, StateCancelled: over.
	StateDone      RequestState = "done"
	StateFailed    RequestState = "failed"
	StateCancelled RequestState = "cancelled"
)

// RequestRow is a request as a list shows it. Latencies that are not known yet are Never.
type RequestRow struct {
	Index     int
	ID, Model string
	State     RequestState
	// Due, Sent and Ended are moments of the run; Never if they did not come.
	Due, Sent, Ended           time.Duration
	SlotWait, TTFT, TPOT, E2EL time.Duration
	InputTokens, OutputTokens  int
	Failure                    Failure
	Status                     int
	// Error is the beginning of the server's or system's words: foreign text.
	Error string
	// Slow says that it is among the slowest of the run, a twentieth of its successes or less. Kept says that its chunks are known, so that it can be opened.
	Slow, Kept bool
}

// RequestDetail is one request, opened.
type RequestDetail struct {
	RequestRow
	// Scheduled as in Request; Encode and Connect are the client's own work, CachedTokens the server's prefix cache.
	Scheduled, Encode, Connect time.Duration
	CachedTokens, Redials      int
	// ServerQueue and ServerPrefill as the server told them; Never if it did not.
	ServerQueue, ServerPrefill time.Duration
	Finish                     string
	// Chunks so far. Text is what they said, cut at a few KiB, which TextCut tells: foreign text. Whole is the error in full.
	Chunks  []Chunk
	Text    string
	TextCut bool
	Whole   string
}

// Inspection is what a viewer wants to see of single requests. The zero value wants nothing, and costs nothing.
type Inspection struct {
	// Rows asks for Snapshot.Requests.
	Rows bool
	// Open asks for Snapshot.Opened: the index of a request plus one, 0 for none.
	Open int
}

// With is what two viewers want to see together: of two opened requests that of the first.
func (l Inspection) With(o Inspection) Inspection {
	l.Rows = l.Rows || o.Rows
	if l.Open == 0 {
		l.Open = o.Open
	}
	return l
}
