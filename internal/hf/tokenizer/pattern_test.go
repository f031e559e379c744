package tokenizer

import (
	"strings"
	"sync"
	"testing"
	"time"
)

// A pattern that the library would read in another way, or not at all, is refused with the place and the reason.
func TestPatternRefused(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{`(`, "at byte 1: unterminated group"},
		{`a)`, "at byte 1: a ) that closes nothing"},
		{`*a`, "a quantifier after nothing"},
		{`a|{2}`, "a quantifier after nothing"},
		{`^*`, "a quantifier after a position"},
		{`a{3,1}`, "a count of {3,1} is not understood"},
		{`a{1001}`, "a count of {1001} is not understood"},
		{`a{99999999999999999999}`, "is not understood"},
		{`a(?i)b|c`, "begins with (?"},
		{`(?i:ss)`, `"ss" where case is ignored would match a single letter as well`},
		{`(?i:é)`, "where case is ignored is not understood"},
		{`(?i:\p{Lu})`, "where case is ignored is not understood"},
		{`(?i:[^a])`, "a negated class where case is ignored"},
		{`(?x: a )`, "'x'"},
		{`(?s:.)`, "'s'"},
		{`(?<name>a)`, "'<'"},
		{`(?#note)a`, "'#'"},
		{`(a)\1`, `\1 is not understood`},
		{`\K`, `\K is not understood`},
		{`\R`, `\R is not understood`},
		{`\pL`, `\p is not understood`},
		{`\p{letter}`, `property "letter" is not known`},
		{`\p{L`, "is not known"},
		{`\xe9`, "is not a character"},
		{`\x{110000}`, "is not a character"},
		{`\x{D800}`, "is not a character"},
		{`\x{`, "is not closed"},
		{`\u12`, "is not a character"},
		{`a\`, "a backslash at the end"},
		{`[a`, "unterminated class"},
		{`[a-`, "unterminated class"},
		{`[]a]`, "an empty class"},
		{`[a&&b]`, "the intersection of classes"},
		{`[a[^b]]`, "a negated class within a class"},
		{`[\d-x]`, "a range from a kind of character"},
		{`[a-z-9]`, "a range from a range"},
		{`[a-[b]]`, "a range to a class"},
		{`[b-a]`, "the range b-a is empty"},
		{`[a\W]`, "within a class is not understood"},
		{`[[:alpha:]]`, "only space and digit"},
		{"\xff", "not UTF-8"},
		{strings.Repeat("(", 1000), "too deep"},
		{strings.Repeat("[", 1000), "too deep"},
		{"a" + strings.Repeat("{2}", 1000), "too many quantifiers"},
	} {
		_, err := compilePattern(c.source)
		if err == nil {
			t.Errorf("%.40s: accepted", c.source)
		} else if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40s: %v, want %q in it", c.source, err, c.want)
		}
	}
}

// A pattern that tries ways without end is given up, and the error does not repeat the text.
func TestPatternGivesUp(t *testing.T) {
	p, err := compilePattern(`(?:a|aa)+\n`)
	if err != nil {
		t.Fatal(err)
	}
	p.regex.MatchTimeout = time.Millisecond
	err = p.each(strings.Repeat("a", 198)+"!\n", func(int, int) {})
	if err == nil || !strings.Contains(err.Error(), "gave up on a text of 200 bytes") {
		t.Errorf("got %v, want a word about giving up", err)
	}
}

func TestPatternConcurrent(t *testing.T) {
	p, err := compilePattern(gpt2Pattern)
	if err != nil {
		t.Fatal(err)
	}
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
