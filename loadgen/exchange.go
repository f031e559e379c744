package loadgen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"syscall"
	"time"
	"unicode/utf8"
	"unsafe"

	"benchtop/datasets"
	"benchtop/loadgen/conn"
	"benchtop/loadgen/protocol"
	"benchtop/loadgen/target"
	"benchtop/metrics"
	"benchtop/metrics/event"
)

// exchange is one request on its way. Exchanges are pooled for their buffers.
type exchange struct {
	engine     *Engine
	server     *server
	q          *metrics.Request
	sink       event.Sink
	chunkEvent event.Event // of the last chunk; reused, since a new one would be allocated
	sse        sseParser
	reader     protocol.Reader
	emit       func(name, data []byte) error // x.event, made once

	request          *[]byte        // the body, until an answer begins
	headers          [][2]string    // of this request alone
	judge            datasets.Judge // of the answer, nil for none
	carried                         // to the next turn
	text             []byte
	textPart         bool          // the output has more than the text
	deadline         time.Time     // of the whole request
	at               time.Duration // when the piece being parsed arrived
	delay            time.Duration // until the piece was read; metrics.Never without a stamp of the kernel
	received         time.Duration // when the last chunk was read
	usage            protocol.Usage
	outputs          int    // messages with output
	outdated         bool   // output came after the last count in usage
	running          int    // output tokens by the usage of the last chunk, -1 once a chunk came without
	choices          int    // answers asked for, for all prompts of the request
	finished         int    // of them, those with a finish reason
	ended            bool   // after [DONE]
	bodyOver         bool   // the body was read to its end
	uncounted        bool   // a chunk has output and no token count
	whole            []byte // a body that is no event stream
	opening          []byte // of a body that is called an event stream, until its first event
	begun            bool   // an event came
	maxTokens        int    // requested, 0 for unknown
	problem          error  // of the last connection that was not opened
	user             habits
	memory, borrowed int // memory limit of the stream, and its share of bufferedMost
}

// errStop ends the parsing of a stream whose failure is already recorded.
var errStop = errors.New("stop")

func (e *Engine) exchange(q *metrics.Request, sink event.Sink) *exchange {
	x, _ := e.exchanges.Get().(*exchange)
	if x == nil {
		x = new(exchange)
		x.emit = x.event
	}
	x.sse.reset()
	*x = exchange{
		engine: e, server: e.servers.all[q.Server], emit: x.emit, sse: x.sse, reader: x.reader, text: x.text[:0],
		whole: x.whole[:0], opening: x.opening[:0],
		q: q, sink: sink, chunkEvent: event.Event{Kind: event.Chunk, Request: q}, delay: metrics.Never,
	}
	x.sse.lines = e.encoder.traits.Lines
	x.reader.Begin(&e.parsers)
	return x
}

// perform sends a turn, of which some was made ahead or nothing, and reads the answer to its end. The outcome is in q.
func (x *exchange) perform(turn *datasets.Turn, made *ahead) {
	e, q := x.engine, x.q
	if x.headers, x.judge = turn.Headers, turn.Judge; x.echo != nil && *x.echo != "" {
		x.headers = append(slices.Clip(x.headers), [2]string{e.options.EchoHeader, *x.echo})
	}
	var err error
	if made != nil {
		x.request, q.Prompt = made.body, made.prompt
		e.ahead.Add(-int64(len(*made.body)))
	} else {
		from := e.clock.Now()
		x.request, q.Prompt = e.buffer(), turn.Excerpt(metrics.MostPrompt)
		*x.request, err = e.encoder.body(*x.request, q.Model, q.ID, turn)
		q.Encode += e.clock.Now() - from
	}
	if err != nil {
		x.fail(metrics.FailedMalformed, err.Error())
	} else {
		_, most := e.encoder.length(turn)
		x.choices = e.encoder.ask("", turn).Choices()
		x.reader.Several = x.choices > 1
		if e.options.KeepTokens {
			x.reader.Tokens = &q.Tokens
		}
		x.limit(min(most, tokensMost)*x.choices, len(*x.request))
		// The list grows a few times for longer answers.
		q.Chunks = make([]metrics.Chunk, 0, min(max(turn.MaxTokens+2, 16), 256))
		x.text = slices.Grow(x.text, min(textPerToken*max(turn.MaxTokens, 0), 1024))
		x.beginUser()
		for x.send(); x.again(); {
			x.send()
		}
	}
	x.release()
	x.finish()
}

// textPerToken is the approximate length of a token's text in bytes.
const textPerToken = 6

// send opens the stream, on an idle connection if there is one. The server may have closed it for being idle; only
// then is a request sent again, once, on a new connection.
func (x *exchange) send() {
	e, q := x.engine, x.q
	x.deadline = time.Now().Add(e.options.RequestTimeout)
	c := x.server.pool.Take()
	for stale := c.StaleWithin(); ; stale = -1 {
		if c == nil {
			from := e.clock.Now()
			ctx, cancel := context.WithDeadline(e.cutting, x.until())
			fresh, err := x.server.pool.Dial(ctx)
			cancel()
			q.Connect += e.clock.Now() - from
			if err != nil {
				x.problem = err
				x.broken(metrics.FailedConnect, err)
				return
			}
			c = fresh
		}
		from := time.Now()
		err := x.ask(c)
		if err == nil {
			x.server.pool.Answered(c)
			if e.options.Users.Tries < 2 || c.Answer.StatusCode() == http.StatusOK {
				x.release()
			}
			x.read(c)
			return
		}
		x.server.pool.Failed(c, err)
		if time.Since(from) > stale || !errors.Is(err, conn.ErrUnanswered) || e.cutting.Err() != nil {
			x.broken(metrics.FailedReset, err)
			return
		}
		q.Tallies[metrics.Redials]++
		c = nil
	}
}

// ask writes the request and reads the header of the answer.
func (x *exchange) ask(c *conn.Conn) error {
	e, q := x.engine, x.q
	wire := e.buffer()
	*wire = append(x.server.header.Append(*wire, q.ID, len(*x.request), x.headers...), *x.request...)
	sent, err := c.Send(*wire, x.until())
	e.buffers.Put(wire)
	x.sentAt(sent)
	if err != nil {
		return err
	}
	if x.user.active {
		x.userSent(c, sent)
	}
	return c.ReadHeader()
}

// sentAt reports the first byte of the request, once.
func (x *exchange) sentAt(at time.Duration) {
	if q := x.q; q.Sent == metrics.Never && at != metrics.Never {
		q.Sent = at
		x.sink.Take(&event.Event{At: at, Kind: event.Sent, Request: q})
	}
}

// buffer returns an empty buffer for a request. Few are in use at a time: they go back when an answer begins.
func (e *Engine) buffer() *[]byte {
	b, _ := e.buffers.Get().(*[]byte)
	if b == nil {
		b = new([]byte)
	}
	*b = (*b)[:0]
	return b
}

// release gives the request back once it will not be sent again.
func (x *exchange) release() {
	if x.request != nil {
		x.engine.buffers.Put(x.request)
		x.request = nil
	}
}

// broken records the failure of a connection: cancelled if the run cut it, a time-out if a deadline passed.
func (x *exchange) broken(kind metrics.Failure, err error) {
	q := x.q
	switch {
	case x.engine.cutting.Err() != nil:
		kind, err = metrics.Cancelled, errors.New("cut by the end of the run")
	case x.impatient():
		x.leaveUnanswered()
		return
	case conn.IsTimeout(err) && q.FirstChunk != metrics.Never && kind != metrics.FailedTimeout:
		kind = metrics.FailedStall
		err = fmt.Errorf("no chunk came for %s after chunk %d", x.engine.options.StallTimeout, len(q.Chunks))
	case kind == metrics.FailedConnect && isOwnLimit(err):
		kind = metrics.FailedNoSocket
		remedy := "raise its limit of open files (ulimit -n)"
		if errors.Is(err, syscall.EADDRNOTAVAIL) {
			remedy = "use more of its addresses with --bind, widen its range of ports (net.ipv4.ip_local_port_range)"
		}
		err = fmt.Errorf("%w; it is this client's system that has no more: %s, or lower the load", err, remedy)
	case conn.IsTimeout(err) && kind != metrics.FailedConnect:
		kind = metrics.FailedTimeout
		err = fmt.Errorf("not complete after %s", x.engine.options.RequestTimeout)
	case errors.Is(err, target.ErrNotHTTP):
		kind = metrics.FailedMalformed
	case kind != metrics.FailedConnect && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)):
		kind, err = metrics.FailedTruncated, errors.New("connection closed in the middle of the answer")
	}
	x.fail(kind, err.Error())
}

// isOwnLimit reports whether the client's own system has no socket: no more files, or no free port.
func isOwnLimit(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.EADDRNOTAVAIL)
}

func (x *exchange) fail(kind metrics.Failure, message string) {
	x.q.Failure, x.q.Error = kind, protocol.Clip(x.server.target.Hide(message))
}

// finish fills in the totals and returns the exchange to its pool.
func (x *exchange) finish() {
	q := x.q
	q.ServerQueue, q.ServerPrefill = x.reader.Clocks.Queue, x.reader.Clocks.Prefill
	if q.Failure == "" && q.FirstChunk == metrics.Never {
		x.fail(metrics.FailedEmpty, "the stream ended in order but carried no output")
	}
	if q.Failure == "" || q.Failure == metrics.Abandoned && len(q.Chunks) > 0 {
		x.countTokens()
	}
	if x.engine.options.KeepText || q.Failure == "" && q.OutputSource == metrics.TokensFromChunks {
		q.Text = keptText(x.text)
		q.TextPart = x.textPart || len(q.Text) < len(x.text)
	}
	if x.answer != nil {
		*x.answer = string(x.text)
	}
	q.Done = x.engine.clock.Now()
	if x.judge != nil && q.Failure == "" {
		j := x.judge.Judge(string(x.text), q.Finish == "length")
		q.Judgement = metrics.Judgement{Judged: true, Wrong: j.Wrong, Detail: j.Detail, Lenient: j.Lenient}
	}
	if judge := x.engine.options.Garbage; judge != nil && q.Failure == "" {
		q.Garbage = judge(q, x.text, x.textPart)
	}
	x.returnMemory()
	x.reader.Tokens = nil
	x.q, x.sink, x.chunkEvent.Request, x.server, x.carried = nil, nil, nil, nil, carried{}
	x.engine.exchanges.Put(x)
}

// countTokens takes the best count available: the server's usage unless more output came than it counts, else ids and
// log probabilities, else a tokenizer's, else chunks.
func (x *exchange) countTokens() {
	q := x.q
	if x.usage.Input > 0 {
		if q.IdealKnown && q.InputTokens > 0 {
			q.IdealTokens = int(float64(q.IdealTokens) * float64(x.usage.Input) / float64(q.InputTokens))
		}
		q.InputTokens, q.InputSource = x.usage.Input, metrics.TokensFromUsage
	}
	q.CachedTokens, q.CachedKnown = max(0, x.usage.Cached), x.usage.Present && x.usage.Cached >= 0
	if q.DraftTokens, q.AcceptedTokens = x.usage.Drafted, x.usage.Accepted; x.usage.Present {
		q.ReasoningTokens = x.usage.Reasoning
	}
	if !x.engine.encoder.traits.Streams {
		return // the answer has no tokens
	}
	for _, c := range q.Chunks {
		q.OutputTokens += int(c.Tokens)
	}
	switch {
	case x.usage.Output > 0 && !(x.outdated && x.outputs > x.usage.Output):
		q.OutputTokens, q.OutputSource = x.usage.Output, metrics.TokensFromUsage
	case q.Refusal && x.outputs == 0 && x.usage.Present && x.usage.Output == 0: // it has no text either
		q.OutputTokens, q.OutputSource = 0, metrics.TokensFromUsage
	case (x.uncounted || q.OutputTokens == 0) && x.countText():
	case x.uncounted || q.OutputTokens == 0:
		q.OutputTokens, q.OutputSource = max(q.OutputTokens, 1), metrics.TokensFromChunks
	default:
		q.OutputSource = metrics.TokensFromIDs
	}
}

// countText counts the text with a tokenizer and reports whether it could: not where the text is only a part of the
// output.
func (x *exchange) countText() bool {
	count := x.engine.options.CountText
	if count == nil || len(x.text) == 0 || x.textPart {
		return false
	}
	n, err := count(string(x.text))
	if err != nil || n == 0 {
		return false
	}
	x.q.OutputTokens, x.q.OutputSource = n, metrics.TokensFromTokenizer
	return true
}

// keptText is the beginning of an answer's text: whole characters of at most metrics.MostText bytes.
func keptText(text []byte) string {
	end := min(len(text), metrics.MostText)
	for end > 0 && end < len(text) && !utf8.RuneStart(text[end]) {
		end--
	}
	return string(text[:end])
}

// An endless answer must not take all memory, but a requested answer must fit. So the limits of an answer grow with its
// request.
const (
	eventLeast     = 1 << 20 // bytes of an event that always fit
	eventPerToken  = 64
	eventPerBody   = 4 // an error may quote the request, escaped
	chunksLeast    = 1 << 16
	chunksPerToken = 4
	// bufferedMost is the memory that all streams of a run share beyond their own.
	bufferedMost = 256 << 20
	// A stream's own memory grows with its request, within these bounds.
	memoryLeast    = 64 << 10
	memoryMost     = 4 << 20
	memoryPerToken = 2*textPerToken + 2*int(unsafe.Sizeof(metrics.Chunk{}))
	memoryStep     = 64 << 10
	// pooledMost is the largest buffer that is reused.
	pooledMost = 64 << 10
	// tokensMost is longer than any answer, and keeps the products below from overflowing.
	tokensMost = 1 << 24
)

// limit sets the limits of the answer to a request with a body of so many bytes.
func (x *exchange) limit(maxTokens, body int) {
	x.maxTokens = max(0, min(maxTokens, tokensMost))
	x.sse.most = eventPerToken*x.maxTokens + eventPerBody*body
	x.memory = min(max(memoryLeast, memoryPerToken*x.maxTokens), memoryMost)
}

// wholeMost is the largest answer of a protocol without streams: vectors for some thousand prompts.
const wholeMost = 64 << 20

// wholeFits is an error if an answer in one piece may not have so many bytes.
func (x *exchange) wholeFits(size int) error {
	if x.engine.encoder.traits.Streams {
		return x.sse.check(size)
	}
	if size > wholeMost {
		return fmt.Errorf("the answer has more than %d MiB", wholeMost>>20)
	}
	return nil
}

// oneMore is an error if the answer may have no more chunks.
func (x *exchange) oneMore() error {
	if most := min(max(chunksLeast, chunksPerToken*x.maxTokens), metrics.MostChunks); len(x.q.Chunks) >= most {
		return fmt.Errorf("the stream has more than %d chunks, which is the most for max_tokens %d", most, x.maxTokens)
	}
	return nil
}

// fits is an error if the buffers hold more than the stream's own memory and what is left of the shared one. Within its
// own memory it costs a few additions.
func (x *exchange) fits() error {
	held := x.sse.held() + cap(x.whole) + cap(x.text) + cap(x.q.Chunks)*int(unsafe.Sizeof(metrics.Chunk{}))
	if held <= x.memory {
		return nil
	}
	more := (held - x.memory + memoryStep - 1) / memoryStep * memoryStep
	if x.engine.buffered.Add(int64(more)) > bufferedMost {
		x.engine.buffered.Add(-int64(more))
		return errNoMemory
	}
	x.memory += more
	x.borrowed += more
	return nil
}

var errNoMemory = fmt.Errorf("the answer is long, and the long answers of all streams together take more than %d MiB",
	bufferedMost>>20)

// returnMemory gives back the stream's share of the memory and drops large buffers.
func (x *exchange) returnMemory() {
	x.engine.buffered.Add(-int64(x.borrowed))
	x.borrowed = 0
	x.sse.shrink(pooledMost)
	x.whole, x.text = shrunk(x.whole, pooledMost), shrunk(x.text, pooledMost)
}

// shrunk is the buffer, or nil if it is too large to keep.
func shrunk(b []byte, most int) []byte {
	if cap(b) > most {
		return nil
	}
	return b
}
