package simulator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"unicode/utf8"
)

// errInjected is the error of a stream that a fault has ended, and that has nothing left to write.
var errInjected = errors.New("ended by a fault")

// stream writes the answer as events: the headers now, then an event for the tokens of each step, then usage if it was asked for,
// then the end marker. A stopped engine ends it with an error event; a client that is gone, or a fault, ends it at once.
func (g *generation) stream(ctx context.Context, w http.ResponseWriter, options streamOptions, f format) {
	out, err := g.openEvents(ctx, w)
	if err == nil {
		err = g.streamTokens(ctx, out, options, f)
	} else {
		g.engine.abort(g.seq)
	}
	if errors.Is(err, errStopped) {
		err = out.send(broken(err).body())
	} else if err == nil && options.IncludeUsage && !g.suffers(FaultNoUsage) {
		last := g.answer(f.chunk, g.finalUsage())
		last.Metrics = g.requestMetrics()
		err = out.send(last)
	}
	if err == nil && !g.suffers(FaultNoDone) {
		err = out.done()
	}
	if err == nil {
		_ = out.flushAll() // the client may be gone
	}
}

// streamTokens writes the tokens and injects the fault of the request in its place. As in vLLM, the role has an event of its own with
// the first token.
func (g *generation) streamTokens(ctx context.Context, out *events, options streamOptions, f format) error {
	usage := func(n int) any {
		if options.IncludeUsage && options.ContinuousUsageStats {
			return g.usage(n)
		}
		return f.noUsage
	}
	write := func(tokens []token) (err error) {
		if len(tokens) == 0 {
			return nil
		}
		if g.arrival.OutputTokens == 0 {
			g.arrival.FirstToken = g.now()
			if f.role != nil {
				err = out.send(g.answer(f.chunk, usage(0), f.role))
			}
		}
		if err == nil {
			err = out.send(g.answer(f.chunk, usage(tokens[len(tokens)-1].index+1), f.event(g, tokens)))
		}
		if err == nil {
			g.arrival.OutputTokens += len(tokens)
		}
		return err
	}
	before := g.beforeFault()
	if before == 0 {
		if err := g.inject(ctx, out); err != nil {
			g.engine.abort(g.seq)
			return err
		}
	}
	return g.each(ctx, func(tokens []token) error {
		n := before - tokens[0].index // of these, how many come before the fault
		if n <= 0 || n > len(tokens) {
			return write(tokens)
		}
		if err := write(tokens[:n]); err != nil {
			return err
		}
		if err := g.inject(ctx, out); err != nil {
			return err
		}
		return write(tokens[n:])
	})
}

// beforeFault returns the number of tokens before a fault in the middle of the stream, -1 for no such fault. The last token always
// comes after it, or the answer would be complete.
func (g *generation) beforeFault() int {
	f := g.arrival.fault
	if f.Kind == FaultEmpty {
		return 0
	}
	if rule, err := ruleOf(f.Kind); err != nil || !rule.tokens {
		return -1
	}
	return min(f.After, g.seq.limit-1)
}

// inject injects the fault into the middle of a stream. Without an error the stream goes on.
func (g *generation) inject(ctx context.Context, out *events) error {
	var err error
	switch f := g.arrival.fault; f.Kind {
	case FaultStall:
		return g.engine.pause(ctx, f.duration())
	case FaultReset:
		disconnect(out.w, "", true)
	case FaultClose:
		disconnect(out.w, "", false)
	case FaultEmpty:
		err = out.done()
	case FaultErrorInStream:
		failure := broken(errors.New("simulated fault: the engine failed"))
		err = errors.Join(out.send(failure.body()), out.done())
	case FaultMalformed:
		err = errors.Join(out.write("data: {\"id\":\"simulated fault\",\"choices\":[{\"index\":0,\n\n"), out.done())
	}
	if err != nil {
		return err
	}
	return errInjected
}

// suffers reports whether the request's fault is of that kind.
func (g *generation) suffers(kind FaultKind) bool { return g.arrival.fault.Kind == kind }

// events writes a stream of server-sent events. Each has one write and one flush, so that a client sees it whole and at its
// time, unless a fault changes that.
type events struct {
	w     http.ResponseWriter
	flush *http.ResponseController
	bytes bytes.Buffer // not yet written
	enc   *json.Encoder

	fault   Fault        // the zero value for none
	held    int          // events not yet written
	halfway func() error // waits between two halves of an event
}

// openEvents sends the headers at once, before the first token, as vLLM does.
func (g *generation) openEvents(ctx context.Context, w http.ResponseWriter) (*events, error) {
	e := &events{w: w, flush: http.NewResponseController(w), fault: g.arrival.fault}
	e.halfway = func() error { return g.engine.pause(ctx, e.fault.duration()) }
	e.enc = newEncoder(&e.bytes)
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.WriteHeader(http.StatusOK)
	return e, e.flush.Flush()
}

// send writes v as one event. An error means that the client is gone.
func (e *events) send(v any) error {
	e.begin()
	e.bytes.WriteString("data: ")
	if err := e.enc.Encode(v); err != nil { // ends the line
		return err
	}
	e.bytes.WriteByte('\n')
	return e.end()
}

// done writes the marker that ends the stream.
func (e *events) done() error { return e.write("data: [DONE]\n\n") }

// write writes an event that is text already.
func (e *events) write(event string) error {
	e.begin()
	e.bytes.WriteString(event)
	return e.end()
}

func (e *events) begin() {
	if e.fault.Kind == FaultComments {
		e.bytes.WriteString(": ping\n\n")
	}
}

// end hands an event over to the client, or holds it until there are enough.
func (e *events) end() error {
	if e.held++; e.fault.Kind == FaultCoalesce && e.held < int(e.fault.Arg) {
		return nil
	}
	return e.flushAll()
}

// flushAll writes all that is held.
func (e *events) flushAll() error {
	data := e.bytes.Bytes()
	if len(data) == 0 {
		return nil
	}
	defer e.bytes.Reset()
	e.held = 0
	switch e.fault.Kind {
	case FaultCRLF: // JSON has no line feeds inside
		data = bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n"))
	case FaultSplitUTF8:
		for len(data) > 0 {
			n := insideRune(data)
			if err := e.out(data[:n]); err != nil {
				return err
			}
			data = data[n:]
		}
		return nil
	case FaultSlowBody:
		if err := e.out(data[:len(data)/2]); err != nil {
			return err
		}
		if err := e.halfway(); err != nil {
			return err
		}
		data = data[len(data)/2:]
	}
	return e.out(data)
}

func (e *events) out(data []byte) error {
	if _, err := e.w.Write(data); err != nil {
		return err
	}
	return e.flush.Flush()
}

// insideRune returns the first place that lies between two bytes of one character, or the length of data. A character without its
// first byte is skipped.
func insideRune(data []byte) int {
	for i, b := range data {
		if b >= utf8.RuneSelf && utf8.RuneStart(b) {
			return i + 1
		}
	}
	return len(data)
}
