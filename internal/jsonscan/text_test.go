package jsonscan

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"benchtop/internal/assert"
)

// Half of a character is no text, wherever it stands; everything else is, U+FFFD included.
func TestWholeText(t *testing.T) {
	for raw, want := range map[string]string{
		`""`: "", `"a\\ud83d"`: `a\ud83d`, `"\ud83d\ude00"`: "😀", `"\uFFFD"`: "\ufffd", "\"\ufffd\"": "\ufffd",
		`"\u0041\\"`: `A\`, `"\n\ud7ff\ue000"`: "\n\ud7ff\ue000",
	} {
		assert.Equal(t, assert.Must(WholeText([]byte(raw)))(t), want, "%s", raw)
	}
	for raw, half := range map[string]string{
		`"\ud83d"`: `\ud83d`, `"x\ud83d x"`: `\ud83d`, `"\ude00\ud83d"`: `\ude00`, `"\ud83d\ud83d\ude00"`: `\ud83d`,
		`"\ud83d\ude00\uDE00"`: `\uDE00`, `"\\\ud83d\n"`: `\ud83d`,
		`"\ud83d\u0041"`: `\ud83d`,
	} {
		_, err := WholeText([]byte(raw))
		if err == nil || !strings.Contains(err.Error(), "unpaired surrogate "+half+";") {
			t.Errorf("%s: got %v, want %s named", raw, err, half)
		}
	}
}

// A text is that of the standard library, which makes U+FFFD of half a character, and of nothing else.
func FuzzWholeText(f *testing.F) {
	for _, s := range []string{`a`, `\ud83d`, `\ud83d\ude00`, `\\ud83d`, `\u12`, `\udead\ubeef`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, inside string) {
		raw := []byte(`"` + inside + `"`)
		var want string
		if !utf8.ValidString(inside) || strings.ContainsRune(inside, utf8.RuneError) ||
			strings.Contains(strings.ToLower(inside), "fffd") || json.Unmarshal(raw, &want) != nil {
			return
		}
		got, err := WholeText(raw)
		if lost := strings.ContainsRune(want, utf8.RuneError); lost != (err != nil) || err == nil && got != want {
			t.Errorf("%s: got %q (%v), want %q", raw, got, err, want)
		}
	})
}

// A text that is quoted is the same for the standard library.
func FuzzAppendQuoted(f *testing.F) {
	for _, s := range []string{"", `a"b\c`, "\x00\b\f\n\r\t\x1f\x7f<>&\u2028é漢😀"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return
		}
		var got string
		quoted := AppendQuoted([]byte("x"), []byte(text))
		if err := json.Unmarshal(quoted[1:], &got); err != nil || got != text {
			t.Errorf("%q becomes %s, which is %q: %v", text, quoted, got, err)
		}
	})
}
