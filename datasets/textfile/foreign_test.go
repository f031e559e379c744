package textfile

import (
	"strings"
	"testing"

	"benchtop/internal/assert"
)

func TestForeign(t *testing.T) {
	long, twenty := strings.Repeat("é", 61), strings.Split(strings.Repeat("a", 20), "")
	for _, c := range []struct{ what, got, want string }{
		{"a name", Quote("a\n"), `"a\n"`},
		{"a long name", Quote(long), `"` + long[2:] + `" …`},
		{"broken text", Quote("\xff" + strings.Repeat("\xf0", 1000)), `"` + strings.Repeat("\uFFFD", 60) + `" …`},
		{"a value", Value([]byte("12")), "12"},
		{"no value", Value(nil), "nothing"},
		{"a long value", Value([]byte(long)), long[2:] + " …"},
		{"no names", Names(nil), "none"},
		{"names", Names([]string{"a", "b"}), `"a", "b"`},
		{"twenty names", Names(twenty), strings.Repeat(`"a", `, 19) + `"a"`},
		{"more names", Names(append(twenty, "b")), strings.Repeat(`"a", `, 19) + `"a" and 1 more`},
	} {
		assert.Equal(t, c.got, c.want, "%s", c.what)
	}
}
