package simulator

import (
	"bytes"
	"encoding/json"
	"net/http"
)

// events writes a stream of server-sent events. Each goes out with one write and one flush, so that a client sees it whole
// and at its time.
type events struct {
	w     http.ResponseWriter
	flush *http.ResponseController
	line  bytes.Buffer
	enc   *json.Encoder
}

// openEvents sends the headers at once, before there is any token, as vLLM does.
func openEvents(w http.ResponseWriter) (*events, error) {
	e := &events{w: w, flush: http.NewResponseController(w)}
	e.enc = json.NewEncoder(&e.line)
	e.enc.SetEscapeHTML(false)
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.WriteHeader(http.StatusOK)
	return e, e.flush.Flush()
}

// send writes v as one event. An error means that the client has gone.
func (e *events) send(v any) error {
	e.line.Reset()
	e.line.WriteString("data: ")
	if err := e.enc.Encode(v); err != nil { // ends the line
		return err
	}
	e.line.WriteByte('\n')
	return e.out()
}

// done writes the marker that ends the stream.
func (e *events) done() error {
	e.line.Reset()
	e.line.WriteString("data: [DONE]\n\n")
	return e.out()
}

func (e *events) out() error {
	if _, err := e.w.Write(e.line.Bytes()); err != nil {
		return err
	}
	return e.flush.Flush()
}
