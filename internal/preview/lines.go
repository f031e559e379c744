package preview

import (
	"bytes"
	"encoding/json"

	"benchtop/datasets"
)

// line is a request as JSON, under the names of vLLM's request record where it has them.
type line struct {
	ID        string          `json:"request_id,omitempty"`
	Prompt    any             `json:"prompt,omitempty"` // a text, token ids, or a list of either
	Messages  json.RawMessage `json:"chat_messages,omitempty"`
	Media     json.RawMessage `json:"multi_modal_data,omitempty"`
	Input     int             `json:"prompt_len"`
	Output    int             `json:"expected_output_len"`
	At        *float64        `json:"timestamp,omitempty"` // seconds
	Overrides json.RawMessage `json:"request_overrides,omitempty"`
}

// AppendLine appends a conversation as JSON, a line for each turn.
func AppendLine(dst []byte, c *datasets.Conversation, timed bool) ([]byte, error) {
	b := bytes.NewBuffer(dst)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	for i := range c.Turns {
		t := &c.Turns[i]
		l := line{ID: c.ID, Prompt: promptOf(t), Messages: t.Messages, Input: t.InputTokens, Output: t.MaxTokens, Overrides: t.Overrides}
		if t.Media != nil {
			l.Media = append(append(json.RawMessage{'['}, t.Media...), ']')
		}
		if timed {
			at := c.At.Seconds()
			l.At = &at
		}
		if err := enc.Encode(l); err != nil {
			return dst, err
		}
	}
	return b.Bytes(), nil
}

func promptOf(t *datasets.Turn) any {
	switch {
	case len(t.Batch) > 0:
		all := make([]any, len(t.Batch))
		for i := range t.Batch {
			all[i] = promptOf(&t.Batch[i])
		}
		return all
	case t.TokenIDs != nil:
		return t.TokenIDs
	case t.Messages != nil && t.Text == "":
		return nil
	}
	return t.Text
}
