package datasets

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// openKind opens a data set with flags, and a toy tokenizer.
func openKind(t *testing.T, name string, c Common, flags given) (Flow, error) {
	t.Helper()
	return opened(t, name, c, flags, toyTools{newToy(t, "identity", 997, nil, 0), new([]string)})
}

// recordedFile has conversations of 1, 2, 3 and 4 turns of one word each, answered by two.
func recordedFile(t *testing.T) string {
	t.Helper()
	var all []string
	for turns := 1; turns <= 4; turns++ {
		var list []string
		for i := range turns {
			list = append(list,
				fmt.Sprintf(`{"from":"human","value":"%d.%d"},{"from":"gpt","value":"yes %d"}`, turns, i, i))
		}
		all = append(all, `{"id":"x","conversations":[`+strings.Join(list, ",")+`]}`)
	}
	path := filepath.Join(t.TempDir(), "s.json")
	write(t, path, "["+strings.Join(all, ",\n")+"]")
	return path
}

// shapes are the first words and the numbers of turns of conversations.
func shapes(all []Conversation) (shapes []string) {
	for _, c := range all {
		first := c.Turns[0]
		if err := first.Prompt.Compose(&first, nil); err != nil {
			return []string{err.Error()}
		}
		shapes = append(shapes, fmt.Sprintf("%s %s*%d", c.Session, first.Text, len(c.Turns)))
	}
	return shapes
}

// Conversations of a file are those of at least two turns, or as asked for, in one order for a seed, repeated under
// other names where there are too few.
func TestOpenConversations(t *testing.T) {
	path := recordedFile(t)
	for _, c := range []struct {
		name  string
		n     int
		multi MultiTurn
		no    bool // repetition
		want  []string
	}{
		{"two and more", 0, MultiTurn{}, false, []string{"c0 2.0*2", "c1 3.0*3", "c2 4.0*4"}},
		{"the first", 2, MultiTurn{}, false, []string{"c0 2.0*2", "c1 3.0*3"}},
		{"a range", 0, MultiTurn{Min: 3, Max: 3}, false, []string{"c0 3.0*3", "c1 4.0*3"}},
		{"one turn is enough", 0, MultiTurn{Max: 1}, false, []string{"c0 1.0*1", "c1 2.0*1", "c2 3.0*1", "c3 4.0*1"}},
		{"repeated", 5, MultiTurn{Min: 4}, false, []string{"c0 4.0*4", "c1 4.0*4", "c2 4.0*4", "c3 4.0*4", "c4 4.0*4"}},
		{"not repeated", 5, MultiTurn{Min: 4}, true, []string{"c0 4.0*4"}},
	} {
		c.multi.On = true
		dataset := "sharegpt"
		if c.n == 0 { // all of them
			dataset = "custom"
		}
		source := must(openKind(t, dataset, Common{Path: path, Prompts: c.n, IDPrefix: "c", DisableShuffle: true,
			NoOversample: c.no, MultiTurn: c.multi, Forms: AsTokenIDs}, nil))(t)
		all, turns := drain(t, source), 0
		for _, conversation := range all {
			turns += len(conversation.Turns)
			for i, turn := range conversation.Turns {
				if turn.MaxTokens != 2 || turn.InputTokens != 1+3*i {
					t.Errorf("%s: turn %d: %d tokens in and %d out", c.name, i, turn.InputTokens, turn.MaxTokens)
				}
			}
		}
		if diff := cmp.Diff(c.want, shapes(all)); diff != "" || source.Turns != turns || source.Len != len(all) {
			t.Errorf("%s: %d of %d turns, %s", c.name, source.Len, source.Turns, diff)
		}
	}
	draw := func(seed int64) string {
		source := must(
			openKind(t, "custom", Common{Path: path, Prompts: 30, Seed: seed, MultiTurn: MultiTurn{On: true}}, nil))(t)
		return strings.Join(shapes(drain(t, source)), "\n")
	}
	if one := draw(1); one != draw(1) || one == draw(2) {
		t.Error("the order does not follow the seed")
	}
	complains(t, failure(openKind(t, "custom", Common{Path: path, MultiTurn: MultiTurn{On: true, Min: 9}}, nil)),
		"none of its 4 conversations has 9 turns; lower --multi-turn-min-turns")
}

// The length of an answer is that of the flag, else of the file, else of the recorded answer, else the data set's own.
func TestLengthsOfRecordedAnswers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.jsonl")
	write(t, path, `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"A A A"},{"role":"user",`+
		`"content":"b"},{"role":"assistant","content":"B","output_tokens":9},{"role":"user","content":"c"}]}`)
	for flag, want := range map[int][]int{0: {3, 9, 256}, 5: {5, 5, 5}} {
		source := must(openKind(t, "custom", Common{Path: path, SharedOutputLen: flag, MultiTurn: MultiTurn{On: true}},
			nil))(t)
		var got []int
		for _, turn := range drain(t, source)[0].Turns {
			got = append(got, turn.MaxTokens)
		}
		same(t, fmt.Sprintf("--output-len %d", flag), got, want)
	}
}
