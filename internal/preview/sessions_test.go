package preview

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/datasets"
	"benchtop/internal/assert"
)

// later is a prompt of the answers before it.
var later = datasets.Prompt{Compose: func(t *datasets.Turn, answers []string) error {
	t.Text = fmt.Sprintf("%d answers of %d words", len(answers),
		len(strings.Fields(strings.Join(answers, " ")))/max(1, len(answers)))
	return nil
}}

// wordless is a prompt that cannot be made.
var wordless = datasets.Prompt{Compose: func(*datasets.Turn, []string) error { return errors.New("no words") }}

// talk is a conversation of so many turns, whose prompts are made later.
func talk(id string, turns int) datasets.Conversation {
	c := datasets.Conversation{ID: id, Session: id, Replies: true,
		Turns: []datasets.Turn{{Text: "hello", InputTokens: 5, MaxTokens: 4}}}
	for i := 1; i < turns; i++ {
		c.Turns = append(c.Turns,
			datasets.Turn{Prompt: later, InputTokens: 5 + 9*i, MaxTokens: 4, Delay: 250 * time.Millisecond})
	}
	return c
}

// Conversations are counted with their turns, and the first ones shown turn by turn, up to a few.
func TestTextOfConversations(t *testing.T) {
	got := printed(t, talk("a", 2), talk("b", 9), one("c", datasets.Turn{Text: "alone", InputTokens: 5, MaxTokens: 4}))
	assert.Has(t, got,
		"conversations        3\nturns                12 in all: mean 4.0, min 1, p50 2, p90 9, p99 9, max "+
			"9\nrequests             12\nsent as              text\n",
		"  1  a-turn0, 5 tokens, 4 requested\n      hello\n  1  a-turn1, 14 tokens, 4 requested, after a pause of "+
			"250ms\n      1 answers of 4 words\n",
		"  2  b-turn5, 50 tokens, 4 requested, after a pause of 250ms\n      5 answers of 4 words\n      … and 3 "+
			"more turns\n")
	if err := New(0).Add(datasets.Conversation{Turns: []datasets.Turn{{Prompt: wordless}}}); err == nil {
		t.Error("a prompt that cannot be made is no error")
	}
}

// Lines have the session, the turn, what it waits for and its delay; the conversation's time stands at its first.
func TestLinesOfConversations(t *testing.T) {
	c := talk("a", 3)
	c.At, c.Turns[2].After = 3*time.Second, []int{}
	lines := assert.Must(AppendLine(nil, &c, true))(t)
	want := `{"request_id":"a-turn0","session":"a","turn":0,"prompt":"hello","prompt_len":5,"expected_output_len":4,"timestamp":3}
{"request_id":"a-turn1","session":"a","turn":1,"delay_ms":250,"prompt":"1 answers of 4 words","prompt_len":14,"expected_output_len":4}
{"request_id":"a-turn2","session":"a","turn":2,"after":[],"delay_ms":250,"prompt":"2 answers of 4 words","prompt_len":23,"expected_output_len":4}
`
	if diff := cmp.Diff(want, string(lines)); diff != "" {
		t.Error(diff)
	}
}

const twoSessions = `{"session":"s1","block_size":64,"shared":true,"requests":[{"in":200,"out":50,"blocks":[[1,3]]},` +
	`{"in":300,"out":20,"blocks":[[1,4]]},` +
	`{"in":150,"out":30,"blocks":[[9,2]],"agent":"search"},{"in":150,"out":30,"blocks":[[9,2]],"agent":"search"},{"in":64,"out":3,"agent":"plan"}]}
{"session":"s2","block_size":64%s,"requests":[{"in":200,"out":50,"blocks":[[1,3]]}]}
`

// A file of sessions has lengths, turns, sub-agents and hits; blocks of other sessions count where they mean the same.
func TestAnalyzeSessions(t *testing.T) {
	for shared, hits := range map[string]int{"": 192 + 128, `,"shared":true`: 192 + 128 + 192} {
		a, err := AnalyzeFile(t.Context(), FileOptions{Path: written(t, "s.jsonl", fmt.Sprintf(twoSessions, shared))})
		assert.Fine(t, err)
		data := assert.Must(json.Marshal(a))(t)
		var got struct {
			Conversations struct {
				Turns struct{ Total, Min, Max int }
				Sub   int `json:"sub_agents"`
				Of    int `json:"sub_agent_requests"`
			}
			Requests int
			Input    struct{ Total int } `json:"input_tokens"`
			Output   struct{ Total int } `json:"output_tokens"`
			Sharing  struct {
				Sizes []struct {
					Tokens int `json:"block_tokens"`
					Hits   int `json:"hit_tokens"`
				} `json:"block_sizes"`
			} `json:"prefix_sharing"`
			Flags   []string
			Dataset []string `json:"dataset_flags"`
		}
		assert.Fine(t, json.Unmarshal(data, &got))
		c := got.Conversations
		if c.Turns.Total != 6 || c.Turns.Min != 1 || c.Turns.Max != 5 || c.Sub != 2 || c.Of != 3 || got.Requests != 6 ||
			got.Input.Total != 1064 || got.Output.Total != 183 {
			t.Errorf("got %+v", got)
		}
		if first := got.Sharing.Sizes[0]; first.Tokens != 64 || first.Hits != hits || len(got.Flags) > 0 ||
			strings.Join(got.Dataset, " ") != "--dataset-name agents --num-prompts 2" {
			t.Errorf("shared %q: got %+v", shared, got)
		}
	}
	_, err := AnalyzeFile(t.Context(), FileOptions{Path: written(t, "s.jsonl", `{"block_size":0,"requests":[]}`)})
	assert.Complains(t, err, `"block_size": expected a whole number`)
}

// A conversation that is drawn is analyzed with all of its turns.
func TestAnalyzeDrawnConversations(t *testing.T) {
	a := NewAnalysis()
	for _, id := range []string{"a", "b"} {
		c := talk(id, 3)
		assert.Fine(t, a.AddConversation(&c, true))
	}
	if a.sessions.turns.n != 2 || a.sessions.turns.sum != 6 || a.input.n != 6 || a.arrivals.n != 2 ||
		a.prefixes.prompts != 6 {
		t.Errorf("got %+v", a)
	}
}
