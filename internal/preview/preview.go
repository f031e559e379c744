// Package preview shows what a data set would send without sending it: how much of everything, how long the prompts and
// answers are, the first prompts, and all of them as JSON lines. An analysis goes further: it shows which lengths come
// together, what prompts share, and how requests arrive, of a data set or of a file such as a trace.
package preview

import (
	"bytes"
	"encoding/json"
	"time"

	"benchtop/datasets"
)

// Preview collects what conversations are like. One goroutine uses it. It keeps the first conversations and a number
// for each length, so a data set of any size costs it little.
type Preview struct {
	keep          int
	first         []datasets.Conversation
	conversations int
	turns         lengths // of each conversation
	prompts       int     // more than turns where several travel in one request
	input, output lengths
	kinds         map[string]int // of prompts: text, token ids, messages, recordings
	media         int            // turns with media beside the text
	unlimited     int            // turns whose output length the server decides
	timed         bool
	last          time.Duration // latest moment of a trace
}

// New collects figures and keeps so many conversations to show.
func New(first int) *Preview { return &Preview{keep: first, kinds: map[string]int{}} }

// Add takes a conversation into account.
func (p *Preview) Add(c datasets.Conversation) error {
	p.conversations++
	p.turns.add(len(c.Turns))
	if len(p.first) < p.keep {
		p.first = append(p.first, c)
	}
	kind := ""
	for t, err := range c.Composed() { // all turns of a conversation travel in the same form
		if err != nil {
			return err
		}
		kind = kindOf(&t)
		break
	}
	for i := range c.Turns {
		t := &c.Turns[i]
		if t.Prompt.Compose == nil {
			kind = kindOf(t)
		}
		p.turn(t, kind)
	}
	if c.At > 0 {
		p.timed = true
		p.last = max(p.last, c.At)
	}
	return nil
}

func (p *Preview) turn(t *datasets.Turn, kind string) {
	p.prompts += max(1, len(t.Batch))
	p.input.add(t.InputTokens)
	if t.MaxTokens > 0 {
		p.output.add(t.MaxTokens)
	} else {
		p.unlimited++
	}
	p.kinds[kind]++
	if t.Media != nil {
		p.media++
	}
}

// kindOf is the form in which a turn's prompt travels.
func kindOf(t *datasets.Turn) string {
	switch {
	case t.Audio != nil:
		return "recordings"
	case t.Messages != nil:
		return "chat messages"
	case t.TokenIDs != nil, len(t.Batch) > 0 && t.Batch[0].TokenIDs != nil:
		return "token ids"
	}
	return "text"
}

// line is a request as JSON, under the names of vLLM's request record where it has them.
type line struct {
	ID        string          `json:"request_id,omitempty"`
	Session   string          `json:"session,omitempty"` // of several turns
	Turn      *int            `json:"turn,omitempty"`
	After     []int           `json:"after,omitzero"` // turns that this one waits for, where it is not the one before
	Delay     float64         `json:"delay_ms,omitempty"`
	Prompt    any             `json:"prompt,omitempty"` // a text, token ids, or a list of either
	Messages  json.RawMessage `json:"chat_messages,omitempty"`
	Media     json.RawMessage `json:"multi_modal_data,omitempty"`
	Audio     *recording      `json:"audio,omitempty"`
	Input     int             `json:"prompt_len"`
	Output    int             `json:"expected_output_len"`
	At        *float64        `json:"timestamp,omitempty"` // seconds
	Overrides json.RawMessage `json:"request_overrides,omitempty"`
}

// recording is a recording without its sound.
type recording struct {
	Name    string  `json:"name"`
	Type    string  `json:"type"`
	Bytes   int     `json:"bytes"`
	Seconds float64 `json:"seconds"`
}

// AppendLine appends a conversation as JSON, a line for each turn. If timed, its first turn has the time of the
// conversation.
func AppendLine(dst []byte, c *datasets.Conversation, timed bool) ([]byte, error) {
	b := bytes.NewBuffer(dst)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	i := -1
	for t, err := range c.Composed() {
		if err != nil {
			return dst, err
		}
		i++
		l := line{ID: c.RequestID(i), Prompt: promptOf(&t), Messages: t.Messages, Input: t.InputTokens,
			Output: t.MaxTokens, Overrides: t.Overrides}
		if t.Media != nil {
			l.Media = append(append(json.RawMessage{'['}, t.Media...), ']')
		}
		if a := t.Audio; a != nil {
			l.Audio = &recording{a.Name, a.Type, len(a.Data), a.Duration.Seconds()}
		}
		if len(c.Turns) > 1 {
			l.Session, l.Turn, l.After, l.Delay = c.Session, &i, t.After, t.Delay.Seconds()*1000
		}
		if timed && i == 0 {
			l.At = new(c.At.Seconds())
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
