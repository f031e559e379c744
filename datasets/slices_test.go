package datasets

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// wordList is a tokenizer whose tokens are the words of one text, each place its own.
type wordList struct {
	toy
	words []string
}

func newWordList(text string) *wordList {
	return &wordList{toy: toy{size: 1000}, words: strings.Fields(text)}
}

func (w *wordList) Encode(text string) ([]int, error) {
	ids := []int{}
	for i, word := range strings.Fields(text) {
		if w.words[i] != word {
			return nil, fmt.Errorf("word %d is %q", i, word)
		}
		ids = append(ids, i)
	}
	return ids, nil
}

func (w *wordList) Decode(ids []int) (string, error) {
	var words []string
	for _, id := range ids {
		words = append(words, w.words[id])
	}
	return strings.Join(words, " "), nil
}

func TestSlicesGolden(t *testing.T) {
	var file struct {
		Cases []struct {
			Name      string          `json:"name"`
			File      string          `json:"file"`
			Seed      int64           `json:"seed"`
			Prompts   int             `json:"num_prompts"`
			InputLen  int             `json:"input_len"`
			OutputLen int             `json:"output_len"`
			Ratio     json.RawMessage `json:"range_ratio"`
			Records   []struct {
				Prompt string `json:"prompt"`
				Output int    `json:"output_tokens"`
			} `json:"records"`
		}
	}
	goldenCases(t, "txt_slices.json", &file)
	for _, c := range file.Cases {
		t.Run(c.Name, func(t *testing.T) {
			ratio := rangeRatio(t, c.Ratio)
			o := SlicesOptions{Common: Common{Path: filepath.Join("testdata", filepath.Base(c.File)),
				Prompts: c.Prompts, Seed: c.Seed}, InputLen: c.InputLen,
				OutputLen: c.OutputLen, Ratio: ratio}
			text := must(openPoem(o.Path))(t)
			var got bytes.Buffer
			fine(t, WriteSlices(&got, o, newWordList(strings.Join(text, ""))))
			want := ""
			for _, r := range c.Records { // no word of them needs an escape
				want += fmt.Sprintf("{\"prompt\": \"%s\", \"output_tokens\": %d}\n", r.Prompt, r.Output)
			}
			same(t, "lines", got.String(), want)
		})
	}
}

// The texts are those of json.dumps of Python 3.11 with ensure_ascii off, as vLLM 0.31 and 0.33 have it.
func TestAppendSlice(t *testing.T) {
	got := string(appendSlice(nil, "a\"\\\n\r\t\b\f\x00\x1f\x7f /<&>é€😀\xff\u2028", 7))
	same(t, "line", got,
		`{"prompt": "a\"\\\n\r\t\b\f\u0000\u001f`+"\x7f /<&>é€😀\ufffd\u2028"+`", "output_tokens": 7}`+"\n")
}

func TestSlicesLeaveRoomForSpecialTokens(t *testing.T) {
	o := SlicesDefaults()
	o.Path, o.Prompts, o.InputLen, o.OutputLen = poemFile(t, "1 2 3\r\n4"), 2, 4, 0
	tok := newToy(t, "identity", 10, nil, 2)
	var got bytes.Buffer
	fine(t, WriteSlices(&got, o, tok))
	same(t, "lines", got.String(),
		"{\"prompt\": \"4 1\", \"output_tokens\": 1}\n{\"prompt\": \"4 1\", \"output_tokens\": 1}\n")
	o.InputLen = 2
	complains(t, WriteSlices(&got, o, tok), "text slices: input length 2 is no more than the 2 special tokens")
}

func TestSlicesRefuse(t *testing.T) {
	write := func(content string) error {
		o := SlicesDefaults()
		o.Path = poemFile(t, content)
		return WriteSlices(&bytes.Buffer{}, o, newWordList("a b"))
	}
	complains(t, write(""), "text slices: ", "f.txt: the file is empty; expected a text")
	complains(t, write(" \n"), "f.txt: the text has no tokens")
	complains(t, write("a b\n\xff"), "f.txt, line 2: the text is not UTF-8")
	complains(t, write("a c"), `f.txt: encoding the text: word 1 is "c"`)
	complains(t, write("PK\x03\x04"), "zip archive")
	o := SlicesDefaults()
	o.Path = poemFile(t, "1 2 3")
	complains(t, WriteSlices(&bytes.Buffer{}, o, brokenToy{newToy(t, "identity", 10, nil, 0)}),
		"text slices: prompt 0: no server")

	o.Path = "testdata/none.txt"
	complains(t, WriteSlices(&bytes.Buffer{}, o, nil), "text slices: need a tokenizer; give --tokenizer")
	complains(t, WriteSlices(&bytes.Buffer{}, o, newWordList("")),
		"testdata/none.txt: file does not exist; give the path of a text")
	o.Path = "testdata/slices_source.txt"
	text, _ := openPoem(o.Path)
	complains(t, WriteSlices(fullDisk{}, o, newWordList(strings.Join(text, ""))), "text slices: no space left")
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }
