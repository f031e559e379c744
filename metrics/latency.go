package metrics

import (
	"fmt"
	"iter"
	"slices"
	"time"
)

// Latency is one of the times of a request, in milliseconds wherever a bare number stands for it. It is defined by one
// row of the table below, which windows, totals, reports, files and screens go through.
type Latency uint8

// Latencies that an objective may limit: every second counts the successes that met each. The list of a latency decides
// where it is kept.
const (
	TTFT Latency = iota
	TPOT
	E2EL
	NumObjectives
)

// Latencies that every second keeps as well.
const (
	FirstAnswer = NumObjectives + iota
	ITL
	TokenITL
	SlotWait
	ScheduledLatency
	Pace
	NumInWindow
)

// Latencies of the whole run alone.
const (
	E2ELQueued = NumInWindow + iota
	Connect
	FirstToken
	TPOTWeighted
	Lateness
	OwnLateness
	NumLatencies
)

// Histograms are those of the latencies of a run, empty for latencies that only a report has.
type Histograms [NumLatencies]Histogram

// WindowHistograms are those of a second of it.
type WindowHistograms [NumInWindow]Histogram

// Naming holds the names of a latency.
type Naming struct {
	// Key is its name in flags, objectives, gates and the keys of the result, as in p99_ttft_ms; "" where no flag takes
	// it.
	Key string
	// Title and the shorter Short name it on the screen, Nothing replaces its figures there before the first sample.
	Title, Short, Nothing string
	// Heading and Label are those of its section in vLLM's report.
	Heading, Label string
	// Statistic is its key in the object "benchtop" of the result, Second what its keys begin with in the seconds of
	// the time line; "" where it has none there.
	Statistic, Second string
}

// row defines a latency.
type row struct {
	latency Latency
	naming  Naming
	known   moment
	// of is the formula, Never where a request does not have the latency. It gives the same at any time after the
	// moment. A latency that is known at each chunk but the first has ofChunk instead, for the i-th chunk, with the
	// number of times for which it counts.
	of      func(*Request) time.Duration
	ofChunk func(r *Request, i int) (v time.Duration, times int)
	// exact is the formula in vLLM's arithmetic where that is more than the duration in seconds; negative for none.
	// weight is how often a request counts, nil for once.
	exact  func(*Outcome) float64
	weight func(*Outcome) int
	// streams: it is of answers that come in chunks of tokens. possible reports whether a run of the plan can have a
	// section of it; nil where any can.
	streams  bool
	possible func(*Plan) bool
}

// moment is the moment at which a latency of a request is known.
type moment uint8

const (
	atReport moment = iota // in the report, of successes
	atSent
	atFirstChunk
	atChunk // each but the first
	atFirstAnswer
	atSuccess
	moments
)

// table has a row for each latency, in the order of reports, files and screens.
var table = [...]row{
	{latency: Connect, of: func(r *Request) time.Duration { return r.Connect },
		naming: Naming{Statistic: "connect_ms"}},
	{latency: TTFT, known: atFirstChunk, streams: true,
		of: (*Request).TTFT, exact: func(o *Outcome) float64 { return o.TTFT },
		naming: Naming{Key: "ttft", Title: "TTFT", Short: "TTFT", Nothing: "waiting for data",
			Heading: "Time to First Token", Label: "TTFT", Second: "ttft"}},
	{latency: FirstToken, naming: Naming{Statistic: "ttft_first_token_ms"}, of: (*Request).FirstTokenLatency},
	{latency: FirstAnswer, streams: true, known: atFirstAnswer, of: (*Request).FirstAnswerLatency,
		naming: Naming{Title: "first answer token", Short: "answer", Nothing: "waiting for data",
			Statistic: "ttft_answer_ms", Second: "ttft_answer"}},
	{latency: TPOT, known: atSuccess, of: (*Request).TPOT, exact: (*Outcome).TPOT, streams: true,
		naming: Naming{Key: "tpot", Title: "TPOT", Short: "TPOT", Nothing: "waiting for data",
			Heading: "Time per Output Token (excl. 1st token)", Label: "TPOT"}},
	// Pace has no figures of its own: output speeds are made of it. The report has them in vLLM's arithmetic of TPOT.
	{latency: Pace, streams: true, known: atSuccess, of: (*Request).Pace, exact: func(*Outcome) float64 { return -1 }},
	{latency: TPOTWeighted, of: (*Request).TPOT, exact: (*Outcome).TPOT,
		weight: func(o *Outcome) int { return min(o.Output-1, heaviest) },
		naming: Naming{Statistic: "tpot_token_weighted_ms"}},
	{latency: ITL, known: atChunk, ofChunk: (*Request).chunkGap, streams: true,
		naming: Naming{Key: "itl", Title: "ITL", Short: "ITL", Nothing: "waiting for data",
			Heading: "Inter-token Latency", Label: "ITL", Second: "itl"}},
	{latency: TokenITL, known: atChunk, ofChunk: (*Request).TokenGap, streams: true,
		naming: Naming{Title: "per-token ITL", Short: "ITL/tok", Nothing: "waiting for data",
			Statistic: "itl_per_token_ms", Second: "itl_per_token"}},
	{latency: E2EL, known: atSuccess, of: (*Request).E2EL, exact: func(o *Outcome) float64 { return o.E2EL },
		naming: Naming{Key: "e2el", Title: "E2EL", Short: "E2EL", Nothing: "waiting for data",
			Heading: "End-to-end Latency", Label: "E2EL"}},
	{latency: SlotWait, known: atSent, of: func(r *Request) time.Duration { return max(0, r.SlotWait()) },
		possible: func(p *Plan) bool { return p.MaxConcurrency > 0 },
		naming: Naming{Key: "client_queue_time", Title: "client queue", Short: "queued", Nothing: "waiting for data",
			Heading: "Client-side Queueing", Label: "Client Queue Time", Second: "held"}},
	{latency: E2ELQueued, known: atSuccess,
		of:       func(r *Request) time.Duration { return r.E2EL() + max(0, r.SlotWait()) },
		exact:    func(o *Outcome) float64 { return o.E2EL + o.SlotWait },
		possible: func(p *Plan) bool { return p.MaxConcurrency > 0 && !p.Rate.Unlimited() },
		naming: Naming{Key: "e2el_including_client_queue",
			Heading: "Queue-inclusive End-to-end Latency", Label: "E2EL incl. Client Queue"}},
	{latency: ScheduledLatency, known: atSuccess, of: (*Request).ScheduledLatency,
		naming: Naming{Title: "scheduled latency", Short: "sched", Nothing: "waiting for data",
			Statistic: "scheduled_latency", Second: "scheduled"}},
	{latency: Lateness, of: (*Request).Lateness},
	{latency: OwnLateness, of: (*Request).OwnLateness},
}

var inOrder = Each(table[:], func(r row) Latency { return r.latency })

// rows are those of the table by latency, knownAt the latencies by the moment at which they are known.
var rows, knownAt = func() (rows [NumLatencies]*row, known [moments][]Latency) {
	for i := range table {
		r := &table[i]
		rows[r.latency] = r
		known[r.known] = append(known[r.known], r.latency)
	}
	return rows, known
}()

// Latencies ranges over all of them in the order of the table.
func Latencies() iter.Seq[Latency] { return slices.Values(inOrder) }

// Naming returns the names of the latency, none for an unknown one.
func (l Latency) Naming() Naming {
	if l >= NumLatencies {
		return Naming{}
	}
	return rows[l].naming
}

// Key is that of Naming.
func (l Latency) Key() string { return l.Naming().Key }

func (l Latency) String() string { return l.Key() }

// Possible reports whether a run of the plan can have a section of the latency.
func (l Latency) Possible(p *Plan) bool {
	r := rows[l]
	return p.Measures(l) && !(r.streams && p.SkipTokenizer) && (r.possible == nil || r.possible(p))
}

// Measures reports whether requests of the plan can have the latency.
func (p *Plan) Measures(l Latency) bool {
	return p.Generates() && (p == nil || !p.Whole) || !rows[l].streams
}

// Generates reports whether answers come in chunks of tokens, which are counted.
func (p *Plan) Generates() bool { return p == nil || !p.Pooling }

// Tokens are the tokens of a second that tell the throughput, and their kind: those of answers, or of prompts where
// answers have none.
func (p *Plan) Tokens() (kind string, of func(*Window) int) {
	if p.Generates() {
		return "output", func(w *Window) int { return w.TokensOut }
	}
	return "input", func(w *Window) int { return w.TokensIn }
}

// FirstWait is the latency that shows the waits of a run first: TTFT, or E2EL where an answer comes in one piece.
func (p *Plan) FirstWait() Latency {
	if p.Measures(TTFT) {
		return TTFT
	}
	return E2EL
}

// Streams reports whether the latency is of answers that come in chunks of tokens: a pooling run has none.
func (l Latency) Streams() bool { return rows[l].streams }

// Counts reports whether a request that ended counts in the figures of the latency: a success does, and one whose user
// left in those that are known before the end.
func (l Latency) Counts(q *Request) bool {
	known := rows[l].known
	return q.OK() || q.Failure == Abandoned && known != atSuccess && known != atReport
}

// OfChunks reports whether a request has the latency at each chunk but the first.
func (l Latency) OfChunks() bool { return rows[l].ofChunk != nil }

// Exact is the latency of a success in vLLM's arithmetic, in seconds, and the number of times for which the request
// counts: 0 where it does not have the latency, and for latencies without an arithmetic of their own; see Plain.
func (l Latency) Exact(o *Outcome) (seconds float64, times int) {
	r := rows[l]
	if r.exact == nil {
		return 0, 0
	}
	times = 1
	if r.weight != nil {
		times = r.weight(o)
	}
	if seconds = r.exact(o); seconds < 0 {
		return 0, 0
	}
	return seconds, times
}

// Plain ranges over the values of a latency that Exact has no formula for, and the number of times for which each
// counts.
func (l Latency) Plain(q *Request) iter.Seq2[time.Duration, int] {
	return func(yield func(time.Duration, int) bool) {
		switch r := rows[l]; {
		case r.exact != nil:
		case r.known == atChunk:
			for i := 1; i < len(q.Chunks); i++ {
				if v, times := r.ofChunk(q, i); times > 0 && !yield(v, times) {
					return
				}
			}
		default:
			if v := r.of(q); v != Never {
				yield(v, 1)
			}
		}
	}
}

// LatencyKeys are the names of the latencies that flags take.
func LatencyKeys() []string {
	return slices.DeleteFunc(Each(inOrder, Latency.Key), func(key string) bool { return key == "" })
}

// LatencyOf finds a latency by its key.
func LatencyOf(key string) (l Latency, ok bool) {
	for l := range Latencies() {
		if key != "" && l.Key() == key {
			return l, true
		}
	}
	return 0, false
}

// MarshalText writes the key.
func (l Latency) MarshalText() ([]byte, error) { return []byte(l.Key()), nil }

// UnmarshalText reads a key.
func (l *Latency) UnmarshalText(text []byte) error {
	found, ok := LatencyOf(string(text))
	if !ok {
		return fmt.Errorf("unknown latency %q", text)
	}
	*l = found
	return nil
}

func (h *Histograms) Share() (out Histograms) {
	for l := range h {
		out[l] = h[l].Share()
	}
	return out
}

// heaviest bounds the weight of a request, because a journal may hold any token counts.
const heaviest = 1 << 30
