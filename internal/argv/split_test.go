package argv

import (
	"slices"
	"strings"
	"testing"

	"benchtop/internal/assert"
)

// The words are those of Python's shlex.split.
func TestSplit(t *testing.T) {
	for line, want := range map[string][]string{
		"":                             nil,
		"  vllm serve\tm \n":           {"vllm", "serve", "m"},
		`a 'b c' "d e"f`:               {"a", "b c", "d ef"},
		`'' ""x`:                       {"", "x"},
		`--x '{"a": "b\n"}'`:           {"--x", `{"a": "b\n"}`},
		`--x "{\"a\": \"\\n\", \$}" y`: {"--x", `{"a": "\n", \$}`, "y"},
		`a\ b \'c`:                     {"a b", "'c"},
		"a#b | $c > *":                 {"a#b", "|", "$c", ">", "*"},
	} {
		assert.EqualAll(t, assert.Must(Split(line))(t), want, "%s", line)
	}
	for line, want := range map[string]string{`a "b`: `a quotation mark is not closed: "b`,
		`a 'b\' 'c`: "a quotation mark", `a\`: "it ends in a backslash"} {
		if got, err := Split(line); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %q, %v, want %q", line, got, err, want)
		}
	}
}

// Words that are quoted for a shell are read back.
func FuzzSplit(f *testing.F) {
	f.Add("a 'b", `c"\`)
	f.Fuzz(func(t *testing.T, a, b string) {
		if got, err := Split(strings.Join(ShellWords([]string{a, b}), " ")); err != nil ||
			!slices.Equal(got, []string{"benchtop", a, b}) {
			t.Errorf("got %q, %v", got, err)
		}
		_, _ = Split(a)
	})
}
