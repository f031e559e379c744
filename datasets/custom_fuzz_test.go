package datasets

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"benchtop/internal/hf/media"
)

// FuzzReadCustomImage makes sure that what comes of any file is JSON, with each row's images as many as its parts.
func FuzzReadCustomImage(f *testing.F) {
	for _, text := range []string{"", `{"prompt":"a","image_files":["x","http://y"]}`,
		`{"content":[{"type":"text","text":"a"},{"type":"image","image":"b"}]}`,
		`{"content":[{"type":"image_url","image_url":{"url":"b","url":"c","d":NaN}}]}`, `{"content":[{}]}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		rows, err := readImageRows(bytes.NewReader(data))
		if err != nil {
			return
		}
		for _, row := range rows {
			named := 0
			turn, err := row.turn(func(source string) string {
				named++
				return media.ImageURL(source)
			})
			if err != nil {
				continue
			}
			parts := 0
			for _, raw := range []json.RawMessage{turn.Messages, []byte("[" + string(turn.Media) + "]")} {
				if raw == nil {
					continue
				}
				if !json.Valid(raw) {
					t.Fatalf("got %s", raw)
				}
				parts += strings.Count(string(raw), `"type":"image_url"`)
			}
			if parts < named {
				t.Errorf("got %d parts for %d images", parts, named)
			}
		}
	})
}

// FuzzReadBFCL makes sure that what comes of any file is JSON and means what the file did, types aside.
func FuzzReadBFCL(f *testing.F) {
	for _, text := range []string{"", bfclGood,
		`{"question":[[{"content":"a","content":"b"}]],"function":[{"type":"dict","p":[{"type":"tuple"}]}]}`,
		`{"question":[[]],"function":{}}`, `{"question":[[{}]],"function":{"a":{"b":[1,NaN,-Infinity]}}}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		rows, err := readBFCL(bytes.NewReader(data), "")
		if err != nil {
			return
		}
		for _, row := range rows {
			if row.messages == nil || row.tools == nil {
				continue
			}
			turn := bfcl{}.turn(row)
			if !json.Valid(turn.Messages) || !json.Valid(turn.Overrides) {
				t.Fatalf("got messages %s and overrides %s", turn.Messages, turn.Overrides)
			}
			if again := asPython(row.tools, true); !bytes.Equal(again, row.tools) {
				t.Errorf("translated twice: got %s, want %s", again, row.tools)
			}
		}
	})
}
