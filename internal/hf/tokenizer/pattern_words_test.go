package tokenizer

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"benchtop/internal/assert"
	"benchtop/internal/ci"
)

// wordPatterns are the patterns with a finder of their own.
var wordPatterns = []string{gpt2Pattern, gpt4Before + `\p{N}` + gpt4After, gpt4Before + `\p{N}{1,3}` + gpt4After}

func wordsOf(t testing.TB, find finder, text string) []string {
	t.Helper()
	var all []string
	assert.Fine(t, find(text, func(start, end int) { all = append(all, text[start:end]) }))
	return all
}

// sameWords checks a text by the finder and by the regular expression.
func sameWords(t testing.TB, source, text string) {
	t.Helper()
	find := assert.Must(findPattern(source))(t)
	p := assert.Must(compilePattern(source))(t)
	checkWords(t, find, p, text)
}

func checkWords(t testing.TB, find finder, p *pattern, text string) {
	t.Helper()
	if got, want := wordsOf(t, find, text), wordsOf(t, p.each, text); !slices.Equal(got, want) {
		i := 0
		for i < min(len(got), len(want))-1 && got[i] == want[i] {
			i++
		}
		t.Errorf("%q: word %d is %q, the pattern %s has %q", text, i, got[i], p.source, want[i])
	}
}

// Every character is of the kind that the regular expression has it in, wherever it stands. From U+33480 on there are
// but tags and private use, of which some will do.
func TestWordsOfEveryCharacter(t *testing.T) {
	ci.SkipUnderRace(t)
	for _, source := range wordPatterns {
		find := assert.Must(findPattern(source))(t)
		p := assert.Must(compilePattern(source))(t)
		var text strings.Builder
		for r, step := rune(0), rune(1); r <= utf8.MaxRune; r += step {
			c := string(r)
			switch {
			case r < 0x3100:
				text.WriteString("a" + c + " " + c + "'" + c + "'r" + c + "'" + c + "l" + c + "\n" + c + c + "7")
			case r < 0x33480:
				text.WriteString(c + "a")
			default:
				step = 997
				text.WriteString(c + "a")
			}
			if text.Len() > 4096 {
				checkWords(t, find, p, text.String())
				text.Reset()
			}
		}
		checkWords(t, find, p, text.String())
	}
}

// Mixtures of what the patterns tell apart, as short as to be read and so many that all neighbours meet.
func TestWordsOfMixtures(t *testing.T) {
	ci.SkipUnderRace(t)
	parts := []string{
		"a", "B", "é", "中", "\u0301", "ſ", "s", "S", "t", "re", "RE", "vE", "ll", "m", "D", "'", "'", "’", "1", "22",
		"٣", "½", "𝟙", "𝐀",
		" ", " ", "  ", "\t", "\n", "\r", "\r\n", "\n\n", "\v", "\u0085", "\u00A0", "\u3000", "\u2028", "\u200B",
		"!", "...", "_", "😀", "€", "\x00", "\xff", "\uFFFD",
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, source := range wordPatterns {
		find := assert.Must(findPattern(source))(t)
		p := assert.Must(compilePattern(source))(t)
		for range 5_000 {
			var text strings.Builder
			for range 1 + random.IntN(12) {
				text.WriteString(parts[random.IntN(len(parts))])
			}
			checkWords(t, find, p, text.String())
		}
	}
}

// A pattern that differs in a letter is not taken for one of those.
func TestFindPatternToTheLetter(t *testing.T) {
	for _, source := range []string{
		strings.TrimSuffix(gpt2Pattern, `|\s+`), strings.Replace(gpt2Pattern, `\p{N}+`, `\p{N}`, 1),
		gpt4Before + `\p{N}{1,2}` + gpt4After,
		gpt4Before + `\p{Nd}` + gpt4After,
	} {
		for _, text := range []string{"x  ", "it's 1234 \n\nb", " ½"} {
			sameWords(t, source, text)
		}
	}
}

func FuzzWords(f *testing.F) {
	f.Add("it's 12 é\n\n b\u3000中 I'LL'ſ\r\n \t x\xff")
	finds, patterns := make([]finder, len(wordPatterns)), make([]*pattern, len(wordPatterns))
	for i, source := range wordPatterns {
		var err, err2 error
		finds[i], err = findPattern(source)
		patterns[i], err2 = compilePattern(source)
		if err != nil || err2 != nil {
			f.Fatal(err, err2)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		for i, find := range finds {
			checkWords(t, find, patterns[i], text)
		}
	})
}
