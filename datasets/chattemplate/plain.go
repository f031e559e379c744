package chattemplate

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// Plain stands in where no chat template is to be had: a chat is what its messages say, a line each, without marks between
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
