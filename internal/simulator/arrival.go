package simulator

import (
	"bytes"
	"io"
	"net/http"
	"sync"
	"time"
)

// arrivals numbers the requests for tokens in the order in which their headers were read.
type arrivals struct {
	mu   sync.Mutex // guards last, and makes times ascend with numbers
	last int
}

// arrival is one request for tokens, and what the request log tells of it. The goroutine of its handler owns it.
type arrival struct {
	number int // from 1
	at     moment
	fault  *Fault // what happens to it, nil for nothing
	body   []byte

	status                          int // 0 until an answer begins
	firstByte, firstToken, lastByte moment
	promptTokens, outputTokens      int // the latter as far as they were written
}

// generator answers one request for tokens, or returns what went wrong before anything was written.
type generator func(http.ResponseWriter, *http.Request, *arrival) *apiError

// generates numbers a request, lets happen to it what its fault says, and logs what became of it.
func (s *Server) generates(serve generator) endpoint {
	return func(w http.ResponseWriter, r *http.Request) *apiError {
		a := s.arrive()
		defer s.log.end(a, r) // also when the connection is cut by a panic
		out := &watched{ResponseWriter: w, server: s, arrival: a}
		err := s.receive(w, r, a)
		if err == nil {
			err = s.strike(out, r, a, serve)
		}
		if err != nil {
			writeJSON(out, err.status, err.body())
		}
		return nil
	}
}

func (s *Server) arrive() *arrival {
	s.arrivals.mu.Lock()
	defer s.arrivals.mu.Unlock()
	s.arrivals.last++
	s.log.begin()
	return &arrival{number: s.arrivals.last, at: s.now(), firstByte: never, firstToken: never, lastByte: never}
}

// now is the time since the server was made, on the monotonic clock.
func (s *Server) now() moment { return moment(time.Since(s.created)) }

// receive reads the whole body, which the endpoint may then read again, and finds the fault. Until the body is read, the
// HTTP library does not notice that a client has gone.
func (s *Server) receive(w http.ResponseWriter, r *http.Request, a *arrival) (err *apiError) {
	if a.body, err = readBody(w, r); err != nil {
		return err
	}
	r.Body = io.NopCloser(bytes.NewReader(a.body))
	a.fault, err = s.faultOf(r, a.number)
	return err
}

// watched notes when an answer begins and ends.
type watched struct {
	http.ResponseWriter
	server  *Server
	arrival *arrival
}

func (w *watched) WriteHeader(status int) {
	w.arrival.status, w.arrival.firstByte = status, w.server.now()
	w.ResponseWriter.WriteHeader(status)
}

func (w *watched) Write(b []byte) (int, error) {
	if w.arrival.status == 0 {
		w.arrival.status, w.arrival.firstByte = http.StatusOK, w.server.now()
	}
	w.arrival.lastByte = w.server.now()
	return w.ResponseWriter.Write(b)
}

// Unwrap lets the HTTP library find what w does not offer itself.
func (w *watched) Unwrap() http.ResponseWriter { return w.ResponseWriter }
