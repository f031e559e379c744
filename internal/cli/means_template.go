package cli

import (
	"benchtop/datasets"
	"benchtop/datasets/chattemplate"
	"benchtop/internal/usage"
)

// findTemplate looks for what renders chats, where the data set needs it: the server, or else the template that came with the
// tokenizer. Where no tokenizer is on this machine to say what the model's template is, chats are sent as they are.
func (m *means) findTemplate(needs datasets.Needs, s seeker) error {
	if !needs.Template {
		return nil
	}
	var among []chattemplate.Named
	if s.server && !m.silent { // what did not answer once is not waited for again
		among = append(among, chattemplate.NewServer(s.client, s.target.String(), s.model.ID))
	}
	if m.local != nil {
		files := chattemplate.Files{Jinja: m.found.Jinja, ToolJinja: m.found.ToolJinja, JSON: m.found.JSON, Config: m.found.Config, SpecialTokens: m.found.SpecialTokens}
		local, err := chattemplate.Load(m.name, files)
		if err != nil {
			return usage.Errorf("%s: %w", m.found.Path, err)
		}
		if local != nil {
			among = append(among, local)
		}
	} else if needs.Forms != datasets.AsMessages { // which travel as they are, and are counted without
		among = append(among, chattemplate.Plain{})
	}
	if len(among) > 0 {
		m.renderer = chattemplate.NewFirst(among...)
		m.Template = m.renderer
	}
	return nil
}

// rendered says who rendered the chats; "" where none had to be.
func (m *means) rendered() string {
	if m.renderer == nil {
		return ""
	}
	switch m.renderer.Source() {
	case chattemplate.FromServer:
		return "prompts were rendered by the server's chat template"
	case chattemplate.FromTemplate:
		return "prompts were rendered here, by the chat template of " + m.name
	}
	return ""
}
