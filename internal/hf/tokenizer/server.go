package tokenizer

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"benchtop/internal/hf/endpoint"
)

// Server has an inference server do the work, through the /tokenize and /detokenize endpoints that servers offer beside
// the OpenAI API, in vLLM's form, SGLang's or llama.cpp's. It is safe for concurrent use.
type Server struct {
	at    *endpoint.Server
	model string
	form  form
}

// NewServer asks the server at base (such as http://localhost:8000, without /v1) about model, in vLLM's form. How long
// an answer may take is the client's Timeout. ProbeServer finds out the form.
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

// form is how a server wants to be asked for tokens.
//
//	         /tokenize                          answers        /detokenize                    answers
//	vLLM     model, prompt, add_special_tokens  count, tokens  model, tokens                  prompt
//	SGLang   the same                           the same       and skip_special_tokens=false  text
//	llama.cpp  content, add_special             tokens         tokens                         content
type form int

const (
	vLLM form = iota
	sgLang
	llamaCPP
)

func (f form) String() string { return [...]string{"vLLM", "SGLang", "llama.cpp"}[f] }

// question is a body that asks for tokens or for a text. A form leaves the others' fields out.
type question struct {
	Model            *string `json:"model,omitempty"`
	Prompt           *string `json:"prompt,omitempty"`
	AddSpecialTokens *bool   `json:"add_special_tokens,omitempty"`
	Content          *string `json:"content,omitempty"`
	AddSpecial       *bool   `json:"add_special,omitempty"`
	Tokens           []int   `json:"tokens,omitzero"`
	Skip             *bool   `json:"skip_special_tokens,omitempty"`
}

// tokenize asks for the tokens of text.
func (f form) tokenize(model, text string, addSpecial bool) question {
	if f == llamaCPP {
		return question{Content: &text, AddSpecial: &addSpecial}
	}
	return question{Model: &model, Prompt: &text, AddSpecialTokens: &addSpecial}
}

type tokenizeReply struct {
	Count  *int `json:"count"`
	Tokens ids  `json:"tokens"`
}

// ids are read by hand where they are plain numbers: package json takes longer for a thousand than the server does.
type ids []int

func (t *ids) UnmarshalJSON(list []byte) error {
	all, number := make(ids, 0, len(list)/4), -1
	for i, c := range list {
		switch {
		case i == 0 && c == '[' || i > 0 && (c <= ' ' || c == ']' && number < 0):
		case i > 0 && '0' <= c && c <= '9' && number < maxVocabulary:
			number = 10*max(number, 0) + int(c-'0')
		case (c == ',' || c == ']') && number >= 0:
			all, number = append(all, number), -1
		default:
			return json.Unmarshal(list, (*[]int)(t))
		}
	}
	*t = all
	return nil
}

// counted names the field that tells the number of tokens.
func (f form) counted() string { return [...]string{"count", "count", "tokens"}[f] }

// detokenize asks for the text of ids, special ones included.
func (f form) detokenize(model string, ids []int) question {
	switch f {
	case sgLang:
		return question{Model: &model, Tokens: ids, Skip: new(false)}
	case llamaCPP:
		return question{Tokens: ids}
	}
	return question{Model: &model, Tokens: ids}
}

type detokenizeReply struct {
	Prompt  *string `json:"prompt"`
	Text    *string `json:"text"`
	Content *string `json:"content"`
}

// in is the text as the form tells it, or nil.
func (r detokenizeReply) in(f form) *string { return [...]*string{r.Prompt, r.Text, r.Content}[f] }

// decoded names the field that tells the text of ids.
func (f form) decoded() string { return [...]string{"prompt", "text", "content"}[f] }

// probed is the text that servers are tried with.
const probed = "ready?"

// ProbeServer finds out in which form the server at base tokenizes, and under which of the names of its model, which it
// tries in order; empty ones and repetitions are left out. A server that does not offer /tokenize, or answers in no
// form known, is an error that says what was tried and that endpoint.NotOffered knows; one that cannot be reached is
// another.
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
	// Without /detokenize the server still counts; Decode then fails with the reason.
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

// ServerTokenizer is a server as a whole Tokenizer, for prompts that are made of tokens. Each call is an exchange with
// the server, so the prompts take as long as the network. It is safe for concurrent use.
type ServerTokenizer struct {
	ctx context.Context // of every call: the Tokenizer's own methods have none
	*Server
	ids     []int
	special []int
	adds    int
}

// NewServerTokenizer makes a Tokenizer of s for a vocabulary of vocabSize ids, of which no synthetic prompt may hold
// special. With 0 it goes by the size that the server tells, if any. It fails if the server does not turn ids into
// the text they were made of. ctx is also that of all later calls: once it ends they fail.
func NewServerTokenizer(ctx context.Context, s *Server, vocabSize int, special []int) (*ServerTokenizer, error) {
	if vocabSize < 0 || vocabSize > maxVocabulary {
		return nil, fmt.Errorf("vocabulary size %d must be between 0 and %d", vocabSize, maxVocabulary)
	}
	with, err := s.CountContext(ctx, probed)
	if err != nil {
		return nil, err
	}
	without, err := s.EncodeContext(ctx, probed)
	if err != nil {
		return nil, err
	}
	text, err := s.DecodeContext(ctx, without)
	if err != nil {
		return nil, fmt.Errorf("the server counts tokens but does not turn them into text: %w", err)
	}
	if !strings.Contains(plain(text), plain(probed)) {
		return nil, fmt.Errorf("the server at %s counts tokens but makes another text of them: %q comes back as "+
			"%.80q; name the model's tokenizer on this machine with --tokenizer DIRECTORY",
			s.at.Base(), probed, text)
	}
	t := &ServerTokenizer{ctx: ctx, Server: s, special: special, adds: max(0, with-len(without))}
	if vocabSize == 0 {
		vocabSize = s.VocabSize(ctx)
	}
	t.ids = make([]int, vocabSize)
	for i := range t.ids {
		t.ids[i] = i
	}
	return t, ctx.Err()
}

// plain is text without blanks and capitals, which some tokenizers add or lose.
func plain(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), "")) }

// Count returns the number of tokens of text, those included that the server's tokenizer adds by itself.
func (t *ServerTokenizer) Count(text string) (int, error) { return t.Server.CountContext(t.ctx, text) }

// Encode returns the ids of text, without special tokens.
func (t *ServerTokenizer) Encode(text string) ([]int, error) {
	return t.Server.EncodeContext(t.ctx, text)
}

// Decode returns the text of ids, special ones included.
func (t *ServerTokenizer) Decode(ids []int) (string, error) {
	return t.Server.DecodeContext(t.ctx, ids)
}

// VocabSize is the number of ids, 0 … VocabSize-1; 0 when it is not known. A server counts added tokens among them.
func (t *ServerTokenizer) VocabSize() int { return len(t.ids) }

// IDs lists all ids, ascending. The caller must not change it.
func (t *ServerTokenizer) IDs() []int { return t.ids }

// SpecialIDs are the ids that no synthetic prompt may hold, of which a server tells none.
func (t *ServerTokenizer) SpecialIDs() []int { return t.special }

// AddedSpecialIDs are SpecialIDs.
func (t *ServerTokenizer) AddedSpecialIDs() []int { return t.special }

// SpecialTokensToAdd is how many tokens the server's tokenizer adds by itself to a text.
func (t *ServerTokenizer) SpecialTokensToAdd() int { return t.adds }

// Concurrency is how many calls may be in flight at once.
func (t *ServerTokenizer) Concurrency() int { return inFlight }
