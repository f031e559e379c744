// Package simulator is an OpenAI-compatible server that behaves like a continuous-batching engine, so that the tool can
// be shown and tested without a GPU. Requests queue, are admitted as key-value blocks and the batch allow, share the
// tokens of each step and the blocks of common prefixes, slow each other down and preempt each other, all from one
// Profile and one seed. So a ramp saturates it like a real server: time to first token rises when the queue grows,
// inter-token latency when the batch fills.
//
//	handler ──submit──▶ pending ──▶ waiting ──admit──▶ running ──step──▶ token channel ──▶ handler
//	                                   ▲                  │
//	                                   └────preempted─────┘
//
// It has vLLM's endpoints: each kind of generation writes an answer in its dialect, each kind of pooling has the engine
// read prompts and no more. There is no model, and the text is invented. It shares no wire types with the client, on
// purpose: with one struct on both sides a wrong field name would pass every test. It uses only Go's timers, so that
// under testing/synctest, with Pipe as the network, a step lasts exactly as long as its profile says.
//
// A Fault injects a failure between client and server into requests chosen by number, so that a test knows the counts.
// LogTo logs the requests of clients with their times.
package simulator

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"sync"
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

	grammarLock sync.Mutex
	grammars    map[string]bool // constraints that were compiled

	log  requestLog
	port atomic.Pointer[port] // nil unless Listener was called
}

// New makes a server. Its goroutine starts with the first request for tokens and ends with Close. Under
// testing/synctest, call New inside the bubble. New panics if p is not valid: use Validate where p comes from outside.
func New(p Profile) *Server {
	if err := p.Validate(); err != nil {
		panic(fmt.Sprintf("simulator: %v", err))
	}
	s := &Server{profile: p, engine: newEngine(p), mux: http.NewServeMux(), created: time.Now(),
		grammars: map[string]bool{}}
	s.log.bodies = FullBodies
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
		{http.MethodPost, "/v1/responses", s.generates(s.responses)},
		{http.MethodPost, "/v1/messages", s.generatesWith((*apiError).messagesBody, s.messages)},
		{http.MethodPost, "/api/chat", s.generates(s.ollama)},
		{http.MethodPost, "/v1/audio/transcriptions", s.generates(s.transcriptions)},
		{http.MethodPost, "/v1/audio/translations", s.generates(s.translations)},
		{http.MethodPost, "/v1/embeddings", s.generates(s.embeddings)},
		{http.MethodPost, "/embeddings", s.generates(s.infinityEmbeddings)},
		{http.MethodPost, "/pooling", s.generates(s.pooling)},
		{http.MethodPost, "/score", s.generates(s.score)},
		{http.MethodPost, "/v1/score", s.generates(s.score)},
		{http.MethodPost, "/rerank", s.generates(s.rerank)},
		{http.MethodPost, "/v1/rerank", s.generates(s.rerank)},
		{http.MethodPost, "/v2/rerank", s.generates(s.rerank)},
		{http.MethodPost, "/tokenize", s.tokenize},
		{http.MethodPost, "/detokenize", s.detokenize},
		{http.MethodPost, "/start_profile", empty},
		{http.MethodPost, "/stop_profile", empty},
		{http.MethodPost, "/reset_prefix_cache", s.resetPrefixCache},
		{http.MethodPost, "/reset_mm_cache", empty},
		{http.MethodPost, "/reset_encoder_cache", empty},
		{http.MethodPost, "/pause", s.pause},
		{http.MethodPost, "/resume", s.resume},
		{http.MethodGet, "/is_paused", s.isPaused},
		{http.MethodPost, "/sleep", s.sleep},
		{http.MethodPost, "/wake_up", s.resume},
	} {
		s.mux.HandleFunc(e.path, only(e.method, e.serve))
	}
	s.mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { noRoute(w, http.StatusNotFound) })
	return s
}

// Handler returns the endpoints.
func (s *Server) Handler() http.Handler { return http.HandlerFunc(s.serve) }

// serve closes connections after their answers while the port is shut, since open ones would hide the fault.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if p := s.port.Load(); p != nil && p.shutNow() {
		w.Header().Set("Connection", "close")
	}
	s.mux.ServeHTTP(w, r)
}

// HTTPServer returns a server for Handler that is ready to Serve on a listener, and that the caller shuts down. It
// keeps idle connections open, sets no limit to an answer's length, and logs nothing.
func (s *Server) HTTPServer() *http.Server {
	return &http.Server{
		Handler:           s.Handler(),
		ReadHeaderTimeout: 30 * time.Second, // of a request that has begun; an idle connection may wait
		ErrorLog:          log.New(io.Discard, "", 0),
	}
}

// Close stops the engine and waits for it. Answers under way end with an error, later requests for tokens get status
// 503. It returns the first error of the writer given to LogTo, and may be called again.
func (s *Server) Close() error {
	s.engine.stop()
	return s.log.close()
}

// endpoint answers one request, or returns an error before the first write.
type endpoint func(http.ResponseWriter, *http.Request) *apiError

// only lets requests with the given method through, and writes the error of serve; HEAD counts as GET.
func only(method string, serve endpoint) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != method && (r.Method != http.MethodHead || method != http.MethodGet) {
			w.Header().Set("Allow", method)
			noRoute(w, http.StatusMethodNotAllowed)
		} else if err := serve(w, r); err != nil {
			writeJSON(w, err.status, err.body())
		}
	}
}

// noRoute answers as vLLM's HTTP framework does before a request reaches vLLM.
func noRoute(w http.ResponseWriter, status int) {
	writeJSON(w, status, map[string]string{"detail": statusText(status)})
}

// writeJSON answers with v. It ignores a client that is gone.
func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = newEncoder(w).Encode(v)
}

func newEncoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}
