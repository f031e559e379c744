package tokenizer

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The parts where the two dialects differ; the matches are those of the Hugging Face library.
func TestPatternDialect(t *testing.T) {
	for _, c := range []struct {
		source, text string
		want         []string // the matches
	}{
		{`^a`, "aa\na\n", []string{"a", "a"}},
		{`b$`, "b\nab", []string{"b", "b"}},
		{`.`, "x\n\r\u2028", []string{"x", "\r", "\u2028"}},
		{`(?m:.)`, "x\ny", []string{"x", "\n", "y"}},
		{`\p{N}{1,3}+`, "12345 1", []string{"12345", "1"}},
		{`a{,2}b`, "aaab", []string{"aab"}},
		{`x{a}`, "x{a}", []string{"x{a}"}},
		{`\h+`, "fg", []string{"f"}},
		{`\w+`, "a_é\u00B2\u2075中", []string{"a_é\u00B2", "中"}},
		{`[\w]+`, "a\u00B2", []string{"a"}},
		{`\b`, "ab c", []string{"", "", "", ""}},
		{`[a[bc]]+`, "abcd", []string{"abc"}},
		{`[[:space:]]`, "a\u00A0b", []string{"\u00A0"}},
		{`[^\s\p{L}]+`, "a 1!b", []string{"1!"}},
		{`\p{^L}`, "a1", []string{"1"}},
		{`(?i:'s|'ll)`, "'ſ 'LL", []string{"'ſ", "'LL"}},
		{`(?i)k`, "\u212A", []string{"\u212A"}},
		{`(?i:a(?-i:b))`, "AB Ab", []string{"Ab"}},
		{`\u00e9|\x{1F600}|\x41`, "é😀A", []string{"é", "😀", "A"}},
		{`(a)(?:b)(?>c)(?=d)(?!e)`, "abcd", []string{"abc"}},
		{`b*`, "abba", []string{"", "bb", ""}},
		{`[+-.\]\-]+`, "+,-.]", []string{"+,-.]"}},
		{`日+`, "é日日", []string{"日日"}},
		{`\xFF?\+`, "+", nil},
	} {
		p, err := compilePattern(c.source)
		if c.want == nil {
			if err == nil {
				t.Errorf("%s: accepted", c.source)
			}
			continue
		}
		if err != nil {
			t.Error(err)
			continue
		}
		if diff := cmp.Diff(c.want, matches(t, p, c.text)); diff != "" {
			t.Errorf("%s on %q (-want +got):\n%s", c.source, c.text, diff)
		}
	}
}

func matches(t testing.TB, p *pattern, text string) (all []string) {
	t.Helper()
	err := p.each(text, func(start, end int) { all = append(all, text[start:end]) })
	if err != nil {
		t.Fatal(err)
	}
	return all
}

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

func TestPatternStackLimit(t *testing.T) {
	p, err := compilePattern(`(?:ab|c)*d`)
	if err != nil {
		t.Fatal(err)
	}
	err = p.each(strings.Repeat("ab", backtrackLimit), func(int, int) {})
	if err == nil || !strings.Contains(err.Error(), "steps back") {
		t.Errorf("got %v, want a word about the steps back", err)
	}
}

// A long run of one kind of character takes no more than it is long.
func TestPatternLongRuns(t *testing.T) {
	s := mustSplitter(t, `{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true}`)
	for _, unit := range []string{" ", "a", "1", "!", "\n", "中"} {
		text := strings.Repeat(unit, 200_000)
		pieces, err := s.split([]piece{{text, true}})
		if err != nil {
			t.Errorf("%q: %v", unit, err)
		}
		if len(pieces) != 1 {
			t.Errorf("%q: %d pieces, want 1", unit, len(pieces))
		}
	}
}

func TestPatternBrokenText(t *testing.T) {
	p, err := compilePattern(`\S+`)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"a\xff", "\xe4\xb8b\u4e2d", "\xc3"}
	if diff := cmp.Diff(want, matches(t, p, "a\xff \xe4\xb8b\u4e2d \xc3")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
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
