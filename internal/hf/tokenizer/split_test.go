package tokenizer

import (
	"encoding/json"
	"strings"
	"testing"

	"benchtop/internal/assert"

	"github.com/google/go-cmp/cmp"
)

func mustSplitter(t testing.TB, settings string) splitter {
	t.Helper()
	s := assert.Must(readSplitter(json.RawMessage(settings), 0))(t)
	return s
}

// first stays with the piece that begins at offset 0, not with the one that comes out first.
func TestSplitFirst(t *testing.T) {
	for _, c := range []struct {
		settings string
		in, want []piece
	}{
		{`{"type":"WhitespaceSplit"}`, []piece{{"a b", true}, {"c", false}},
			[]piece{{"a", true}, {"b", false}, {"c", false}}},
		{`{"type":"WhitespaceSplit"}`, []piece{{" a", true}}, []piece{{"a", false}}},
		{`{"type":"Metaspace","replacement":"_","prepend_scheme":"first"}`, []piece{{"a b", true}, {"c d", false}},
			[]piece{{"_a", true}, {"_b", false}, {"c", false}, {"_d", false}}},
		{`{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true}`,
			[]piece{{"a b", true}, {"", false}, {"c", false}},
			[]piece{{"Ġa", true}, {"Ġb", false}, {"Ġc", false}}},
		{`{"type":"FixedLength","length":2}`, []piece{{"abc", true}}, []piece{{"ab", true}, {"c", false}}},
	} {
		before := append([]piece(nil), c.in...)
		got := assert.Must(mustSplitter(t, c.settings).split(c.in))(t)
		assert.Same(t, c.settings, got, c.want, cmp.AllowUnexported(piece{}))
		if diff := cmp.Diff(before, c.in, cmp.AllowUnexported(piece{})); diff != "" {
			t.Errorf("%s changed what it was given (-before +after):\n%s", c.settings, diff)
		}
	}
}

// An unknown type, field or behaviour is an error that names it.
func TestStageRefused(t *testing.T) {
	type stage struct {
		PreTokenizer json.RawMessage `json:"pre_tokenizer"`
		Normalizer   json.RawMessage
		Want         string
	}
	deep := []stage{{PreTokenizer: nested("pretokenizers", 50), Want: "too deep"},
		{Normalizer: nested("normalizers", 50), Want: "too deep"}}
	for _, c := range append(assert.Golden[stage](t, "testdata/refused-stages.jsonl"), deep...) {
		_, err := readSplitter(c.PreTokenizer, 0)
		if c.Normalizer != nil {
			_, err = readNormalizer(c.Normalizer, 0)
		}
		if err == nil || !strings.Contains(err.Error(), c.Want) {
			t.Errorf("%.80s%.80s: %v, want %q in it", c.PreTokenizer, c.Normalizer, err, c.Want)
		}
	}
}

func nested(field string, depth int) json.RawMessage {
	return []byte(strings.Repeat(`{"type":"Sequence","`+field+`":[`, depth) + strings.Repeat(`]}`, depth))
}

// A stage that fails takes the whole sequence with it.
func TestSplitSequenceFails(t *testing.T) {
	s := mustSplitter(t, `{"type":"Sequence","pretokenizers":[{"type":"Whitespace"},
		{"type":"Split","pattern":{"Regex":"(?:ab|c)*d"},"behavior":"Removed","invert":false}]}`)
	_, err := s.split([]piece{{strings.Repeat("ab", backtrackLimit), true}})
	complains(t, err, "steps back")
}
