package datasets

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"benchtop/internal/hf/media"
	"benchtop/internal/jsonscan"
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

// FuzzReadCustom holds the reader to what encoding/json makes of each line.
func FuzzReadCustom(f *testing.F) {
	for _, text := range []string{"", `{"prompt":"a","output_tokens":1}`,
		"{\"prompt\":null}\n{\"prompt\":\"\\u00fc\",\"output_tokens\":\"7.0\"}", `{"prompt":NaN}`,
		`{"Prompt":1,"prompt":"b"}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		rows, err := custom{customFlags: &customFlags{OutputFromFile}}.read(bytes.NewReader(data),
			func(int) bool { return true })
		if err != nil {
			return
		}
		lines := bytes.Split(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), []byte("\n"))
		for _, row := range rows {
			if row.bad != nil {
				continue
			}
			var object map[string]json.RawMessage
			var prompt *string
			line := jsonscan.PlainNumbers(lines[row.line-1])
			if json.Unmarshal(line, &object) != nil || json.Unmarshal(object["prompt"], &prompt) != nil ||
				prompt == nil || *prompt != row.prompt {
				t.Errorf("got prompt %q of line %q", row.prompt, line)
			}
			if row.output < 1 {
				t.Errorf("got %d output tokens of line %q", row.output, line)
			}
		}
	})
}

// FuzzReadBench makes sure that every row of any file has its prompt from a string.
func FuzzReadBench(f *testing.F) {
	for _, text := range []string{"", `{"turns":["a","b"],"category":"c"}`, "{\"turns\":[]}\n{}", `{"turns":[NaN]}`} {
		f.Add([]byte(text), "")
		f.Add([]byte(text), "c")
	}
	f.Fuzz(func(t *testing.T, data []byte, category string) {
		rows, err := bench{"spec_bench", category, "--spec-bench-category", "turns", specBenchForm,
			func(turn []byte) []byte { return turn }}.read(bytes.NewReader(data))
		if err != nil {
			return
		}
		lines := bytes.Split(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), []byte("\n"))
		for _, row := range rows {
			var object map[string]json.RawMessage // its names are not those of any other case
			var turns []any
			line := jsonscan.PlainNumbers(lines[row.line-1])
			if json.Unmarshal(line, &object) != nil {
				t.Fatalf("accepted %q", line)
			}
			// A number that no float holds spoils the plain way, not the prompt before it.
			if json.Unmarshal(object["turns"], &turns) == nil && turns[0] != row.prompt {
				t.Errorf("got prompt %q of line %q", row.prompt, line)
			}
		}
	})
}
