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

	"github.com/nikolalohinski/gonja/v2/config"
	"github.com/nikolalohinski/gonja/v2/exec"
	"github.com/nikolalohinski/gonja/v2/loaders"
	"github.com/nikolalohinski/gonja/v2/nodes"
)

// maxSource bounds a template in bytes; known ones have some ten thousand.
const maxSource = 512 << 10

// Template is a model's chat template, ready to render. It is safe for concurrent use.
//
// It has what the transformers library gives a template: blocks trimmed, loop controls, a generation tag, tojson as
// Python writes it, raise_exception, strftime_now. gonja parses and runs it, on a source that is first written in the part
// of the language where gonja and Jinja2 agree (normalize), and with operators, filters, tests and methods of our own
// (compiler). A template that may come out otherwise than with Jinja2 is refused.
type Template struct {
	parsed  *exec.Template
	root    *nodes.Template
	hidden  []string // variables that are not seen although they are given
	tools   bool     // the source speaks of tools
	special map[string]string
	now     func() time.Time
}

// New reads a template. special are the names of special tokens and their texts, such as bos_token.
func New(source string, special map[string]string) (t *Template, err error) {
	defer recovered(&err)
	switch {
	case len(source) > maxSource:
		err = fmt.Errorf("longer than %d bytes", maxSource)
	case !utf8.ValidString(source):
		err = errors.New("not UTF-8")
	default:
		t = &Template{tools: strings.Contains(source, "tools"), special: special, now: time.Now}
		err = t.parse(source)
	}
	if err != nil {
		return nil, &TemplateError{err}
	}
	return t, nil
}

func (t *Template) parse(source string) error {
	source, tags, err := normalize(source)
	if err != nil {
		return err
	}
	conf := config.New()
	conf.KeepTrailingNewline = true
	c := &compiler{known: operations(), filters: filters(), tags: tags}
	env := &exec.Environment{ControlStructures: c.statements(), Context: exec.EmptyContext()}
	t.parsed, err = exec.NewTemplate("/", conf, sealed{loaders.MustNewMemoryLoader(map[string]string{"/": source})}, env)
	if err := cmp.Or(c.err, unquoted(err)); err != nil {
		return err
	}
	t.root = t.parsed.Root()
	c.outputs(t.root.Nodes)
	if c.err != nil {
		return c.err
	}
	t.hidden, err = hidden(t.root.Nodes)
	return err
}

// innermost takes an error out of gonja's report, which quotes the template.
func innermost(err error) error {
	for e := err; e != nil; e = errors.Unwrap(e) {
		err = e
	}
	return err
}

// unquoted cuts off an error of parsing where gonja believes it to be.
func unquoted(err error) error {
	if err == nil {
		return nil
	}
	said, _, _ := strings.Cut(innermost(err).Error(), " (Line: ")
	return errors.New(said)
}

// TemplateError says that a model's chat template stands in the way of a rendering: it cannot be read or run here, or it
// refuses the chat. The caller knows the purpose of the chat, and adds a hint.
type TemplateError struct{ err error }

func (e *TemplateError) Error() string { return "chat template: " + e.err.Error() }

// Unwrap gives the reason.
func (e *TemplateError) Unwrap() error { return e.err }

// recovered turns a panic inside gonja into an error.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = &TemplateError{fmt.Errorf("the template engine failed: %v", p)}
	}
}

// Clock returns a template like t whose strftime_now goes by another clock.
func (t *Template) Clock(now func() time.Time) *Template {
	u := *t
	u.now = now
	return &u
}

// Render renders a chat. An error says on which line of the template it came up. A rendering from which a user's words or
// a tool's name are missing is an error, too.
func (t *Template) Render(ctx context.Context, in Input) (s string, err error) {
	defer recovered(&err)
	vars, err := t.variables(in)
	if err != nil {
		return "", err
	}
	messages, tools := vars["messages"], vars["tools"]
	for _, name := range t.hidden {
		delete(vars, name)
	}
	r := &run{ctx: ctx, now: t.now, filters: filters()}
	for name, do := range operations() {
		vars[name] = r.bind(do)
	}
	out := &output{run: r}
	env := &exec.Environment{ControlStructures: exec.NewControlStructureSet(nil), Context: exec.NewContext(vars)}
	renderer := exec.NewRenderer(env, out, config.New(), sealed{}, t.parsed)
	renderer.RootNode = t.root
	err = renderer.Execute()
	if err := cmp.Or(r.err, innermost(err)); err != nil {
		if said, ok := errors.AsType[refusal](err); ok {
			err = fmt.Errorf("it refuses this chat: %w", said)
		}
		return "", &TemplateError{err}
	}
	if err := t.checkComplete(out.text.String(), messages, tools); err != nil {
		return "", &TemplateError{err}
	}
	return out.text.String(), nil
}

// variables are those that a template begins with.
func (t *Template) variables(in Input) (map[string]any, error) {
	vars := map[string]any{"tools": nil, "documents": nil, "add_generation_prompt": true}
	for name, token := range t.special {
		vars[name] = token
	}
	messages, err := readJSON(in.Messages)
	if _, ok := messages.(*list); err != nil || !ok {
		return nil, fmt.Errorf("messages are no JSON array: %w", cmp.Or(err, errors.New("something else")))
	}
	vars["messages"] = messages
	if len(in.Tools) > 0 {
		if vars["tools"], err = readJSON(in.Tools); err != nil {
			return nil, fmt.Errorf("tools are no JSON: %w", err)
		}
	}
	if len(bytes.TrimSpace(in.Arguments)) == 0 {
		return vars, nil
	}
	arguments, err := readJSON(in.Arguments)
	d, ok := arguments.(*dict)
	if err != nil || !ok {
		return nil, fmt.Errorf("--chat-template-kwargs are no JSON object: %w", cmp.Or(err, errors.New("something else")))
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

// sealed is a loader that hands out the one template it was made with, and reads no files.
type sealed struct{ loaders.Loader }

// Inherit refuses every other template.
func (sealed) Inherit(string) (loaders.Loader, error) {
	return nil, errors.New("a chat template cannot read other files")
}

// checkComplete finds words of the chat that a rendering leaves out. Only users' words must be there in order: templates move system messages, and
// drop an assistant's thoughts, by intent.
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
