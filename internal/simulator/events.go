package simulator

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"unicode/utf8"
)

// events writes a stream of server-sent events. Each has one write and one flush, so that a client sees it whole and at
// its time, unless a fault changes that.
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
	e.halfway = func() error { return g.engine.delay(ctx, e.fault.duration()) }
	e.enc = newEncoder(&e.bytes)
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	}
	w.WriteHeader(http.StatusOK)
	return e, e.flush.Flush()
}

// send writes v as one event, with a line for its name unless that is "". An error means that the client is gone.
func (e *events) send(name string, v any) error {
	e.begin()
	if name != "" {
		e.bytes.WriteString("event: " + name + "\n")
	}
	e.bytes.WriteString("data: ")
	if err := e.enc.Encode(v); err != nil { // ends the line
		return err
	}
	e.bytes.WriteByte('\n')
	return e.end()
}

// line writes v in a line of its own, for streams of such.
func (e *events) line(v any) error {
	e.begin()
	if err := e.enc.Encode(v); err != nil { // ends the line
		return err
	}
	return e.end()
}

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

// insideRune returns the first place that lies between two bytes of one character, or the length of data. A character
// without its first byte is skipped.
func insideRune(data []byte) int {
	for i, b := range data {
		if b >= utf8.RuneSelf && utf8.RuneStart(b) {
			return i + 1
		}
	}
	return len(data)
}
