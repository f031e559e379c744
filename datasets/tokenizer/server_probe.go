package tokenizer

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"benchtop/datasets/endpoint"
)

// probed is the text that servers are tried with.
const probed = "ready?"

// ProbeServer finds out in which form the server at base tokenizes, and under which of the names of its model, which it
// tries in order; empty ones and repetitions are left out. A server that does not offer /tokenize, or answers in no
// form known, is an error that says what was tried and that endpoint.NotOffered knows; one that cannot be reached is another.
func ProbeServer(ctx context.Context, client *http.Client, base string, models ...string) (*Server, error) {
	names := named(models)
	var tries []*Server
	for _, model := range names {
		tries = append(tries, NewServer(client, base, model))
	}
	llama := NewServer(client, base, names[0])
	llama.form = llamaCPP
	var tried error
	for _, s := range append(tries, llama) {
		err := s.probe(ctx)
		if err == nil {
			s.at = s.at.Patient()
			return s, nil
		}
		if !endpoint.NotOffered(err) {
			return nil, err
		}
		err = fmt.Errorf("in %s's form for model %q: %w", s.form, s.model, err)
		if tried != nil {
			err = fmt.Errorf("%w; %w", tried, err)
		}
		tried = err
	}
	return nil, fmt.Errorf("%w; %s", tried, advice)
}

// named returns the names to try: those that are not empty, once each, or the empty one if there is no other.
func named(models []string) []string {
	var names []string
	for _, model := range models {
		if model != "" && !slices.Contains(names, model) {
			names = append(names, model)
		}
	}
	if names == nil {
		return []string{""}
	}
	return names
}

// probe asks for the tokens of a text. A llama.cpp that is asked in vLLM's form takes the text for missing and answers
// with no tokens. For a server that seems to be vLLM, it looks at how ids become text, to tell SGLang from it.
func (s *Server) probe(ctx context.Context) error {
	reply, err := s.tokenize(ctx, probed, true)
	if err != nil {
		return err
	}
	if len(reply.Tokens) == 0 {
		return s.at.Lacks("/tokenize", "tokens")
	}
	if s.form == llamaCPP {
		return nil
	}
	if reply.Count == nil || *reply.Count != len(reply.Tokens) {
		return s.at.Lacks("/tokenize", "count")
	}
	text, err := s.detokenize(ctx, reply.Tokens)
	if err == nil && text.Prompt == nil && text.Text != nil {
		s.form = sgLang
	}
	// Without /detokenize the server still counts; Decode says then what is missing.
	return ctx.Err()
}

// maxVocabulary bounds what a server may say of its vocabulary. It is far above any model's.
const maxVocabulary = 1 << 26

// VocabSize is the number of ids of the server's vocabulary, those of added tokens included, if the server tells it:
// llama.cpp in /v1/models, vLLM in /tokenizer_info where that is enabled. It is 0 if not.
func (s *Server) VocabSize(ctx context.Context) int {
	size := 0
	if s.form == llamaCPP {
		size = s.modelVocabSize(ctx)
	} else {
		var info struct {
			VocabSize int `json:"vocab_size"`
		}
		if s.at.Get(ctx, "/tokenizer_info", &info) == nil {
			size = info.VocabSize
		}
	}
	if size < 0 || size > maxVocabulary {
		return 0
	}
	return size
}

// modelVocabSize looks for our model in llama.cpp's list, which tells the vocabulary with each. Such a server has one
// model and answers to any name, so the first stands for one that is not in the list.
func (s *Server) modelVocabSize(ctx context.Context) int {
	var list struct {
		Data []struct {
			ID   string
			Meta struct {
				Vocabulary int `json:"n_vocab"`
			}
		}
	}
	if s.at.Get(ctx, "/v1/models", &list) != nil || len(list.Data) == 0 {
		return 0
	}
	for _, model := range list.Data {
		if model.ID == s.model {
			return model.Meta.Vocabulary
		}
	}
	return list.Data[0].Meta.Vocabulary
}
