package chattemplate

import (
	"fmt"
	"strings"
)

// lost finds what a rendering has left out. Only users' words must be there in order: templates move system messages, and
// drop an assistant's thoughts, by intent.
func (t *Template) lost(text string, messages, tools any) error {
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
