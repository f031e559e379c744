package tokenizer

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"benchtop/internal/ci"
)

// goldenFile is what meta.json says of a golden file.
type goldenFile struct {
	Size      int `json:"vocab_size"`
	WithAdded int `json:"vocab_size_with_added"`
	Added     []struct {
		ID      int
		Content string
		Special bool
	} `json:"added_tokens"`
	File    string                     `json:"tokenizer_file"`
	Replace map[string]json.RawMessage `json:"replace"`
}

// goldenCase is one text. A field that is absent repeats the one before it.
type goldenCase struct {
	Kind       string
	Text       string
	IDs        []int
	IDsSpecial []int   `json:"ids_special"`
	Decoded    *string `json:"decoded"`
	RandomIDs  []int   `json:"random_ids"`
}

// goldenFolders are testdata and, if BENCHTOP_GOLDEN names one, a folder with the golden files that may not be copied here, in
// itself or in its folder tokenizers.
func goldenFolders() []string {
	folders := []string{"testdata"}
	if more := os.Getenv("BENCHTOP_GOLDEN"); more != "" {
		if inner := filepath.Join(more, "tokenizers"); exists(inner) {
			more = inner
		}
		folders = append(folders, more)
	}
	return folders
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestGolden(t *testing.T) {
	ci.SkipUnderRace(t)
	for _, folder := range goldenFolders() {
		var files map[string]goldenFile
		unmarshal(t, unpacked(t, filepath.Join(folder, "meta.json")), &files)
		for name, file := range files {
			if _, err := os.Stat(filepath.Join("testdata", name+".jsonl.gz")); folder != "testdata" && err == nil {
				continue // it has been tested
			}
			if _, err := os.Stat(filepath.Join(folder, name+".jsonl.gz")); errors.Is(err, fs.ErrNotExist) && folder == "testdata" {
				continue // meta.json also names files that are not here; TestGoldenIsWhole counts those that must be
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				testGolden(t, folder, name, file)
			})
		}
	}
}

func testGolden(t *testing.T, folder, name string, file goldenFile) {
	t.Helper()
	l := readGolden(t, folder, file)
	testVocabulary(t, l, file)
	for _, c := range goldenCases(t, filepath.Join(folder, name+".jsonl.gz")) {
		testCase(t, l, c)
	}
}

// Golden files may hold any number of cases.
func TestGoldenOfOneCase(t *testing.T) {
	const name = "synthetic-spbpe"
	var files map[string]goldenFile
	unmarshal(t, unpacked(t, filepath.Join("testdata", "meta.json")), &files)
	file, folder := files[name], t.TempDir()
	first, _, _ := bytes.Cut(unpacked(t, filepath.Join("testdata", name+".jsonl.gz")), []byte("\n"))
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(first)
	_ = z.Close() // both go to memory
	if err := os.WriteFile(filepath.Join(folder, name+".jsonl.gz"), packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	file.File = "tokenizer.json"
	if err := os.WriteFile(filepath.Join(folder, file.File), unpacked(t, filepath.Join("testdata", files[name].File)), 0o600); err != nil {
		t.Fatal(err)
	}
	testGolden(t, folder, name, file)
}

func TestGoldenIsWhole(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		names = append(names, filepath.Base(file))
	}
	for _, want := range []string{
		"gpt2", "qwen2.5", "bert-base-uncased", "split-o200k", "split-deepseek3", "punct-digits",
		"synthetic-spbpe", "synthetic-metaspace-first", "synthetic-gemma-style",
	} {
		if !slices.Contains(names, want+".jsonl.gz") {
			t.Errorf("testdata lacks %s", want)
		}
	}
}

func testVocabulary(t *testing.T, l *Local, want goldenFile) {
	if l.VocabSize() != want.Size || len(l.IDs()) != want.WithAdded {
		t.Errorf("got %d tokens, %d with added ones, want %d and %d", l.VocabSize(), len(l.IDs()), want.Size, want.WithAdded)
	}
	if !slices.IsSorted(l.IDs()) {
		t.Error("the ids do not ascend")
	}
	for _, token := range want.Added {
		i, ok := l.added.at[token.Content]
		if !ok {
			t.Errorf("there is no added token %+v", token)
			continue
		}
		if got := l.added.tokens[i]; got.id != token.ID || got.special != token.Special {
			t.Errorf("got %+v, want the added token %+v", got, token)
		}
		if special := slices.Contains(l.AddedSpecialIDs(), token.ID); special != token.Special {
			t.Errorf("token %q: got special %v", token.Content, special)
		}
	}
	if !slices.Equal(l.SpecialIDs(), l.AddedSpecialIDs()) {
		t.Errorf("got the special ids %v without files that name them, want %v", l.SpecialIDs(), l.AddedSpecialIDs())
	}
}

func testCase(t *testing.T, l *Local, c goldenCase) {
	t.Helper()
	special := c.IDs
	if c.IDsSpecial != nil {
		special = c.IDsSpecial
	}
	decoded := c.Text
	if c.Decoded != nil {
		decoded = *c.Decoded
	}
	if ids, err := l.Encode(c.Text); err != nil || !slices.Equal(ids, c.IDs) {
		t.Errorf("%q: got ids %v, error %v, want %v", c.Text, ids, err, c.IDs)
	}
	if ids, err := l.EncodeSpecial(c.Text); err != nil || !slices.Equal(ids, special) {
		t.Errorf("%q: got ids %v with special ones, error %v, want %v", c.Text, ids, err, special)
	}
	if n, err := l.Count(c.Text); err != nil || n != len(special) {
		t.Errorf("%q: got %d tokens, error %v, want %d", c.Text, n, err, len(special))
	}
	if n := len(special) - len(c.IDs); l.SpecialTokensToAdd() != n {
		t.Errorf("%q: got %d special tokens to add, want %d", c.Text, l.SpecialTokensToAdd(), n)
	}
	if text, err := l.Decode(special); err != nil || text != decoded {
		t.Errorf("%v: got text %q, error %v, want %q", special, text, err, decoded)
	}
	if c.RandomIDs != nil {
		if text, err := l.Decode(c.RandomIDs); err != nil || text != c.Text {
			t.Errorf("%v: got text %q, error %v, want %q", c.RandomIDs, text, err, c.Text)
		}
	}
}

// readGolden reads a tokenizer of the golden files, with the fields that it has otherwise. One that is as its file says is read
// once for all tests: a Local is never changed, and the large ones take seconds under the race detector.
func readGolden(t testing.TB, folder string, file goldenFile) *Local {
	t.Helper()
	path := filepath.Join(folder, file.File)
	read := func() (*Local, error) { return readReplaced(path, file.Replace) }
	if len(file.Replace) == 0 {
		once, _ := goldenLocals.LoadOrStore(path, sync.OnceValues(read))
		read = once.(func() (*Local, error))
	}
	l, err := read()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// goldenLocals are the tokenizers that were read so far, by path.
var goldenLocals sync.Map

// readReplaced reads a tokenizer with other values in some of its fields.
func readReplaced(path string, replace map[string]json.RawMessage) (*Local, error) {
	data, err := unpack(path)
	if err != nil {
		return nil, err
	}
	if len(replace) > 0 {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(data, &fields); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		maps.Copy(fields, replace)
		if data, err = json.Marshal(fields); err != nil {
			return nil, err
		}
	}
	return Read(Files{Tokenizer: data})
}

func goldenCases(t testing.TB, path string) []goldenCase {
	t.Helper()
	var cases []goldenCase
	lines := bufio.NewScanner(bytes.NewReader(unpacked(t, path)))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var c goldenCase
		unmarshal(t, lines.Bytes(), &c)
		cases = append(cases, c)
	}
	if err := lines.Err(); err != nil || len(cases) == 0 {
		t.Fatalf("%s: %d cases, error %v", path, len(cases), err)
	}
	return cases
}

// unpacked reads a file, unpacked if it is gzip.
func unpacked(t testing.TB, path string) []byte {
	t.Helper()
	data, err := unpack(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func unpack(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil || filepath.Ext(path) != ".gz" {
		return data, err
	}
	packed, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(packed)
}
