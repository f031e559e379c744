package simulator

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"unicode/utf8"
)

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
