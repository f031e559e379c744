package chattemplate

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// maxSource bounds a template in bytes; known ones have some ten thousand.
const maxSource = 512 << 10

// Template is a model's chat template, ready to render. It is safe for concurrent use.
//
// It has what the transformers library gives a template: blocks trimmed, loop controls, a generation tag, tojson as
// Python writes it, raise_exception, strftime_now. A template that may come out otherwise than with Jinja2 is refused.
type Template struct {
	body    block
	hidden  []string // variables that are not seen although they are given
	filters map[string]filter
	tools   bool // the source speaks of tools
	special map[string]string
	now     func() time.Time
}

// New reads a template. special are the names of special tokens and their texts, such as bos_token.
func New(source string, special map[string]string) (*Template, error) {
	t := &Template{filters: filters(), tools: strings.Contains(source, "tools"), special: special, now: time.Now}
	var err error
	switch {
	case len(source) > maxSource:
		err = fmt.Errorf("longer than %d bytes", maxSource)
	case !utf8.ValidString(source):
		err = errors.New("not UTF-8")
	default:
		t.body, t.hidden, err = parse(source, t.filters)
	}
	if err != nil {
		return nil, &TemplateError{err}
	}
	return t, nil
}

// TemplateError says that a model's chat template stands in the way of a rendering: it cannot be read or run here, or
// it refuses the chat. The caller knows the purpose of the chat, and adds a hint.
type TemplateError struct{ err error }

func (e *TemplateError) Error() string { return "chat template: " + e.err.Error() }

// Unwrap gives the reason.
func (e *TemplateError) Unwrap() error { return e.err }

// Clock returns a template like t whose strftime_now goes by another clock.
func (t *Template) Clock(now func() time.Time) *Template {
	u := *t
	u.now = now
	return &u
}

// Render renders a chat. An error says on which line of the template it came up. A rendering from which a user's words
// or a tool's name are missing is an error, too.
func (t *Template) Render(ctx context.Context, in Input) (string, error) {
	vars, err := t.variables(in)
	if err != nil {
		return "", err
	}
	messages, tools := vars["messages"], vars["tools"]
	for _, name := range t.hidden {
		delete(vars, name)
	}
	f := &frame{&run{ctx: ctx, now: t.now, filters: t.filters}, nil, vars, &strings.Builder{}}
	err = t.body.run(f)
	if said, ok := errors.AsType[refusal](err); ok {
		err = fmt.Errorf("it refuses this chat: %w", said)
	}
	if err == nil {
		err = t.checkComplete(f.out.String(), messages, tools)
	}
	if err != nil {
		return "", &TemplateError{err}
	}
	return f.out.String(), nil
}

// variables are those that a template begins with.
func (t *Template) variables(in Input) (map[string]any, error) {
	vars := map[string]any{"tools": nil, "documents": nil, "add_generation_prompt": true}
	for name, token := range t.special {
		vars[name] = token
	}
	messages, err := readJSON(in.Messages)
	if _, ok := messages.(*list); err != nil || !ok {
		return nil, fmt.Errorf("messages must be a JSON array: %w", cmp.Or(err, errors.New("something else")))
	}
	vars["messages"] = messages
	if len(in.Tools) > 0 {
		if vars["tools"], err = readJSON(in.Tools); err != nil {
			return nil, fmt.Errorf("tools must be JSON: %w", err)
		}
	}
	if len(bytes.TrimSpace(in.Arguments)) == 0 {
		return vars, nil
	}
	arguments, err := readJSON(in.Arguments)
	d, ok := arguments.(*dict)
	if err != nil || !ok {
		return nil, fmt.Errorf("--chat-template-kwargs must be a JSON object: %w",
			cmp.Or(err, errors.New("something else")))
	}
	for i, k := range d.keys {
		name, _ := k.(string) // the keys of JSON are strings
		if reserved(name) || name == "tools" && len(in.Tools) > 0 {
			return nil, fmt.Errorf("--chat-template-kwargs must not hold %q", name)
		}
		vars[name] = d.at(i)
	}
	return vars, nil
}

// reserved says whether an argument of that name would not be a variable: the messages are the request's own, and
// transformers takes chat_template for the template.
func reserved(name string) bool { return name == "messages" || name == "chat_template" }

// checkComplete finds words of the chat that a rendering leaves out. Only users' words must be there in order:
// templates move system messages, and drop an assistant's thoughts, by intent.
func (t *Template) checkComplete(text string, messages, tools any) error {
	for _, v := range members(tools) {
		if name := toolName(v); t.tools && !strings.Contains(text, name) {
			return fmt.Errorf("the rendering has lost tool %s", name)
		}
	}
	for i, m := range members(messages) {
		message, ok := m.(*dict)
		if !ok {
			continue
		}
		role, _ := message.get("role")
		content, _ := message.get("content")
		if words, ok := content.(string); ok && role == "user" {
			_, after, found := strings.Cut(text, strings.TrimFunc(words, isSpace))
			if !found {
				return fmt.Errorf("the rendering has lost the text of message %d", i+1)
			}
			text = after
		}
	}
	return nil
}

func toolName(v any) string {
	tool, _ := v.(*dict)
	for _, key := range []string{"function", "name"} {
		if tool == nil {
			return ""
		}
		v, _ = tool.get(key)
		tool, _ = v.(*dict)
	}
	name, _ := v.(string)
	return name
}

func members(v any) []any {
	if l, ok := v.(*list); ok {
		return l.items
	}
	return nil
}
