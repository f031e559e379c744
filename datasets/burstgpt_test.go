package datasets

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"benchtop/datasets/textfile"
)

type burstCase struct {
	Name     string `json:"name"`
	File     string `json:"file"`
	Seed     int64  `json:"seed"`
	Prompts  int    `json:"num_prompts"`
	Kept     []int  `json:"kept_rows"`
	Requests []struct {
		ID     string `json:"request_id"`
		Row    int    `json:"csv_row"`
		Input  int    `json:"prompt_len"`
		Output int    `json:"expected_output_len"`
	} `json:"requests"`
	First []int `json:"first_request_token_ids"`
	Third []int `json:"third_request_token_ids"`
}

func TestBurstGPTGolden(t *testing.T) {
	var file struct {
		Vocab int `json:"vocab_size"`
		Cases []burstCase
	}
	goldenCases(t, "burstgpt.json", &file)
	for _, c := range file.Cases {
		t.Run(c.Name, func(t *testing.T) {
			o := burstGPT{Common{Path: filepath.Join("testdata", filepath.Base(c.File)), Prompts: c.Prompts,
				Seed: c.Seed, IDPrefix: "bg-"}}
			d := must(o.make(newToy(t, "identity", file.Vocab, nil, 0), Vocabulary{}))(t)
			same(t, "length", d.Len, len(c.Requests))
			got := drain(t, d)
			for i, want := range c.Requests {
				ids := make([]int, want.Input)
				for j := range ids {
					ids[j] = (i + j) % file.Vocab
				}
				same(t, want.ID, got[i], Conversation{ID: want.ID,
					Turns: []Turn{{Text: joinIDs(ids, " "), InputTokens: want.Input, MaxTokens: want.Output}}})
			}
			same(t, "first ids", parseIDs(got[0].Turns[0].Text), c.First)
			same(t, "third ids", parseIDs(got[2].Turns[0].Text), c.Third)
			c.checkRows(t, o.Path)
		})
	}
}

// checkRows holds the rows that count and those that are picked to the file's own numbers.
func (c burstCase) checkRows(t *testing.T, path string) {
	file := must(textfile.Open(path, ""))(t)
	defer file.Close()
	var kept, picked, want []int
	must(readBurstGPT(file, func(_ burstRow, line int) { kept = append(kept, line-2) }))(t)
	same(t, "rows that count", kept, c.Kept)
	for i, row := range sampleRows(len(kept), c.Prompts, uint32(c.Seed)) {
		picked, want = append(picked, kept[row]), append(want, c.Requests[i].Row)
	}
	same(t, "rows picked", picked, want)
}

func TestBurstGPTWithoutVocabulary(t *testing.T) {
	o := burstGPT{Common{Path: "testdata/burstgpt_small.csv", Prompts: 3}}
	about := "burstgpt: 3 prompts as long as those of 33 requests to GPT-4 in testdata/burstgpt_small.csv, as "
	d := must(o.make(nil, Vocabulary{}))(t)
	same(t, "description", d.About, about+"token ids 1000 to 31999 (assumed: the model's vocabulary is not known)")
	same(t, "second prompt", drain(t, d)[1], Conversation{ID: "1",
		Turns: []Turn{{TokenIDs: []int{1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008}, InputTokens: 8,
			MaxTokens: 200}}})

	given := Vocabulary{First: 10, Size: 4, Special: []int{11}}
	d = must(o.make(nil, given))(t)
	same(t, "description", d.About, about+"token ids 10 to 13")
	same(t, "second prompt", drain(t, d)[1].Turns[0].TokenIDs, []int{12, 13, 10, 12, 13, 10, 12, 13})

	// A server's tokenizer makes text, but does not say of what.
	d = must(o.make(newToy(t, "identity", 0, nil, 0), given))(t)
	same(t, "description", d.About, about+"text of token ids 10 to 13")
	same(t, "second prompt", drain(t, d)[1].Turns[0].Text, "12 13 10 12 13 10 12 13")

	d = must(o.make(newToy(t, "identity", 1000, nil, 0), given))(t)
	same(t, "description", d.About, about+"text")
	d = must(o.make(brokenToy{newToy(t, "identity", 1000, nil, 0)}, given))(t)
	complains(t, failure(d.Next()), "dataset burstgpt, prompt 0: no server")
}

const burstHeader = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"

func burst(t *testing.T, content string) (Flow, error) {
	o := burstGPT{Common{Prompts: 1000}}
	o.Path, o.Prompts = poemFile(t, content), 1
	return o.make(nil, Vocabulary{})
}

func TestBurstGPTOddButGoodFiles(t *testing.T) {
	tests := []struct {
		name, content string
		want          [2]int
		total         int
	}{
		{"plain", burstHeader + "5,GPT-4,34,1,35,API log\n", [2]int{34, 1}, 1},
		{"no line end", burstHeader + "5,GPT-4,34,1,35,API log", [2]int{34, 1}, 1},
		{"Windows", "\ufeff" + strings.ReplaceAll(burstHeader, "\n", "\r\n") + "\r\n5,GPT-4,34,1,35,API log\r\n",
			[2]int{34, 1}, 1},
		{"quotes", "\"Timestamp\",\"Model\",Request tokens,Response tokens\n\"a\n\"\"b\"\",\",\"GPT-4\",\"34\", 1 \n",
			[2]int{34, 1}, 1},
		{"blank lines", "\n\n" + burstHeader + "\n  \n5,GPT-4,34,1,35,API log\n\n", [2]int{34, 1}, 1},
		{"floats", burstHeader + "5,GPT-4,34.0,1e2,35,API log\n", [2]int{34, 100}, 1},
		{"no answer",
			burstHeader + "5,GPT-4,x,,35,API log\n5,GPT-4,x,0,\n5,GPT-4,x,NaN,\n5,GPT-4\n5,GPT-4,x,-1\n5,GPT-4,34,1\n",
			[2]int{34, 1}, 6},
		{"other models", burstHeader + "5,ChatGPT,x,y,z,\n5,GPT-4 ,x,1\n5,GPT-4,34,1\n", [2]int{34, 1}, 3},
		{"other order", "a,b,c,d,Response tokens,Model\n,,34,2,1,GPT-4\n", [2]int{34, 2}, 1},
		{"the second version", "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total " +
			"tokens,Log Type\n5,7,0.5,GPT-4,34,2,36,API log\n", [2]int{34, 2}, 1},
		{"named in another order", "Model,Response tokens,x,Request tokens\nGPT-4,2,9,34\n", [2]int{34, 2}, 1},
		{"an empty prompt", burstHeader + "5,GPT-4,0,1\n", [2]int{0, 1}, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := must(burst(t, test.content))(t)
			turn := drain(t, d)[0].Turns[0]
			same(t, "lengths", [2]int{turn.InputTokens, turn.MaxTokens}, test.want)
			total := must(readBurstGPT(strings.NewReader(test.content), func(burstRow, int) {}))(t)
			same(t, "rows", total, test.total)
		})
	}
}

func TestBurstGPTBadFiles(t *testing.T) {
	row := func(cells string) string { return burstHeader + "\n5,GPT-4," + cells + "\n" }
	tests := []struct {
		name, content string
		want          []string
	}{
		{"another table", "TIMESTAMP,ContextTokens,GeneratedTokens\n2023,4808,10\n",
			[]string{"line 1: " + burstForm, `; got "TIMESTAMP", "ContextTokens", "GeneratedTokens"`}},
		{"no table", "\n\n{a}\n", []string{"line 3: " + burstForm, `got "{a}"`}},
		{"JSON", "{\"a\":1}\n", []string{"line 1: not CSV: bare"}},
		{"many columns", strings.Repeat("x,", 40) + strings.Repeat("y", 1000), []string{`"x" and 21 more`}},
		{"a long column", strings.Repeat("y", 1000), []string{`y" …`}},
		{"three columns", "Model,Response tokens,c\nGPT-4,1,2\n", []string{burstForm}},
		{"header only", burstHeader, []string{"none of its 0 rows counts"}},
		{"no answers", row("3,0"), []string{"none of its 1 rows counts"}},
		{"a word", row("3,many"), []string{`f.txt, line 3: column Response tokens: expected a number: got "many"`}},
		{"hexadecimal", row("3,0x10"), []string{`expected a number: got "0x10"`}},
		{"no prompt", row(",5"), []string{"line 3: column 3, request tokens: no number"}},
		{"a fraction", row("3.5,5"),
			[]string{`column 3, request tokens: expected a whole number from 0 to 16777216: got "3.5"`}},
		{"negative", row("-3,5"), []string{`got "-3"`}},
		{"huge", row("1e18,5"), []string{`got "1e18"`}},
		{"infinite", row("3,inf"),
			[]string{`column 4, response tokens: expected a whole number from 1 to 16777216: got "inf"`}},
		{"no place for an answer", "Response tokens,Model,c,d\n5,GPT-4,3,0\n",
			[]string{`line 2: column 4, response tokens`, `got "0"`}},
		{"too many cells", row("3,5,8,API log,more"), []string{"line 3: 7 cells, more than the 6 of the header"}},
		{"a stray quote", row("3\",5"), []string{"line 3: not CSV: bare"}},
		{"an open quote", row("\"3,5\n\n"), []string{"line 3: not CSV: a quote that opens here goes wrong in line 5"}},
		{"an open quote in a long file", row("\"3,5\n" + strings.Repeat(burstHeader, 20000)),
			[]string{"line 2: a row is larger than 1024 KiB; is a quote never closed?"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := burst(t, test.content)
			complains(t, err, append(test.want, "dataset burstgpt: ")...)
			if len(err.Error()) > 500 {
				t.Errorf("got an error of %d bytes", len(err.Error()))
			}
		})
	}
}

// FuzzReadBurstGPT holds the reader to what the plain way makes of a table that it accepts, however it is cut up.
func FuzzReadBurstGPT(f *testing.F) {
	for _, rows := range []string{"", "5,GPT-4,34,1,35,API log\n", "\"a\"\"\",GPT-4,3.0,1e1\r\n\n5,GPT-4,,\n",
		"5,\"GPT-4\n", "\xff", ",,,,,,,,"} {
		f.Add([]byte(burstHeader + rows))
	}
	f.Add([]byte("\ufeffa,Model,b,Response tokens\n,GPT-4,1,2"))
	f.Fuzz(func(t *testing.T, data []byte) {
		read := func(r io.Reader) (string, error) {
			var out strings.Builder
			total, err := readBurstGPT(r, func(row burstRow, line int) { fmt.Fprintln(&out, row, line) })
			return out.String() + strconv.Itoa(total), err
		}
		got, err := read(bytes.NewReader(data))
		slow, slowErr := read(iotest.OneByteReader(bytes.NewReader(data)))
		if (err == nil) != (slowErr == nil) || err == nil && got != slow {
			t.Fatalf("at once %s, %v; byte by byte %s, %v", got, err, slow, slowErr)
		}
		if err != nil {
			return
		}
		plain := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
		plain.FieldsPerRecord = -1
		all, err := plain.ReadAll()
		if err != nil {
			t.Fatalf("accepted what is not CSV: %v", err)
		}
		named := 0
		for _, row := range all {
			if slices.Contains(row, "GPT-4") {
				named++
			}
		}
		if kept := strings.Count(got, "\n"); kept > named {
			t.Errorf("kept %d rows of %d that name GPT-4", kept, named)
		}
	})
}
