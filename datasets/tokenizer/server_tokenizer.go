package tokenizer

import (
	"context"
	"fmt"
	"strings"
)

// ServerTokenizer is a server as a whole Tokenizer, for prompts that are made of tokens. Each call is an exchange with
// the server, so the prompts take as long as the network. It is safe for concurrent use.
type ServerTokenizer struct {
	ctx     context.Context // of every call: the Tokenizer's own methods have none
	server  *Server
	ids     []int
	special []int
	adds    int
}

// NewServerTokenizer makes a Tokenizer of s for a vocabulary of vocabSize ids, of which no synthetic prompt may hold
// special. With 0 it goes by what the server tells, which may be nothing. It fails if the server does not turn ids into
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
		return nil, fmt.Errorf("the server at %s counts tokens but makes another text of them: %q comes back as %.80q; name the model's tokenizer on this machine with --tokenizer DIRECTORY",
			s.at.Base(), probed, text)
	}
	t := &ServerTokenizer{ctx: ctx, server: s, special: special, adds: max(0, with-len(without))}
	if vocabSize == 0 {
		vocabSize = s.VocabSize(ctx)
	}
	t.ids = upTo(vocabSize)
	return t, ctx.Err()
}

// plain is text without blanks and capitals, which some tokenizers add or lose. They also put special tokens around it.
func plain(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), "")) }

func upTo(n int) []int {
	ids := make([]int, n)
	for i := range ids {
		ids[i] = i
	}
	return ids
}

// Count returns the number of tokens of text, those included that the server's tokenizer adds by itself.
func (t *ServerTokenizer) Count(text string) (int, error) {
	return t.server.CountContext(t.ctx, text)
}

// CountContext is Count, until ctx ends instead.
func (t *ServerTokenizer) CountContext(ctx context.Context, text string) (int, error) {
	return t.server.CountContext(ctx, text)
}

// Encode returns the ids of text, without special tokens.
func (t *ServerTokenizer) Encode(text string) ([]int, error) {
	return t.server.EncodeContext(t.ctx, text)
}

// Decode returns the text of ids, special ones included.
func (t *ServerTokenizer) Decode(ids []int) (string, error) {
	return t.server.DecodeContext(t.ctx, ids)
}

// VocabSize is the number of ids, 0 … VocabSize-1; 0 when it is not known. A server counts added tokens among them.
func (t *ServerTokenizer) VocabSize() int { return len(t.ids) }

// IDs lists all ids, ascending. The caller must not change it.
func (t *ServerTokenizer) IDs() []int { return t.ids }

// SpecialIDs are the ids that no synthetic prompt may hold, of which a server tells none.
func (t *ServerTokenizer) SpecialIDs() []int { return t.special }

// SpecialTokensToAdd is how many tokens the server's tokenizer adds by itself to a text.
func (t *ServerTokenizer) SpecialTokensToAdd() int { return t.adds }

// Concurrency is how many calls may be in flight at once.
func (t *ServerTokenizer) Concurrency() int { return inFlight }
