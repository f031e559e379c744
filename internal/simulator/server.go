// Package simulator is an OpenAI-compatible server that behaves like a continuous-batching engine, so that the tool can be
// shown and tested without a GPU. Requests queue, are admitted as key-value blocks and the batch allow, share the tokens of each
// step and the blocks of common prefixes, slow each other down and preempt each other, all from one Profile and one seed. So a
// ramp saturates it like a real server: time to first token rises when the queue grows, inter-token latency when the batch fills.
//
//	handler ──submit──▶ pending ──▶ waiting ──admit──▶ running ──step──▶ token channel ──▶ handler
//	                                   ▲                  │
//	                                   └────preempted─────┘
//
// It has vLLM's endpoints (models, completions, chat, tokenize, metrics). There is no model, and the text is invented. It shares
// no wire types with the client, on purpose: with one struct on both sides a wrong field name would pass every test. It uses only
// Go's timers, so that under testing/synctest, with Pipe as the network, a step lasts exactly as long as its profile says.
//
// A Fault injects a failure between client and server into requests chosen by number, so that a test knows the counts. LogTo
// logs the requests of clients with their times.
package simulator

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"strings"
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

	log  requestLog
	port atomic.Pointer[port] // nil unless Listener was called
}

// New makes a server. Its goroutine starts with the first request for tokens and ends with Close. Under
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
	s.mux.HandleFunc("/", answering(func(http.ResponseWriter, *http.Request) *apiError {
		return &apiError{status: http.StatusNotFound, message: "Not Found"}
	}))
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

// endpoint answers one request, or returns an error before the first write.
type endpoint func(http.ResponseWriter, *http.Request) *apiError

// only lets requests with the given method through; HEAD counts as GET.
func only(method string, serve endpoint) http.HandlerFunc {
	return answering(func(w http.ResponseWriter, r *http.Request) *apiError {
		if r.Method == method || r.Method == http.MethodHead && method == http.MethodGet {
			return serve(w, r)
		}
		w.Header().Set("Allow", method)
		return &apiError{status: http.StatusMethodNotAllowed, message: "Method Not Allowed", framework: true}
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

// maxBody is the longest request body that is read, in bytes.
const maxBody = 64 << 20

// named is a request for a model.
type named struct {
	Model string `json:"model"` // "" for the one that is served
}

func (n named) model() string { return n.Model }

// read reads the whole body into v and checks the model. As in vLLM, unknown fields are ignored. v holds the
// defaults.
func (s *Server) read(w http.ResponseWriter, r *http.Request, v interface{ model() string }) *apiError {
	body, problem := readBody(w, r)
	if problem != nil {
		return problem
	}
	if err := json.Unmarshal(body, v); err != nil {
		return unreadable(err)
	}
	if model := v.model(); model != "" && model != s.profile.Model {
		return &apiError{status: http.StatusNotFound, param: "model", message: "The model `" + model + "` does not exist."}
	}
	return nil
}

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, *apiError) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		return body, &apiError{status: http.StatusRequestEntityTooLarge, message: err.Error(), framework: true}
	case err != nil:
		return body, unreadable(err)
	}
	return body, nil
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

// apiError is the answer to a request that fails, in vLLM's words where it has them.
type apiError struct {
	status  int
	param   string // the field of the request that is wrong, if it is a single one
	message string
	// framework: the error is of vLLM's HTTP framework, whose type is the text of the status.
	framework bool
}

type errorBody struct {
	Error errorDetail `json:"error"`
}

type errorDetail struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    int     `json:"code"`
}

func (e *apiError) body() errorBody {
	detail := errorDetail{Message: e.message, Type: statusText(e.status), Code: e.status}
	if !e.framework {
		detail.Type = strings.TrimSuffix(strings.ReplaceAll(detail.Type, " ", ""), "Error") + "Error"
	}
	if e.param != "" {
		detail.Param = &e.param
	}
	return errorBody{Error: detail}
}

func statusText(status int) string { return cmp.Or(http.StatusText(status), "Unknown") }

func badRequest(param, format string, args ...any) *apiError {
	return &apiError{status: http.StatusBadRequest, param: param, message: fmt.Sprintf(format, args...)}
}

func unreadable(err error) *apiError {
	return &apiError{status: http.StatusBadRequest, message: err.Error(), framework: true}
}

// unavailable is the answer of a stopped engine.
func unavailable(err error) *apiError {
	return &apiError{status: http.StatusServiceUnavailable, message: err.Error()}
}

// broken is the event of a stream whose engine has stopped, after its status line was sent.
func broken(err error) *apiError {
	return &apiError{status: http.StatusInternalServerError, message: err.Error()}
}

// simulatedVersion is the answer of /version: the form of vLLM's, but none of its versions.
const simulatedVersion = "0.0.0+simulator"

// health answers 200 without a body while the engine can be used.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) *apiError {
	select {
	case <-s.engine.quit:
		return unavailable(errStopped)
	default:
		w.WriteHeader(http.StatusOK)
		return nil
	}
}

func (s *Server) version(w http.ResponseWriter, _ *http.Request) *apiError {
	writeJSON(w, http.StatusOK, map[string]string{"version": simulatedVersion})
	return nil
}

// profiler answers as a server whose profiler was enabled. There is nothing to profile.
func (s *Server) profiler(w http.ResponseWriter, _ *http.Request) *apiError {
	w.WriteHeader(http.StatusOK)
	return nil
}

func (s *Server) models(w http.ResponseWriter, _ *http.Request) *apiError {
	type object map[string]any
	created := s.created.Unix()
	permission := object{
		"id": "modelperm-" + s.profile.Model, "object": "model_permission", "created": created, "organization": "*", "group": nil,
		"allow_create_engine": false, "allow_sampling": true, "allow_logprobs": true, "allow_search_indices": false,
		"allow_view": true, "allow_fine_tuning": false, "is_blocking": false,
	}
	card := object{
		"id": s.profile.Model, "object": "model", "created": created, "owned_by": "benchtop", "root": s.profile.Model, "parent": nil,
		"max_model_len": s.profile.MaxModelLen, "permission": []object{permission},
	}
	writeJSON(w, http.StatusOK, object{"object": "list", "data": []object{card}})
	return nil
}
