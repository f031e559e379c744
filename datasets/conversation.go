// Package datasets is where prompts come from: synthetic ones that repeat vLLM's random dataset draw for draw, and
// recorded conversations in ShareGPT's format, sampled as vLLM samples them.
//
// A dataset is a source: its Next returns one Conversation after another and finally io.EOF. Sources are used by one
// goroutine. The package decides what is asked and how much answer is wanted; it does not know when requests are sent,
// what the wire format is, nor how the answers are judged. Tokens are counted by whatever tokenizer.Counter it is given.
package datasets

import (
	"encoding/json"
	"time"
)

// Conversation is one user's turns, in order; a single prompt is a conversation of one turn. What its slices hold may
// be shared with other conversations and must not be changed.
type Conversation struct {
	ID    string // request id: a prefix and a number; "" when the dataset gives none
	Turns []Turn
	// At is when a trace says that the conversation starts, from the start of the run; 0 where the data set has no times.
	At time.Duration
}

// Turn is one prompt. It carries text or token ids, and possibly richer forms for back ends that speak chat.
type Turn struct {
	Text        string // the prompt as text; empty when TokenIDs or Batch is set
	TokenIDs    []int  // the prompt as token ids, for completions back ends
	InputTokens int    // tokens the client believes the prompt holds: text only, media never counted
	MaxTokens   int    // output tokens asked for; 0 lets the server decide

	// Batch holds the prompts of a request that carries several at once, as pooling endpoints take them. InputTokens
	// of the turn is then their sum.
	Batch []Turn
	// Media is a content part of the chat API (image_url or video_url) to be sent beside the text.
	Media json.RawMessage
	// Messages is a whole chat message list, Media included. A chat back end sends it instead of Text and Media.
	Messages json.RawMessage
	// Overrides is an object whose members replace those of the request body, also those that the user set; nil for none.
	Overrides json.RawMessage
}
