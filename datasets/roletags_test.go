package datasets

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"benchtop/internal/hf/chattemplate"
	"benchtop/internal/jsonscan"
)

// roleTags is the toy chat template: every message under its role, the tools before them with sorted keys.
type roleTags struct{}

func (roleTags) Render(_ context.Context, in chattemplate.Input) (string, error) {
	var b strings.Builder
	if in.Tools != nil {
		var tools any
		if err := json.Unmarshal(in.Tools, &tools); err != nil {
			return "", err
		}
		b.WriteString("<|tools|>\n" + spaced(tools) + "\n")
	}
	var messages []struct{ Role, Content string }
	if err := json.Unmarshal(in.Messages, &messages); err != nil {
		return "", err
	}
	for _, m := range messages {
		fmt.Fprintf(&b, "<|%s|>\n%s\n", m.Role, m.Content)
	}
	b.WriteString("<|assistant|>\n")
	if in.Arguments != nil {
		fmt.Fprintf(&b, "%s", in.Arguments)
	}
	return b.String(), nil
}

// spaced writes a decoded value with sorted keys and Python's blanks.
func spaced(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // of a test's own value
	}
	var b strings.Builder
	for i := 0; i < len(raw); {
		end := i + 1
		if raw[i] == '"' {
			end = jsonscan.StringEnd(raw, i)
		}
		b.Write(raw[i:end])
		if raw[i] == ',' || raw[i] == ':' {
			b.WriteByte(' ')
		}
		i = end
	}
	return b.String()
}

// noTags is a template that nothing can be rendered with.
type noTags struct{}

func (noTags) Render(context.Context, chattemplate.Input) (string, error) {
	return "", errors.New("no such filter")
}

// compact is JSON without blanks, its members in their order.
func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return err.Error()
	}
	return b.String()
}
