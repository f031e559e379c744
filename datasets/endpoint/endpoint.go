// Package endpoint asks an inference server beside its load, in JSON over HTTP, and tells apart why there is no answer: the
// server does not offer what it was asked for, is not ready, or something else.
package endpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Server is a server to ask. It is safe for concurrent use.
type Server struct {
	client *http.Client
	base   string
	most   int64           // bytes of an answer
	pauses []time.Duration // before further tries, where the server is busy for a moment
}

// maxAnswer bounds an answer in bytes. The longest contexts, at some ten bytes a token, stay far below it.
const maxAnswer = 256 << 20

// New asks the server at base (such as http://localhost:8000, without /v1), once for each question. Headers, redirects and
// how long an answer may take are the client's business.
func New(client *http.Client, base string) *Server {
	return &Server{client: client, base: strings.TrimRight(base, "/"), most: maxAnswer}
}

// Patient is the same server, asked up to twice more where it is busy or fails: one such answer among thousands should not
// end what they are all for. It is meant for a server that has answered before.
func (s *Server) Patient() *Server {
	patient := *s
	patient.pauses = []time.Duration{250 * time.Millisecond, time.Second}
	return &patient
}

// Base is the server's address.
func (s *Server) Base() string { return s.base }

// Post sends body to path and reads the answer into into.
func (s *Server) Post(ctx context.Context, path string, body, into any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("POST %s%s: what is to be sent is not JSON: %w", s.base, path, err)
	}
	return s.ask(ctx, http.MethodPost, path, data, into)
}

// Get reads the answer at path into into.
func (s *Server) Get(ctx context.Context, path string, into any) error {
	return s.ask(ctx, http.MethodGet, path, nil, into)
}

// ask asks until the server is not busy or the tries are used up. A context that was cancelled is no fault of the server's,
// so its error stands alone.
func (s *Server) ask(ctx context.Context, method, path string, body []byte, into any) error {
	err := s.askOnce(ctx, method, path, body, into)
	for _, pause := range s.pauses {
		if kindOf(err) != busy || !slept(ctx, pause) {
			break
		}
		err = s.askOnce(ctx, method, path, body, into)
	}
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return err
}

// slept reports whether the pause went by before ctx ended.
func slept(ctx context.Context, pause time.Duration) bool {
	select {
	case <-time.After(pause):
		return true
	case <-ctx.Done():
		return false
	}
}

func (s *Server) askOnce(ctx context.Context, method, path string, body []byte, into any) error {
	address := s.base + path
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("cannot ask the server: %w; give its address as in http://localhost:8000", err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := s.client.Do(req)
	if err != nil {
		return failure{unreached, fmt.Errorf("cannot reach %s: %w; is the server up?", address, cause(err))}
	}
	defer resp.Body.Close()
	asked := method + " " + address
	if resp.StatusCode != http.StatusOK {
		return refusal(asked, resp)
	}
	answer, err := io.ReadAll(io.LimitReader(resp.Body, s.most+1))
	switch {
	case err != nil:
		return fmt.Errorf("%s: the answer broke off: %w; is the server overloaded?", asked, err)
	case int64(len(answer)) > s.most:
		return failure{notOffered, fmt.Errorf("%s: the answer is longer than %d bytes and begins with %s", asked, s.most, opening(answer))}
	}
	if err := json.Unmarshal(answer, into); err != nil {
		return failure{notOffered, fmt.Errorf("%s: the answer is not the JSON expected: %w: %s", asked, err, opening(answer))}
	}
	return nil
}
