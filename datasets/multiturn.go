package datasets

import (
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"benchtop/datasets/lengths"
	"benchtop/internal/hf/numpy"
	"benchtop/internal/hf/tokenizer"
)

// MultiTurn makes conversations of prompts. The zero value leaves each prompt a request of its own.
type MultiTurn struct {
	On bool
	// Turns is the number of turns of a conversation. Where Min or Max is given, it is drawn evenly from these instead.
	Turns int
	Min   int
	Max   int
	// NextInput is the length of the prompts after the first in tokens; 0 for that of the first.
	NextInput int
	// GlobalPrefix and ConversationPrefix are the shares of a prompt that all prompts, or those of its conversation,
	// begin with. With either, prompts hold nothing of earlier turns.
	GlobalPrefix       float64
	ConversationPrefix float64
	// Delay is the pause before each turn but the first, in milliseconds; nil for none.
	Delay *lengths.Distribution
	// Recorded says that prompts hold the recorded answers, not those of the model.
	Recorded bool
}

// mostTurns bounds the turns of a conversation.
const mostTurns = 10_000

// Prefixed reports whether prompts share prefixes instead of a history.
func (m *MultiTurn) Prefixed() bool { return m.GlobalPrefix > 0 || m.ConversationPrefix > 0 }

// Range is that of the number of turns.
func (m *MultiTurn) Range() (least, most int) {
	least, most = m.Min, m.Max
	if least == 0 {
		if least = m.Turns; most > 0 {
			least = min(least, most)
		}
	}
	most = cmp.Or(most, max(m.Turns, least))
	return least, most
}

// Validate reports every problem, in terms of the flags.
func (m *MultiTurn) Validate() []error {
	p := &problems{}
	p.flag("multi-turn-num-turns", m.Turns, 1, mostTurns)
	p.flag("multi-turn-min-turns", m.Min, 0, mostTurns)
	p.flag("multi-turn-max-turns", m.Max, 0, mostTurns)
	p.flag("per-turn-input-len", m.NextInput, 0, maxLen)
	if m.Max > 0 && m.Min > m.Max {
		p.add("--multi-turn-min-turns %d: must not be more than --multi-turn-max-turns %d", m.Min, m.Max)
	}
	for _, x := range []struct {
		name  string
		share float64
	}{{"global", m.GlobalPrefix}, {"conversation", m.ConversationPrefix}} {
		if !(x.share >= 0 && x.share < 1) {
			p.add("--multi-turn-prefix-%s-ratio %g: must be from 0 to below 1", x.name, x.share)
		}
	}
	if !(m.GlobalPrefix+m.ConversationPrefix < 1) {
		p.add("--multi-turn-prefix-global-ratio and --multi-turn-prefix-conversation-ratio: " +
			"together they must be below 1, since each prompt needs tokens of its own")
	}
	return *p
}

// flag reports a flag whose value is out of its range.
func (p *problems) flag(name string, value, least, most int) {
	if value < least || value > most {
		p.add("--%s %d: must be from %d to %d", name, value, least, most)
	}
}

// Seeds that set the draws of conversations apart from others of the same seed.
const (
	turnsSeed        = 0x7a1c
	delaySeed        = 0x7a1d
	conversationSeed = 0x7a1e
)

// Counts draws the number of turns of one conversation after the other.
func (m *MultiTurn) Counts(seed int64) func() int {
	least, most := m.Range()
	draws := rand.New(rand.NewPCG(uint64(seed), turnsSeed))
	return func() int { return least + draws.IntN(most-least+1) }
}

// delays draws the pauses before turns.
func (m *MultiTurn) delays(seed int64) func() time.Duration {
	if m.Delay == nil {
		return func() time.Duration { return 0 }
	}
	draw := m.Delay.Drawer(numpy.NewGenerator(uint64(seed) + delaySeed))
	return func() time.Duration { return time.Duration(draw()) * time.Millisecond }
}

// rangeText is the number of turns of a conversation as a text.
func (m *MultiTurn) rangeText() string {
	least, most := m.Range()
	if most > least {
		return fmt.Sprintf("%d to %d", least, most)
	}
	return strconv.Itoa(least)
}

// TurnsOf is the number of turns of the first conversations.
func (m *MultiTurn) TurnsOf(conversations int, seed int64) (turns int) {
	count := m.Counts(seed)
	for range conversations {
		turns += count()
	}
	return turns
}

// Group makes conversations of the prompts of first, and of later ones of next where that is not nil. tok is for
// prompts with shared prefixes that are texts. The last conversation may be shorter.
func Group(first Flow, next *Flow, c Common, tok tokenizer.Tokenizer) Flow {
	m, maker := c.MultiTurn, newConversationMaker(c)
	f := Flow{Miss: first.Miss, Len: m.lenOf(first.Len, next == nil, c)}
	f.Turns = m.TurnsOf(f.Len, c.Seed)
	f.Close = first.Close
	if next == nil {
		f.Turns, next = min(f.Turns, first.Len), &first
	} else {
		f.Close = func() {
			first.End()
			next.End()
		}
	}
	f.About = fmt.Sprintf("conversations of %s turns, %s: %s", m.rangeText(), maker.replies(), first.About)
	prefix, count, number := &prefixer{o: m, seed: c.Seed, tok: tok}, m.Counts(c.Seed), 0
	f.Next = func() (Conversation, error) {
		var all []recordedTurn
		take := first.Next
		for range count() {
			c, err := take()
			if err == io.EOF && len(all) > 0 {
				break
			}
			if err != nil {
				return c, err
			}
			t := c.Turns[0]
			if m.Prefixed() {
				if err := prefix.apply(&t, number); err != nil {
					return c, err
				}
			}
			all = append(all, maker.prompt(t))
			take = next.Next
		}
		id := c.IDPrefix + strconv.Itoa(number)
		number++
		if m.Prefixed() {
			return maker.alone(id, all), nil
		}
		return maker.conversation(id, all)
	}
	return f
}

// lenOf is how many conversations prompts make, which are all their turns or the first ones; 0 for no end.
func (m *MultiTurn) lenOf(prompts int, all bool, c Common) (n int) {
	if prompts == 0 || !all {
		return prompts
	}
	for count := m.Counts(c.Seed); prompts > 0 && (n < c.Prompts || c.Prompts < 1); n++ {
		prompts -= count()
	}
	return n
}

// prefixer gives prompts the prefixes that they share.
type prefixer struct {
	o    MultiTurn
	seed int64
	tok  tokenizer.Tokenizer // of texts
	ids  []int               // that prefixes consist of
}

// apply replaces the beginning of a prompt of a conversation.
func (p *prefixer) apply(t *Turn, conversation int) error {
	ids := t.TokenIDs
	if ids == nil {
		if p.tok == nil {
			return fmt.Errorf("shared prefixes need a tokenizer on this machine; give it with --tokenizer DIRECTORY")
		}
		var err error
		if ids, err = p.tok.Encode(t.Text); err != nil {
			return err
		}
	}
	if p.ids == nil {
		p.ids = slices.Clone(ids) // as good as any of the vocabulary
	}
	ids = slices.Clone(ids)
	global := int(p.o.GlobalPrefix * float64(len(ids)))
	own := int(p.o.ConversationPrefix * float64(len(ids)))
	draws := rand.New(rand.NewPCG(uint64(p.seed), conversationSeed))
	p.fill(ids[:global], draws)
	draws = rand.New(rand.NewPCG(uint64(p.seed), conversationSeed+1+uint64(conversation)))
	p.fill(ids[global:global+own], draws)
	if t.TokenIDs != nil {
		t.TokenIDs = ids
		return nil
	}
	text, err := p.tok.Decode(ids)
	if err != nil {
		return err
	}
	t.Text, t.Messages = text, nil
	ids, err = p.tok.Encode(text)
	t.InputTokens = len(ids)
	return err
}

func (p *prefixer) fill(ids []int, draws *rand.Rand) {
	for i := range ids {
		ids[i] = p.ids[draws.IntN(len(p.ids))]
	}
}
