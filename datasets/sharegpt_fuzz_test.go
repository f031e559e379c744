package datasets

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// FuzzReadShareGPT holds the reader to what encoding/json makes of the same bytes, however they are cut up.
func FuzzReadShareGPT(f *testing.F) {
	for _, text := range []string{"", "[]", "[{}]", "[1,", "{", "[{\"conversations\":[{},{}]}]", "\ufeff[]", "\x1f\x8b",
		"[\"\xff\"]",
		`[{"conversations":[{"value":"\"\u00e9"},{"value":"ü"},[]],"image":"x","video":{"a":[1]}}]`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := readShareGPT(bytes.NewReader(data), true)
		slow, slowErr := readShareGPT(iotest.OneByteReader(bytes.NewReader(data)), true)
		if (err == nil) != (slowErr == nil) {
			t.Fatalf("got error %v at once, %v byte by byte", err, slowErr)
		}
		if err != nil {
			return
		}
		compare := cmp.AllowUnexported(entry{})
		same(t, "at once -, byte by byte +", lines(slow), lines(entries), compare)
		same(t, "decoded -, skimmed +", lines(entries), decodeShareGPT(t, data), compare)
	})
}

// lines is the entries without their errors, which do not compare.
func lines(entries []entry) []entry {
	var out []entry
	for _, e := range entries {
		if e.bad == nil {
			out = append(out, e)
		}
	}
	return out
}

// decodeShareGPT reads the usable conversations the plain way, everything at once. Lines are those of the reader.
func decodeShareGPT(t *testing.T, data []byte) []entry {
	text := bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(text) {
		t.Fatal("accepted what is not UTF-8")
	}
	var objects []map[string]json.RawMessage
	if err := json.Unmarshal(text, &objects); err != nil {
		t.Fatalf("accepted what is not an array of objects: %v", err)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	_, _ = dec.Token()
	var entries []entry
	for _, object := range objects {
		var raw json.RawMessage
		fine(t, dec.Decode(&raw))
		start := dec.InputOffset() - int64(len(raw))
		var turns []json.RawMessage
		if err := json.Unmarshal(object["conversations"], &turns); err != nil || len(turns) < 2 {
			continue
		}
		prompt, ok1 := plainValue(turns[0])
		completion, ok2 := plainValue(turns[1])
		if ok1 && ok2 {
			entries = append(entries, entry{prompt: prompt, completion: completion, image: keepMedia(object["image"]),
				video: keepMedia(object["video"]), line: 1 + strings.Count(string(text[:start]), "\n")})
		}
	}
	return entries
}

func plainValue(turn json.RawMessage) (string, bool) {
	var fields map[string]json.RawMessage
	var value *string
	if json.Unmarshal(turn, &fields) != nil || json.Unmarshal(fields["value"], &value) != nil || value == nil {
		return "", false
	}
	return *value, true
}
