package simulator

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// moment is a time since the server was made. In JSON it is a number of seconds with nine decimals, null for never.
type moment time.Duration

const never moment = -1

// MarshalJSON implements json.Marshaler.
func (m moment) MarshalJSON() ([]byte, error) {
	if m < 0 {
		return []byte("null"), nil
	}
	return fmt.Appendf(nil, "%d.%09d", m/1e9, m%1e9), nil
}

// requestLog numbers the requests for tokens in the order in which their headers are read, and writes a line for each
// in this order: the line of a request waits for earlier ones. Without a writer it only counts.
type requestLog struct {
	w      io.Writer    // nil for no log; set before the first request, as is bodies
	bodies LoggedBodies // how much of them
	blocks blockNumbers

	mu    sync.Mutex // guards all below, and makes times ascend with numbers
	last  int        // the number of the last request
	next  int        // that of the next line
	ready map[int][]byte
	open  int           // requests under way
	idle  chan struct{} // closed when open falls to 0; nil without a waiter
	err   error         // the first of the writer
}

// LogTo makes the server write one line of JSON for each request for tokens to w, in order of arrival, each with one
// call when the request and all before it are over. Call it before the first request; w is the caller's to close after
// Close.
func (s *Server) LogTo(w io.Writer) { s.log.w, s.log.next, s.log.ready = w, 1, map[int][]byte{} }

// end files a request that is over.
func (l *requestLog) end(a *arrival, r *http.Request) {
	if l.w == nil {
		return
	}
	line := a.line(r)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ready[a.Number] = line
	for l.ready[l.next] != nil {
		l.write(l.next)
		l.next++
	}
	if l.open--; l.open == 0 && l.idle != nil {
		close(l.idle)
		l.idle = nil
	}
}

// write is called with the lock held.
func (l *requestLog) write(number int) {
	if _, err := l.w.Write(l.ready[number]); err != nil && l.err == nil {
		l.err = fmt.Errorf("request log: %w", err)
	}
	delete(l.ready, number)
}

// close waits at most a second for open requests, writes the remaining lines, and returns the first error of the
// writer.
func (l *requestLog) close() error {
	if l.w == nil {
		return nil
	}
	l.mu.Lock()
	if l.open > 0 {
		idle := make(chan struct{})
		l.idle = idle
		l.mu.Unlock()
		timer := time.NewTimer(time.Second) // a client that does not read may delay its request for longer
		defer timer.Stop()
		select {
		case <-idle:
		case <-timer.C:
		}
		l.mu.Lock()
	}
	defer l.mu.Unlock()
	l.idle = nil
	for number := l.next; len(l.ready) > 0; number++ {
		if l.ready[number] != nil {
			l.write(number)
		}
	}
	return l.err
}

func (a *arrival) line(r *http.Request) []byte {
	a.Client, a.Method, a.Path, a.RequestID = r.RemoteAddr, r.Method, r.URL.RequestURI(), r.Header.Get("X-Request-Id")
	a.Headers = loggedHeaders(r)
	a.FaultText = a.fault.String()
	a.Session, a.Body, a.Answer = r.Header.Get(SessionHeader), string(a.received), a.said.String()
	var line bytes.Buffer
	if err := newEncoder(&line).Encode(a); err != nil {
		panic(err) // texts and numbers only: a bug
	}
	return line.Bytes()
}

// loggedHeaders returns the headers of a request, those the HTTP library keeps elsewhere included, without secrets.
func loggedHeaders(r *http.Request) map[string]string {
	headers := map[string]string{"Host": r.Host}
	for name, values := range r.Header {
		switch name {
		case "Authorization", "Proxy-Authorization", "Cookie", "X-Api-Key":
		default:
			headers[name] = strings.Join(values, ", ")
		}
	}
	if len(r.TransferEncoding) > 0 {
		headers["Transfer-Encoding"] = strings.Join(r.TransferEncoding, ", ")
	}
	return headers
}

// arrival is one request for tokens, as a line of the request log. The goroutine of its handler owns it.
type arrival struct {
	Number       int               `json:"arrival"` // from 1
	At           moment            `json:"at_s"`    // when its header was read
	Client       string            `json:"client"`  // address: requests that share one shared a connection
	Method       string            `json:"method"`
	Path         string            `json:"path"`
	RequestID    string            `json:"request_id"` // as the client sent it, "" if it did not
	Session      string            `json:"session"`    // of SessionHeader, "" for none
	Headers      map[string]string `json:"headers"`    // without secrets
	Body         string            `json:"body"`       // as received; "" where the log is without
	BlockSize    int               `json:"block_size,omitempty"`
	PromptBlocks [][2]int          `json:"prompt_blocks,omitempty"`
	Status       *int              `json:"status"` // null if no answer began
	FirstByte    moment            `json:"first_byte_s"`
	FirstToken   moment            `json:"first_token_s"` // null where there is no stream
	LastByte     moment            `json:"last_byte_s"`   // of events; the end of the answer itself follows at once
	PromptTokens int               `json:"prompt_tokens"`
	CachedTokens *int              `json:"cached_tokens"` // of those of the prompt, null before the first token
	OutputTokens int               `json:"output_tokens"`
	Answer       string            `json:"answer"` // the text without reasoning; of several, that of the first
	FaultText    string            `json:"fault"`  // "" for none

	fault    Fault           // injected into it, the zero value for none
	received []byte          // the body, if the log wants it
	said     strings.Builder // the answer so far, if there is a log
}

// SessionHeader is the header with which clients name the session, or the conversation, that a request is of.
const SessionHeader = "X-Session-ID"

// read notes how many tokens of a prompt came from the cache.
func (a *arrival) read(cached int) {
	if a.CachedTokens == nil {
		a.CachedTokens = new(int)
	}
	*a.CachedTokens += cached
}

// generator answers one request for tokens, or returns an error before the first write.
type generator func(http.ResponseWriter, *http.Request, *arrival) *apiError

// generates numbers a request, injects its fault, and logs it.
func (s *Server) generates(serve generator) endpoint {
	return s.generatesWith((*apiError).body, serve)
}

// generatesWith is generates with another form of errors.
func (s *Server) generatesWith(body func(*apiError) any, serve generator) endpoint {
	return func(w http.ResponseWriter, r *http.Request) *apiError {
		a := s.arrive()
		defer s.log.end(a, r) // also when the connection is cut by a panic
		out := &loggedWriter{ResponseWriter: w, server: s, arrival: a}
		err := s.receive(w, r, a)
		if err == nil {
			err = s.inject(out, r, a, serve)
		}
		if err != nil {
			writeJSON(out, err.status, body(err))
		}
		return nil
	}
}

func (s *Server) arrive() *arrival {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	s.log.last++
	s.log.open++
	return &arrival{Number: s.log.last, At: s.now(), FirstByte: never, FirstToken: never, LastByte: never}
}

// now is the time since the server was made, on the monotonic clock.
func (s *Server) now() moment { return moment(time.Since(s.created)) }

// receive reads the whole body, which the endpoint may then read again, and finds the fault. Before that, the
// HTTP library does not notice that a client is gone.
func (s *Server) receive(w http.ResponseWriter, r *http.Request, a *arrival) (err *apiError) {
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	r.Body = receivedBody{bytes.NewReader(body), body}
	if s.log.w != nil && s.log.bodies == FullBodies {
		a.received = body
	}
	a.fault, err = s.faultFor(r, a.Number)
	return err
}

// loggedWriter notes when an answer begins and ends.
type loggedWriter struct {
	http.ResponseWriter
	server  *Server
	arrival *arrival
}

func (w *loggedWriter) WriteHeader(status int) {
	w.arrival.Status, w.arrival.FirstByte = &status, w.server.now()
	w.ResponseWriter.WriteHeader(status)
}

func (w *loggedWriter) Write(b []byte) (int, error) {
	if w.arrival.Status == nil {
		w.WriteHeader(http.StatusOK)
	}
	w.arrival.LastByte = w.server.now()
	return w.ResponseWriter.Write(b)
}

// Unwrap gives the HTTP library access to further methods.
func (w *loggedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
