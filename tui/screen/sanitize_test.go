package screen

import (
	"maps"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"github.com/muesli/termenv"

	"benchtop/internal/ci"
)

// cleaned are the cases of the sanitizer in package export, which this package cannot import. Both follow one rule; change
// them together.
var cleaned = map[string]string{
	"plain":                                  "plain",
	"  two\n\tlines\r\n ":                    "two lines",
	"\x1b[1;31mred\x1b[0m":                   "red",
	"a\x1b]0;title\x07b":                     "ab",
	"a\x1b]8;;http://x\x1b\\b":               "ab",
	"a\u009b31mb\u009d0;t\u009cc":            "abc",
	"a\x1bPq#0\x1b\\b\x1b(Bc":                "abc",
	"open \x1b]0;never ends":                 "open 0;never ends",
	"bell\x07 null\x00 del\x7f nel\u0085x":   "bell null del nel x",
	"\u202eevil\u202c \u2066x\u2069\u200f":   "evil x",
	"line\u2028sep\ufeff":                    "line sep",
	"bad \xff\xfe utf8 \xc3":                 "bad \uFFFD utf8 \uFFFD",
	"\x1b\x1b[31m[32mx":                      "[32mx",
	`{"error": {"message": "no \u001b[1m"}}`: `{"error": {"message": "no \u001b[1m"}}`,
}

func TestSanitize(t *testing.T) {
	cases := maps.Clone(cleaned)
	maps.Copy(cases, map[string]string{ // rules of a screen only
		"日本 é 👩\u200d💻":                    "日本 é 👩💻",
		"👩🏽\u200d🚀 ❤\ufe0f":                "👩🚀 ❤",
		"e" + strings.Repeat("\u0301", 30): "e\u0301\u0301",
		"a  b":                             "a b",
		" ":                                "",
		"":                                 "",
	})
	for in, want := range cases {
		if got := Sanitize(in); got != want {
			t.Errorf("sanitize(%q) = %q, want %q", in, got, want)
		}
	}
}

// Whatever of Unicode passes keeps to its own cells, before a blank and before a letter.
func TestSanitizedWidthsAdd(t *testing.T) {
	ci.SkipUnderRace(t)
	for r := rune(0xa0); r <= unicode.MaxRune; r++ {
		s := Sanitize(string(r))
		if w := Width(s); Width(s+" ") != w+1 || Width(s+"a") != w+1 {
			t.Errorf("%U takes %d columns alone, %d before a blank, %d before a letter", r, w, Width(s+" ")-1, Width(s+"a")-1)
		}
	}
}

func FuzzSanitize(f *testing.F) {
	for in := range cleaned {
		f.Add(in)
	}
	f.Add("👩🏽‍🚀 e\u0301\u0301\u0301 \u1100\u1161 漢字")
	f.Fuzz(func(t *testing.T, s string) {
		got := Sanitize(s)
		switch {
		case !utf8.ValidString(got):
			t.Errorf("no UTF-8: %q", got)
		case Sanitize(got) != got:
			t.Errorf("cleaned twice: %q, then %q", got, Sanitize(got))
		case got != strings.Join(strings.Fields(got), " "):
			t.Errorf("blanks: %q", got)
		case strings.ContainsFunc(got, func(r rune) bool {
			return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
		}):
			t.Errorf("not clean: %q", got)
		}
		w := min(Width(got)+2, 300)
		for _, ascii := range []bool{false, true} {
			sf := NewSurface(w, 1)
			sf.Terminal.ASCII = ascii
			sf.All().Print(0, 0, got, Text)
			line := sf.Render(NewPalette(termenv.Ascii))
			if n := ansi.StringWidth(line); n != w {
				t.Errorf("%q takes %d columns, not %d", line, n, w)
			}
			if i := strings.IndexFunc(line, func(r rune) bool { return r > 0x7e }); ascii && i >= 0 {
				t.Errorf("%q is not ASCII", line)
			}
		}
	})
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
