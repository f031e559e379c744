package datasets

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"benchtop/internal/assert"
)

var same, complains, fine = assert.Same, assert.Complains, assert.Fine

func must[T any](v T, err error) func(testing.TB) T { return assert.Must(v, err) }
func failure[T any](v T, err error) error           { return assert.Failure(v, err) }

// toy is a tokenizer whose text is ids in decimal, joined by blanks. Encoding gives back what rewrite makes of each id.
type toy struct {
	size    int
	special []int
	adds    int
	rewrite func(id int) []int
}

func newToy(t testing.TB, name string, size int, special []int, adds int) toy {
	rewrites := map[string]func(int) []int{
		"identity": func(id int) []int { return []int{id} },
		"lossy": func(id int) []int {
			switch {
			case id%7 == 0:
				return nil
			case id%11 == 0:
				return []int{id, id + 1}
			}
			return []int{id}
		},
		"grow": func(id int) []int {
			if id%3 == 0 {
				return []int{id, id}
			}
			return []int{id}
		},
	}
	if rewrites[name] == nil {
		t.Fatalf("no toy tokenizer %q", name)
	}
	return toy{size, special, adds, rewrites[name]}
}

func (t toy) Decode(ids []int) (string, error) { return joinIDs(ids, " "), nil }

func (t toy) Encode(text string) ([]int, error) {
	ids := []int{}
	for _, id := range parseIDs(text) {
		ids = append(ids, t.rewrite(id)...)
	}
	return ids, nil
}

func (t toy) VocabSize() int { return t.size }
func (t toy) IDs() []int {
	ids := make([]int, t.size)
	for i := range ids {
		ids[i] = i
	}
	return ids
}
func (t toy) SpecialIDs() []int       { return t.special }
func (t toy) AddedSpecialIDs() []int  { return t.special }
func (t toy) SpecialTokensToAdd() int { return t.adds }
func (t toy) Concurrency() int        { return 0 }

func joinIDs(ids []int, by string) string {
	parts := make([]string, len(ids))
	for i, id := range ids {
		parts[i] = strconv.Itoa(id)
	}
	return strings.Join(parts, by)
}

func parseIDs(text string) []int {
	ids := []int{}
	for word := range strings.FieldsSeq(text) {
		id, err := strconv.Atoi(word)
		if err != nil {
			panic(err) // of a test's own text
		}
		ids = append(ids, id)
	}
	return ids
}

// brokenToy is a tokenizer that fails.
type brokenToy struct{ toy }

func (brokenToy) Decode([]int) (string, error) { return "", errors.New("no server") }

// byWords and byBytes are toy counters.
type byWords struct{}

func (byWords) Count(text string) (int, error) {
	return len(strings.FieldsFunc(text, unicode.IsSpace)), nil
}

type byBytes struct{}

func (byBytes) Count(text string) (int, error) { return len(text), nil }

// golden reads a file of testdata made by vLLM's rules with numpy and Python.
func golden(t *testing.T, name string, into any) {
	t.Helper()
	data := must(os.ReadFile(filepath.Join("testdata", name)))(t)
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// goldenCases is golden for a file whose "cases" must not be empty.
func goldenCases(t *testing.T, name string, into any) {
	t.Helper()
	var file struct{ Cases []json.RawMessage }
	golden(t, name, &file)
	if len(file.Cases) == 0 {
		t.Fatal("the golden file is empty")
	}
	golden(t, name, into)
}

// toyCase is what the golden cases of data sets made of tokens have in common.
type toyCase struct {
	Name      string          `json:"name"`
	Seed      int64           `json:"seed"`
	Tokenizer string          `json:"tokenizer"`
	Vocab     int             `json:"vocab_size"`
	Special   []int           `json:"special_ids"`
	Adds      int             `json:"num_special_tokens_to_add"`
	Prompts   int             `json:"num_prompts"`
	InputLen  int             `json:"random_input_len"`
	Ratio     json.RawMessage `json:"random_range_ratio"`
}

func (c toyCase) toy(t *testing.T) toy { return newToy(t, c.Tokenizer, c.Vocab, c.Special, c.Adds) }

func rangeRatio(t *testing.T, raw json.RawMessage) RangeRatio {
	t.Helper()
	ratio := must(ParseRangeRatio(string(raw)))(t)
	return ratio
}

// drain reads a source to its end, behind which there is nothing either.
func drain(t testing.TB, src Flow) []Conversation {
	t.Helper()
	var all []Conversation
	for {
		c, err := src.Next()
		if errors.Is(err, io.EOF) {
			if _, err = src.Next(); !errors.Is(err, io.EOF) {
				t.Errorf("error %v behind the end, want EOF again", err)
			}
			return all
		}
		fine(t, err)
		all = append(all, c)
	}
}
