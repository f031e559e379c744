package tokenizer

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode"
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

// compilePattern reads a regular expression. Syntax that means one thing to Oniguruma and another to the library is
// translated; an error where it cannot be.
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

// each calls found with the byte offsets of every match, from left to right. A match may be empty, but not at the end
// of the match before it.
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

// explain is the error of a search, without the text, which may be long.
func (p *pattern) explain(err error, size int) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, regexp2.ErrBacktrackingStackLimit):
		return fmt.Errorf("pattern %q: gave up on a text of %d bytes after %d steps back", p.source, size,
			backtrackLimit)
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

const (
	// gpt2Pattern is how GPT-2 cut text into words (OpenAI, encoder.py).
	gpt2Pattern = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

	// GPT-4 cut text so, with numbers between the two, and Llama 3 and Qwen do.
	gpt4Before = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|`
	gpt4After  = `| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
)

// findPattern returns the finder of a regular expression.
//
// The patterns of most models are of two families. To search for them as regular expressions takes as long as all else
// that is done with a text, and they are simple: each character is in a match, and where one ends is told by the kinds
// of the characters. So a pattern that is one of theirs, letter by letter, has a finder of its own.
func findPattern(source string) (finder, error) {
	digits, simple := map[string]int{gpt2Pattern: 0, gpt4Before + `\p{N}` + gpt4After: 1,
		gpt4Before + `\p{N}{1,3}` + gpt4After: 3}[source]
	if simple {
		return (&wordFinder{newRuneKinds(), digits}).each, nil
	}
	p, err := compilePattern(source)
	if err != nil {
		return nil, err
	}
	return p.each, nil
}

// wordFinder finds the words of GPT-2 or of GPT-4. It is safe for concurrent use.
type wordFinder struct {
	kinds  runeKinds
	digits int // at most as many in a word; 0 for GPT-2's words
}

func (w *wordFinder) each(text string, found func(start, end int)) error {
	word := w.gpt2
	if w.digits > 0 {
		word = w.gpt4
	}
	for start := 0; start < len(text); {
		end := word(text, start)
		found(start, end)
		start = end
	}
	return nil
}

// gpt2 returns where the word that begins at start ends.
func (w *wordFinder) gpt2(text string, start int) int {
	if end := start + contraction(text[start:], false); end > start {
		return end
	}
	kind, at := w.kind(text, start)
	if text[start] == ' ' && at < len(text) {
		if next, after := w.kind(text, at); next != space {
			return w.run(text, after, next)
		}
	}
	if kind == space {
		return w.spaces(text, start)
	}
	return w.run(text, at, kind)
}

// gpt4 returns where the word that begins at start ends.
func (w *wordFinder) gpt4(text string, start int) int {
	if end := start + contraction(text[start:], true); end > start {
		return end
	}
	kind, at := w.kind(text, start)
	switch kind {
	case letter:
		return w.run(text, at, letter)
	case number:
		return w.number(text, at)
	}
	if newline := isNewline(text[start]); !newline && at < len(text) {
		next, after := w.kind(text, at)
		switch {
		case next == letter:
			return w.run(text, after, letter)
		case next == sign && text[start] == ' ':
			return newlines(text, w.run(text, after, sign))
		}
	}
	if kind == sign {
		return newlines(text, w.run(text, at, sign))
	}
	return w.lines(text, start)
}

// run returns where the characters of a kind end that begin at or before at.
func (w *wordFinder) run(text string, at int, kind runeKind) int {
	for at < len(text) {
		k, next := w.kind(text, at)
		if k != kind {
			break
		}
		at = next
	}
	return at
}

// number returns where a number ends whose first digit ends at at.
func (w *wordFinder) number(text string, at int) int {
	for n := 1; n < w.digits && at < len(text); n++ {
		k, next := w.kind(text, at)
		if k != number {
			break
		}
		at = next
	}
	return at
}

// spaces returns where a run of white space ends that leaves one character to the word behind it, if it has two.
func (w *wordFinder) spaces(text string, start int) int {
	end := w.run(text, start, space)
	if end == len(text) {
		return end
	}
	_, size := utf8.DecodeLastRuneInString(text[start:end])
	if end-size == start {
		return end
	}
	return end - size
}

// lines is spaces where white space ends with its last line, if there is one.
func (w *wordFinder) lines(text string, start int) int {
	end := w.run(text, start, space)
	for at := end; at > start; at-- {
		if isNewline(text[at-1]) {
			return at
		}
	}
	return w.spaces(text, start)
}

func isNewline(c byte) bool { return c == '\n' || c == '\r' }

func newlines(text string, at int) int {
	for at < len(text) && isNewline(text[at]) {
		at++
	}
	return at
}

// contraction is the length of the 's, 't, 're and so on that text begins with, 0 for none. In any case the long s
// counts too, which without its case is an s.
func contraction(text string, anyCase bool) int {
	const longS = "'\u017F"
	if text[0] != '\'' {
		return 0
	}
	if anyCase && strings.HasPrefix(text, longS) {
		return len(longS)
	}
	for _, c := range [...]string{"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"} {
		if len(text) >= len(c) && (text[:len(c)] == c || anyCase && strings.EqualFold(text[:len(c)], c)) {
			return len(c)
		}
	}
	return 0
}

// runeKind is a kind of character that words are told by. Every character is of one.
type runeKind uint8

const (
	sign runeKind = iota // none of the others: punctuation, symbols, marks, controls
	letter
	number
	space
)

// runeKinds knows the kinds of the first 65,536 characters, four in a byte, so that all of them stay in the processor's
// first cache.
type runeKinds [1 << 16 / 4]uint8

func newRuneKinds() runeKinds {
	var k runeKinds
	for _, t := range []struct {
		table *unicode.RangeTable
		kind  runeKind
	}{{unicode.L, letter}, {unicode.N, number}, {unicode.White_Space, space}} {
		for _, r := range t.table.R16 {
			for c := uint32(r.Lo); c <= uint32(r.Hi); c += uint32(r.Stride) {
				k[c/4] |= uint8(t.kind) << (c % 4 * 2)
			}
		}
	}
	return k
}

// kind returns the kind of the character at at, and where the next begins. A broken byte is a sign, as U+FFFD is.
func (w *wordFinder) kind(text string, at int) (kind runeKind, next int) {
	r, size := rune(text[at]), 1
	if r >= utf8.RuneSelf {
		r, size = utf8.DecodeRuneInString(text[at:])
	}
	if r < 1<<16 {
		return runeKind(w.kinds[r/4] >> (r % 4 * 2) & 3), at + size
	}
	switch {
	case unicode.Is(unicode.L, r):
		kind = letter
	case unicode.Is(unicode.N, r):
		kind = number
	}
	return kind, at + size
}
