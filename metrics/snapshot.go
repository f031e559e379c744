package metrics

import (
	"cmp"
	"time"
)

// State is the state of a run.
type State string

const (
	// Running: sending requests.
	Running State = "running"
	// Draining: sending nothing new, waiting for requests in flight.
	Draining State = "draining"
	// Aborting: cutting requests in flight.
	Aborting State = "aborting"
	// Counting: the load is over, and the server's tokenizer counts answers that came without usage.
	Counting State = "counting"
	// Finished: over, result written or its failure known.
	Finished State = "done"
)

// CacheSource is the source of a share of prompts that came from the server's prefix cache.
type CacheSource string

const (
	// CacheUnknown: no share.
	CacheUnknown CacheSource = ""
	// CacheFromUsage: the usage of answers. CacheFromCounters: the counters of the server's metrics page.
	CacheFromUsage    CacheSource = "usage"
	CacheFromCounters CacheSource = "counters"
)

// CachedShare is the share of prompts that came from the server's prefix cache: by the usage of answers where it says
// so, else by the server's counters over the same time; Unsaid without either.
func CachedShare(usage TokenShare, server *ServerReport) (share float64, source CacheSource) {
	switch {
	case usage.Of > 0:
		return usage.Rate(), CacheFromUsage
	case server != nil && Said(server.HitRate):
		return server.HitRate, CacheFromCounters
	}
	return Unsaid(), CacheUnknown
}

// Level is the importance of an event.
type Level string

const (
	// Info is for the record.
	Info Level = "info"
	// Warn asks for attention.
	Warn Level = "warn"
	// Error is a failure.
	Error Level = "error"
)

// LogEntry is a line of the log: an event of the run as text for a person.
type LogEntry struct {
	At    time.Duration
	Level Level
	Text  string
	// Mark is a few words for a line across the charts over time, "" for none: a new stage, the end of the warm-up.
	Mark string
	// Count is the number of events of the same kind; 0 means one. Last is the moment of the newest where they are
	// several.
	Count int
	Last  time.Duration
	// Set is the load that was set at this moment, nil for none. Objectives are those in force from here on, nil if
	// they did not change.
	Set        *LoadSetting
	Objectives *SLO
	// Search is what a search tells with its event, nil for other events.
	Search *SearchStep
}

// SetsUsers reports whether an event set the limit of requests in flight.
func (e LogEntry) SetsUsers() bool { return e.Set != nil && e.Set.Users() > 0 }

// RestartMark is the mark of the warning that the server's counters dropped, InTurnMark that of several processes that
// answer for them in turn.
const (
	RestartMark = "restart"
	InTurnMark  = "in turn"
)

// CacheMark is the mark of the warning that the server's prefix cache knew more than the common prefixes of the
// prompts.
const CacheMark = "cache"

// TokenMark is the mark of the warning that there is no token in place of one that expires or was refused.
const TokenMark = "no token"

// FoundMark is the mark of the event by which a search reports that its last load held.
const FoundMark = "found"

// NotFoundMark is the mark of the event by which a search reports that it found no load.
const NotFoundMark = "not found"

// Snapshot is a run so far. It is immutable, and any goroutine may keep and read it.
type Snapshot struct {
	// At is the moment of the snapshot.
	At    time.Duration
	Plan  *Plan
	State State
	// DrainBy is the forced end of draining; Never if the run is not draining.
	DrainBy time.Duration
	// Totals are the counts of the run.
	Totals Counts
	// Missed are the requests in flight that have missed an objective, whatever comes, without the warm-up. None is in
	// Totals; one may be missing for a second.
	Missed MissCount
	// Held, Waiting and Running are levels now. In flight is Waiting + Running.
	Held, Waiting, Running int
	// OutputExact: no request in flight is counted by its chunks.
	OutputExact bool
	// Windows from the start of the run: the minutes of hours past, then seconds; the last one is still open. Before is
	// known of the seconds of these minutes.
	Windows []*Window
	Before  Before
	// Minutes are joined from the windows and the samples of the run; none where nobody joined them.
	Minutes Minutes
	// Histograms of the run without its warm-up. A latency counts from its moment on, and no longer if its request
	// fails.
	Histograms Histograms
	// Failures by kind, most frequent first.
	Failures []FailureCount
	// Log holds the newest entries, oldest first; Marks the first thousand entries with a mark.
	Log, Marks []LogEntry
	// SavePath is the place of the result, "" if it is not saved; SaveError is the error of saving.
	SavePath, SaveError string
	// Client holds the samples of the client so far, Verdict judges the whole run, Recent its last seconds.
	Client          []ClientSecond
	Verdict, Recent Verdict
	// Workers are the machines of the run, where they are several.
	Workers []Worker
	Telemetry
	// Checks are those of known answers so far, nil for none; Garbage are the answers of the load that are garbage.
	Checks  *AnswerChecks
	Garbage []WrongAnswers
	// Steering is the load in force now.
	Steering Steering
	// Search is that for the highest load, nil for none.
	Search *Search
	// Objectives in force now: those of the plan until others are set.
	Objectives SLO
	// Outage is set while the server does not answer, also where the run ended so.
	Outage *Outage
	// Answer and Levels are those of the run so far, computed every few seconds; nil before the first time.
	Answer *Answer
	Levels []LoadLevel
	// Endpoints of the requests.
	Endpoints []Group
	// Classes and Turns are groups of the requests that ended after the warm-up, as in a report; none where requests
	// have no classes, or are no turns of several.
	Classes, Turns []Group
	// Places are groups of the requests by each axis of the plan; nil without axes.
	Places [][]Group
	// Sessions are the conversations; nil where none has several turns.
	Sessions *LiveSessions
	// Requests and Opened are set on request, see Inspection. Requests are those in flight, the last that ended, the
	// slowest and the failed, at most some hundreds of each, by index.
	Requests []RequestRow
	Opened   *RequestDetail
	// Replay is set where a past run is played.
	Replay *Replay
	// Notice is an answer of the run to a viewer in another process, in one snapshot; "" for none.
	Notice string
	// Report is set when the run is over.
	Report *Report
}

// Before is what is known of seconds that were joined to minutes.
type Before struct {
	// Peak is as PeakOutput, Touched the largest number of requests that were in flight at any time of one of them.
	Peak    float64
	Touched int
	// Seconds of these minutes, for the judge alone.
	Seconds []PastSecond
}

// Pass takes note of the seconds that may be joined next, and of some after them.
func (s *Snapshot) Pass() {
	settled := s.At - secondsKept/2*time.Second // tokens of later ones may be corrected
	s.Before.Peak = max(s.Before.Peak, PeakOutput(s.Windows, s.Plan.Warmup, settled))
	s.Before.Touched = s.touched()
}

// Outage is a time in which the server does not answer.
type Outage struct {
	// Since is the moment from which on nothing came from the server although it owed an answer.
	Since time.Duration
	// Why describes it in a few words for a person, such as "connection refused" or "no data on 12 open connections".
	Why string
}

// Replay is the state of the player of a past run.
type Replay struct {
	Playing bool
	// Speed is a multiple of the real speed.
	Speed float64
	// Length of the run.
	Length time.Duration
}

// RequestState is the state of a request.
type RequestState string

const (
	// StateHeld: due, waiting for a client slot. StateWaiting: sent, no token yet. StateRunning: first token seen.
	StateHeld    RequestState = "held"
	StateWaiting RequestState = "waiting"
	StateRunning RequestState = "running"
	// StateDone, StateFailed, StateCancelled, StateAbandoned: over.
	StateDone      RequestState = "done"
	StateFailed    RequestState = "failed"
	StateCancelled RequestState = "cancelled"
	StateAbandoned RequestState = "abandoned"
)

// RequestRow is a request in a list. Latencies that are not known yet are Never.
type RequestRow struct {
	Index     int
	ID, Model string
	// Class is that of the request, Wrong why its answer has not the form that it must have; "" for none. Both are
	// foreign text.
	Class, Wrong string
	// Session, Turn and Turns place the request in its conversation, the turn from 0; Turns is 0 for a request of its
	// own. Session is foreign text.
	Session     string
	Turn, Turns int
	State       RequestState
	// Due, Sent and Ended are moments of the run; Never if they did not come.
	Due, Sent, Ended           time.Duration
	SlotWait, TTFT, TPOT, E2EL time.Duration
	InputTokens, OutputTokens  int
	// CachedTokens, ServerQueue, ServerPrefill and Finish as in Request, once it is over. Finish is foreign text.
	CachedTokens               int
	ServerQueue, ServerPrefill time.Duration
	Finish                     string
	// Missed are the objectives in force that a success missed, by the rule of goodput: see Plan.Met.
	Missed  ObjectivesMissed
	Failure Failure
	Status  int
	// Error is the beginning of the error text of server or system: foreign text.
	Error string
	// Slow: it is among the slowest of the run, at most a twentieth of the successes. Kept: its chunks are known, so
	// that it can be opened.
	Slow, Kept bool
}

// RequestDetail is one request, opened.
type RequestDetail struct {
	RequestRow
	// Scheduled and Audio as in Request; Encode and Connect are the client's own work.
	Scheduled, Encode, Connect, Audio time.Duration

	Redials int
	// Prompt as in Request.
	Prompt string
	// Chunks so far. Text is their text, cut at a few KiB if TextCut: foreign text. Whole is the error in full.
	Chunks  []Chunk
	Text    string
	TextCut bool
	Whole   string
}

// Inspection selects the single requests in a snapshot. The zero value selects none and costs nothing.
type Inspection struct {
	// Rows asks for Snapshot.Requests.
	Rows bool
	// Open asks for Snapshot.Opened: the index of a request plus one, 0 for none.
	Open int
}

// With joins the selections of two viewers: of two open requests that of the first.
func (l Inspection) With(o Inspection) Inspection {
	l.Rows = l.Rows || o.Rows
	l.Open = cmp.Or(l.Open, o.Open)
	return l
}

// Window is one second of a run, or of several joined.
type Window struct {
	// Start is the beginning of the second, from the start of the run.
	Start time.Duration
	// Seconds that were joined; 0 for a single one.
	Seconds int
	// Counts are of the requests that ended in this second, by the objectives in force; Due and Sent are those of this
	// second.
	Counts
	// TokensIn are the input tokens of requests whose first token came in this second; TokensOut the output tokens that
	// arrived in it, whatever the outcome of their request. Output tokens are counted by chunk until the total of the
	// request is known, then corrected.
	TokensIn, TokensOut int
	// Held, Waiting and Running are levels at the end of the second.
	Held, Waiting, Running int
	// Histograms of the latencies of this second, such as TTFT of the first chunks that came in it. Failed requests are
	// removed again.
	Histograms WindowHistograms
	// TTFTParts of the requests whose first chunk came in this second; Reported holds the figures of their answers.
	// Failed requests are removed again.
	TTFTParts TTFTParts
	Reported  ServerTimes
	// Ends are of the requests that ended in this second, the warm-up included; nil for none.
	Ends *Ends
}

// Clone is a window of its own, which may be changed.
func (w *Window) Clone() *Window {
	c := *w
	c.Ends = (*Ends)(nil).Merge(w.Ends)
	for l := range c.Histograms {
		c.Histograms[l].shared = true
	}
	return &c
}

// Length is the time of the window.
func (w *Window) Length() time.Duration { return time.Duration(max(1, w.Seconds)) * time.Second }

// MaxWindows bounds a timeline to a week, so that a damaged journal cannot use up the memory; later events count in the
// last window.
const MaxWindows = 7 * 24 * 3600

// Same reports whether two windows of snapshots of one run are the same, without comparing single counts, because
// unchanged histograms share their counts. It may report windows that are equal but not shared as different.
func (w *Window) Same(o *Window) bool {
	for l := range w.Histograms {
		if !w.Histograms[l].same(&o.Histograms[l]) {
			return false
		}
	}
	return w.Start == o.Start && w.Seconds == o.Seconds && w.Counts == o.Counts &&
		w.TokensIn == o.TokensIn && w.TokensOut == o.TokensOut &&
		w.Held == o.Held && w.Waiting == o.Waiting && w.Running == o.Running && w.TTFTParts == o.TTFTParts &&
		w.Reported == o.Reported && w.Ends == o.Ends
}

// same: both show the same counts, by their place in memory.
func (h *Histogram) same(o *Histogram) bool {
	if h.packed || o.packed {
		return h.n == o.n && h.sum == o.sum // to the nanosecond
	}
	if h.n != o.n || h.sum != o.sum || h.base != o.base || len(h.counts) != len(o.counts) {
		return false
	}
	return len(h.counts) == 0 || &h.counts[0] == &o.counts[0]
}
