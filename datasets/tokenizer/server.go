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
)

// Server has an inference server do the work, through the /tokenize and /detokenize endpoints that vLLM and its
// relatives offer beside the OpenAI API. It is safe for concurrent use.
type Server struct {
	client *http.Client
	base   string
	model  string
	header http.Header
}

// NewServer asks the server at base (such as http://localhost:8000, without /v1) about model, sending header with every
// request. How long an answer may take is the client's Timeout.
func NewServer(client *http.Client, base, model string, header http.Header) *Server {
	return &Server{client: client, base: strings.TrimRight(base, "/"), model: model, header: header.Clone()}
}

// Source says that the server counted.
func (s *Server) Source() string { return FromServer }

// Count returns the number of tokens of text, those included that the server's tokenizer adds by itself.
func (s *Server) Count(text string) (int, error) { return s.count(context.Background(), text) }

func (s *Server) count(ctx context.Context, text string) (int, error) {
	reply, err := s.tokenize(ctx, text, true)
	if err != nil {
		return 0, err
	}
	if reply.Count == nil || *reply.Count < 0 {
		return 0, fmt.Errorf(`POST %s/tokenize: the answer holds no "count"; %s`, s.base, advice)
	}
	return *reply.Count, nil
}

// Encode returns the token ids of text, without special tokens.
func (s *Server) Encode(text string) ([]int, error) {
	reply, err := s.tokenize(context.Background(), text, false)
	if err != nil {
		return nil, err
	}
	if reply.Tokens == nil {
		return nil, fmt.Errorf(`POST %s/tokenize: the answer holds no "tokens"; %s`, s.base, advice)
	}
	return reply.Tokens, nil
}

// Decode returns the text of ids.
func (s *Server) Decode(ids []int) (string, error) {
	if ids == nil {
		ids = []int{} // null is not a list to the server
	}
	type request struct {
		Model  string `json:"model"`
		Tokens []int  `json:"tokens"`
	}
	var reply struct {
		Prompt *string `json:"prompt"`
	}
	if err := s.post(context.Background(), "/detokenize", request{s.model, ids}, &reply); err != nil {
		return "", err
	}
	if reply.Prompt == nil {
		return "", fmt.Errorf(`POST %s/detokenize: the answer holds no "prompt"; %s`, s.base, advice)
	}
	return *reply.Prompt, nil
}

type tokenizeReply struct {
	Count  *int  `json:"count"`
	Tokens []int `json:"tokens"`
}

func (s *Server) tokenize(ctx context.Context, text string, addSpecial bool) (tokenizeReply, error) {
	type request struct {
		Model            string `json:"model"`
		Prompt           string `json:"prompt"`
		AddSpecialTokens bool   `json:"add_special_tokens"`
	}
	var reply tokenizeReply
	err := s.post(ctx, "/tokenize", request{s.model, text, addSpecial}, &reply)
	return reply, err
}

// advice ends the errors of a server that answers but does not tokenize.
const advice = "does this server offer vLLM's /tokenize and /detokenize at its root? " +
	"If not, count tokens another way, such as by estimate"

// maxReply bounds an answer in bytes. The longest contexts, at some ten bytes a token, stay far below it.
const maxReply = 256 << 20

func (s *Server) post(ctx context.Context, path string, body, into any) error {
	address := s.base + path
	data, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("POST %s: %w", address, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("cannot ask for tokens: %w; give the server's address as in http://localhost:8000", err)
	}
	for name, values := range s.header {
		req.Header[name] = values
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := s.client.Do(req)
	if err != nil {
		return fmt.Errorf("cannot reach %s: %w; is the server up?", address, cause(err))
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return refusal(address, resp)
	}
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxReply))
	if err != nil {
		return fmt.Errorf("POST %s: the answer broke off: %w; is the server overloaded?", address, err)
	}
	if err := json.Unmarshal(answer, into); err != nil {
		return fmt.Errorf("POST %s: the answer is not the JSON expected: %w: %s; %s", address, err, firstWords(answer), advice)
	}
	return nil
}

// refusal is the error for a status other than 200.
func refusal(address string, resp *http.Response) error {
	answer, _ := io.ReadAll(io.LimitReader(resp.Body, 4096)) // what arrived is better than nothing
	hint := advice
	switch resp.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		hint = "does the server want an API key?"
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		hint = "the server is busy; try again later"
	}
	return fmt.Errorf("POST %s: status %s: %s; %s", address, resp.Status, firstWords(answer), hint)
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
	if outer, ok := errors.AsType[*url.Error](err); ok {
		return outer.Err
	}
	return err
}
