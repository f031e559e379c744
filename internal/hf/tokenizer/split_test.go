package tokenizer

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func mustSplitter(t testing.TB, settings string) splitter {
	t.Helper()
	s, err := readSplitter(json.RawMessage(settings), 0)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// first stays with the piece that begins at offset 0, not with the one that comes out first.
func TestSplitFirst(t *testing.T) {
	for _, c := range []struct {
		settings string
		in, want []piece
	}{
		{`{"type":"WhitespaceSplit"}`, []piece{{"a b", true}, {"c", false}}, []piece{{"a", true}, {"b", false}, {"c", false}}},
		{`{"type":"WhitespaceSplit"}`, []piece{{" a", true}}, []piece{{"a", false}}},
		{`{"type":"Metaspace","replacement":"_","prepend_scheme":"first"}`, []piece{{"a b", true}, {"c d", false}},
			[]piece{{"_a", true}, {"_b", false}, {"c", false}, {"_d", false}}},
		{`{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true}`, []piece{{"a b", true}, {"", false}, {"c", false}},
			[]piece{{"Ġa", true}, {"Ġb", false}, {"Ġc", false}}},
		{`{"type":"FixedLength","length":2}`, []piece{{"abc", true}}, []piece{{"ab", true}, {"c", false}}},
	} {
		before := append([]piece(nil), c.in...)
		got, err := mustSplitter(t, c.settings).split(c.in)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(piece{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.settings, diff)
		}
		if diff := cmp.Diff(before, c.in, cmp.AllowUnexported(piece{})); diff != "" {
			t.Errorf("%s changed what it was given (-before +after):\n%s", c.settings, diff)
		}
	}
}

// An unknown type, field or behaviour is an error that names it.
func TestStageRefused(t *testing.T) {
	for _, c := range []struct{ kind, settings, want string }{
		{"pre", `{"type":"UnicodeScripts"}`, "pre_tokenizer UnicodeScripts: this type is not known"},
		{"pre", `{}`, "pre_tokenizer: an object without a type"},
		{"pre", `[]`, "pre_tokenizer: "},
		{"pre", `{"type":7}`, "pre_tokenizer: "},
		{"pre", `{"type":"Whitespace","more":1}`, `unknown field "more"`},
		{"pre", `{"type":"BertPreTokenizer","more":1}`, `unknown field "more"`},
		{"pre", `{"type":"Split","pattern":{"String":"a"},"behavior":"Isolated"}`, `field "invert" is missing`},
		{"pre", `{"type":"Split","pattern":{"String":"a"},"behavior":"isolated","invert":false}`, `behavior "isolated" is not known`},
		{"pre", `{"type":"Split","pattern":{"String":""},"behavior":"Isolated","invert":false}`, "an empty String"},
		{"pre", `{"type":"Split","pattern":{},"behavior":"Isolated","invert":false}`, "want either String or Regex"},
		{"pre", `{"type":"Split","pattern":"a","behavior":"Isolated","invert":false}`, "pattern: "},
		{"pre", `{"type":"Split","pattern":{"Regex":"("},"behavior":"Isolated","invert":false}`, `pattern "(": at byte 1`},
		{"pre", `{"type":"Split","pattern":{"String":"a"},"behavior":"Isolated","invert":"no"}`, `field "invert" cannot be a string`},
		{"pre", `{"type":"ByteLevel"}`, `field "add_prefix_space" is missing`},
		{"pre", `{"type":"Metaspace","replacement":"ab"}`, `replacement "ab" is not one character`},
		{"pre", `{"type":"Metaspace","replacement":"_","prepend_scheme":"last"}`, `prepend_scheme "last" is not known`},
		{"pre", `{"type":"Metaspace","replacement":"_","add_prefix_space":false}`, "does not agree"},
		{"pre", `{"type":"Punctuation","behavior":"Drop"}`, `behavior "Drop" is not known`},
		{"pre", `{"type":"Digits"}`, `field "individual_digits" is missing`},
		{"pre", `{"type":"CharDelimiterSplit","delimiter":""}`, `delimiter "" is not one character`},
		{"pre", `{"type":"FixedLength","length":0}`, "a length below 1"},
		{"pre", `{"type":"Sequence"}`, `field "pretokenizers" is missing`},
		{"pre", `{"type":"Sequence","pretokenizers":[null]}`, "entry 1: null"},
		{"pre", `{"type":"Sequence","pretokenizers":[{"type":"Whitespace"},{"type":"X"}]}`, "entry 2: pre_tokenizer X: this type is not known"},
		{"pre", nested("pretokenizers", 50), "too deep"},
		{"norm", nested("normalizers", 50), "too deep"},
		{"norm", `{"type":"Unheard"}`, "normalizer Unheard: this type is not known"},
		{"norm", `{"type":"NFC","more":1}`, `unknown field "more"`},
		{"norm", `{"type":"Strip"}`, `field "strip_left" is missing`},
		{"norm", `{"type":"Prepend"}`, `field "prepend" is missing`},
		{"norm", `{"type":"Replace","pattern":{"String":"a"}}`, `field "content" is missing`},
		{"norm", `{"type":"BertNormalizer"}`, `field "clean_text" is missing`},
		{"norm", `{"type":"Sequence","normalizers":[null]}`, "entry 1: null"},
		{"norm", `{"type":"Precompiled"}`, `field "precompiled_charsmap" is missing`},
		{"norm", `{"type":"Precompiled","precompiled_charsmap":""}`, "cut short"},
		{"norm", `{"type":"Precompiled","precompiled_charsmap":"AA"}`, "base64"},
		{"norm", `{"type":"Precompiled","precompiled_charsmap":"/////wAA"}`, "a trie of 4294967295 bytes in 2"},
		{"norm", `{"type":"Precompiled","precompiled_charsmap":"AAAAAA=="}`, "a trie of 0 bytes"},
		{"norm", `{"type":"Precompiled","precompiled_charsmap":"BAAAAAAAAAD/"}`, "not UTF-8"},
	} {
		var err error
		if c.kind == "pre" {
			_, err = readSplitter(json.RawMessage(c.settings), 0)
		} else {
			_, err = readNormalizer(json.RawMessage(c.settings), 0)
		}
		if err == nil {
			t.Errorf("%.80s: accepted", c.settings)
		} else if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.80s: %v, want %q in it", c.settings, err, c.want)
		}
	}
}

func nested(field string, depth int) string {
	return strings.Repeat(`{"type":"Sequence","`+field+`":[`, depth) + strings.Repeat(`]}`, depth)
}

// A stage that fails takes the whole sequence with it.
func TestSplitSequenceFails(t *testing.T) {
	s := mustSplitter(t, `{"type":"Sequence","pretokenizers":[{"type":"Whitespace"},
		{"type":"Split","pattern":{"Regex":"(?:ab|c)*d"},"behavior":"Removed","invert":false}]}`)
	_, err := s.split([]piece{{strings.Repeat("ab", backtrackLimit), true}})
	complains(t, err, "steps back")
}
