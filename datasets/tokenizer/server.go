package tokenizer

import (
	"context"
	"fmt"
	"net/http"

	"benchtop/datasets/endpoint"
)

// Server has an inference server do the work, through the /tokenize and /detokenize endpoints that servers offer beside
// the OpenAI API, in vLLM's form, SGLang's or llama.cpp's. It is safe for concurrent use.
type Server struct {
	at    *endpoint.Server
	model string
	form  form
}

// NewServer asks the server at base (such as http://localhost:8000, without /v1) about model, in vLLM's form. How long an
// answer may take is the client's Timeout. ProbeServer finds out the form.
func NewServer(client *http.Client, base, model string) *Server {
	return &Server{at: endpoint.New(client, base), model: model}
}

// Count returns the number of tokens of text, those included that the server's tokenizer adds by itself.
func (s *Server) Count(text string) (int, error) { return s.CountContext(context.Background(), text) }

// CountContext is Count, until ctx ends.
func (s *Server) CountContext(ctx context.Context, text string) (int, error) {
	reply, err := s.tokenize(ctx, text, true)
	switch {
	case err != nil:
		return 0, advised(err)
	case s.form == llamaCPP && reply.Tokens != nil:
		return len(reply.Tokens), nil
	case reply.Count == nil || *reply.Count < 0:
		return 0, advised(s.at.Lacks("/tokenize", s.form.counted()))
	}
	return *reply.Count, nil
}

// EncodeContext returns the token ids of text, without special tokens, unless ctx ends before.
func (s *Server) EncodeContext(ctx context.Context, text string) ([]int, error) {
	reply, err := s.tokenize(ctx, text, false)
	switch {
	case err != nil:
		return nil, advised(err)
	case reply.Tokens == nil:
		return nil, advised(s.at.Lacks("/tokenize", "tokens"))
	}
	return reply.Tokens, nil
}

// DecodeContext returns the text of ids, special ones included, unless ctx ends before.
func (s *Server) DecodeContext(ctx context.Context, ids []int) (string, error) {
	if ids == nil {
		ids = []int{} // null is not a list to the server
	}
	reply, err := s.detokenize(ctx, ids)
	if err != nil {
		return "", advised(err)
	}
	text := reply.in(s.form)
	if text == nil {
		return "", advised(s.at.Lacks("/detokenize", s.form.decoded()))
	}
	return *text, nil
}

func (s *Server) tokenize(ctx context.Context, text string, addSpecial bool) (reply tokenizeReply, err error) {
	err = s.at.Post(ctx, "/tokenize", s.form.tokenize(s.model, text, addSpecial), &reply)
	return reply, err
}

func (s *Server) detokenize(ctx context.Context, ids []int) (reply detokenizeReply, err error) {
	err = s.at.Post(ctx, "/detokenize", s.form.detokenize(s.model, ids), &reply)
	return reply, err
}

// advice ends the errors of a server that answers but does not tokenize.
const advice = "does this server offer vLLM's or llama.cpp's /tokenize and /detokenize at its root? " +
	"If not, name the model's tokenizer with --tokenizer DIRECTORY"

func advised(err error) error {
	if endpoint.NotOffered(err) {
		return fmt.Errorf("%w; %s", err, advice)
	}
	return err
}
