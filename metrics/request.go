// Package metrics is the common language of benchtop: requests, latencies, histograms, windows, snapshots and reports,
// and the folds that live view and report share. Code that draws, prints or saves a number takes it from here, so that
// each number has one meaning.
//
// It does no I/O, starts no goroutine and knows neither HTTP nor a screen. All times are offsets from the start of the
// run on the monotonic clock, in whole microseconds: they are rounded once, when they are taken, and every latency is a
// difference of two of them.
package metrics

import (
	"cmp"
	"iter"
	"time"
)

// Never marks a moment that did not come.
const Never time.Duration = -1

// TokenSource is the source of a count of tokens. Each count comes with its source.
type TokenSource string

const (
	// TokensUnknown: no count.
	TokensUnknown TokenSource = ""
	// TokensFromUsage: the server's usage block.
	TokensFromUsage TokenSource = "usage"
	// TokensFromIDs: the prompt was sent, or the output came, as token ids or log probabilities.
	TokensFromIDs TokenSource = "token_ids"
	// TokensFromServer: the server's tokenizer, asked apart from the request.
	TokensFromServer TokenSource = "server_tokenizer"
	// TokensFromTokenizer: the model's tokenizer, on the machine of the client.
	TokensFromTokenizer TokenSource = "tokenizer"
	// TokensFromChunks: one token for each chunk that carried output.
	TokensFromChunks TokenSource = "chunks"
	// TokensFromEstimate: a guess from the length of the text.
	TokensFromEstimate TokenSource = "estimate"
)

// Failure is the kind of a failure, for counts. "" means success.
type Failure string

const (
	// FailedConnect: no connection to the server.
	FailedConnect Failure = "connect"
	// FailedNoSocket: the client's own system had no socket for the request: files or ports were used up.
	FailedNoSocket Failure = "no_socket"
	// FailedStatus: an answer other than 200.
	FailedStatus Failure = "http_status"
	// FailedReset: the connection broke before the answer was complete.
	FailedReset Failure = "reset"
	// FailedTruncated: the stream ended without its finish marker.
	FailedTruncated Failure = "truncated"
	// FailedInStream: the server reported an error inside a stream that had begun with status 200.
	FailedInStream Failure = "error_in_stream"
	// FailedMalformed: the answer violates the protocol: not JSON, not an event stream, not HTTP, or compressed, which
	// no request asks for; or it is beyond a limit of memory.
	FailedMalformed Failure = "malformed"
	// FailedEmpty: a complete stream that never carried a chunk of output.
	FailedEmpty Failure = "no_output"
	// FailedStall: nothing arrived for longer than the stall time-out.
	FailedStall Failure = "stall"
	// FailedTimeout: the request took longer than the request time-out.
	FailedTimeout Failure = "timeout"
	// FailedInternal: a fault of benchtop itself.
	FailedInternal Failure = "internal"
	// Cancelled: benchtop itself cut the request when the run was ended. It counts as neither success nor failure.
	Cancelled Failure = "cancelled"
	// Abandoned: the user left before the answer was complete, as --abandon asks. It counts as neither success nor
	// failure; see Request.Undecided.
	Abandoned Failure = "abandoned"
)

// Failures are all kinds of failures.
var Failures = []Failure{FailedConnect, FailedNoSocket, FailedStatus, FailedReset, FailedTruncated, FailedInStream,
	FailedMalformed, FailedEmpty, FailedStall, FailedTimeout, FailedInternal}

// Bounds of a request that is kept: a line of the journal has room for both.
const (
	// MostChunks is the most chunks of an answer.
	MostChunks = 1 << 22
	// MostText is the most bytes of its text. Longer texts are cut.
	MostText = 4 << 20
	// MostPrompt is the most bytes of an excerpt of its prompt.
	MostPrompt = 2 << 10
)

// mostOfChunk bounds the times for which a gap counts, because a journal may hold any token counts.
const mostOfChunk = 1 << 20

// Chunk is one stream event that carries a choice.
type Chunk struct {
	// At is when its last byte arrived.
	At time.Duration
	// Tokens it holds: counted where ids, log probabilities or a running usage came with it, else 1 if it has output
	// and 0 if it has none (a role, a finish reason). See Request.CountedChunks.
	Tokens int32
	// Answer: it holds text of the visible answer, not only reasoning.
	Answer bool
}

// Request is one HTTP exchange as observed. It belongs to the goroutine that runs the exchange until it is done, and
// does not change after that. Latencies are methods, so that no derived number can disagree with its source.
type Request struct {
	// Index is the place in data-set order, from 0.
	Index int
	// Conversation and Turn place the request in its conversation, both from 0.
	Conversation, Turn int
	// Turns is the number of turns that its conversation has by the plan; 0 for a request of its own.
	Turns int
	// Session is the name of the conversation outside of this run, and Parent the id of the request whose answer this
	// one waited for; "" for none.
	Session, Parent string
	// ID is the x-request-id.
	ID string
	// Server is the place of the server in Plan.Servers, for a request that got one; 0 where there is one server.
	Server int
	// Class is the class of the request, as in the data set; "" for none.
	Class string
	// Model is the requested model where requests of a run name different ones, else "".
	Model string
	// Served are the values of the headers of its answer by which the plan has axes, in their order, each at most
	// MostPlaceName bytes and "" for none: foreign text. It is nil without such axes, and before the answer begins.
	Served []string

	// Scheduled is the start by the schedule, Due the handover to the limiter, Admitted the moment at which the request
	// got a client slot, Sent the write of its first byte on an open connection.
	Scheduled, Due, Admitted, Sent time.Duration
	// Encode and Connect are the client's own work: building the body; dialling and TLS. They lie between Admitted and
	// Sent, except for the dial of a redial. Connect is 0 on a connection that was open.
	Encode, Connect time.Duration
	// FirstChunk and LastChunk are the first and last chunk of any kind, FirstToken the first with output of any kind,
	// FirstAnswer the first with text of the visible answer. Done is the end of the exchange.
	FirstChunk, FirstToken, FirstAnswer, LastChunk, Done time.Duration
	// VLLMLater is the time from FirstChunk to the first chunk that vLLM 0.33 counts; Never if it counts none. It is 0
	// but where the answer has reasoning named reasoning_content, or a refusal, which vLLM does not read.
	VLLMLater time.Duration
	// Chunks in order of arrival. The tokens of the first CountedChunks were counted; those of the others are assumed.
	Chunks        []Chunk
	CountedChunks int
	// ReadDelay is the delay of the last chunk between the stamp of the kernel and the client; Never without a stamp.
	// It is live only: no journal keeps it.
	ReadDelay time.Duration

	// Prompt is an excerpt of the prompt, at most MostPrompt bytes, "" before it is composed. It is live only: foreign
	// text.
	Prompt string
	// Piece is the text of the last chunk, valid only until the next one. It is live only, too: foreign text.
	Piece []byte

	// InputTokens and OutputTokens hold the best count, InputSource and OutputSource its source.
	InputTokens, OutputTokens int
	InputSource, OutputSource TokenSource
	// DatasetTokens is the count of the prompt in the data set, before the answer brought a better one.
	DatasetTokens int
	// Inputs are the prompts in the request where it carries several; 0 for one.
	Inputs int
	// Audio is the length of the recording in the request; 0 for none.
	Audio time.Duration
	// CachedTokens of the prompt came from the prefix cache. CachedKnown: the server reported them, if only 0.
	CachedTokens int
	CachedKnown  bool
	// IdealTokens of the prompt would have come from a prefix cache without bounds that began empty with the run.
	// IdealKnown: they were counted, if only as 0.
	IdealTokens int
	IdealKnown  bool
	// By the usage of the answer, ReasoningTokens of the output came before the visible answer, -1 for unknown, and
	// speculative decoding proposed DraftTokens, of which the model took over AcceptedTokens; 0 for none or unknown.
	ReasoningTokens, DraftTokens, AcceptedTokens int
	// Calls is the number of tool calls in the answer, FirstCall when the first of them began.
	Calls     int
	FirstCall time.Duration
	// ServerQueue is the wait inside the server, ServerPrefill the time for the prompt and the first token, as reported
	// with the answer; Never if not reported.
	ServerQueue, ServerPrefill time.Duration
	// MaxTokens is the output length that the request asked for; 0 if it named none.
	MaxTokens int

	// Finish is the server's finish reason. Refusal: the answer is a refusal, as the server says.
	Finish  string
	Refusal bool
	// Failure is "" for a success.
	Failure Failure
	// Status is the HTTP status, 0 if none came.
	Status int
	// Error is the error text of the server or the system, at most 2 KiB, unchanged: foreign text.
	Error string
	// Text is the generated text if the run keeps it: foreign text. TextPart: the output had more, as reasoning, tool
	// calls, or text beyond MostText.
	Text     string
	TextPart bool
	// Judgement is of an answer that had to have a form, Garbage of any answer where answers are checked.
	Judgement Judgement
	Garbage   Garbage
	// Tokens are those of the answer where they are asked for. They are live only.
	Tokens []OutputToken
	// Tallies of what happened. Where there were retries, LastTry is when the first byte of the last try was sent. Sent
	// is that of the first try, or when it began where its connection was refused, so that latencies are those of the
	// user.
	Tallies
	LastTry time.Duration

	// Live is the entry of the live view for a request in flight, guarded by the lock of the view.
	Live any

	progress progress
}

// progress holds the counts of the timeline for a request so far, for later corrections.
type progress struct {
	stage        stage
	in           Places
	inputTokens  int
	outputTokens int
	answered     bool // its first answer text is counted
}

// End replaces the request by its final form, and keeps the progress in timeline and live view.
func (r *Request) End(as Request) {
	as.progress, as.Live = r.progress, r.Live
	*r = as
}

// Counted are the output tokens that the timeline has counted for the request by its chunks.
func (r *Request) Counted() int { return r.progress.outputTokens }

// State of the request, as far as the timeline has counted it.
func (r *Request) State() RequestState {
	inFlight := [...]RequestState{stageHeld: StateHeld, stageWaiting: StateWaiting, stageRunning: StateRunning}
	if state := inFlight[r.progress.stage]; state != "" {
		return state
	}
	switch r.Failure {
	case "":
		return StateDone
	case Cancelled:
		return StateCancelled
	case Abandoned:
		return StateAbandoned
	}
	return StateFailed
}

// NewRequest returns a request without any event.
func NewRequest(index int) Request {
	return Request{
		Index:     index,
		Scheduled: Never, Due: Never, Admitted: Never, Sent: Never,
		FirstChunk: Never, FirstToken: Never, FirstAnswer: Never, LastChunk: Never, Done: Never,
		ReadDelay: Never, ServerQueue: Never, ServerPrefill: Never, LastTry: Never,
		ReasoningTokens: -1, FirstCall: Never,
	}
}

// Add files a chunk on its arrival.
func (r *Request) Add(c Chunk) {
	r.Chunks = append(r.Chunks, c)
	if r.FirstChunk == Never {
		r.FirstChunk = c.At
	}
	if r.FirstToken == Never && c.Tokens > 0 {
		r.FirstToken = c.At
	}
	if r.FirstAnswer == Never && c.Answer {
		r.FirstAnswer = c.At
	}
	r.LastChunk = c.At
}

// OK reports whether the request succeeded.
func (r *Request) OK() bool { return r.Failure == "" && r.Done != Never }

// Undecided reports whether the outcome says nothing of the server: the end of the run cut the request, or its user
// left while the answer came. A user who left without a token waited too long: that is no failure, and no good request.
func (r *Request) Undecided() bool { return r.Failure == Cancelled || r.Left() }

// Left reports whether the user left while the answer came.
func (r *Request) Left() bool { return r.Failure == Abandoned && r.FirstChunk != Never }

// OfUser is the request as its user felt it: from its due time. OfLastTry is its last try alone. Both share its chunks.
func (r *Request) OfUser() *Request {
	q := *r
	q.Sent = r.Due
	return &q
}

// OfLastTry is explained at OfUser.
func (r *Request) OfLastTry() *Request {
	q := *r
	q.Sent = r.lastSent()
	return &q
}

// lastSent is when the first byte of the last try was sent.
func (r *Request) lastSent() time.Duration {
	if r.Retries() > 0 {
		return r.LastTry
	}
	return r.Sent
}

// Reached reports whether the outcome proves that the server was reachable. A stall, a time-out and a fault of the
// client prove nothing.
func (r *Request) Reached() bool {
	switch r.Failure {
	case FailedStatus, FailedTruncated, FailedInStream, FailedMalformed, FailedEmpty:
		return true
	}
	return r.OK()
}

// FailureText is the error text or the kind of a failure, never ""; "" for a success.
func (r *Request) FailureText() string {
	if r.OK() {
		return ""
	}
	return cmp.Or(r.Error, string(r.Failure), "unfinished")
}

// Began is when the first byte was sent, or the attempt began that gave no connection: vLLM's clock starts with that.
func (r *Request) Began() time.Duration {
	if r.Sent == Never {
		return r.Admitted
	}
	return r.Sent
}

// Unreached reports whether the request failed as without a server: no connection, or one that broke.
func (r *Request) Unreached() bool { return r.Failure == FailedConnect || r.Failure == FailedReset }

// Answered is the last sign of life that the request had of the server: its end, or its last chunk. Never for none.
func (r *Request) Answered() time.Duration {
	if r.Sent != Never && r.Reached() {
		return r.Done
	}
	return r.LastChunk
}

// TTFT is the time from the first byte sent to the first chunk, as vLLM counts it; Never without a chunk.
func (r *Request) TTFT() time.Duration { return Since(r.Sent, r.FirstChunk) }

// FirstTokenLatency is the time to the first chunk with output: later than TTFT where the server sends a bare role
// first.
func (r *Request) FirstTokenLatency() time.Duration { return Since(r.Sent, r.FirstToken) }

// FirstAnswerLatency is the time to the first text of the visible answer, after any reasoning.
func (r *Request) FirstAnswerLatency() time.Duration { return Since(r.Sent, r.FirstAnswer) }

// E2EL is the time from the first byte sent to the last chunk. The usage block and the end marker do not count.
func (r *Request) E2EL() time.Duration { return Since(r.Sent, r.LastChunk) }

// TPOT is (E2EL - TTFT) / (OutputTokens - 1); Never with fewer than two tokens.
func (r *Request) TPOT() time.Duration {
	if r.OutputTokens < 2 || r.FirstChunk == Never {
		return Never
	}
	return (r.LastChunk - r.FirstChunk) / time.Duration(r.OutputTokens-1)
}

// Gap is the time between the i-th chunk and the one before.
func (r *Request) Gap(i int) time.Duration { return r.Chunks[i].At - r.Chunks[i-1].At }

// TokenGap is the time that each token of the i-th chunk took, and the number of those tokens: the gap since the last
// chunk with tokens, divided among them. There are none where the tokens of the chunk were not counted, and none in the
// first chunk with tokens, whose time is in TTFT.
func (r *Request) TokenGap(i int) (each time.Duration, tokens int) {
	if i >= r.CountedChunks || i >= len(r.Chunks) || r.Chunks[i].Tokens <= 0 {
		return 0, 0
	}
	c := r.Chunks[i]
	for before := i - 1; before >= 0; before-- {
		if r.Chunks[before].Tokens > 0 {
			return (c.At - r.Chunks[before].At) / time.Duration(c.Tokens), min(int(c.Tokens), mostOfChunk)
		}
	}
	return 0, 0
}

// chunkGap is Gap in the form of TokenGap.
func (r *Request) chunkGap(i int) (gap time.Duration, chunks int) { return r.Gap(i), 1 }

// Cached is what the usage says of the prefix cache, with never more tokens than the prompt has.
func (r *Request) Cached() TokenShare { return r.hits(r.CachedTokens, r.CachedKnown) }

// Reasoning are the output tokens before the visible answer, never more than there are.
func (r *Request) Reasoning() TokenShare {
	if r.ReasoningTokens < 0 {
		return TokenShare{}
	}
	return TokenShare{Tokens: min(r.ReasoningTokens, r.OutputTokens), Requests: 1, Of: r.OutputTokens}
}

// Accepted are the draft tokens that the model took over.
func (r *Request) Accepted() TokenShare {
	if r.DraftTokens <= 0 {
		return TokenShare{}
	}
	return TokenShare{Tokens: min(r.AcceptedTokens, r.DraftTokens), Requests: 1, Of: r.DraftTokens}
}

// FirstCallLatency is the time to the beginning of the first tool call.
func (r *Request) FirstCallLatency() time.Duration { return Since(r.Sent, r.FirstCall) }

// Ideal are the hits of a prefix cache without bounds; none where they were not counted.
func (r *Request) Ideal() TokenShare {
	if !r.IdealKnown {
		return TokenShare{}
	}
	return r.hits(r.IdealTokens, true)
}

func (r *Request) hits(tokens int, known bool) TokenShare {
	h := TokenShare{Tokens: max(0, min(tokens, r.InputTokens))}
	if known {
		h.Requests, h.Of = 1, r.InputTokens
	}
	return h
}

// SlotWait is the wait for a client slot; Never if the request got none.
func (r *Request) SlotWait() time.Duration { return Since(r.Due, r.Admitted) }

// Lateness is Sent - Scheduled: the delay in the client, with the wait for a slot.
func (r *Request) Lateness() time.Duration { return Since(r.Scheduled, r.Sent) }

// ScheduledLatency is the time from the scheduled start to the last chunk, as for a user who arrived at that moment.
func (r *Request) ScheduledLatency() time.Duration { return Since(r.Scheduled, r.LastChunk) }

func Since(from, to time.Duration) time.Duration {
	if from == Never || to == Never {
		return Never
	}
	return to - from
}

// ByIndex orders requests as the data set does.
func ByIndex(a, b Request) int { return cmp.Compare(a.Index, b.Index) }

// Spread divides the output tokens of the request among its chunks, rounded so that the shares add up. Where no chunk
// has tokens, the last one gets all.
func (r *Request) Spread() iter.Seq2[int, int] {
	return func(yield func(chunk, tokens int) bool) {
		counted := 0
		for _, c := range r.Chunks {
			counted += int(c.Tokens)
		}
		var seen, given int
		for i, c := range r.Chunks {
			seen += int(c.Tokens)
			upTo := seen
			switch {
			case counted == 0 && i == len(r.Chunks)-1:
				upTo = r.OutputTokens
			case counted != 0 && counted != r.OutputTokens:
				upTo = int(float64(seen) / float64(counted) * float64(r.OutputTokens))
			}
			if !yield(i, upTo-given) {
				return
			}
			given = upTo
		}
	}
}
