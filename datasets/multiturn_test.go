package datasets

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/datasets/lengths"
	"benchtop/internal/assert"
)

func TestMultiTurnRange(t *testing.T) {
	for _, c := range []struct{ turns, min, max, least, most, recordedLeast, recordedMost int }{
		{turns: 3, least: 3, most: 3, recordedLeast: 2, recordedMost: 1<<63 - 1},
		{turns: 3, min: 5, least: 5, most: 5, recordedLeast: 5, recordedMost: 1<<63 - 1},
		{turns: 3, min: 2, least: 2, most: 3, recordedLeast: 2, recordedMost: 1<<63 - 1},
		{turns: 3, max: 2, least: 2, most: 2, recordedLeast: 2, recordedMost: 2},
		{turns: 3, max: 9, least: 3, most: 9, recordedLeast: 2, recordedMost: 9},
		{turns: 3, max: 1, least: 1, most: 1, recordedLeast: 1, recordedMost: 1},
		{turns: 3, min: 2, max: 4, least: 2, most: 4, recordedLeast: 2, recordedMost: 4},
	} {
		m := &MultiTurn{Turns: c.turns, Min: c.min, Max: c.max}
		least, most := m.Range()
		recordedLeast, recordedMost := m.recordedRange()
		if got, want := [4]int{least, most, recordedLeast, recordedMost},
			[4]int{c.least, c.most, c.recordedLeast, c.recordedMost}; got != want {
			t.Errorf("%d turns, %d to %d: got %v, want %v", c.turns, c.min, c.max, got, want)
		}
	}
}

// The numbers of turns are drawn from the whole range, the same for one seed.
func TestMultiTurnCounts(t *testing.T) {
	m := &MultiTurn{Min: 2, Max: 5}
	draw := func(seed int64) (all []int) {
		count := m.Counts(seed)
		for range 200 {
			all = append(all, count())
		}
		return all
	}
	one, turns := draw(1), 0
	for _, n := range one {
		turns += n
	}
	if slices.Min(one) != 2 || slices.Max(one) != 5 || !slices.Equal(one, draw(1)) || slices.Equal(one, draw(2)) ||
		m.TurnsOf(200, 1) != turns {
		t.Errorf("got %d", one)
	}
}

func TestMultiTurnValidate(t *testing.T) {
	for _, c := range []struct {
		name string
		m    MultiTurn
		want []string
	}{
		{"fine", MultiTurn{Turns: 1, Min: 2, Max: 2, NextInput: 5, GlobalPrefix: 0.5, ConversationPrefix: 0.49}, nil},
		{"numbers", MultiTurn{Turns: 0, Min: -1, Max: 10_001, NextInput: -1},
			[]string{"--multi-turn-num-turns 0: must be from 1 to 10000", "--multi-turn-min-turns -1: must be from 0",
				"--multi-turn-max-turns 10001: must be from 0 to 10000", "--per-turn-input-len -1: must be"}},
		{"crossed", MultiTurn{Turns: 1, Min: 3, Max: 2},
			[]string{"--multi-turn-min-turns 3: must not be more than --multi-turn-max-turns 2"}},
		{"shares", MultiTurn{Turns: 1, GlobalPrefix: 1, ConversationPrefix: -0.1},
			[]string{"--multi-turn-prefix-global-ratio 1: must be",
				"--multi-turn-prefix-conversation-ratio -0.1: must be"}},
		{"together", MultiTurn{Turns: 1, GlobalPrefix: 0.5, ConversationPrefix: 0.5},
			[]string{"together they must be below 1"}},
	} {
		var got []string
		for _, err := range c.m.Validate() {
			got = append(got, err.Error())
		}
		if len(got) != len(c.want) {
			t.Errorf("%s: got %q", c.name, got)
			continue
		}
		for i, want := range c.want {
			if !strings.Contains(got[i], want) {
				t.Errorf("%s: got %q, want %q", c.name, got[i], want)
			}
		}
	}
}

// numberPrompts makes prompts without end, or so many, of so many token ids or numbers as words. No two have a token in
// common.
type numberPrompts struct {
	n, tokens, from int
	words           bool
	made            int
}

func (s *numberPrompts) Next() (Conversation, error) {
	if s.n > 0 && s.made == s.n {
		return Conversation{}, io.EOF
	}
	from := s.from + s.made*s.tokens
	s.made++
	turn := Turn{TokenIDs: ids(from, s.tokens), InputTokens: s.tokens, MaxTokens: 3}
	if s.words {
		turn.Text, turn.TokenIDs = joinIDs(turn.TokenIDs, " "), nil
	}
	return Conversation{ID: "x", Turns: []Turn{turn}}, nil
}

func (s numberPrompts) flow() Flow { return Flow{Next: (&s).Next, Len: s.n, About: "numbers"} }

// sent are the turns of a conversation as they are sent where the model gives answers with their number.
func sent(t *testing.T, c Conversation, answer string) (turns []Turn) {
	t.Helper()
	var answers []string
	for i := range c.Turns {
		turn := c.Turns[i]
		if turn.Prompt.Compose != nil {
			fine(t, turn.Prompt.Compose(&turn, answers))
		}
		turns = append(turns, turn)
		answers = append(answers, fmt.Sprintf("%s %d", answer, i))
	}
	return turns
}

// Conversations take their first prompts from one source and the later ones from another, as many as drawn; with
// recorded answers a prompt of token ids begins with that of the turn before.
func TestGroup(t *testing.T) {
	c := Common{Prompts: 4, IDPrefix: "c",
		MultiTurn: MultiTurn{On: true, Turns: 3, Max: 4, Recorded: true, Delay: new(lengths.Fixed(250))}}
	g := Group(numberPrompts{n: 4, tokens: 10}.flow(), new(numberPrompts{n: 100, tokens: 5, from: 1000}.flow()), c, nil)
	all, turns := drain(t, g), 0
	for i, conversation := range all {
		turns += len(conversation.Turns)
		if conversation.ID != fmt.Sprint("c", i) || conversation.Session != conversation.ID ||
			len(conversation.Turns) < 3 || conversation.Replies {
			t.Errorf("conversation %d: %+v", i, conversation)
		}
		for k, turn := range sent(t, conversation, "") {
			if want := 10 + k*(3+5); turn.InputTokens != want || len(turn.TokenIDs) != want || turn.MaxTokens != 3 {
				t.Errorf("turn %d has %d of %d tokens, want %d", k, len(turn.TokenIDs), turn.InputTokens, want)
			}
			assert.Equal(t, turn.TokenIDs[0], 10*i, "turn %d of conversation %d begins with", k, i)
			if want := 250 * time.Millisecond; (turn.Delay == want) != (k > 0) {
				t.Errorf("turn %d has a delay of %v", k, turn.Delay)
			}
		}
	}
	if len(all) != 4 || g.Len != 4 || g.Turns != turns {
		t.Errorf("%d conversations of %d turns, expected %d of %d", len(all), turns, g.Len, g.Turns)
	}
	if want := "conversations of 3 to 4 turns, recorded replies: numbers"; g.About != want {
		t.Errorf("got %q", g.About)
	}
}

// A source that ends leaves the last conversation shorter; one without end gives conversations without end.
func TestGroupEnds(t *testing.T) {
	c := Common{Prompts: 9, MultiTurn: MultiTurn{On: true, Turns: 3, Recorded: true}}
	g := Group(numberPrompts{n: 8, tokens: 1}.flow(), nil, c, nil)
	if n, turns := g.Len, g.Turns; n != 3 || turns != 8 {
		t.Errorf("%d conversations of %d turns", n, turns)
	}
	if all := drain(t, g); len(all) != 3 || len(all[2].Turns) != 2 {
		t.Errorf("got %+v", all)
	}
	g = Group(numberPrompts{tokens: 1}.flow(), nil, c, nil)
	for range 100 {
		if conversation, err := g.Next(); err != nil || len(conversation.Turns) != 3 {
			t.Fatal(conversation, err)
		}
	}
	if g.Len != 0 || g.Turns != 0 {
		t.Errorf("%d conversations of %d turns without an end", g.Len, g.Turns)
	}
}

// Token ids cannot hold an answer of the model.
func TestGroupNeedsTexts(t *testing.T) {
	g := Group(numberPrompts{tokens: 3}.flow(), nil, Common{MultiTurn: MultiTurn{On: true, Turns: 2}}, nil)
	complains(t, failure(g.Next()),
		"conversation 0: its prompts are token ids, and the model's answers are texts; use --backend openai-chat")
}

// Shared prefixes have exactly their share of the tokens of a prompt, and nothing behind them is shared.
func TestGroupPrefixes(t *testing.T) {
	draw := func(seed int64, words bool) (all [][]int) {
		c := Common{Prompts: 3, Seed: seed,
			MultiTurn: MultiTurn{On: true, Turns: 2, GlobalPrefix: 0.2, ConversationPrefix: 0.3}}
		g := Group(numberPrompts{n: 6, tokens: 100, words: words}.flow(), nil, c, newToy(t, "identity", 997, nil, 0))
		for _, c := range drain(t, g) {
			for _, turn := range c.Turns {
				got := turn.TokenIDs
				if words {
					got = parseIDs(turn.Text)
				}
				if turn.Prompt.Compose != nil || len(got) != 100 || turn.InputTokens != 100 {
					t.Fatalf("got %+v", turn)
				}
				all = append(all, got)
			}
		}
		return all
	}
	all := draw(1, false)
	for i, a := range all {
		for k, b := range all[:i] {
			want := 20
			if i/2 == k/2 {
				want = 50
			}
			assert.Equal(t, common(a, b), want, "prompts %d and %d have tokens in common", k, i)
		}
	}
	if diff := cmp.Diff(all, draw(1, false)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(all, draw(1, true)); diff != "" {
		t.Error("as texts: ", diff)
	}
	if other := draw(2, false); common(all[0], other[0]) > 2 {
		t.Error("another seed gives the same prefix")
	}
}

// common is how many tokens two prompts begin with alike.
func common(a, b []int) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
