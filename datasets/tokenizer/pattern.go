package tokenizer

import (
	"errors"
	"fmt"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
)

// pattern finds the stretches of a text that a regular expression, written for the Oniguruma library, matches.
// It is safe for concurrent use.
type pattern struct {
	source string
	regex  *regexp2.Regexp
	runes  sync.Pool // of *[]rune: the library matches runes, so each search borrows room for its text
}

const (
	// A single match takes microseconds. A pattern that is still at it after this time has met a text on which it
	// tries ways without end.
	matchLimit = 5 * time.Second
	// Backtracking of that many steps takes 4 MB; the patterns of known models stay in the hundreds.
	backtrackLimit = 500_000
	// Room for a text longer than this is not kept.
	keptRunes = 1 << 18
)

// compilePattern reads a regular expression. What Oniguruma and the library take to mean different things is said in the
// library's words; what cannot be said so is an error.
func compilePattern(source string) (*pattern, error) {
	translated, err := translate(source)
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w", source, err)
	}
	regex, err := regexp2.Compile(translated, regexp2.OptionMaxBacktrackingStackSize(backtrackLimit))
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w", source, err)
	}
	regex.MatchTimeout = matchLimit
	return &pattern{source: source, regex: regex}, nil
}

// each calls found with the byte offsets of every match, from left to right. A match may be empty, but not at the end of
// the match before it.
func (p *pattern) each(text string, found func(start, end int)) error {
	buffer, _ := p.runes.Get().(*[]rune)
	if buffer == nil {
		buffer = new([]rune)
	}
	runes := (*buffer)[:0]
	for _, r := range text {
		runes = append(runes, r)
	}
	ascii := len(runes) == len(text) // then runes and bytes count alike
	runeAt, byteAt, last := 0, 0, -1
	err := p.regex.FindRunesMatches(runes, 0, func(m regexp2.MatchView) bool {
		index, length, _ := m.GroupRange(0)
		if length == 0 && index == last {
			return true
		}
		last = index + length
		if ascii {
			found(index, last)
			return true
		}
		start := skipRunes(text, byteAt, index-runeAt)
		byteAt, runeAt = skipRunes(text, start, length), last
		found(start, byteAt)
		return true
	})
	if cap(runes) <= keptRunes {
		*buffer = runes
		p.runes.Put(buffer)
	}
	return p.explain(err, len(text))
}

// explain says what stopped a search without quoting the text, which may be long.
func (p *pattern) explain(err error, size int) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, regexp2.ErrBacktrackingStackLimit):
		return fmt.Errorf("pattern %q: gave up on a text of %d bytes after %d steps back", p.source, size, backtrackLimit)
	}
	return fmt.Errorf("pattern %q: gave up on a text of %d bytes, no match found or ruled out within %v",
		p.source, size, p.regex.MatchTimeout)
}

// skipRunes returns the offset n runes after at; a broken byte counts as one.
func skipRunes(text string, at, n int) int {
	for ; n > 0 && at < len(text); n-- {
		if text[at] < utf8.RuneSelf {
			at++
			continue
		}
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return at
}
