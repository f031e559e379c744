package loadgen

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"benchtop/datasets"
	"benchtop/metrics"
)

// exchange is one request on its way. Exchanges are pooled for their buffers.
type exchange struct {
	engine *Engine
	q      *metrics.Request
	sse    sseParser
	decode decoder
	emit   func(name, data []byte) error // x.event, made once

	request         *[]byte // the body, until an answer begins
	text            []byte
	deadline        time.Time     // of the whole request
	at              time.Duration // when the piece being parsed arrived
	usage           usage
	usageApart      bool   // it came in an event of its own
	finished, ended bool   // a finish reason, [DONE] came
	uncounted       bool   // a chunk told nothing about its tokens
	opening         []byte // of a body that is no event stream
}

// errStop ends the parsing of a stream whose failure is already filed.
var errStop = errors.New("stop")

func (e *Engine) exchange(q *metrics.Request) *exchange {
	x, _ := e.exchanges.Get().(*exchange)
	if x == nil {
		x = &exchange{engine: e}
		x.emit = x.event
	}
	x.sse.reset()
	x.q, x.decode.chat, x.text = q, e.encoder.chat, x.text[:0]
	x.at, x.usage, x.usageApart, x.finished, x.ended, x.uncounted, x.opening = 0, usage{}, false, false, false, false, x.opening[:0]
	return x
}

// perform sends a turn and reads the answer to its end. Whatever happens is in q afterwards.
func (x *exchange) perform(turn *datasets.Turn) {
	e, q := x.engine, x.q
	from := e.clock.now()
	x.request = e.buffer()
	var err error
	*x.request, err = e.encoder.body(*x.request, turn)
	q.Encode = e.clock.now() - from
	if err != nil {
		x.fail(metrics.FailedMalformed, err.Error())
	} else {
		// Longer answers let the list grow a few times.
		q.Chunks = make([]metrics.Chunk, 0, min(max(turn.MaxTokens+2, 16), 256))
		x.send()
	}
	x.release()
	x.settle()
	q.Done = e.clock.now()
}

// send opens the stream, on an idle connection if there is one. An idle connection may have been closed by the server in
// the meantime; that is the one case in which a request is sent again, on a new connection.
func (x *exchange) send() {
	e, q := x.engine, x.q
	x.deadline = time.Now().Add(e.options.RequestTimeout)
	k := e.links.take()
	for reused := k != nil; ; reused = false {
		if k == nil {
			from := e.clock.now()
			ctx, cancel := context.WithDeadline(e.cutting, x.deadline)
			fresh, err := e.links.dial(ctx)
			cancel()
			q.Connect += e.clock.now() - from
			if err != nil {
				x.broken(metrics.FailedConnect, err)
				return
			}
			k = fresh
		}
		err := x.ask(k)
		if err == nil {
			x.release()
			x.read(k)
			return
		}
		e.links.drop(k)
		if !reused || !errors.Is(err, errUnanswered) || e.aborted.Load() {
			x.broken(metrics.FailedReset, err)
			return
		}
		q.Redials++
		k = nil
	}
}

// errUnanswered: the connection failed before the first byte of an answer.
var errUnanswered = errors.New("connection closed before an answer")

// ask writes the request and reads the header of the answer.
func (x *exchange) ask(k *link) error {
	e, q := x.engine, x.q
	wire := e.buffer()
	*wire = append(e.requestHeader(*wire, q.ID, len(*x.request)), *x.request...)
	k.raw.armed, k.failure = true, nil
	k.raw.expire(x.deadline, 0)
	_ = k.raw.SetWriteDeadline(x.deadline) // as with expire, the write will tell
	_, err := k.conn.Write(*wire)
	e.buffers.Put(wire)
	if q.Sent == metrics.Never && !k.raw.armed {
		q.Sent = k.raw.sent
		e.observer.Sent(q)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errUnanswered, err)
	}
	k.answer.Reset()
	k.answer.StreamBody = true
	before := k.total
	err = k.answer.ReadLimitBody(k.reader, 0)
	switch {
	case err == nil:
		return nil
	case isTimeout(err):
		return os.ErrDeadlineExceeded
	case errors.As(err, new(*fasthttp.ErrSmallBuffer)):
		return fmt.Errorf("%w as benchtop reads it: its header is longer than %d bytes", errNotHTTP, headerBuffer)
	case k.failure == nil:
		return fmt.Errorf("%w: %s", errNotHTTP, excerpt([]byte(err.Error())))
	case k.total == before && k.failure == io.EOF:
		return errUnanswered
	case k.total == before:
		return fmt.Errorf("%w: %w", errUnanswered, k.failure)
	}
	return fmt.Errorf("in the header of the answer: %w", k.failure)
}

var errNotHTTP = errors.New("the answer is not HTTP")

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

// read reads the body of the answer and gives the connection back if it can be used again.
func (x *exchange) read(k *link) {
	q := x.q
	q.Status = k.answer.StatusCode()
	var err error
	if q.Status == fasthttp.StatusOK {
		err = x.stream(k)
	} else {
		err = x.refused(k)
	}
	reusable := err == io.EOF && k.failure == nil && !k.answer.ConnectionClose() && k.reader.Buffered() == 0
	_ = k.answer.CloseBodyStream()
	if reusable {
		x.engine.links.keep(k)
	} else {
		x.engine.links.drop(k)
	}
}

// stream reads the events of a stream until it ends or breaks; io.EOF says that the body was read whole.
func (x *exchange) stream(k *link) error {
	e := x.engine
	body, chunked := k.answer.BodyStream(), k.answer.Header.ContentLength() == -1
	isStream := bytes.HasPrefix(k.answer.Header.ContentType(), []byte("text/event-stream"))
	for {
		x.expire(k)
		n, err := body.Read(k.buffer[:])
		if n > 0 {
			x.at = k.arrived(chunked)
			if !isStream {
				x.opening = append(x.opening, k.buffer[:min(n, maxWords-len(x.opening))]...)
			}
			if problem := x.sse.feed(k.buffer[:n], x.emit); problem != nil {
				if problem != errStop {
					x.fail(metrics.FailedMalformed, problem.Error())
				}
				return problem
			}
		}
		switch {
		case err == nil:
		case err == io.EOF:
			x.complete(k)
			return io.EOF
		case x.finished || x.ended:
			// The answer was complete; only the connection is of no more use.
			return err
		case e.clock.start.Add(x.lastHeard()).Add(e.options.StallTimeout).After(x.deadline) && isTimeout(err):
			x.broken(metrics.FailedTimeout, err)
			return err
		case isTimeout(err):
			x.broken(metrics.FailedReset, err)
			return err
		case k.failure == nil:
			x.fail(metrics.FailedMalformed, fmt.Sprintf("%s: %s", errNotHTTP, err))
			return err
		default:
			x.broken(metrics.FailedReset, k.failure)
			return err
		}
	}
}

// expire moves the read deadline: the request's own until the first chunk, then the stall time-out if that is earlier,
// and a short one once the answer is complete.
func (x *exchange) expire(k *link) {
	o := &x.engine.options
	limit := o.StallTimeout
	switch {
	case x.ended:
		limit = min(limit, time.Second)
	case x.finished: // only the usage block may still come
		limit = min(limit, 5*time.Second)
	case x.q.FirstChunk == metrics.Never:
		return
	}
	at := x.engine.clock.start.Add(x.lastHeard()).Add(limit)
	if at.After(x.deadline) {
		k.raw.expire(x.deadline, 0)
		return
	}
	k.raw.expire(at, min(limit/4, time.Second))
}

// lastHeard is when the last chunk came: comments that keep a connection open do not keep a stream alive. Once the answer
// is complete, anything counts.
func (x *exchange) lastHeard() time.Duration {
	if x.finished || x.ended {
		return max(x.at, x.q.LastChunk)
	}
	return max(x.q.LastChunk, 0)
}

func isTimeout(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, fasthttp.ErrTimeout)
}

// event takes one stream event.
func (x *exchange) event(name, data []byte) error {
	if x.ended {
		return nil
	}
	if string(data) == "[DONE]" {
		x.ended = true
		return nil
	}
	m, err := x.decode.decode(data)
	if m.failure == "" && string(name) == "error" {
		m.failure, err = clip(string(data)), nil
	}
	switch {
	case err != nil:
		x.fail(metrics.FailedMalformed, err.Error())
		return errStop
	case m.failure != "":
		x.fail(metrics.FailedInStream, m.failure)
		return errStop
	}
	// The last one counts, but one beside a choice, which may be a running count, not after one by itself.
	if m.usage.present && (!m.choice || !x.usageApart) {
		x.usage, x.usageApart = m.usage, !m.choice
	}
	if m.choice {
		x.chunk(&m)
	}
	return nil
}

func (x *exchange) chunk(m *message) {
	c := metrics.Chunk{At: x.at, Tokens: int32(m.tokens), Answer: len(m.answer) > 0}
	if m.tokens < 0 {
		c.Tokens = 0
		if m.output {
			c.Tokens, x.uncounted = 1, true
		}
	}
	if m.finish != nil {
		x.finished = true
		x.q.Finish = string(m.finish)
	}
	x.text = append(x.text, m.answer...)
	x.q.Add(c)
	x.engine.observer.Chunk(x.q)
}

// complete judges a stream whose body ended in order.
func (x *exchange) complete(k *link) {
	switch {
	case x.finished || x.ended:
	case len(x.opening) > 0 && x.q.FirstChunk == metrics.Never:
		if m, err := x.decode.decode(x.opening); err == nil && m.failure != "" {
			x.fail(metrics.FailedInStream, m.failure)
			return
		}
		x.fail(metrics.FailedMalformed, fmt.Sprintf("expected an event stream, got content type %q: %s", k.answer.Header.ContentType(), excerpt(x.opening)))
	default:
		x.fail(metrics.FailedTruncated, "the stream ended without finish_reason or [DONE]")
	}
}

// refused keeps the beginning of an answer that is not a 200.
func (x *exchange) refused(k *link) error {
	body := k.answer.BodyStream()
	// The status is known; its words are not worth a long wait.
	k.raw.expire(time.Now().Add(min(x.engine.options.StallTimeout, 5*time.Second)), 0)
	var kept []byte
	var err error
	for read := 0; err == nil && read < 64<<10; {
		var n int
		n, err = body.Read(k.buffer[:])
		read += n
		kept = append(kept, k.buffer[:min(n, maxWords-len(kept))]...)
	}
	words := strings.TrimSpace(string(kept))
	if reason := string(k.answer.Header.StatusMessage()); words == "" {
		words = reason
	}
	x.fail(metrics.FailedStatus, words)
	return err
}

// broken files the failure of a connection: as cancelled if it was us who cut it, as a time-out if a deadline passed.
func (x *exchange) broken(kind metrics.Failure, err error) {
	q := x.q
	switch {
	case x.engine.aborted.Load():
		kind, err = metrics.Cancelled, errors.New("cut by the end of the run")
	case isTimeout(err) && q.FirstChunk != metrics.Never && kind != metrics.FailedTimeout:
		kind = metrics.FailedStall
		err = fmt.Errorf("nothing came for %s after chunk %d", x.engine.options.StallTimeout, len(q.Chunks))
	case isTimeout(err) && kind != metrics.FailedConnect:
		kind = metrics.FailedTimeout
		err = fmt.Errorf("not complete after %s", x.engine.options.RequestTimeout)
	case errors.Is(err, errNotHTTP):
		kind = metrics.FailedMalformed
	case kind != metrics.FailedConnect && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)):
		kind, err = metrics.FailedTruncated, errors.New("connection closed in the middle of the answer")
	}
	x.fail(kind, err.Error())
}

func (x *exchange) fail(kind metrics.Failure, words string) {
	x.q.Failure, x.q.Error = kind, clip(x.engine.options.Target.Hide(words))
}

// settle fills in the totals once the exchange is over.
func (x *exchange) settle() {
	q := x.q
	if q.Failure == "" && q.FirstChunk == metrics.Never {
		x.fail(metrics.FailedEmpty, "the stream ended in order but carried no output")
	}
	if q.Failure == "" {
		x.countTokens()
	}
	if x.engine.options.KeepText || q.Failure == "" && q.OutputSource == metrics.TokensFromChunks {
		q.Text = string(x.text)
	}
	x.q = nil
	x.engine.exchanges.Put(x)
}

// countTokens takes the best count there is: the server's usage block, else ids and log probabilities, else chunks.
func (x *exchange) countTokens() {
	q := x.q
	if x.usage.input >= 0 && x.usage.present {
		q.InputTokens, q.InputSource = x.usage.input, metrics.TokensFromUsage
	}
	q.CachedTokens = max(0, x.usage.cached)
	for _, c := range q.Chunks {
		q.OutputTokens += int(c.Tokens)
	}
	switch {
	case x.usage.present && x.usage.output > 0:
		q.OutputTokens, q.OutputSource = x.usage.output, metrics.TokensFromUsage
	case x.uncounted || q.OutputTokens == 0:
		q.OutputTokens, q.OutputSource = max(q.OutputTokens, 1), metrics.TokensFromChunks
	default:
		q.OutputSource = metrics.TokensFromIDs
	}
}
