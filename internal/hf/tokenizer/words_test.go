package tokenizer

import (
	"strings"
	"testing"

	"benchtop/internal/assert"
)

// A word for each id; texts of ids that begin differently share no beginning to speak of. By a real vocabulary they
// have about as many tokens as ids.
func TestWords(t *testing.T) {
	text := func(from, n int) string {
		ids := make([]int, n)
		for i := range ids {
			ids[i] = (from + i) % Words{}.VocabSize()
		}
		s, _ := Words{}.Decode(ids)
		return s
	}
	assert.Equal(t, len(strings.Fields(text(0, 500))), 500, "words of 500 ids")
	seen := map[string]int{}
	for from := range 20_000 {
		begin := text(from, 16)
		if other, again := seen[begin]; again {
			t.Fatalf("prompts %d and %d both begin with %q", other, from, begin)
		}
		seen[begin] = from
	}
	l := gpt2(t)
	if ids, err := l.Encode(text(7, 1000)); err != nil || len(ids) < 990 || len(ids) > 1010 {
		t.Errorf("%d tokens of 1000 words, error %v", len(ids), err)
	}
}
