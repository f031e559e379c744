package tokenizer

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/ci"
)

// The queue merges as looking through all pairs does, whatever the word.
func TestLongAndShortMergesAgree(t *testing.T) {
	l := gpt2(t)
	draw := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		var word strings.Builder
		letters := []string{"a", "b", "ab", "th", "e", "!", "1"}[:1+draw.IntN(7)]
		for word.Len() < 2+draw.IntN(longWord-4) {
			word.WriteString(letters[draw.IntN(len(letters))])
		}
		var long, short scratch
		assert.Fine(t, l.bpe.start(word.String(), &long))
		short.symbols = slices.Clone(long.symbols)
		l.bpe.mergeLong(&long)
		l.bpe.mergeShort(&short)
		if !slices.Equal(long.symbols, short.symbols) {
			t.Fatalf("%q: got %v, want %v", word.String(), long.symbols, short.symbols)
		}
	}
}

// A text that is one word takes a few bytes for each of its own, and its scratch is not kept.
func TestOneLongWord(t *testing.T) {
	ci.SkipUnderRace(t)
	l := gpt2(t)
	for _, c := range []string{"a", "!", "1", "\n", "ab"} {
		text := strings.Repeat(c, 1<<18/len(c))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		ids, err := l.Encode(text)
		runtime.ReadMemStats(&after)
		assert.Fine(t, err)
		if took := after.TotalAlloc - before.TotalAlloc; took > 96<<18 {
			t.Errorf("256 KiB of %q took %d KB", c, took>>10)
		}
		assert.Equal(t, assert.Must(l.Decode(ids))(t), text, "256 KiB of %q came back as", c)
	}
	var s scratch
	if _, err := l.encodeIn(&s, nil, strings.Repeat("a", scratchMost+1)); err != nil ||
		cap(s.symbols)+cap(s.next)+cap(s.queue) > 0 {
		t.Errorf("the scratch of a long text is kept, error %v", err)
	}
}

func gpt2(t *testing.T) *Local {
	t.Helper()
	return readGolden(t, "testdata", goldenFile{File: "gpt2.tokenizer.json.gz"})
}
