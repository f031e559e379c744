package table

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"benchtop/datasets/textfile"
	"benchtop/internal/assert"
	"benchtop/internal/hf/hub/hubtest"
	"benchtop/internal/jsonscan"
)

// written is the path of a file with that text.
func written(t testing.TB, name, text string) string {
	t.Helper()
	return filepath.Join(hubtest.Plant(t, map[string]string{name: text}), name)
}

// all reads rows of those numbers, every row where they are nil, each as "number object".
func all(path string, numbers []int, columns []string) (rows []string, err error) {
	ctx := context.Background()
	table, err := Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer table.Close()
	if numbers == nil {
		for n := range table.Len() {
			numbers = append(numbers, n)
		}
	}
	err = table.Rows(ctx, numbers, columns, func(number int, object []byte) error {
		if !json.Valid(object) {
			return fmt.Errorf("not JSON: %s", object)
		}
		rows = append(rows, fmt.Sprintf("%d %s", number, object))
		return nil
	})
	return rows, err
}

func TestText(t *testing.T) {
	long := strings.Repeat("ä\\\"", 70_000) // longer than any buffer
	tests := []struct {
		name, file, text string
		numbers          []int
		columns          []string
		want             []string
	}{
		{"an empty file", "a.jsonl", "", nil, nil, nil},
		{"lines", "a.jsonl", "\ufeff{\"a\":1}\r\n\n {\"b\": [2]} \n{}", nil, nil,
			[]string{`0 {"a":1}`, `1 {"b": [2]}`, `2 {}`}},
		{"some lines", "a.jsonl", "{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n", []int{0, 2}, nil,
			[]string{`0 {"a":1}`, `2 {"a":3}`}},
		{"columns of lines", "a.json", "{\"a\":1,\"b\":[{}]}\n{\"b\":3, \"c\" : \"é\"}\n{\"d\":1}\n", nil,
			[]string{"c", "b"}, []string{`0 {"b":[{}]}`, `1 {"b":3,"c":"é"}`, `2 {}`}},
		{"an escaped name", "a.json", `{"\u0061":1,"b":2}`, nil, []string{"a"}, []string{`0 {"\u0061":1}`}},
		{"Python's numbers", "a.json", `{"a":NaN}`, nil, []string{"a"}, []string{`0 {"a":null}`}},
		{"long lines", "a.jsonl", "{\"a\":\"" + long + "\"}\n{\"a\":\"" + long + "\"}\n{}\n", []int{1, 2}, nil,
			[]string{`1 {"a":"` + long + `"}`, `2 {}`}},
		{"an array", "a.json", " [ {\"a\":[1,{\"b\":\"]\\\"}\\\\\"}]} ,\n{}\n,{\"a\":2}] \n", nil, nil,
			[]string{`0 {"a":[1,{"b":"]\"}\\"}]}`, `1 {}`, `2 {"a":2}`}},
		{"some of an array", "a.json", `[{"a":1},{"a":2,"b":3},{"a":"` + long + `"}]`, []int{1}, []string{"b"},
			[]string{`1 {"b":3}`}},
		{"long elements", "a.json", `[{"a":"` + long + `"},{"a":"` + long + `"}]`, []int{1}, nil,
			[]string{`1 {"a":"` + long + `"}`}},
		{"an empty array", "a.json", " [ ]", nil, nil, nil},
		{"CSV", "a.CSV", "a,b\n1,\"x\n\"\"y\"\"\"\n \n\n2\n", nil, nil,
			[]string{`0 {"a":"1","b":"x\n\"y\""}`, `1 {"a":"2"}`}},
		{"some of CSV", "a.csv", "\ufeffa,b\r\n1,2\r\n\r\n3,<4>\r\n", []int{1}, []string{"b"},
			[]string{`1 {"b":"<4>"}`}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := assert.Must(all(written(t, test.file, test.text), test.numbers, test.columns))(t)
			assert.Same(t, "rows", got, test.want)
		})
	}
}

func TestTextRefused(t *testing.T) {
	tests := []struct {
		name, file, text string
		columns          []string
		want             string
	}{
		{"other text", "a.txt", "hello", nil,
			`the file begins with "hello", as none of these does: a Parquet, JSON Lines, JSON or CSV file`},
		{"blanks", "a.json", strings.Repeat(" ", 2000), nil, "a thousand blanks"},
		{"gzip", "a.jsonl.gz", "\x1f\x8b\x08\x00", nil, "gzip -d"},
		{"gzip as CSV", "a.csv", "\x1f\x8b\x08\x00", nil, "gzip -d"},
		{"UTF-16", "a.json", "\xff\xfe{\x00", nil, "UTF-16"},
		{"not UTF-8", "a.jsonl", "{}\n\n{\"a\":\"\xff\"}\n", nil, "line 3: the text is not UTF-8"},
		{"an object over lines", "a.json", "{\n\"a\":1}\n", nil, "line 1: the object does not end on its line"},
		{"columns", "a.json", "{\"a\":[1,2]}\n7\n", nil, "line 2: expected one object on each line: got a number"},
		{"a comma", "a.jsonl", "{\"a\":1},\n{}\n", nil, "line 1: something follows the line's object"},
		{"cut off", "a.jsonl", "{}\n{\"a\":", nil, "line 2: the file ends before its last object does"},
		{"no object first", "a.jsonl", "{]\n", nil, "line 1: not JSON"},
		{"an array cut off", "a.json", "[{},\n{\"a\":1}\n", nil, "line 3: the file ends before its array does"},
		{"in a string", "a.json", "[{},\n{\"a\":\"", nil, "line 2: the file ends before its array does"},
		{"no comma", "a.json", "[{}\n{}]", nil, `line 2: not JSON: '{' behind an element of the array`},
		{"a comma at the end", "a.json", "[{},\n]", nil, "line 2: expected an array of objects"},
		{"numbers", "a.json", "[1]", nil, "line 1: expected an array of objects"},
		{"more behind", "a.json", "[{}]\n{}", nil, "line 2: the file goes on behind the end of the array"},
		{"wrong brackets", "a.json", "[{},\n{\"a\":[}]\n}]", nil, "line 3: not JSON: '}' behind"},
		{"an array that is not UTF-8", "a.json", "[{},\n{\"a\":\"\xff\"}]", nil, "line 2: the text is not UTF-8"},
		{"no such column", "a.jsonl", "{\"a\":1}\n{\"b\":1}\n", []string{"b", "c"},
			`no such column "c"; the columns are "a", "b"`},
		{"no column", "a.jsonl", "", []string{"c"}, `no such column "c"; the columns are none`},
		{"no such column of CSV", "a.csv", "a,b\n", []string{"c"}, `no such column "c"; the columns are "a", "b"`},
		{"CSV without a header", "a.csv", "", nil, "the file is empty; expected a table with a header"},
		{"a quote", "a.csv", "a,b\n1,2\n\"1,2\n", nil, "line 3: not CSV"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := all(written(t, test.file, test.text), nil, test.columns)
			assert.Complains(t, err, test.want)
		})
	}
	assert.Complains(t, assert.Failure(Open(context.Background(), t.TempDir())), "directory")
}

func TestNumbers(t *testing.T) {
	path := written(t, "a.jsonl", "{}\n{}\n{}\n")
	for _, numbers := range [][]int{{3}, {-1}, {1, 0}, {1, 1}} {
		if _, err := all(path, numbers, nil); err == nil {
			t.Errorf("no error for rows %v", numbers)
		}
	}
}

func TestErrorsOfTheCaller(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	table, err := Open(ctx, written(t, "a.json", "[{},\n{\"b\":2}]"))
	assert.Fine(t, err)
	defer table.Close()
	if table.Len() != 2 || len(table.Columns()) != 0 {
		t.Errorf("%d rows, columns %q", table.Len(), table.Columns())
	}
	bad := errors.New("bad row")
	err = table.Rows(ctx, []int{1}, nil, func(int, []byte) error { return bad })
	if !errors.Is(err, bad) || err.Error() != "line 2: bad row" {
		t.Errorf("got %v", err)
	}
	cancel()
	if err = table.Rows(ctx, []int{1}, nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// FuzzText holds the rows of a text to what the standard library finds.
func FuzzText(f *testing.F) {
	for _, text := range []string{"", "{}", "{}\n\n{\"a\":1}\r\n", "[{},{\"a\":\"\\\"]\"}]", "[", "[{}]]",
		"[{\"a\":[[]]} , {}\n]", "\ufeff[{}]", "{\"a\":NaN}"} {
		f.Add([]byte(text))
	}
	path := filepath.Join(f.TempDir(), "a.json")
	f.Fuzz(func(t *testing.T, data []byte) {
		assert.Fine(t, os.WriteFile(path, data, 0o600))
		got, err := all(path, nil, nil)
		some, _ := all(path, nil, []string{"a"})
		var want []json.RawMessage
		text := bytes.TrimPrefix(data, []byte("\ufeff"))
		isArray := json.Unmarshal(text, &want) == nil && bytes.HasPrefix(bytes.TrimSpace(text), []byte("["))
		switch {
		case err == nil && isArray:
			for i, w := range want {
				if got[i] != fmt.Sprintf("%d %s", i, w) {
					t.Fatalf("row %d is %s, want %s", i, got[i], w)
				}
			}
			if len(got) != len(want) || some != nil && len(some) != len(got) {
				t.Fatalf("%d rows, %d with a column, want %d", len(got), len(some), len(want))
			}
		case isArray && !slices.ContainsFunc(want,
			func(w json.RawMessage) bool { return w[0] != '{' || !bytes.Equal(w, bytes.ToValidUTF8(w, nil)) }):
			t.Fatalf("refused an array of objects: %v", err)
		}
	})
}

// FuzzCSV holds the rows of a table, each read where it stands, to those that are read one after another.
func FuzzCSV(f *testing.F) {
	for _, text := range []string{"a,b\n1,2\n", "a\n\n \n1\r\n", "a,b\n\"1\n\",2\n3", "\ufeffa\r\n\"\"\"\"\n",
		"a,a\n,\n\r", "a\n1\r"} {
		f.Add([]byte(text))
	}
	path := filepath.Join(f.TempDir(), "a.csv")
	f.Fuzz(func(t *testing.T, data []byte) {
		assert.Fine(t, os.WriteFile(path, data, 0o600))
		got, err := all(path, nil, nil)
		rows, wantErr := textfile.NewCSV(bytes.NewReader(data), "")
		var want []string
		for wantErr == nil {
			var row []string
			if row, _, wantErr = rows.Next(); wantErr == nil {
				want = append(want, fmt.Sprintf("%q", row))
			}
		}
		if (err == nil) != errors.Is(wantErr, io.EOF) && (err == nil || len(want) > 0) {
			t.Fatalf("got %v, want %v", err, wantErr)
		}
		if err != nil {
			return
		}
		assert.Need(t, len(got), len(want), "rows")
		for i, row := range got {
			var cells []string
			_, object, _ := strings.Cut(row, " ")
			for _, value := range jsonscan.Members([]byte(object)) {
				cells = append(cells, jsonscan.Text(value))
			}
			if fmt.Sprintf("%q", cells) != want[i] {
				t.Fatalf("row %d is %q, want %s", i, cells, want[i])
			}
		}
	})
}
