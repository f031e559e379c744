package chattemplate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Files are the contents of the files beside a tokenizer that concern chat templates; nil for one that is not there.
type Files struct {
	Jinja         []byte // chat_template.jinja
	ToolJinja     []byte // additional_chat_templates/tool_use.jinja
	JSON          []byte // chat_template.json
	Config        []byte // tokenizer_config.json
	SpecialTokens []byte // special_tokens_map.json
}

// Local renders with the templates that came with a tokenizer. It is safe for concurrent use.
type Local struct {
	model     string
	templates map[string]loaded // by name; the one without a name is "default"
}

// loaded is a template, or why there is none. Only who renders hears of it: many runs never do.
type loaded struct {
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
	if err := cmp.Or(unmarshal("tokenizer_config.json", f.Config, &config), unmarshal("chat_template.json", f.JSON, &legacy)); err != nil {
		return nil, err
	}
	special, err := specialTokens(f)
	if err != nil {
		return nil, err
	}
	var sources map[string]string
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
	l := &Local{model, map[string]loaded{}}
	for name, source := range sources {
		t, err := New(source, special)
		l.templates[name] = loaded{t, err}
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

// specialTokens are the tokens that templates know by name: texts, or objects that hold one. As in the transformers
// library, special_tokens_map.json has the last word, but none if tokenizer_config.json lists the added tokens.
func specialTokens(f Files) (map[string]string, error) {
	config, beside := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	err := errors.Join(unmarshal("tokenizer_config.json", f.Config, &config), unmarshal("special_tokens_map.json", f.SpecialTokens, &beside))
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	take := func(name string, raw json.RawMessage) {
		if s := tokenText(raw); s != "" {
			out[name] = s
		}
	}
	for _, name := range []string{"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"} {
		raw := config[name]
		if said, there := beside[name]; there && !present(config["added_tokens_decoder"]) {
			raw = said
		}
		take(name, raw)
	}
	var extra map[string]json.RawMessage
	if json.Unmarshal(config["extra_special_tokens"], &extra) == nil { // older files have a list there, without names
		for name, raw := range extra {
			take(name, raw)
		}
	}
	return out, nil
}

func tokenText(raw json.RawMessage) string {
	var text string
	var object struct{ Content string }
	if json.Unmarshal(raw, &text) != nil && json.Unmarshal(raw, &object) == nil {
		return object.Content
	}
	return text
}

// Source says that this client rendered.
func (l *Local) Source() string { return FromTemplate }

// Render renders with the template for tools if there are tools and such a template, else with the default one.
func (l *Local) Render(ctx context.Context, in Input) (string, error) {
	t, found := l.templates[toolTemplate]
	if !found || len(in.Tools) == 0 {
		if t, found = l.templates[defaultTemplate]; !found {
			return "", fmt.Errorf("model %s: %w", l.model, &TemplateError{errors.New("of several, none is the default one")})
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
