package prompts

import (
	"encoding/binary"
	"reflect"
	"unsafe"

	"benchtop/datasets"
)

// packed is a conversation that waits to be sent. Most are one prompt with its lengths and nothing else: such a one
// takes some ninety bytes besides its text, a fifth of its memory otherwise.
type packed struct {
	whole *datasets.Conversation // nil for one that is in the other fields
	text  string
	rest  string // varints: the counts of tokens, the length of the id and the id, the steps from token id to token id
}

func pack(c datasets.Conversation) packed {
	if len(c.Turns) != 1 {
		return packed{whole: &c}
	}
	head, t := c, c.Turns[0]
	head.ID, head.Turns = "", nil
	counts := [...]*int{&t.InputTokens, &t.MaxTokens, &t.IdealTokens}
	var b []byte
	for _, n := range counts {
		b, *n = binary.AppendVarint(b, int64(*n)), 0
	}
	b = append(binary.AppendVarint(b, int64(len(c.ID))), c.ID...)
	known, ids, text, before := t.IdealKnown, t.TokenIDs, t.Text, 0
	t.IdealKnown, t.TokenIDs, t.Text = false, nil, ""
	if b = append(b, 0); known {
		b[len(b)-1] = 1
	}
	for _, id := range ids {
		b, before = binary.AppendVarint(b, int64(id-before)), id
	}
	if !reflect.ValueOf(head).IsZero() || !reflect.ValueOf(t).IsZero() || ids != nil && len(ids) == 0 {
		return packed{whole: &c}
	}
	return packed{text: text, rest: string(b)}
}

// conversation is what was packed. Its turns may be shared.
func (p *packed) conversation() datasets.Conversation {
	if p.whole != nil {
		return *p.whole
	}
	b := []byte(p.rest)
	next := func() int {
		v, n := binary.Varint(b)
		b = b[n:]
		return int(v)
	}
	t := datasets.Turn{Text: p.text, InputTokens: next(), MaxTokens: next(), IdealTokens: next()}
	n := next()
	c := datasets.Conversation{ID: string(b[:n])}
	t.IdealKnown, b = b[n] == 1, b[n+1:]
	if len(b) > 0 {
		t.TokenIDs = make([]int, 0, max(t.InputTokens, 0))
	}
	for id := 0; len(b) > 0; {
		id += next()
		t.TokenIDs = append(t.TokenIDs, id)
	}
	c.Turns = []datasets.Turn{t}
	return c
}

// weight is about how much memory a conversation takes.
func (p *packed) weight() int {
	const rest = 256
	if p.whole == nil {
		return int(unsafe.Sizeof(*p)) + len(p.text) + len(p.rest)
	}
	return rest + turnsWeight(p.whole.Turns)
}
