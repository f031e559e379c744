package loadgen

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"benchtop/loadgen/conn"
	"benchtop/loadgen/protocol"
	"benchtop/loadgen/target"
	"benchtop/metrics"
)

// read reads the body of the answer and gives the connection back.
func (x *exchange) read(c *conn.Conn) {
	x.q.Status = c.Answer.StatusCode()
	if x.q.Status == http.StatusUnauthorized {
		x.server.target.Token().Refused()
	}
	x.served(c)
	x.reader.Clocks = protocol.UnknownClocks()
	if queue, err := strconv.ParseFloat(string(c.Answer.Header.Peek("X-Queue-Time")), 64); err == nil {
		x.reader.Clocks.Queue = protocol.Milliseconds(queue) // of TGI
	}
	if x.reader.Binary = bytes.HasPrefix(c.Answer.Header.ContentType(),
		[]byte("application/octet-stream")); x.reader.Binary {
		x.reader.Metadata = bytes.Clone(c.Answer.Header.Peek("metadata"))
	}
	var err error
	if x.q.Status == http.StatusOK {
		err = x.stream(c)
	} else {
		err = x.refused(c)
	}
	x.server.pool.Release(c, err)
}

// EchoMost bounds a header that is echoed, in bytes.
const EchoMost = 8 << 10

// served keeps what the header of the answer says of the place that served it, and what the next turn sends back.
func (x *exchange) served(c *conn.Conn) {
	o := &x.engine.options
	for i, name := range o.GroupHeaders {
		if value := c.Answer.Header.Peek(name); len(value) > 0 {
			if x.q.Served == nil {
				x.q.Served = make([]string, len(o.GroupHeaders))
			}
			x.q.Served[i] = metrics.PlaceName(value)
		}
	}
	if x.echo == nil {
		return
	}
	if value := c.Answer.Header.Peek(o.EchoHeader); len(value) > EchoMost {
		x.fail(metrics.FailedMalformed, fmt.Sprintf(
			"the header %s has %d bytes, and at most %d are sent back", o.EchoHeader, len(value), EchoMost))
	} else if len(value) > 0 {
		*x.echo = string(value)
	}
}

// stream reads the events of a stream until it ends or breaks; io.EOF says that the body was read whole.
func (x *exchange) stream(c *conn.Conn) error {
	e := x.engine
	if how := compression(c); how != "" {
		x.fail(metrics.FailedMalformed,
			fmt.Sprintf("the answer is compressed (%s), which was not asked for and cannot be timed", how))
		return errStop
	}
	isStream := bytes.HasPrefix(c.Answer.Header.ContentType(), []byte("text/event-stream"))
	for {
		x.expire(c)
		piece, err := c.ReadBody()
		if len(piece) > 0 {
			arrival := c.Arrived()
			x.at, x.delay = arrival.At, arrival.Delay
			problem := errStop
			if x.userReads(len(piece)) {
				problem = x.parse(piece, isStream)
			}
			if problem != nil {
				if problem != errStop {
					x.fail(metrics.FailedMalformed, problem.Error())
				}
				return problem
			}
		}
		switch {
		case err == nil:
		case err == io.EOF:
			x.complete(c)
			return io.EOF
		case x.over():
			// The answer is complete, and the connection cannot be used again.
			return err
		case e.clock.Start.Add(x.lastReceived()).Add(e.options.StallTimeout).After(x.deadline) && conn.IsTimeout(err):
			x.broken(metrics.FailedTimeout, err)
			return err
		case conn.IsTimeout(err):
			x.broken(metrics.FailedReset, err)
			return err
		case c.Failure() == nil:
			x.fail(metrics.FailedMalformed, fmt.Sprintf("%s: %s", target.ErrNotHTTP, err))
			return err
		default:
			x.broken(metrics.FailedReset, c.Failure())
			return err
		}
	}
}

// openingMost is more of an answer's opening than an excerpt shows, in bytes.
const openingMost = 128

// fields begin the lines of an event stream; a colon begins a comment.
var fields = []string{":", "data", "event", "id", "retry"}

// calledStream reports whether a body is called an event stream and begins as none.
func (x *exchange) calledStream() bool {
	opening := strings.TrimLeft(string(x.opening), "\ufeff\r\n")
	return !x.begun && opening != "" &&
		!slices.ContainsFunc(fields, func(f string) bool { return strings.HasPrefix(opening, f) })
}

// parse takes a piece of the body.
func (x *exchange) parse(piece []byte, isStream bool) error {
	streams := x.engine.encoder.traits.Streams
	if !streams || !isStream && x.q.FirstChunk == metrics.Never {
		if err := x.wholeFits(len(x.whole) + len(piece)); err != nil {
			return err
		}
		x.whole = append(x.whole, piece...)
	}
	if isStream && !x.begun {
		x.opening = append(x.opening, piece[:min(len(piece), openingMost-len(x.opening))]...)
	}
	if streams {
		if err := x.sse.feed(piece, x.emit); err != nil {
			return err
		}
	}
	return x.fits()
}

// expire moves the read deadline: the request's own until the first chunk, then the stall time-out if that is earlier,
// and a short one once the answer is complete.
func (x *exchange) expire(c *conn.Conn) {
	o := &x.engine.options
	limit := o.StallTimeout
	switch {
	case x.ended:
		limit = min(limit, time.Second)
	case x.over(): // only the usage block may still come
		limit = min(limit, 5*time.Second)
	case x.q.FirstChunk == metrics.Never:
		return
	}
	at := x.engine.clock.Start.Add(x.lastReceived()).Add(limit)
	if at.After(x.deadline) {
		c.Expire(x.deadline, 0)
		return
	}
	c.Expire(at, min(limit/4, time.Second))
}

// lastReceived is when the last chunk was read: comments do not keep a stream alive. After the answer is complete, any
// data counts. Kernel stamps do not count: a stamp may be older than the time-out although more data is waiting.
func (x *exchange) lastReceived() time.Duration {
	if x.over() {
		return max(x.receivedAt(), x.received)
	}
	return x.received
}

// over reports whether all answers came to their ends, and only the usage may still come.
func (x *exchange) over() bool { return x.ended || x.finished >= x.choices }

// receivedAt is when the piece being parsed was read.
func (x *exchange) receivedAt() time.Duration { return x.at + max(0, x.delay) }

// event takes one stream event.
func (x *exchange) event(name, data []byte) error {
	stray, failed := string(name) == strayName, isError(name)
	x.begun = x.begun || !stray
	if data = bytes.TrimSpace(data); x.ended || len(data) == 0 && !failed { // blank data keeps a connection alive
		return nil
	}
	defer x.reader.Release()
	m, err := x.reader.Event(x.engine.options.Protocol, data)
	if m.Failure == "" && !m.End && failed {
		m.Failure, err = cmp.Or(protocol.Clip(string(data)), "an event named "+string(name)+", without words"), nil
	}
	switch {
	case stray && m.Failure == "":
		return nil
	case m.End:
		x.ended = true
		return nil
	case m.Failure != "":
		x.fail(metrics.FailedInStream, m.Failure)
		return errStop
	case x.bodyOver && errors.Is(err, protocol.ErrNotJSON):
		return nil // the end of the body cut the event off
	case err != nil:
		x.fail(metrics.FailedMalformed, err.Error())
		return errStop
	}
	x.count(&m)
	if m.Finish != nil {
		x.finished += max(1, m.Finished)
		x.q.Finish = string(m.Finish)
	}
	if m.Counts || m.Refusal && len(x.q.Chunks) == 0 { // a refusal may have no text
		if err := x.oneMore(); err != nil {
			return err
		}
		if x.user.active {
			return x.userTakes(&m)
		}
		x.chunk(&m)
	}
	return nil
}

// count takes the usage of a message, and whether the answer is a refusal. A usage beside text is a running count: with
// more output behind it, it is provisional.
func (x *exchange) count(m *protocol.Message) {
	x.q.Refusal = x.q.Refusal || m.Refusal
	x.usage.Merge(m.Usage)
	if m.Calls > 0 && x.q.Calls == 0 {
		x.q.FirstCall = x.at
	}
	x.q.Calls += m.Calls
	if m.Output {
		x.outputs++
	}
	x.outdated = m.Usage.Output <= 0 && (x.outdated || m.Output)
}

func (x *exchange) chunk(m *protocol.Message) {
	c := metrics.Chunk{At: x.at, Tokens: x.tokens(m), Answer: len(m.Answer) > 0}
	switch q := x.q; {
	case m.Ours && len(q.Chunks) == 0:
		q.VLLMLater = metrics.Never
	case !m.Ours && q.VLLMLater == metrics.Never:
		q.VLLMLater = x.at - q.FirstChunk
	}
	x.text = append(x.text, m.Answer...)
	x.textPart = x.textPart || m.More
	x.q.Add(c)
	x.q.ReadDelay, x.received = x.delay, x.receivedAt()
	if x.q.Piece = m.Answer; len(m.Answer) == 0 {
		x.q.Piece = m.Reasoning
	}
	x.chunkEvent.At, x.chunkEvent.Chunk = c.At, c
	x.sink.Take(&x.chunkEvent)
	x.q.Piece = nil // its memory belongs to the parser, which goes to another stream
}

// tokens are those of a chunk: counted by ids or log probabilities, else by the growth of a usage that every chunk so
// far came with, else assumed.
func (x *exchange) tokens(m *protocol.Message) int32 {
	grown := x.grown(m)
	switch {
	case m.Tokens < 0 && grown < 0 && !m.Output:
		return 0
	case m.Tokens < 0 && grown < 0:
		x.uncounted = true
		return 1
	case !x.uncounted:
		x.q.CountedChunks = len(x.q.Chunks) + 1
	}
	if m.Tokens >= 0 {
		return int32(m.Tokens)
	}
	return int32(grown)
}

// grown is the number of tokens by which the usage grew since the last chunk, -1 where it did not tell. A usage that
// says 0 beside output is no count, nor is one that comes with the last chunks alone.
func (x *exchange) grown(m *protocol.Message) int {
	n := m.Usage.Output - x.running
	switch {
	case !m.Usage.Present && !m.Output, x.running < 0:
		return -1
	case !m.Usage.Present, n < 0, n == 0 && m.Output, n > tokensMost:
		x.running = -1
		return -1
	}
	x.running = m.Usage.Output
	return n
}

// complete judges an answer whose body ended in order. As in vLLM, its last event needs no blank line.
func (x *exchange) complete(c *conn.Conn) {
	x.bodyOver = true
	if err := x.sse.flush(x.emit); err != nil {
		if err != errStop {
			x.fail(metrics.FailedMalformed, err.Error())
		}
		return
	}
	switch {
	case x.finished > 0 || x.ended:
		if n := x.q.Inputs; n > 1 && x.finished < n { // a server may ignore n, and then has an answer to each prompt
			x.fail(metrics.FailedTruncated,
				fmt.Sprintf("the stream ended after the answers to %d of %d prompts", x.finished, n))
		}
	case !x.engine.encoder.traits.Streams, len(x.whole) > 0 && x.q.FirstChunk == metrics.Never:
		x.unstreamed(c)
	case x.calledStream():
		x.fail(metrics.FailedMalformed, fmt.Sprintf("expected an event stream, as content type %q says, got %s",
			c.Answer.Header.ContentType(), protocol.Excerpt(x.opening)))
	default:
		x.fail(metrics.FailedTruncated, "the stream ended without "+x.engine.encoder.traits.Ending)
	}
}

// unstreamed reads an answer that is not a stream, as to a request with "stream": false. It is one chunk, timed when it
// is complete, so that TTFT and E2EL are the same.
func (x *exchange) unstreamed(c *conn.Conn) {
	defer x.reader.Release()
	m, err := x.engine.options.Protocol.Whole(&x.reader, x.whole)
	switch {
	case m.Failure != "":
		x.fail(metrics.FailedInStream, m.Failure)
	case err == nil && (m.Counts || m.Refusal) && x.engine.unstreamed:
		x.finished, x.q.Finish = x.choices, string(m.Finish)
		x.count(&m)
		if x.chunk(&m); m.Choices > 0 && m.Choices < x.q.Inputs {
			x.fail(metrics.FailedTruncated,
				fmt.Sprintf("the answer has %d choices for %d prompts", m.Choices, x.q.Inputs))
		}
	default:
		kind := c.Answer.Header.ContentType()
		x.fail(metrics.FailedMalformed, fmt.Sprintf(
			"expected %s, got content type %q: %s", x.engine.expected(), kind, protocol.Excerpt(x.whole)))
	}
}

// expected describes the answer that the requests ask for.
func (e *Engine) expected() string {
	if e.unstreamed {
		return "an answer in JSON with " + e.encoder.traits.Member
	}
	return "an event stream"
}

// compression is the encoding of a compressed body, "" for none. No request asks for one.
func compression(c *conn.Conn) string {
	how := string(c.Answer.Header.ContentEncoding())
	if strings.EqualFold(how, "identity") {
		return ""
	}
	return how
}

// mostKept is more than the part of an error's text that is shown, so that a secret is recognized before it is cut in
// two.
const mostKept = 2 * protocol.MaxMessage

// refused keeps the beginning of an answer that is not a 200.
func (x *exchange) refused(c *conn.Conn) error {
	x.user.asked = readRetryAfter(string(c.Answer.Header.Peek("Retry-After")), time.Now())
	// The status is known, and its text is not worth a long wait.
	c.Expire(time.Now().Add(min(x.engine.options.StallTimeout, 5*time.Second)), 0)
	var kept []byte
	var err error
	for read := 0; err == nil && read < 64<<10; {
		var piece []byte
		piece, err = c.ReadBody()
		read += len(piece)
		kept = append(kept, piece[:min(len(piece), mostKept-len(kept))]...)
	}
	message := strings.TrimSpace(string(kept))
	if message == "" || compression(c) != "" {
		message = string(c.Answer.Header.StatusMessage())
	}
	if to := c.Answer.Header.Peek("Location"); len(to) > 0 && x.q.Status/100 == 3 {
		message = fmt.Sprintf("redirects to %s; redirects are not followed", to)
	}
	x.fail(metrics.FailedStatus, message)
	return err
}
