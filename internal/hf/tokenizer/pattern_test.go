package tokenizer

import (
	"strings"
	"sync"
	"testing"
	"time"

	"benchtop/internal/assert"
)

// A pattern that the library would read in another way, or not at all, is refused with the place and the reason.
func TestPatternRefused(t *testing.T) {
	for _, c := range append(assert.Golden[[2]string](t, "testdata/refused-patterns.jsonl"), [][2]string{
		{"\xff", "not UTF-8"},
		{strings.Repeat("(", 1000), "too deep"},
		{strings.Repeat("[", 1000), "too deep"},
		{"a" + strings.Repeat("{2}", 1000), "too many quantifiers"},
	}...) {
		_, err := compilePattern(c[0])
		if err == nil {
			t.Errorf("%.40s: accepted", c[0])
		} else if !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%.40s: %v, want %q in it", c[0], err, c[1])
		}
	}
}

// A pattern that tries ways without end is given up, and the error does not repeat the text.
func TestPatternGivesUp(t *testing.T) {
	p, err := compilePattern(`(?:a|aa)+\n`)
	assert.Fine(t, err)
	p.regex.MatchTimeout = time.Millisecond
	err = p.each(strings.Repeat("a", 198)+"!\n", func(int, int) {})
	assert.Complains(t, err, "gave up on a text of 200 bytes")
}

// A group may heed the case of letters within one that ignores it.
func TestPatternHeedsCaseAgain(t *testing.T) {
	p := assert.Must(compilePattern(`(?i:a(?-i:b))`))(t)
	assert.EqualAll(t, wordsOf(t, p.each, "AB Ab"), []string{"Ab"}, "matches")
}

func TestPatternConcurrent(t *testing.T) {
	p := assert.Must(compilePattern(gpt2Pattern))(t)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			text := strings.Repeat("it's é 12 ", 50+i)
			for range 20 {
				n := 0
				if err := p.each(text, func(start, end int) { n += end - start }); err != nil || n != len(text) {
					t.Errorf("%d bytes of %d, %v", n, len(text), err)
				}
			}
		})
	}
	all.Wait()
}
