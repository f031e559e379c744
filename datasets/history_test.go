package datasets

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/internal/assert"
)

// saidIn is what a prompt says: its messages with their roles, or its text, or its ids.
func saidIn(t *testing.T, turn Turn) string {
	t.Helper()
	switch {
	case turn.Messages != nil:
		var messages []struct {
			Role, Content string
			Calls         []string `json:"tool_calls"`
		}
		if err := json.Unmarshal(turn.Messages, &messages); err != nil {
			t.Fatalf("%s: %v", turn.Messages, err)
		}
		var all []string
		for _, m := range messages {
			all = append(all, m.Role+":"+m.Content+strings.Join(m.Calls, "!"))
		}
		return strings.Join(all, "|")
	case turn.TokenIDs != nil:
		return joinIDs(turn.TokenIDs, " ")
	}
	return turn.Text
}

// Each prompt holds the prompts and answers before it: the model's, or with recorded ones those; in each form of a
// request. The answer that calls tools is the recorded one, since later messages refer to its calls.
func TestTalks(t *testing.T) {
	turns, err := recordedTurns([]byte(`{"messages":[{"role":"system","content":"S"},{"role":"user","content":"a"},{"role":"assistant","content":"A"},
		{"role":"user","content":"b"},{"role":"assistant","content":"","tool_calls":["f"]},{"role":"tool","content":"t"},{"role":"assistant","content":"C"},{"role":"user","content":"d"}]}`))
	fine(t, err)
	fine(t, (&conversationMaker{}).measure(t.Context(), turns, Text{Counter: byBytes{}}, 7, 1))
	for _, c := range []struct {
		name     string
		forms    Forms
		recorded bool
		want     []string
	}{
		{"chat", AsText | AsMessages, false, []string{"system:S|user:a", "system:S|user:a|assistant:new 0|user:b",
			"system:S|user:a|assistant:new 0|user:b|assistant:f|tool:t",
			"system:S|user:a|assistant:new 0|user:b|assistant:f|tool:t|assistant:new 2|user:d"}},
		{"recorded chat", AsText, true, []string{"system:S|user:a", "system:S|user:a|assistant:A|user:b",
			"system:S|user:a|assistant:A|user:b|assistant:f|tool:t",
			"system:S|user:a|assistant:A|user:b|assistant:f|tool:t|assistant:C|user:d"}},
		{"text", AsText | AsTokenIDs, false,
			[]string{"S\na", "S\na\nnew 0\nb", "S\na\nnew 0\nb\n\nt", "S\na\nnew 0\nb\n\nt\nnew 2\nd"}},
		{"recorded text", AsTokenIDs, true, []string{"S\na", "S\na\nA\nb", "S\na\nA\nb\n\nt", "S\na\nA\nb\n\nt\nC\nd"}},
	} {
		k := newConversationMaker(Common{Forms: c.forms, MultiTurn: MultiTurn{Recorded: c.recorded}})
		conversation, err := k.conversation("c", turns)
		if err != nil || conversation.Replies == c.recorded {
			t.Fatal(err, conversation.Replies)
		}
		var got []string
		for _, turn := range sent(t, conversation, "new") {
			got = append(got, saidIn(t, turn))
		}
		same(t, c.name, got, c.want)
	}
}

// The lengths of later prompts are those of all before: of the answers, what is asked for, or the recorded ones.
func TestTalkLengths(t *testing.T) {
	turns := []recordedTurn{{text: "aaa", tokens: 3, output: 100, answer: "A", replied: 1, delay: -1, at: -1},
		{text: "bb", tokens: 2, output: 100, fixed: true, replied: 5, delay: -1, at: -1},
		{text: "c", tokens: 1, output: 100, delay: time.Second, at: 2 * time.Second}}
	for recorded, want := range map[bool][]int{false: {3, 105, 111}, true: {3, 6, 12}} {
		c := must(newConversationMaker(Common{MultiTurn: MultiTurn{Recorded: recorded}}).conversation("c", turns))(t)
		var got []int
		for _, turn := range c.Turns {
			got = append(got, turn.InputTokens)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("recorded %v: %s", recorded, diff)
		}
		if last := c.Turns[2]; !c.Timed || last.Delay != time.Second || last.At != 2*time.Second {
			t.Errorf("got %+v", last)
		}
	}
}

// A stand-in for a recorded answer has other words than the prompt begins with, as many as tokens asked for; prompts of
// token ids have one of ids.
func TestTalkStandsIn(t *testing.T) {
	k := newConversationMaker(Common{Forms: AsText, MultiTurn: MultiTurn{Recorded: true}})
	if got := k.prompt(Turn{Text: "one two three", InputTokens: 3, MaxTokens: 5}); got.answer != "three two one "+
		"three t" || got.replied != 5 {
		t.Errorf("got %+v", got)
	}
	if got := k.prompt(Turn{TokenIDs: []int{1, 2, 3}, InputTokens: 3, MaxTokens: 4}); joinIDs(got.answered,
		" ") != "3 2 1 3" || got.replied != 4 {
		t.Errorf("got %+v", got)
	}
	if standIn(" ", 1, 3) != "" || standIn("a", 0, 3) != "" {
		t.Error("nothing has words")
	}
	if got := standIn("日本語日本語", 6, 2); got != "日本" { // without blanks, too
		t.Errorf("got %q", got)
	}
}

// A prompt shares the prompt before and the model's answer to it.
func TestTalkSharing(t *testing.T) {
	s := NewSharing()
	s.Each = true
	k := newConversationMaker(Common{Forms: AsText, Sharing: s})
	long := strings.Repeat("0123456789abcdef", 64)
	c := must(k.conversation("c", []recordedTurn{k.prompt(Turn{Text: long, InputTokens: 256, MaxTokens: 256}),
		k.prompt(Turn{Text: "next", InputTokens: 1, MaxTokens: 1})}))(t)
	s.Add(c)
	assert.Equal(t, s.count, 0, "prompts that are made later are counted")
	first, second := c.Turns[0], c.Turns[1]
	fine(t, first.Prompt.Compose(&first, nil))
	if s.Take(&first); first.IdealTokens != 0 || !first.IdealKnown {
		t.Errorf("the first prompt shares %d tokens", first.IdealTokens)
	}
	fine(t, second.Prompt.Compose(&second, []string{long}))
	s.Take(&second)
	if part := float64(second.IdealTokens) / float64(second.InputTokens); !second.IdealKnown || part < 0.9 ||
		part >= 1 {
		t.Errorf("%d of %d tokens are shared", second.IdealTokens, second.InputTokens)
	}
}
