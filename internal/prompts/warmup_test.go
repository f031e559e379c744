package prompts

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"benchtop/datasets"
	"benchtop/internal/assert"
	"benchtop/internal/hf/media"
)

// Prompts before the run are as long as the first prompt and never equal to it, in any script.
func TestShuffled(t *testing.T) {
	for _, text := range []string{
		"the quick brown fox jumps over the lazy dog and runs on", "海はなぜ青いのか、そしていつから青いのか教えてください", "why is the sea blue",
		"one-word-without-a-blank",
	} {
		seen := map[string]bool{text: true}
		for _, turn := range append(shuffled(oneTurn(datasets.Turn{Text: text}), 0, 3),
			shuffled(oneTurn(datasets.Turn{Text: text}), -1, 3)...) {
			if seen[turn.Text] {
				t.Errorf("%q came twice", turn.Text)
			}
			seen[turn.Text] = true
			assert.Equal(t, sorted(turn.Text), sorted(text), "%q is not made of %q", turn.Text, text)
		}
	}
	ids := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
	for _, turn := range shuffled(oneTurn(datasets.Turn{TokenIDs: ids, MaxTokens: 5}), 0, 4) {
		if slices.Equal(turn.TokenIDs, ids) || turn.MaxTokens != 5 ||
			!maps.Equal(counted(turn.TokenIDs), counted(ids)) {
			t.Errorf("%+v", turn)
		}
	}
}

func oneTurn(t datasets.Turn) datasets.Conversation {
	return datasets.Conversation{Turns: []datasets.Turn{t}}
}

func sorted(s string) string {
	letters := []rune(strings.ReplaceAll(s, " ", ""))
	slices.Sort(letters)
	return string(letters)
}

func counted(ids []int) map[int]int {
	n := map[int]int{}
	for _, id := range ids {
		n[id]++
	}
	return n
}

// Warm-ups are unlike every prompt of a batch.
func TestShuffledBatch(t *testing.T) {
	first := conversationOf("a b c d e f g h i j", "k l m n o p q r s t")
	for _, turn := range shuffled(first, 1, 2) {
		assert.Equal(t, len(turn.Batch), 2, "prompts in a warm-up")
		for i, one := range turn.Batch {
			if of := first.Turns[0].Batch[i].Text; one.Text == of || len(one.Text) != len(of) {
				t.Errorf("%q for %q", one.Text, of)
			}
		}
	}
}

func conversationOf(batch ...string) datasets.Conversation {
	var t datasets.Turn
	for _, text := range batch {
		t.Batch = append(t.Batch, datasets.Turn{Text: text})
	}
	return datasets.Conversation{Turns: []datasets.Turn{t}}
}

// Pictures and recordings of warm-ups are their own, each another, and the messages that hold those of the run are not
// sent.
func TestShuffledMedia(t *testing.T) {
	const words = "one two three four five six seven eight nine ten"
	image := media.URLPart("image", "http://host/picture.jpg")
	for name, turn := range map[string]datasets.Turn{
		"a picture":   {Text: words, Media: image},
		"a recording": {Audio: media.Silence(3 * time.Second)},
		"messages":    {Text: words, Messages: []byte(`[{"role":"user","content":"x"}]`)},
		"a picture in messages": {Text: words, Media: image,
			Messages: fmt.Appendf(nil, `[{"role":"user","content":[{"type":"text","text":"x"},%s]}]`, image)},
		"a recording in a chat": {Text: words, Media: media.Silence(3 * time.Second).Part()},
	} {
		two := shuffled(oneTurn(turn), 1, 2)
		if reflect.DeepEqual(two[0], two[1]) {
			t.Errorf("%s: twice the same: %+v", name, two[0])
		}
		for _, got := range two {
			if got.Messages != nil || (got.Media == nil) != (turn.Media == nil) || turn.Media != nil &&
				bytes.Equal(got.Media, turn.Media) || bytes.Count(got.Media, []byte(`"type"`)) > 1 {
				t.Errorf("%s: %+v", name, got)
			}
			if a, of := got.Audio, turn.Audio; of != nil && (a == of ||
				a.Duration > of.Duration || a.Duration < of.Duration*9/10) {
				t.Errorf("%s: %s of %s", name, a.Name, a.Duration)
			}
		}
	}
}
