package tokenizer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// advice ends the errors of a server that answers but does not tokenize.
const advice = "does this server offer vLLM's or llama.cpp's /tokenize and /detokenize at its root? " +
	"If not, count tokens another way, such as by --tokenizer or by estimate"

// maxReply bounds an answer in bytes. The longest contexts, at some ten bytes a token, stay far below it.
const maxReply = 256 << 20

// statusError is an answer with a status other than 200.
type statusError struct {
	status int
	text   string
}

func (e *statusError) Error() string { return e.text }

// formError is an answer of another form than expected.
type formError struct{ text string }

func (e *formError) Error() string { return e.text }

// reachError is a server that cannot be reached, or did not answer in time.
type reachError struct {
	address string
	err     error
}

func (e *reachError) Error() string {
	return fmt.Sprintf("cannot reach %s: %v; is the server up?", e.address, e.err)
}
func (e *reachError) Unwrap() error { return e.err }

// offersNone reports whether err says that a server does not have an endpoint in the form in which it was asked, rather
// than that it could not answer.
func offersNone(err error) bool {
	if _, ok := errors.AsType[*formError](err); ok {
		return true
	}
	refused, ok := errors.AsType[*statusError](err)
	if !ok {
		return false
	}
	switch refused.status {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented,
		http.StatusBadRequest, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
		return true
	}
	return false
}

// Unready reports whether err, of a Server, may go away by itself: the server could not be reached, or is busy or still
// starting.
func Unready(err error) bool {
	if refused, ok := errors.AsType[*statusError](err); ok {
		return refused.status == http.StatusTooManyRequests || refused.status >= 500 && refused.status != http.StatusNotImplemented
	}
	_, ok := errors.AsType[*reachError](err)
	return ok
}

func (s *Server) post(ctx context.Context, path string, body, into any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("POST %s%s: %w", s.base, path, err)
	}
	return s.ask(ctx, http.MethodPost, path, data, into)
}

func (s *Server) get(ctx context.Context, path string, into any) error {
	return s.ask(ctx, http.MethodGet, path, nil, into)
}

// ask asks once, and again after a pause where the server is busy: one such answer among thousands should not end what
// they are all for.
func (s *Server) ask(ctx context.Context, method, path string, body []byte, into any) error {
	err := s.askOnce(ctx, method, path, body, into)
	for _, pause := range s.pauses {
		if _, refused := errors.AsType[*statusError](err); !refused || !Unready(err) {
			break
		}
		select {
		case <-time.After(pause):
			err = s.askOnce(ctx, method, path, body, into)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return err
}

func (s *Server) askOnce(ctx context.Context, method, path string, body []byte, into any) error {
	address := s.base + path
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("cannot ask for tokens: %w; give the server's address as in http://localhost:8000", err)
	}
	for name, values := range s.header {
		req.Header[name] = values
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := s.client.Do(req)
	if err != nil {
		return &reachError{address, cause(err)}
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return refusal(method+" "+address, resp)
	}
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxReply))
	if err != nil {
		return fmt.Errorf("%s %s: the answer broke off: %w; is the server overloaded?", method, address, err)
	}
	if err := json.Unmarshal(answer, into); err != nil {
		return &formError{fmt.Sprintf("%s %s: the answer is not the JSON expected: %v: %s; %s", method, address, err, firstWords(answer), advice)}
	}
	return nil
}

// refusal is the error for a status other than 200.
func refusal(asked string, resp *http.Response) error {
	answer, _ := io.ReadAll(io.LimitReader(resp.Body, 4096)) // what arrived is better than nothing
	hint := advice
	switch resp.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		hint = "does the server want an API key?"
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		hint = "the server is busy; try again later"
	}
	return &statusError{resp.StatusCode, fmt.Sprintf("%s: status %s: %s; %s", asked, resp.Status, firstWords(answer), hint)}
}

// firstWords quotes the beginning of an answer on one line.
func firstWords(answer []byte) string {
	const limit = 160
	text := []rune(strings.Join(strings.Fields(string(answer[:min(len(answer), 4*limit)])), " "))
	if len(text) == 0 {
		return "an empty answer"
	}
	if len(text) > limit {
		return fmt.Sprintf("%q …", string(text[:limit]))
	}
	return fmt.Sprintf("%q", string(text))
}

// cause drops net/http's own mention of method and address, which the caller makes itself.
func cause(err error) error {
	outer, ok := errors.AsType[*url.Error](err)
	switch {
	case !ok:
		return err
	case outer.Timeout():
		return fmt.Errorf("no answer in time (%w)", outer.Err)
	}
	return outer.Err
}
