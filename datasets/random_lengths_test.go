package datasets

import (
	"testing"

	"benchtop/datasets/lengths"
	"benchtop/internal/hf/numpy"
)

// Prompts have the lengths that the mix draws first from the generator of the seed, special tokens included and the
// prefix not, and are otherwise made as those of lengths from a range.
func TestRandomOfMixedLengths(t *testing.T) {
	mix := must(lengths.ParseMix("3: lognormal mean=20 std=15/uniform min=2 max=9; 1: 1/40"))(t)
	for _, c := range []struct{ prefix, special int }{{0, 0}, {0, 2}, {5, 0}, {5, 2}} {
		o := RandomOptions{Common: Common{Prompts: 200, Seed: 11}, InputLen: 7, OutputLen: 8, PrefixLen: c.prefix,
			Batch: 1, Lengths: mix}
		r := must(NewRandom(o, newToy(t, "identity", 997, []int{0}, c.special)))(t)
		least := 1
		if c.prefix > 0 {
			least = 0
		}
		gen := numpy.NewGenerator(11)
		want := mix.Draw(gen, o.Prompts)
		offsets := gen.IntegersArray(0, 997, o.Prompts)
		for i, got := range drain(t, r) {
			turn, input := got.Turns[0], max(least, int(want[i].Input)-c.special)
			same(t, "output tokens", turn.MaxTokens, int(want[i].Output))
			same(t, "input tokens", turn.InputTokens, c.prefix+input)
			if ids := parseIDs(turn.Text)[c.prefix:]; len(ids) > 0 {
				same(t, "first token", ids[0], (int(offsets[i])+i)%996+1)
			}
		}
	}
}

// A later block may have a longer prompt than all before it, and with it a longer common prefix.
func TestBlocksOfMixedLengths(t *testing.T) {
	mix := must(lengths.ParseMix("1: lognormal mean=20 std=30/9"))(t)
	o := RandomOptions{Common: Common{PromptTokenIDs: true}, OutputLen: 1, Batch: 1, Lengths: mix, Warm: 0.5,
		WarmPrefix: 0.9}
	o.Prompts = blockPrompts
	block := must(startRandom(o, nil))(t)
	b := &randomBlocks{block: block}
	first, longest := len(b.block.prefix), 0
	for range 6 * blockPrompts {
		c := must(b.next())(t)
		longest = max(longest, int(0.9*float64(c.Turns[0].InputTokens)))
	}
	if len(b.block.prefix) != longest || longest <= first {
		t.Errorf("got a prefix of %d tokens, %d for the first block, want %d", len(b.block.prefix), first, longest)
	}
}
