package text

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"benchtop/internal/assert"
)

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
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
		"日本 é 👩\u200d💻":                          "日本 é 👩\u200d💻",
		"\x1b\x1b[31m[32mx":                      "[32mx",
		`{"error": {"message": "no \u001b[1m"}}`: `{"error": {"message": "no \u001b[1m"}}`,
	} {
		assert.Equal(t, Clean(in), want, "Clean(%q)", in)
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"x", "\x1b[31mred", "a\u009b31m", "\xff\n\t", "\u202eabc", "\x1b]0;t\x07",
		"\x1bP\x1b\\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Clean(s)
		switch {
		case !utf8.ValidString(got):
			t.Errorf("no UTF-8: %q", got)
		case Clean(got) != got:
			t.Errorf("cleaned twice: %q, then %q", got, Clean(got))
		case strings.ContainsFunc(got, func(r rune) bool {
			return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
		}):
			t.Errorf("not clean: %q", got)
		}
	})
}
