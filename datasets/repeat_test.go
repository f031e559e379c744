package datasets

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/hf/numpy"
)

// The random order is that of Python's random.Random(0).shuffle: Python 3.11 gave it.
func TestRepeats(t *testing.T) {
	for _, c := range []struct {
		order       string
		count, most int
		want        string
	}{
		{"tile", 2, 0, "a1 b1 c1 a2 b2 c2"},
		{"tile", 2, 5, "a1 b1 c1 a2 b2"},
		{"interleave", 2, 0, "a1 a2 b1 b2 c1 c2"},
		{"interleave", 1, 0, "a1 b1 c1"},
		{"tile", 1 << 40, 4, "a1 b1 c1 a2"},
		{"interleave", 1 << 40, 4, "a1 a2 a3 a4"},
		{"random", 2, 0, "b1 c1 b2 a1 c2 a2"},
	} {
		var letters []Conversation
		for _, text := range []string{"a", "b", "c"} {
			letters = append(letters, Conversation{ID: text, Turns: []Turn{{Text: text}}})
		}
		s := must(Repeats{Count: c.count, Order: c.order}.Of(ListOf(letters, "letters"), c.most, "r-"))(t)
		var got []string
		ids := map[string]bool{}
		for _, x := range drain(t, s) {
			got = append(got, x.Turns[0].Text+strings.TrimPrefix(x.Turns[0].Class, "occurrence "))
			ids[x.ID] = true
		}
		if text := strings.Join(got, " "); text != c.want || len(ids) != len(got) || s.Len != len(got) {
			t.Errorf("%s: %s, %d ids, %d in all", c.order, text, len(ids), s.Len)
		}
		if want := fmt.Sprintf("letters, each %d times (%s)", c.count, c.order); s.About != want {
			t.Errorf("%s", s.About)
		}
		assert.Equal(t, letters[0].Turns[0].Class, "", "the prompts of the data set were changed")
	}
	if _, err := (Repeats{Count: 1 << 40, Order: "tile"}).Of(ListOf(make([]Conversation, 3), ""), 0, ""); err == nil {
		t.Error("too many requests: no error")
	}
	one := ListOf([]Conversation{{Turns: []Turn{{Text: "a"}}}}, "")
	s := must(Repeats{Count: 20, Order: "tile"}.Of(one, 0, ""))(t)
	var classes []string
	for _, c := range drain(t, s) {
		classes = append(classes, c.Turns[0].Class)
	}
	if n := len(slices.Compact(slices.Clone(classes))); n != 10 || classes[19] != "occurrence 10 and later" {
		t.Errorf("%d classes, the last %s", n, classes[19])
	}
}

// Documents begin with their numbers, so that no two share a prefix.
func TestLongDocuments(t *testing.T) {
	s := must(made(t.Context(), longDocuments{Common{Prompts: 12}, 4}, Text{}, numpy.NewStreams(0)))(t)
	all := drain(t, s)
	if len(all) != 12 || all[0].Turns[0].Text != "0hi hi hi hi" || all[11].Turns[0].Text != "11hi hi hi hi" ||
		all[0].Turns[0].MaxTokens != 10 {
		t.Errorf("%d documents: %+v", len(all), all[0])
	}
}
