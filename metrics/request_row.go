package metrics

import "time"

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

// Look is what a viewer wants to see of single requests. The zero value wants nothing, and costs nothing.
type Look struct {
	// Rows asks for Snapshot.Requests.
	Rows bool
	// Open asks for Snapshot.Opened: the index of a request plus one, 0 for none.
	Open int
}

// With is what two viewers want to see together: of two opened requests that of the first.
func (l Look) With(o Look) Look {
	l.Rows = l.Rows || o.Rows
	if l.Open == 0 {
		l.Open = o.Open
	}
	return l
}
