package tokenizer

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"benchtop/internal/assert"
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

// goldenFolders are testdata and, if BENCHTOP_GOLDEN names one, a folder with the golden files that may not be copied
// here, in itself or in its folder tokenizers.
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
	tested := map[string]bool{}
	for _, folder := range goldenFolders() {
		for name, file := range assert.Golden[map[string]goldenFile](t, filepath.Join(folder, "meta.json"))[0] {
			cases := filepath.Join(folder, name+".jsonl.gz")
			if tested[name] || folder == "testdata" && !exists(cases) { // meta.json also names files that are not here
				continue
			}
			tested[name] = true
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				l := readGolden(t, folder, file)
				testVocabulary(t, l, file)
				for _, c := range assert.Golden[goldenCase](t, cases) {
					testCase(t, l, c)
				}
			})
		}
	}
	if len(tested) < 9 {
		t.Errorf("testdata has only the tokenizers %v", tested)
	}
}

func testVocabulary(t *testing.T, l *Local, want goldenFile) {
	if l.VocabSize() != want.Size || len(l.IDs()) != want.WithAdded {
		t.Errorf("got %d tokens, %d with added ones, want %d and %d", l.VocabSize(), len(l.IDs()), want.Size,
			want.WithAdded)
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
	assert.EqualAll(t, l.SpecialIDs(), l.AddedSpecialIDs(), "the special ids without files that name them")
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
	assert.EqualAll(t, assert.Must(l.Encode(c.Text))(t), c.IDs, "%q: ids", c.Text)
	assert.EqualAll(t, assert.Must(l.EncodeSpecial(c.Text))(t), special, "%q: ids", c.Text)
	assert.Equal(t, assert.Must(l.Count(c.Text))(t), len(special), "%q", c.Text)
	assert.Equal(t, l.SpecialTokensToAdd(), len(special)-len(c.IDs), "%q: special tokens to add", c.Text)
	assert.Equal(t, assert.Must(l.Decode(special))(t), decoded, "%v: text", special)
	if c.RandomIDs != nil {
		assert.Equal(t, assert.Must(l.Decode(c.RandomIDs))(t), c.Text, "%v: text", c.RandomIDs)
	}
}

// readGolden reads a tokenizer of the golden files, with the fields that it has otherwise. One that is as its file says
// is read once for all tests: a Local is never changed, and the large ones take seconds under the race detector.
func readGolden(t testing.TB, folder string, file goldenFile) *Local {
	t.Helper()
	path := filepath.Join(folder, file.File)
	read := func() (*Local, error) { return readReplaced(path, assert.File(t, path), file.Replace) }
	if len(file.Replace) == 0 {
		once, _ := goldenLocals.LoadOrStore(path, sync.OnceValues(read))
		read = once.(func() (*Local, error))
	}
	l := assert.Must(read())(t)
	return l
}

// goldenLocals are the tokenizers that were read so far, by path.
var goldenLocals sync.Map

// readReplaced reads a tokenizer with other values in some of its fields.
func readReplaced(path string, data []byte, replace map[string]json.RawMessage) (_ *Local, err error) {
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
