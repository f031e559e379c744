package tokenizer

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Server has an inference server do the work, through the /tokenize and /detokenize endpoints that servers offer beside
// the OpenAI API, in vLLM's form, SGLang's or llama.cpp's. It is safe for concurrent use.
type Server struct {
	client *http.Client
	base   string
	model  string
	header http.Header
	form   form
	pauses []time.Duration // before further tries, where the server is busy for a moment; nil for no further try
}

// NewServer asks the server at base (such as http://localhost:8000, without /v1) about model, in vLLM's form, sending
// header with every request. How long an answer may take is the client's Timeout. ProbeServer finds out the form.
func NewServer(client *http.Client, base, model string, header http.Header) *Server {
	return &Server{client: client, base: strings.TrimRight(base, "/"), model: model, header: header.Clone()}
}

// Source says that the server counted.
func (s *Server) Source() string { return FromServer }

// Count returns the number of tokens of text, those included that the server's tokenizer adds by itself.
func (s *Server) Count(text string) (int, error) { return s.CountContext(context.Background(), text) }

// CountContext is Count, until ctx ends.
func (s *Server) CountContext(ctx context.Context, text string) (int, error) {
	return s.count(ctx, text)
}

func (s *Server) count(ctx context.Context, text string) (int, error) {
	reply, err := s.tokenize(ctx, text, true)
	if err != nil {
		return 0, err
	}
	if s.form == llamaCPP && reply.Tokens != nil {
		return len(reply.Tokens), nil
	}
	if reply.Count == nil || *reply.Count < 0 {
		return 0, s.lacks("/tokenize", s.form.counted())
	}
	return *reply.Count, nil
}

// Encode returns the token ids of text, without special tokens.
func (s *Server) Encode(text string) ([]int, error) {
	return s.EncodeContext(context.Background(), text)
}

// EncodeContext is Encode, until ctx ends.
func (s *Server) EncodeContext(ctx context.Context, text string) ([]int, error) {
	return s.encode(ctx, text, false)
}

// EncodeSpecial returns the token ids of text with the special tokens that the server's tokenizer adds by itself.
func (s *Server) EncodeSpecial(ctx context.Context, text string) ([]int, error) {
	return s.encode(ctx, text, true)
}

func (s *Server) encode(ctx context.Context, text string, addSpecial bool) ([]int, error) {
	reply, err := s.tokenize(ctx, text, addSpecial)
	if err != nil {
		return nil, err
	}
	if reply.Tokens == nil {
		return nil, s.lacks("/tokenize", "tokens")
	}
	return reply.Tokens, nil
}

// Decode returns the text of ids, special ones included.
func (s *Server) Decode(ids []int) (string, error) { return s.DecodeContext(context.Background(), ids) }

// DecodeContext is Decode, until ctx ends.
func (s *Server) DecodeContext(ctx context.Context, ids []int) (string, error) {
	if ids == nil {
		ids = []int{} // null is not a list to the server
	}
	var reply detokenizeReply
	if err := s.post(ctx, "/detokenize", s.form.detokenize(s.model, ids), &reply); err != nil {
		return "", err
	}
	text := reply.in(s.form)
	if text == nil {
		return "", s.lacks("/detokenize", s.form.decoded())
	}
	return *text, nil
}

// RoundTrip returns the text of ids, and the ids that the server makes of that text, without special tokens. They need
// not be the same.
func (s *Server) RoundTrip(ctx context.Context, ids []int) (text string, again []int, err error) {
	if text, err = s.DecodeContext(ctx, ids); err != nil {
		return "", nil, err
	}
	again, err = s.EncodeContext(ctx, text)
	return text, again, err
}

func (s *Server) tokenize(ctx context.Context, text string, addSpecial bool) (tokenizeReply, error) {
	var reply tokenizeReply
	err := s.post(ctx, "/tokenize", s.form.tokenize(s.model, text, addSpecial), &reply)
	return reply, err
}

// lacks is the error for an answer without the field that its form has.
func (s *Server) lacks(path, field string) error {
	return &formError{fmt.Sprintf("POST %s%s: the answer holds no %q; %s", s.base, path, field, advice)}
}
