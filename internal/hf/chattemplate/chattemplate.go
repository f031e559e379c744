// Package chattemplate writes a chat the way a model was taught to read it: as one text, with the marks between the
// turns that the model's chat template puts there.
package chattemplate

import (
	"cmp"
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

// NamedRenderer is a renderer that can say who it is.
type NamedRenderer interface {
	Renderer
	Source() string
}

// Fallback renders with the first of several renderers that is there, and stays with it: a run must not mix two. It is
// safe for concurrent use.
type Fallback struct {
	among []NamedRenderer

	mu     sync.Mutex // guards chosen
	chosen NamedRenderer
}

// NewFallback tries renderers in the order given.
func NewFallback(among ...NamedRenderer) *Fallback { return &Fallback{among: among} }

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

// Plain stands in where no chat template is to be had: a chat is the texts of its messages, a line each, without marks
// between the turns.
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

// Files are the contents of the files beside a tokenizer that concern chat templates; nil for one that is not there.
type Files struct {
	Jinja     []byte            // chat_template.jinja
	ToolJinja []byte            // additional_chat_templates/tool_use.jinja
	JSON      []byte            // chat_template.json
	Config    []byte            // tokenizer_config.json
	Tokens    map[string]string // the tokenizer's special tokens by name, such as bos_token
}

// Local renders with the templates that came with a tokenizer. It is safe for concurrent use.
type Local struct {
	model     string
	templates map[string]templateFile // by name; the one without a name is "default"
}

// templateFile is a template, or why it is missing, which matters only when a chat is rendered.
type templateFile struct {
	template *Template
	err      error
}

const defaultTemplate, toolTemplate = "default", "tool_use"

// Load finds the chat templates of a model among the files: the file of its own first, then the older places. Nil means
// that the model has none. Errors say which file is broken; a template that cannot be read is an error of Render.
func Load(model string, f Files) (*Local, error) {
	var config, legacy struct {
		Template json.RawMessage `json:"chat_template"`
	}
	if err := cmp.Or(unmarshal("tokenizer_config.json", f.Config, &config),
		unmarshal("chat_template.json", f.JSON, &legacy)); err != nil {
		return nil, err
	}
	var sources map[string]string
	var err error
	switch {
	case f.Jinja != nil || f.ToolJinja != nil:
		sources = map[string]string{}
		for name, source := range map[string][]byte{defaultTemplate: f.Jinja, toolTemplate: f.ToolJinja} {
			if source != nil {
				sources[name] = strings.TrimPrefix(string(source), "\ufeff")
			}
		}
	case present(config.Template):
		sources, err = templatesIn("tokenizer_config.json", config.Template)
	case present(legacy.Template): // for the model's processor of pictures; renderers of text do not read it
		sources, err = templatesIn("chat_template.json", legacy.Template)
	default:
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	l := &Local{model, map[string]templateFile{}}
	for name, source := range sources {
		t, err := New(source, f.Tokens)
		l.templates[name] = templateFile{t, err}
	}
	return l, nil
}

func present(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// unmarshal reads a file that may be missing.
func unmarshal(name string, data []byte, into any) error {
	if data == nil {
		return nil
	}
	if err := json.Unmarshal([]byte(strings.TrimPrefix(string(data), "\ufeff")), into); err != nil {
		return fmt.Errorf("%s: %w; is the file complete?", name, err)
	}
	return nil
}

// templatesIn reads a template, or a list of them with names.
func templatesIn(file string, raw json.RawMessage) (map[string]string, error) {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return map[string]string{defaultTemplate: one}, nil
	}
	var several []struct{ Name, Template *string }
	if err := json.Unmarshal(raw, &several); err != nil {
		return nil, fmt.Errorf(`%s: "chat_template" is neither a text nor a list of templates: %w`, file, err)
	}
	out := map[string]string{}
	for _, t := range several {
		if t.Name == nil || t.Template == nil {
			return nil, fmt.Errorf(`%s: a "chat_template" of the list lacks "name" or "template"`, file)
		}
		out[*t.Name] = *t.Template
	}
	return out, nil
}

// Source says that this client rendered.
func (l *Local) Source() string { return FromTemplate }

// Render renders with the template for tools if there are tools and such a template, else with the default one.
func (l *Local) Render(ctx context.Context, in Input) (string, error) {
	t, found := l.templates[toolTemplate]
	if !found || len(in.Tools) == 0 {
		if t, found = l.templates[defaultTemplate]; !found {
			return "", fmt.Errorf("model %s: %w", l.model,
				&TemplateError{errors.New("of several, none is the default one")})
		}
	}
	s, err := "", t.err
	if err == nil {
		s, err = t.template.Render(ctx, in)
	}
	if err != nil {
		return "", fmt.Errorf("model %s: %w", l.model, err)
	}
	return s, nil
}
