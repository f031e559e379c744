package datasets

import (
	"context"
	"io"

	"benchtop/datasets/chattemplate"
	"benchtop/datasets/tokenizer"
)

// Source yields conversations until io.EOF. One goroutine uses it.
type Source interface {
	Next() (Conversation, error)
	// Len is how many conversations there are in all, those taken already among them; 0 for no end.
	Len() int
	// Description says in a line what the prompts are, for the head of a report.
	Description() string
}

// Text is what a data set may ask about a text before it is sent. Its fields are safe for concurrent use.
type Text struct {
	// Counter counts tokens, special ones that the model's tokenizer adds by itself among them; nil when none is to.
	Counter tokenizer.Counter
	// Tokenizer turns text into ids and back; nil where there is none.
	Tokenizer tokenizer.Tokenizer
	// Template renders chats; nil where the model has none. Data sets that render ask for it only then.
	Template chattemplate.Renderer
}

// count returns the tokens of each text.
func (t Text) count(ctx context.Context, texts []string) ([]int, error) {
	return tokenizer.CountAll(ctx, t.Counter, texts)
}

// List is a data set that was drawn as a whole.
type List struct {
	all   []Conversation
	next  int
	about string
}

// Next returns the next conversation.
func (l *List) Next() (Conversation, error) {
	if l.next == len(l.all) {
		return Conversation{}, io.EOF
	}
	l.next++
	return l.all[l.next-1], nil
}

// Len is how many conversations there are in all.
func (l *List) Len() int { return len(l.all) }

// Description says in a line what the prompts are, for the head of a report.
func (l *List) Description() string { return l.about }
