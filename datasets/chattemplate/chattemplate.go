// Package chattemplate writes a chat the way a model was taught to read it: as one text, with the marks between the
// turns that the model's chat template puts there.
package chattemplate

import (
	"context"
	"encoding/json"
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
