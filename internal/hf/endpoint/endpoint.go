// Package endpoint asks an inference server beside its load, in JSON over HTTP, and tells apart why there is no answer:
// the server does not offer what it was asked for, is not ready, or something else.
package endpoint

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

// Server is a server to ask. It is safe for concurrent use.
type Server struct {
	client *http.Client
	base   string
	most   int64           // bytes of an answer
	pauses []time.Duration // before further tries, where the server is busy for a moment
}

// maxAnswer bounds an answer in bytes. The longest contexts, at some ten bytes a token, stay far below it.
const maxAnswer = 256 << 20

// New asks the server at base (such as http://localhost:8000, without /v1), once for each question. Headers, redirects
// and how long an answer may take are the client's business.
func New(client *http.Client, base string) *Server {
	return &Server{client: client, base: strings.TrimRight(base, "/"), most: maxAnswer}
}

// Patient is the same server, asked up to twice more where it is busy or fails: one such answer among thousands should
// not end the work. It is meant for a server that has answered before.
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

// ask asks until the server is not busy or the tries are used up. A context that was cancelled is no fault of the
// server's, so its error stands alone.
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
		return failure{notOffered,
			fmt.Errorf("%s: the answer is longer than %d bytes and begins with %s", asked, s.most, opening(answer))}
	}
	if err := json.Unmarshal(answer, into); err != nil {
		return failure{notOffered,
			fmt.Errorf("%s: the answer is not the JSON expected: %w: %s", asked, err, opening(answer))}
	}
	return nil
}

// failure is an error of a kind that callers act on.
type failure struct {
	kind kind
	error
}

func (f failure) Unwrap() error { return f.error }

// kind is why there is no answer. The zero value is any reason that has no other name.
type kind uint8

const (
	notOffered kind = iota + 1 // the server has not this path, or has something else there
	busy                       // it cannot answer now
	unreached                  // it cannot be reached, or did not answer in time
	otherModel                 // it has no such model
	refused                    // it has this path, and refuses what it was asked
)

func kindOf(err error) kind {
	f, _ := errors.AsType[failure](err)
	return f.kind
}

// NotOffered reports whether err says that a server does not have an endpoint in the form in which it was asked, rather
// than that it could not answer.
func NotOffered(err error) bool {
	return kindOf(err) == notOffered || kindOf(err) == otherModel || kindOf(err) == refused
}

// Refused reports whether err says that a server has an endpoint, and refuses what it was asked there.
func Refused(err error) bool { return kindOf(err) == refused }

// UnknownModel reports whether err says, in the words of OpenAI's API, that the server has the endpoint and not the
// model that it was asked for.
func UnknownModel(err error) bool { return kindOf(err) == otherModel }

// Unready reports whether err may go away by itself: the server could not be reached, or is busy or still starting.
func Unready(err error) bool { return kindOf(err) == busy || kindOf(err) == unreached }

// Lacks is the error, of the kind that NotOffered knows, for an answer to a POST that has not the field expected.
func (s *Server) Lacks(path, field string) error {
	return failure{notOffered, fmt.Errorf("POST %s%s: the answer holds no %q", s.base, path, field)}
}

// refusal is the error for a status other than 200.
func refusal(asked string, resp *http.Response) error {
	answer, _ := io.ReadAll(io.LimitReader(resp.Body, 4096)) // a part is better than nothing
	why, hint := sorted(resp)
	if (why == notOffered || why == refused) && blamesModel(answer) {
		why = otherModel
	}
	return failure{why, fmt.Errorf("%s: status %s: %s%s", asked, resp.Status, opening(answer), hint)}
}

// blamesModel says whether an answer in the form of OpenAI's errors is about the name of the model.
func blamesModel(answer []byte) bool {
	var e struct {
		Error struct{ Param, Code any }
	}
	return json.Unmarshal(answer, &e) == nil && (e.Error.Param == "model" || e.Error.Code == "model_not_found")
}

// sorted is the kind of a status, and a hint for the user.
func sorted(resp *http.Response) (kind, string) {
	switch status := resp.StatusCode; status {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return notOffered, ""
	case http.StatusBadRequest, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
		return refused, ""
	case http.StatusUnauthorized, http.StatusForbidden:
		return 0, "; does the server want an API key?"
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return busy, "; the server is busy; try again later"
	default:
		if to := resp.Header.Get("Location"); status/100 == 3 && to != "" {
			return 0, fmt.Sprintf("; it points to %q: is the server there?", to)
		}
		if status >= 500 {
			return busy, "; the server's log may say more"
		}
		return 0, ""
	}
}

// opening quotes the beginning of an answer on one line.
func opening(answer []byte) string {
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
