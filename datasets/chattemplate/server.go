package chattemplate

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
	"sync"
)

// Server has an inference server render with its own template: through /apply-template, as llama.cpp's server offers it,
// or through /tokenize and /detokenize, as vLLM's does. Which one is found out once. It is safe for concurrent use.
type Server struct {
	client *http.Client
	base   string
	model  string
	header http.Header

	mu   sync.Mutex // guards form
	form form
}

// form is the way in which a server renders.
type form uint8

const (
	unknown form = iota
	byTemplate
	byTokens
	absent
)

// NewServer asks the server at base (such as http://localhost:8000, without /v1) about model, sending header with every
// request. How long an answer may take is the client's Timeout.
func NewServer(client *http.Client, base, model string, header http.Header) *Server {
	return &Server{client: client, base: strings.TrimRight(base, "/"), model: model, header: header.Clone()}
}

// Source says that the server rendered.
func (s *Server) Source() string { return FromServer }

// Render renders a chat. The error matches ErrAbsent where the server offers no rendering.
func (s *Server) Render(ctx context.Context, in Input) (string, error) {
	how, err := s.probe(ctx)
	if err != nil {
		return "", err
	}
	switch how {
	case byTemplate:
		return s.byTemplate(ctx, in)
	case byTokens:
		return s.byTokens(ctx, in)
	}
	return "", fmt.Errorf("%s: %w", s.base, ErrAbsent)
}

// probe finds out how the server renders, with a chat of one word. A server that has the address for something else
// refuses that chat, which counts as not having it.
func (s *Server) probe(ctx context.Context) (form, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.form != unknown {
		return s.form, nil
	}
	try := Input{Messages: json.RawMessage(`[{"role":"user","content":"hi"}]`)}
	for _, f := range []struct {
		form   form
		render func(context.Context, Input) (string, error)
	}{{byTemplate, s.byTemplate}, {byTokens, s.byTokens}} {
		_, err := f.render(ctx, try)
		if err == nil {
			s.form = f.form
			return s.form, nil
		}
		if _, none := errors.AsType[notOffered](err); !none {
			return unknown, err
		}
	}
	s.form = absent
	return absent, nil
}

type chat struct {
	Model               string          `json:"model,omitempty"`
	Messages            json.RawMessage `json:"messages"`
	AddGenerationPrompt bool            `json:"add_generation_prompt"`
	Tools               json.RawMessage `json:"tools,omitempty"`
	Arguments           json.RawMessage `json:"chat_template_kwargs,omitempty"`
}

func (s *Server) chat(in Input) chat { return chat{s.model, in.Messages, true, in.Tools, in.Arguments} }

func (s *Server) byTemplate(ctx context.Context, in Input) (string, error) {
	return s.prompt(ctx, "/apply-template", s.chat(in))
}

func (s *Server) byTokens(ctx context.Context, in Input) (string, error) {
	var reply struct{ Tokens []int }
	if err := s.post(ctx, "/tokenize", s.chat(in), &reply); err != nil {
		return "", err
	}
	if len(reply.Tokens) == 0 {
		return "", notOffered{fmt.Errorf(`POST %s/tokenize: the answer holds no "tokens"`, s.base)}
	}
	return s.prompt(ctx, "/detokenize", struct {
		Model  string `json:"model"`
		Tokens []int  `json:"tokens"`
	}{s.model, reply.Tokens})
}

// prompt asks for an answer whose "prompt" is what is wanted.
func (s *Server) prompt(ctx context.Context, path string, body any) (string, error) {
	var reply struct{ Prompt *string }
	if err := s.post(ctx, path, body, &reply); err != nil {
		return "", err
	}
	if reply.Prompt == nil {
		return "", notOffered{fmt.Errorf(`POST %s%s: the answer holds no "prompt"`, s.base, path)}
	}
	return *reply.Prompt, nil
}

// notOffered is the error of a server that does not know an address, or something else under it.
type notOffered struct{ error }

func (e notOffered) Unwrap() error { return e.error }

// maxReply bounds an answer in bytes, far above the longest prompts.
const maxReply = 256 << 20

func (s *Server) post(ctx context.Context, path string, body, into any) error {
	address := s.base + path
	data, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("POST %s: %w; are the messages JSON?", address, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("cannot ask for chats to be rendered: %w; give the server's address as in http://localhost:8000", err)
	}
	for name, values := range s.header {
		req.Header[name] = values
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := s.client.Do(req)
	if err != nil {
		if outer, ok := errors.AsType[*url.Error](err); ok {
			err = outer.Err // without its own mention of method and address
		}
		return fmt.Errorf("cannot reach %s: %w; is the server up?", address, err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxReply))
	switch {
	case resp.StatusCode != http.StatusOK:
		return refused(address, resp.StatusCode, answer)
	case err != nil:
		return fmt.Errorf("POST %s: the answer broke off: %w; is the server overloaded?", address, err)
	}
	if err := json.Unmarshal(answer, into); err != nil {
		return notOffered{fmt.Errorf("POST %s: the answer is not the JSON expected: %w: %s", address, err, opening(answer))}
	}
	return nil
}

// refused is the error for a status other than 200.
func refused(address string, status int, answer []byte) error {
	err := fmt.Errorf("POST %s: status %d: %s", address, status, opening(answer))
	switch status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusUnprocessableEntity, http.StatusNotImplemented:
		return notOffered{err}
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("%w; does the server want an API key?", err)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return fmt.Errorf("%w; the server is busy, try again later", err)
	}
	return err
}

// opening quotes the beginning of an answer on one line.
func opening(answer []byte) string {
	text := []rune(strings.Join(strings.Fields(string(answer[:min(len(answer), 640)])), " "))
	return fmt.Sprintf("%q", string(text[:min(len(text), 160)]))
}
