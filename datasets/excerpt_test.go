package datasets

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// An excerpt is bounded, and whole characters of both ends of the prompt.
func TestExcerpt(t *testing.T) {
	long := "begin " + strings.Repeat("ö", 5000) + " end"
	for _, c := range []struct {
		name, begin, end string
		turn             Turn
	}{
		{"short", "hello", "hello", Turn{Text: "hello"}},
		{"nothing", "", "", Turn{}},
		{"long", "begin öö", "öö end", Turn{Text: long}},
		{"messages", `[{"role":"u`, `end"}]`,
			Turn{Messages: json.RawMessage(`[{"role":"user","content":"` + long + `"}]`), Text: "no"}},
		{"token ids", "9003 token ids, first [1 -2 30 0 0 ", " 0]",
			Turn{TokenIDs: append([]int{1, -2, 30}, make([]int, 9000)...)}},
		{"several prompts", "first", "first", Turn{Batch: []Turn{{Text: "first"}, {Text: "second"}}}},
	} {
		const most = 200
		got := c.turn.Excerpt(most)
		if len(got) > most || !utf8.ValidString(got) || !strings.HasPrefix(got, c.begin) ||
			!strings.HasSuffix(got, c.end) {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}
