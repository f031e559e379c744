package textfile

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"benchtop/internal/assert"
	"benchtop/internal/jsonscan"
)

func readJSON(t *testing.T, r io.Reader) string {
	t.Helper()
	text := assert.Must(NewJSONReader(r))(t)
	data := assert.Must(io.ReadAll(text))(t)
	return string(data)
}

// Numbers of Python are rewritten outside of strings, wherever the pieces of the file end.
func TestJSONReader(t *testing.T) {
	for text, want := range map[string]string{
		"":                                    "",
		"NaN":                                 "null",
		"\ufeff[NaN,-Infinity]":               "[null,-1e999]",
		`{"NaN": "a \\\" NaN", "b\\\\": NaN}`: `{"NaN": "a \\\" NaN", "b\\\\": null}`,
		"[Nan, Inf, N, I, Na":                 "[Nan, Inf, N, I, Na",
		"NaNNaN Infinity":                     "nullnull 1e999",
		strings.Repeat(" ", 1<<16-2) + "NaN":  strings.Repeat(" ", 1<<16-2) + "null",
	} {
		for name, r := range map[string]io.Reader{"at once": strings.NewReader(text),
			"byte by byte": iotest.OneByteReader(strings.NewReader(text))} {
			assert.Equal(t, readJSON(t, r), want, "%.60q %s", text, name)
		}
	}
	text := assert.Must(NewJSONReader(strings.NewReader("[\n1,\nNaN,\nx]")))(t)
	data, _ := io.ReadAll(text)
	assert.Equal(t, text.Line(int64(strings.Index(string(data), "x"))), 4, "x is on line")
}

// What a decoder gets is what PlainNumbers makes of the whole text, and other text does no harm.
func FuzzJSONReader(f *testing.F) {
	f.Add(`{"a": [NaN, -Infinity, "NaN \" Infinity"]}`)
	f.Add(`["\\\\", NaN]`)
	f.Add(`NaN"N`)
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "")
		if mark, err := CheckHead([]byte(text)); err != nil || mark > 0 {
			return
		}
		want := string(jsonscan.PlainNumbers([]byte(text)))
		for _, r := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text))} {
			if got := readJSON(t, r); got != want && json.Valid([]byte(want)) {
				t.Errorf("%q: %q, want %q", text, got, want)
			}
		}
	})
}
