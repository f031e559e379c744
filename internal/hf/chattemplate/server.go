package chattemplate

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	"benchtop/internal/hf/endpoint"
)

// Server has an inference server render with its own template: through /apply-template, as llama.cpp's server offers
// it, or through /tokenize and /detokenize, as vLLM's does. Which one is found out once. It is safe for concurrent use.
type Server struct {
	model string

	mu   sync.Mutex // guards the fields below until form is known; from then on they do not change
	at   *endpoint.Server
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

// NewServer asks the server at base (such as http://localhost:8000, without /v1) about model. How long an answer may
// take is the client's Timeout.
func NewServer(client *http.Client, base, model string) *Server {
	return &Server{at: endpoint.New(client, base), model: model}
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
	return "", fmt.Errorf("%s: %w", s.at.Base(), ErrAbsent)
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
			s.form, s.at = f.form, s.at.Patient()
			return s.form, nil
		}
		if !endpoint.NotOffered(err) {
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
	if err := s.at.Post(ctx, "/tokenize", s.chat(in), &reply); err != nil {
		return "", err
	}
	if len(reply.Tokens) == 0 {
		return "", s.at.Lacks("/tokenize", "tokens")
	}
	return s.prompt(ctx, "/detokenize", struct {
		Model  string `json:"model"`
		Tokens []int  `json:"tokens"`
	}{s.model, reply.Tokens})
}

// prompt asks for an answer whose "prompt" is what is wanted.
func (s *Server) prompt(ctx context.Context, path string, body any) (string, error) {
	var reply struct{ Prompt *string }
	if err := s.at.Post(ctx, path, body, &reply); err != nil {
		return "", err
	}
	if reply.Prompt == nil {
		return "", s.at.Lacks(path, "prompt")
	}
	return *reply.Prompt, nil
}
