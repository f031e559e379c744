package tokenizer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// probed is the text that servers are tried with.
const probed = "ready?"

// ProbeServer finds out in which form the server at base tokenizes, and under which of the names of its model, which it
// tries in order; empty ones and repetitions are left out. A server that does not offer /tokenize, or answers in no
// form known, is an error that says what was tried, and so is one that cannot be reached.
func ProbeServer(ctx context.Context, client *http.Client, base string, header http.Header, models ...string) (*Server, error) {
	var tried []string
	try := func(f form, model string) (*Server, error) {
		s := NewServer(client, base, model, header)
		s.form = f
		err := s.probe(ctx)
		if err == nil {
			s.pauses = []time.Duration{250 * time.Millisecond, time.Second}
			return s, nil
		}
		// The advice comes once, at the end.
		why := strings.TrimSuffix(err.Error(), "; "+advice)
		tried = append(tried, fmt.Sprintf("in %s's form for model %q: %s", f, model, why))
		if !offersNone(err) {
			return nil, err
		}
		return nil, nil
	}
	names := named(models)
	for _, model := range names {
		if s, err := try(vLLM, model); s != nil || err != nil {
			return s, err
		}
	}
	if s, err := try(llamaCPP, names[0]); s != nil || err != nil {
		return s, err
	}
	return nil, errors.New(strings.Join(tried, "; ") + "; " + advice)
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
		return s.lacks("/tokenize", "tokens")
	}
	if s.form == llamaCPP {
		return nil
	}
	if reply.Count == nil || *reply.Count != len(reply.Tokens) {
		return s.lacks("/tokenize", "count")
	}
	var text detokenizeReply
	err = s.post(ctx, "/detokenize", s.form.detokenize(s.model, reply.Tokens), &text)
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
		if s.get(ctx, "/tokenizer_info", &info) == nil {
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
	if s.get(ctx, "/v1/models", &list) != nil || len(list.Data) == 0 {
		return 0
	}
	for _, model := range list.Data {
		if model.ID == s.model {
			return model.Meta.Vocabulary
		}
	}
	return list.Data[0].Meta.Vocabulary
}
