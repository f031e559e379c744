package textfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"benchtop/internal/assert"
)

// objects reads all objects of a text, each with its line.
func objects(r io.Reader) ([]string, error) {
	lines, err := NewJSONLines(r)
	if err != nil {
		return nil, err
	}
	var all []string
	for {
		object, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, fmt.Sprintf("%d:%s", lines.Number, object))
	}
}

func TestJSONLines(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", nil},
		{"blank", " \n\t\r\n \n", nil},
		{"last line without an end", "{}\n{\"a\":1}", []string{"1:{}", `2:{"a":1}`}},
		{"blank lines between", "\n{}\n\n \n{}\n\n", []string{"2:{}", "5:{}"}},
		{"CRLF", "{}\r\n\r\n{}\r\n", []string{"1:{}", "3:{}"}},
		{"byte order mark", "\ufeff{}\n", []string{"1:{}"}},
		{"repeated names, long numbers", `{"a":1,"a":123456789012345678901234567890,"b":1e400}`,
			[]string{`1:{"a":1,"a":123456789012345678901234567890,"b":1e400}`}},
		{"Python's numbers", `{"a":NaN,"b":[-Infinity,Infinity],"c":"NaN \"Infinity"}`,
			[]string{`1:{"a":null,"b":[-1e999,1e999],"c":"NaN \"Infinity"}`}},
		{"a line longer than any buffer", `{"a":"` + strings.Repeat("é", 300_000) + `"}`,
			[]string{`1:{"a":"` + strings.Repeat("é", 300_000) + `"}`}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := assert.Must(objects(strings.NewReader(test.text)))(t)
			same(t, "objects", got, test.want)
		})
	}
}

func TestJSONLinesRefused(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"array", "[\n{}]", "line 1: expected one object on each line: got an array"},
		{"string", "{}\n\n\"x\"\n", "line 3: expected one object on each line: got a string"},
		{"number", "{}\n7", "line 2: expected one object on each line: got a number"},
		{"NaN", "NaN", "line 1: expected one object on each line: got null"},
		{"no JSON", "hello\n", "line 1: not JSON: invalid character 'h'"},
		{"over several lines", "{\n\"a\": 1\n}\n", "line 1: the object does not end on its line"},
		{"cut off", "{}\n{\"a\": \"b", "line 2: the file ends before its last object does"},
		{"two on a line", "{} {}\n", "line 1: something follows the line's object"},
		{"a comma behind", "{},\n{}", "line 1: something follows the line's object"},
		{"NaN and more", `{"a": NaN, b}`, "line 1: not JSON: invalid character 'b'"},
		{"not UTF-8", "{}\n{\"a\": \"caf\xe9\"}\n{}", "line 2: the text is not UTF-8"},
		{"gzip", "\x1f\x8b\x08\x00", "gzip -d"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := objects(strings.NewReader(test.text))
			complains(t, err, test.want)
		})
	}
}

// endless is text without an end and without a line end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestJSONLinesAreBounded(t *testing.T) {
	lines, err := NewJSONLines(io.MultiReader(strings.NewReader("{}\n"), endless{}))
	assert.Fine(t, err)
	same(t, "limit", lines.limit, 64<<20)
	lines.limit = 2 << 20
	if _, err = lines.Next(); err != nil {
		t.Fatal(err)
	}
	_, err = lines.Next()
	complains(t, err, "line 2: the line is longer than 2 MiB")
}

func TestJSONLinesPassOnReadErrors(t *testing.T) {
	_, err := objects(io.MultiReader(strings.NewReader("{}\n{\"a\":"), iotest.ErrReader(errors.New("disk on fire"))))
	complains(t, err, "disk on fire")
}

// FuzzJSONLines holds the reader to what encoding/json makes of each line, however the bytes are cut up.
func FuzzJSONLines(f *testing.F) {
	for _, text := range []string{"", "{}", "{}\n{", "\n\n{\"a\":1}\r\n[]", "\ufeff{}", `{"a":NaN}`,
		`{"a":-Infinity,"b":"Infinity"}`, "{} 1", "{\"\xff\"}"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := objects(bytes.NewReader(data))
		slow, slowErr := objects(iotest.OneByteReader(bytes.NewReader(data)))
		if fmt.Sprint(err) != fmt.Sprint(slowErr) || !cmp.Equal(got, slow) {
			t.Fatalf("got %q, %v at once, %q, %v byte by byte", got, err, slow, slowErr)
		}
		if err != nil || bytes.Contains(data, []byte("NaN")) || bytes.Contains(data, []byte("Infinity")) {
			return
		}
		var want []string
		for i, line := range bytes.Split(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), []byte("\n")) {
			if line = bytes.Trim(line, " \t\r\n"); len(line) == 0 {
				continue
			}
			var object map[string]json.RawMessage
			if err := json.Unmarshal(line, &object); err != nil {
				t.Fatalf("accepted line %d, %q: %v", i+1, line, err)
			}
			want = append(want, fmt.Sprintf("%d:%s", i+1, line))
		}
		assert.Same(t, "split -, read +", got, want)
	})
}

// FuzzEachElement holds the elements of an array, and their lines, to what encoding/json makes of it, however the bytes
// are cut up.
func FuzzEachElement(f *testing.F) {
	for _, text := range []string{"", "[]", "[{}]", "[1,", "{", "[\n{},\n\n{\"a\":[{}]}]", "\ufeff[]", "\x1f\x8b",
		"[\"\xff\"]", `[{"a":NaN}]`, "[{}]\n{}"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		read := func(r io.Reader) (all []string, err error) {
			err = EachElement(r, "objects", func(object []byte, line int) error {
				all = append(all, fmt.Sprintf("%d:%s", line, object))
				return nil
			})
			return all, err
		}
		got, err := read(bytes.NewReader(data))
		slow, slowErr := read(iotest.OneByteReader(bytes.NewReader(data)))
		if (err == nil) != (slowErr == nil) || err == nil && !cmp.Equal(got, slow) {
			t.Fatalf("got %q, %v at once, %q, %v byte by byte", got, err, slow, slowErr)
		}
		text := bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
		var want []map[string]any
		if err != nil || bytes.Contains(data, []byte("NaN")) || bytes.Contains(data, []byte("Infinity")) {
			return
		}
		if err := json.Unmarshal(text, &want); err != nil && !strings.Contains(err.Error(), "cannot unmarshal number") {
			t.Fatalf("accepted what is not an array of objects: %v", err)
		}
		if dec := json.NewDecoder(bytes.NewReader(text)); len(got) > 0 {
			_, _ = dec.Token()
			for _, g := range got {
				var raw json.RawMessage
				assert.Fine(t, dec.Decode(&raw))
				line := 1 + bytes.Count(text[:dec.InputOffset()-int64(len(raw))], []byte("\n"))
				if g != fmt.Sprintf("%d:%s", line, raw) {
					t.Fatalf("got %s, want %s on line %d", g, raw, line)
				}
			}
		}
	})
}

func BenchmarkJSONLines(b *testing.B) {
	line := `{"id": 1, "prompt": "` + strings.Repeat("some words of a prompt ", 50) + `", "output_tokens": 100}` + "\n"
	data := strings.Repeat(line, 2000)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		assert.Fine(b, EachObject(strings.NewReader(data), "an object", func([]byte, int) error { return nil }))
	}
}
