package simulator

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"sync/atomic"
	"time"
)

// Server is one simulated server: an engine and the endpoints in front of it. It is safe for concurrent use.
type Server struct {
	profile Profile
	engine  *engine
	mux     *http.ServeMux
	created time.Time
	ids     atomic.Uint64 // requests without an id of their own

	arrivals arrivals
	log      requestLog
	port     atomic.Pointer[port] // nil unless Listener was called
}

// New makes a server. No goroutine runs until the first request for tokens; Close ends what then runs. Under
// testing/synctest, call New inside the bubble. New panics if p is not valid: use Validate where p comes from outside.
func New(p Profile) *Server {
	if err := p.Validate(); err != nil {
		panic(fmt.Sprintf("simulator: %v", err))
	}
	s := &Server{profile: p, engine: newEngine(p), mux: http.NewServeMux(), created: time.Now()}
	for _, e := range []struct {
		method, path string
		serve        endpoint
	}{
		{http.MethodGet, "/health", s.health},
		{http.MethodGet, "/version", s.version},
		{http.MethodGet, "/metrics", s.metrics},
		{http.MethodGet, "/v1/models", s.models},
		{http.MethodPost, "/v1/completions", s.generates(s.completions)},
		{http.MethodPost, "/v1/chat/completions", s.generates(s.chatCompletions)},
		{http.MethodPost, "/v1/embeddings", s.generates(s.embeddings)},
		{http.MethodPost, "/tokenize", s.tokenize},
		{http.MethodPost, "/detokenize", s.detokenize},
		{http.MethodPost, "/start_profile", s.profiler},
		{http.MethodPost, "/stop_profile", s.profiler},
		{http.MethodPost, "/reset_prefix_cache", s.resetPrefixCache},
	} {
		s.mux.HandleFunc(e.path, only(e.method, e.serve))
	}
	s.mux.HandleFunc("/", answering(func(http.ResponseWriter, *http.Request) *apiError { return notFound("Not Found") }))
	return s
}

// Handler returns the endpoints.
func (s *Server) Handler() http.Handler { return http.HandlerFunc(s.serve) }

// serve lets connections end while the port is shut, or those that are open would make the fault invisible.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if p := s.port.Load(); p != nil && p.shutNow() {
		w.Header().Set("Connection", "close")
	}
	s.mux.ServeHTTP(w, r)
}

// HTTPServer returns a server for Handler that is ready to Serve on a listener, and that the caller shuts down. It keeps
// idle connections open, sets no limit to an answer's length, and logs nothing.
func (s *Server) HTTPServer() *http.Server {
	return &http.Server{
		Handler:           s.Handler(),
		ReadHeaderTimeout: 30 * time.Second, // of a request that has begun; an idle connection may wait
		ErrorLog:          log.New(io.Discard, "", 0),
	}
}

// Close stops the engine and waits for it. Answers under way end with an error, later requests for tokens get status 503.
// It returns the first error of the writer given to LogTo, and may be called again.
func (s *Server) Close() error {
	s.engine.stop()
	return s.log.close()
}

// endpoint answers one request, or returns what went wrong before anything was written.
type endpoint func(http.ResponseWriter, *http.Request) *apiError

// only lets requests with the given method through; HEAD counts as GET.
func only(method string, serve endpoint) http.HandlerFunc {
	return answering(func(w http.ResponseWriter, r *http.Request) *apiError {
		if r.Method == method || r.Method == http.MethodHead && method == http.MethodGet {
			return serve(w, r)
		}
		w.Header().Set("Allow", method)
		return &apiError{status: http.StatusMethodNotAllowed, kind: "Method Not Allowed", message: "Method Not Allowed"}
	})
}

// answering writes the error that serve returns.
func answering(serve endpoint) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := serve(w, r); err != nil {
			writeJSON(w, err.status, err.body())
		}
	}
}
