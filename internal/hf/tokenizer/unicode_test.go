package tokenizer

import (
	"testing"
	"unicode"

	"benchtop/internal/assert"
)

// The categories of the reference do not grow with Go's.
func TestCategories(t *testing.T) {
	for _, c := range []struct {
		name string
		is   func(rune) bool
		want int
	}{
		{"punctuation", isPunctuation, 726},
		{"nonspacing marks", isNonspacing, 1567},
		{"marks", isAccent, 2097},
		{"control characters", isControl, 137_680},
	} {
		n := 0
		for r := rune(0); r <= unicode.MaxRune; r++ {
			if c.is(r) {
				n++
			}
		}
		assert.Equal(t, n, c.want, "%s", c.name)
	}
}

func TestByteLettersAreDistinct(t *testing.T) {
	seen := map[rune]bool{}
	for b := range 256 {
		letters := []rune(byteLevel(string([]byte{byte(b)})))
		if len(letters) != 1 || seen[letters[0]] || letters[0] < '!' {
			t.Errorf("byte %#x: %q", b, letters)
			continue
		}
		seen[letters[0]] = true
	}
}
