package prompts

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"benchtop/datasets"
	"benchtop/internal/ci"
	"benchtop/internal/hf/tokenizer"
)

// Once answers have told the tokens of words, prompts have the length asked for, to within 2 %: whatever the chat
// template adds, whatever a word costs, for one length and for many.
func TestLengthModel(t *testing.T) {
	ci.SkipUnderRace(t)
	draws := rand.New(rand.NewPCG(1, 2))
	for _, template := range []int{0, 1, 12, 200} {
		for _, each := range []float64{0.8, 1, 1.31, 2.5} {
			for _, spread := range []int{0, 50, 90} { // percent
				w := &lengthModel{}
				for i := range 50 {
					asked := 1000 + 10*(draws.IntN(2*spread+1)-spread)
					text, _ := tokenizer.Words{Even: true}.Decode(make([]int, asked))
					turn := datasets.Turn{Text: text, InputTokens: asked}
					fine(t, w.compose(&turn, nil))
					words := len(strings.Fields(turn.Text))
					got := template + int(math.Round(each*float64(words)))
					if i == 0 && words != asked {
						t.Errorf("%d words before anything is known, want %d", words, asked)
					}
					if off := float64(got)/float64(asked) - 1; i >= 12 && math.Abs(off) > 0.02 && template < asked {
						t.Fatalf("template %d, %g tokens a word, spread %d %%: prompt %d has %d tokens, asked for %d",
							template, each, spread, i, got, asked)
					}
					w.learn(&turn, got)
				}
			}
		}
	}
}

// A prompt never comes out empty, and one with more words than it had goes on with the same.
func TestLengthModelBounds(t *testing.T) {
	w := &lengthModel{}
	w.learn(&datasets.Turn{Text: "that with from have"}, 400)
	turn := datasets.Turn{Text: "that with from", InputTokens: 3}
	if err := w.compose(&turn, nil); err != nil || turn.Text != "that" {
		t.Errorf("%q, %v", turn.Text, err)
	}
	w = &lengthModel{}
	w.learn(&datasets.Turn{Text: strings.Repeat("that ", 100)}, 50)
	turn = datasets.Turn{Text: "that with from", InputTokens: 4}
	if err := w.compose(&turn, nil); err != nil || turn.Text != "that with from that with from that with" {
		t.Errorf("%q, %v", turn.Text, err)
	}
}

// Prompts with pictures and those that hold earlier turns are not cut.
func TestLengthModelLeavesOthers(t *testing.T) {
	w, before := &lengthModel{}, datasets.Prompt{Compose: func(*datasets.Turn, []string) error { return nil }}
	turns := []datasets.Turn{{Text: "a"}, {Text: "a", Media: []byte("{}")}, {Text: "a", Messages: []byte("[]")},
		{Text: "a", Prompt: before}, {TokenIDs: []int{1}}}
	w.put(turns)
	for i, composed := range []bool{true, false, false, true, false} {
		if p := turns[i].Prompt; (p.Compose != nil) != composed || (p.Learn != nil) != (i == 0) {
			t.Errorf("turn %d: %+v", i, p)
		}
	}
}
