// Package chattemplate writes a chat the way a model was taught to read it: as one text, with the marks between the
// turns that the model's chat template puts there.
package chattemplate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
)

// Input is what a template is given. The order of the members of objects matters: templates may print them.
type Input struct {
	Messages  json.RawMessage // an array of objects with "role" and "content"
	Tools     json.RawMessage // an array of tools, or nil
	Arguments json.RawMessage // an object of further variables, or nil
}

// Renderer renders chats, with the opening of the model's answer at their end. Implementations are safe for concurrent
// use.
type Renderer interface {
	Render(ctx context.Context, in Input) (string, error)
}

// Sources of a rendering, for labels next to prompts.
const (
	FromServer   = "server"   // the inference server, with the template it has itself
	FromTemplate = "template" // this client, with the template beside the tokenizer
	FromNone     = "none"     // no template: messages as they are
)

// ErrAbsent means that a renderer is not there at all, as with a server that offers no rendering.
var ErrAbsent = errors.New("no rendering of chats is offered")

// Named is a renderer that can say who it is.
type Named interface {
	Renderer
	Source() string
}

// Fallback renders with the first of several renderers that is there, and stays with it: a run must not mix two. It is safe
// for concurrent use.
type Fallback struct {
	among []Named

	mu     sync.Mutex // guards chosen
	chosen Named
}

// NewFallback tries renderers in the order given.
func NewFallback(among ...Named) *Fallback { return &Fallback{among: among} }

// Source says who renders; "" before the first chat was rendered.
func (f *Fallback) Source() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.chosen == nil {
		return ""
	}
	return f.chosen.Source()
}

// Render renders a chat. When none of the renderers is there, the error matches ErrAbsent.
func (f *Fallback) Render(ctx context.Context, in Input) (string, error) {
	f.mu.Lock()
	chosen := f.chosen
	if chosen != nil {
		f.mu.Unlock()
		return chosen.Render(ctx, in)
	}
	defer f.mu.Unlock() // others wait until it is known who renders
	var errs []error
	for _, r := range f.among {
		s, err := r.Render(ctx, in)
		if errors.Is(err, ErrAbsent) {
			errs = append(errs, err)
			continue
		}
		if err == nil {
			f.chosen = r
		}
		return s, err
	}
	if len(errs) == 0 {
		errs = append(errs, ErrAbsent)
	}
	return "", fmt.Errorf("chats cannot be rendered: %w", errors.Join(errs...))
}

// Plain stands in where no chat template is to be had: a chat is the texts of its messages, a line each, without marks between
// the turns.
type Plain struct{}

// Source says that no template was there.
func (Plain) Source() string { return FromNone }

// Render joins the contents of the messages, which have to be text.
func (Plain) Render(_ context.Context, in Input) (string, error) {
	var messages []struct{ Content string }
	if err := json.Unmarshal(in.Messages, &messages); err != nil {
		return "", fmt.Errorf("a message that is not text needs a chat template: %w", err)
	}
	said := make([]string, len(messages))
	for i, m := range messages {
		said[i] = m.Content
	}
	return strings.Join(said, "\n"), nil
}
