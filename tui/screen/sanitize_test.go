package screen

import (
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"benchtop/internal/assert"
	"benchtop/internal/ci"
)

// Beside the rule of text.Clean there are those of a screen.
func TestSanitize(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                            "plain",
		"日本 é 👩\u200d💻":                    "日本 é 👩💻",
		"👩🏽\u200d🚀 ❤\ufe0f":                "👩🚀 ❤",
		"e" + strings.Repeat("\u0301", 30): "e\u0301\u0301",
		"a  b":                             "a b",
		"a \ufe0f b\x1b[31m\xff":           "a b\uFFFD",
		" ":                                "",
		"":                                 "",
	} {
		assert.Equal(t, Sanitize(in), want, "sanitize(%q)", in)
	}
}

// Whatever of Unicode passes keeps to its own cells, before a blank and before a letter.
func TestSanitizedWidthsAdd(t *testing.T) {
	ci.SkipUnderRace(t)
	for r := rune(0xa0); r <= unicode.MaxRune; r++ {
		s := Sanitize(string(r))
		if w := Width(s); Width(s+" ") != w+1 || Width(s+"a") != w+1 {
			t.Errorf("%U takes %d columns alone, %d before a blank, %d before a letter", r, w, Width(s+" ")-1,
				Width(s+"a")-1)
		}
	}
}

func TestFold(t *testing.T) {
	for _, c := range []struct {
		in   string
		w    int
		want []string
	}{
		{"", 10, nil},
		{"\n\n \n", 10, nil},
		{"one two three", 7, []string{"one two", "three"}},
		{"one two three", 8, []string{"one two", "three"}},
		{"abcdefghij", 4, []string{"abcd", "efgh", "ij"}},
		{"ab cdefghij kl", 4, []string{"ab", "cdef", "ghij", "kl"}},
		{"a\n\n\nb\x1b[2J", 4, []string{"a", "", "b"}},
		{"漢字漢字", 5, []string{"漢字", "漢字"}},
		{"漢", 1, []string{"漢"}},
		{"éa e\u0301e\u0301", 2, []string{"éa", "e\u0301e\u0301"}},
		{"a b", 0, []string{"a", "b"}},
	} {
		if diff := cmp.Diff(c.want, Fold(c.in, c.w)); diff != "" {
			t.Errorf("Fold(%q, %d) (-want +got):\n%s", c.in, c.w, diff)
		}
	}
	if got := Fold(strings.Repeat("word ", 100_000), 10); len(got) != foldMost {
		t.Errorf("%d lines", len(got))
	}
	for _, l := range Fold(strings.Repeat("漢字 mixed with words é and so on ", 50), 17) {
		if Width(l) > 17 {
			t.Errorf("%q is %d wide", l, Width(l))
		}
	}
}
