package simulator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"unicode/utf8"
)

// errStruck says that a fault has ended a stream; what there was to write about it is written.
var errStruck = errors.New("ended by a fault")

// stream writes the answer as events: the headers now, then whatever event makes of the tokens of each step, then usage
// if it was asked for, then the end marker. If the engine stops under it, the stream says so in an event. A client that has
// gone just ends it, and so may a fault.
func (g *generation) stream(ctx context.Context, w http.ResponseWriter, options *streamOptions,
	event func(out *events, tokens []token) error, last func(usage) any) {
	out, err := openEvents(ctx, w, g.engine, g.arrival.fault)
	if err == nil {
		err = g.streamTokens(ctx, out, event)
	} else {
		g.engine.abort(g.seq)
	}
	if errors.Is(err, errStopped) {
		err = out.send(broken(err).body())
	} else if err == nil && options.IncludeUsage && !g.suffers(FaultNoUsage) {
		err = out.send(last(g.finalUsage()))
	}
	if err == nil && !g.suffers(FaultNoDone) {
		err = out.done()
	}
	if err == nil {
		_ = out.flushAll() // nobody left to tell
	}
}

// streamTokens writes the tokens, and lets the fault of the request happen where it belongs.
func (g *generation) streamTokens(ctx context.Context, out *events, event func(out *events, tokens []token) error) error {
	write := func(tokens []token) error {
		if len(tokens) == 0 {
			return nil
		}
		if g.arrival.outputTokens == 0 {
			g.arrival.firstToken = g.now()
		}
		err := event(out, tokens)
		if err == nil {
			g.arrival.outputTokens += len(tokens)
		}
		return err
	}
	before := g.beforeFault()
	if before == 0 {
		if err := g.strike(ctx, out); err != nil {
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
		if err := g.strike(ctx, out); err != nil {
			return err
		}
		return write(tokens[n:])
	})
}

// beforeFault returns how many tokens come before a fault in the middle of the stream, -1 if there is none. The last token
// never comes before it, or the answer would be complete.
func (g *generation) beforeFault() int {
	f := g.arrival.fault
	if f == nil {
		return -1
	}
	if f.Kind == FaultEmpty {
		return 0
	}
	if rule, err := ruleOf(f.Kind); err != nil || !rule.tokens {
		return -1
	}
	return min(f.After, g.seq.limit-1)
}

// strike does what happens in the middle of a stream. No error means that the stream goes on.
func (g *generation) strike(ctx context.Context, out *events) error {
	var err error
	switch f := g.arrival.fault; f.Kind {
	case FaultStall:
		return g.engine.pause(ctx, f.duration())
	case FaultReset:
		hangUp(out.w, "", true)
	case FaultClose:
		hangUp(out.w, "", false)
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
	return errStruck
}

// suffers says that the request's fault is of that kind.
func (g *generation) suffers(kind FaultKind) bool {
	return g.arrival.fault != nil && g.arrival.fault.Kind == kind
}

// events writes a stream of server-sent events. Each goes out with one write and one flush, so that a client sees it whole
// and at its time, unless a fault says otherwise.
type events struct {
	w     http.ResponseWriter
	flush *http.ResponseController
	bytes bytes.Buffer // not yet written
	enc   *json.Encoder

	crlf, comments, splitUTF8 bool
	together                  int // events that leave in one write, at least 1
	held                      int // events not yet written
	halfway                   func() error
}

// openEvents sends the headers at once, before there is any token, as vLLM does. The fault may be nil.
func openEvents(ctx context.Context, w http.ResponseWriter, engine *engine, fault *Fault) (*events, error) {
	e := &events{w: w, flush: http.NewResponseController(w), together: 1}
	e.enc = json.NewEncoder(&e.bytes)
	e.enc.SetEscapeHTML(false)
	if fault != nil {
		e.disturb(ctx, engine, *fault)
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.WriteHeader(http.StatusOK)
	return e, e.flush.Flush()
}

// disturb sets how a fault changes the way in which events are written.
func (e *events) disturb(ctx context.Context, engine *engine, f Fault) {
	switch f.Kind {
	case FaultCRLF:
		e.crlf = true
	case FaultComments:
		e.comments = true
	case FaultSplitUTF8:
		e.splitUTF8 = true
	case FaultCoalesce:
		e.together = int(f.Arg)
	case FaultSlowBody:
		e.halfway = func() error { return engine.pause(ctx, f.duration()) }
	}
}

// send writes v as one event. An error means that the client has gone.
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
	if e.comments {
		e.bytes.WriteString(": ping\n\n")
	}
}

// end hands an event over to the client, or holds it until there are enough.
func (e *events) end() error {
	if e.held++; e.held < e.together {
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
	if e.crlf {
		// JSON has no line feeds inside.
		data = bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n"))
	}
	switch {
	case e.splitUTF8:
		for len(data) > 0 {
			n := insideRune(data)
			if err := e.out(data[:n]); err != nil {
				return err
			}
			data = data[n:]
		}
		return nil
	case e.halfway != nil:
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

// insideRune returns the first place that lies between two bytes of one character, or the length of data. A character whose
// first byte is cut off already is passed over.
func insideRune(data []byte) int {
	for i, b := range data {
		if b >= utf8.RuneSelf && utf8.RuneStart(b) {
			return i + 1
		}
	}
	return len(data)
}
