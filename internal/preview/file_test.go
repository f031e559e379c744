package preview

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"benchtop/datasets/trace"
	"benchtop/internal/assert"
	"benchtop/internal/hf/hub/hubtest"
	"benchtop/internal/hf/tokenizer"
)

// written is the path of a file with that text.
func written(t testing.TB, name, text string) string {
	t.Helper()
	return filepath.Join(hubtest.Plant(t, map[string]string{name: text}), name)
}

// words counts a token for each word.
type words struct{}

func (words) Count(text string) (int, error) { return len(strings.Fields(text)), nil }

func byWords(context.Context) (tokenizer.Counter, string, error) { return words{}, "by words", nil }

// summary is an analysis in a line: input lengths, output lengths, hits with the first blocks, arrivals.
func summary(a *Analysis) string {
	s := fmt.Sprintf("in %v out %v", a.input.times, a.output.times)
	if a.unanswered > 0 {
		s += fmt.Sprintf(" unknown %d", a.unanswered)
	}
	if a.prefixes.prompts > 0 {
		s += fmt.Sprintf(" hits %d of %d", a.prefixes.sizes[0].hits, a.prefixes.sizes[0].tokens)
	}
	if a.arrivals.n > 0 {
		s += fmt.Sprintf(" %d in %v", a.arrivals.n, a.arrivals.duration())
	}
	return s
}

func TestAnalyzeFile(t *testing.T) {
	const seconds = "time stamps are taken as s; another unit with --trace-unit"
	for _, c := range []struct {
		name, file, text string
		options          FileOptions
		form, dataset    string // beginnings
		tokens, notes    string
		want             string
	}{
		{"hash ids", "a.jsonl", `{"timestamp": 0, "input_length": 40, "output_length": 5, "hash_ids": [0, 1, 2]}
{"timestamp": 250, "input_length": 48, "output_length": 9, "hash_ids": [0, 1, 3]}
{"timestamp": 250, "input_length": 16, "output_length": 1, "hash_ids": [0]}`, FileOptions{},
			"trace of lengths with the blocks of prompts: columns timestamp, input_length, output_length, hash_ids",
			"--dataset-name timed_trace --num-prompts 3 --timed-trace-chunk-hash-size 16 " +
				"--timed-trace-sec-multiplier 1", "lengths of the file",
			"a hash id stands for 16 tokens, by the lengths; " + seconds,
			"in map[16:1 40:1 48:1] out map[1:1 5:1 9:1] hits 32 of 16 3 in 4m10s"},
		{"Mooncake", "a.jsonl", `{"timestamp": 0, "input_length": 1400, "output_length": 5, "hash_ids": [0, 1, 2]}
{"timestamp": 3000, "input_length": 1025, "output_length": 9, "hash_ids": [0, 1, 3]}`, FileOptions{},
			"trace of lengths with", "--dataset-name timed_trace --num-prompts 2 --timed-trace-chunk-hash-size 512 " +
				"--timed-trace-sec-multiplier 0.001", "lengths of the file",
			"a hash id stands for 512 tokens, by the lengths; time stamps are taken as ms; another unit with " +
				"--trace-unit",
			"in map[1025:1 1400:1] out map[5:1 9:1] hits 1024 of 512 2 in 3s"},
		{"Mooncake's names without hash ids, for hours", "a.jsonl", `{"timestamp": 0, "input_length": 5, "output_length": 6}
{"timestamp": 36000000, "input_length": 5, "output_length": 7}`, FileOptions{}, "trace of lengths: ", "--dataset-name trace --num-prompts 2", "lengths of the file",
			"time stamps are taken as ms; another unit with --trace-unit", "in map[5:2] out map[6:1 7:1] 2 in 10h0m0s"},
		{"nanoseconds since 1970", "a.jsonl", `{"timestamp": 1700000000000000000, "input_length": 1400, "hash_ids": [0, 1, 2]}
{"timestamp": 1700000001000000000, "input_length": 1400, "hash_ids": [0, 1, 2]}`, FileOptions{}, "trace of lengths with", "", "lengths of the file",
			"a hash id stands for 512 tokens, by the lengths; time stamps are taken as ns; another unit with " +
				"--trace-unit", "in map[1400:2] out map[] unknown 2 hits 1024 of 512 2 in 1s"},
		{"seconds with fractions", "a.jsonl", `{"timestamp": 0, "input_length": 1400, "hash_ids": [0, 1, 2]}
{"timestamp": 1.5, "input_length": 1400, "hash_ids": [0, 1, 2]}`, FileOptions{}, "trace of lengths with", "", "lengths of the file",
			"a hash id stands for 512 tokens, by the lengths; time stamps are taken as s; another unit with " +
				"--trace-unit", "in map[1400:2] out map[] unknown 2 hits 1024 of 512 2 in 1.5s"},
		{"the user knows better", "a.jsonl", `{"t": 0, "n": 1400, "m": 5, "ids": ["a", "b", "c"]}
{"t": 2, "n": 700, "m": 9, "ids": ["a", "b"], "hash_ids": 5}`, FileOptions{ChunkSize: 500, Unit: 1e-6, Columns: trace.Columns{Timestamp: "t", Input: "n", Output: "m", HashIDs: "ids"}},
			"trace of lengths with the blocks of prompts: columns t, n, m, ids", "", "lengths of the file",
			"time stamps are taken as us; another unit with --trace-unit",
			"in map[700:1 1400:1] out map[5:1 9:1] hits 500 of 500 2 in 2µs"},
		{"whole blocks alone", "a.jsonl", `{"input_length": 47, "hash_ids": [0, 1]}
{"input_length": 170, "hash_ids": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]}`, FileOptions{}, "trace of lengths with", "", "", "a hash id stands for 16 tokens, by the lengths",
			"in map[47:1 170:1] out map[] unknown 2 hits 32 of 16"},
		{"hash ids that do not fit", "a.jsonl", `{"input_length": 1000, "hash_ids": [0, 1]}
{"input_length": 9, "hash_ids": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]}`, FileOptions{}, "trace of lengths with", "", "",
			"no block size fits the numbers of hash ids; taken as 512 tokens, another with " +
				"--timed-trace-chunk-hash-size", "in map[9:1 1000:1] out map[] unknown 2 hits 0 of 512"},
		{"Azure", "a.csv", "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,4808,10\n2023-11-16 " +
			"18:17:04.0319600,3180,8\n", FileOptions{},
			"trace of lengths: columns TIMESTAMP, ContextTokens, GeneratedTokens", "--dataset-name trace",
			"lengths of the file", "", "in map[3180:1 4808:1] out map[8:1 10:1] 2 in 52ms"},
		{"BurstGPT", "a.csv", "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log " +
			"Type\n5,GPT-4,472,18,490,Conversation log\n45,ChatGPT,1087,0,1087,API log\n", FileOptions{},
			"BurstGPT trace of lengths: ", "--dataset-name trace", "lengths of the file", seconds,
			"in map[472:1 1087:1] out map[0:1 18:1] 2 in 40s"},
		{"lengths alone", "a.jsonl", `{"isl": 5, "osl": 6}`, FileOptions{}, "lengths: columns isl, osl", "",
			"lengths of the file", "", "in map[5:1] out map[6:1]"},
		{"lines of dataset", "a.jsonl", `{"request_id":"r0","prompt":"a b c d e f g h","prompt_len":8,"expected_output_len":4,"timestamp":0.5}
{"request_id":"r1","prompt":"a b c d e f g h","prompt_len":8,"expected_output_len":0,"timestamp":1.5}
{"request_id":"r2","prompt":[1,2,3],"prompt_len":3,"expected_output_len":4,"timestamp":2}
{"request_id":"r3","prompt":["q w","q e",[1,2,3,4]],"prompt_len":10,"expected_output_len":4,"timestamp":2.5}
{"request_id":"r4","chat_messages":[{"role":"user","content":"hi"}],"prompt_len":10,"expected_output_len":4,"timestamp":3}`, FileOptions{},
			"requests with their prompts: columns timestamp, prompt_len, expected_output_len, chat_messages, prompt",
			"", "lengths of the file", seconds,
			"in map[3:1 8:2 10:2] out map[4:4] unknown 1 hits 9 of 1 5 in 2.5s"},
		{"custom", "a.jsonl", `{"prompt": "What is a bench?", "output_tokens": 20}
{"prompt": "And a top?"}`, FileOptions{}, "prompts: columns output_tokens, prompt", "--dataset-name custom", "by words, without a chat template", "",
			"in map[3:1 4:1] out map[20:1] unknown 1 hits 0 of 1"},
		{"token ids", "a.jsonl", `{"prompt": [5, 6, 7]}
{"prompt": [5, 6, 8, 9]}
{"prompt": null}
{"id": 1}`, FileOptions{}, "prompts: columns prompt", "--dataset-name custom", "token ids of the file", "2 rows without a prompt are left out", "in map[3:1 4:1] out map[] unknown 2 hits 2 of 1"},
		{"ShareGPT", "a.json", `[{"id": "a", "conversations": [{"from": "human", "value": "one two"}, {"from": "gpt", "value": "three four five"}, {"from": "human", "value": "six"}]},
{"id": "b", "conversations": [{"from": "human", "value": "alone"}]}, {"id": "c", "conversations": []}]`, FileOptions{},
			"conversations, the first question and answer of each: columns conversations", "--dataset-name sharegpt",
			"by words, without a chat template",
			"2 rows without a prompt are left out", "in map[2:1] out map[3:1] hits 0 of 1"},
		{"a conversation of roles", "a.jsonl", `{"conversation": [{"role": "user", "content": "one two"}, {"role": ` +
			`"assistant", "content": "three"}]}`, FileOptions{},
			"conversations, the first question and answer of each: columns conversation", "",
			"by words, without a chat template", "", "in map[2:1] out map[1:1] hits 0 of 1"},
		{"Spec-Bench", "a.jsonl", `{"question_id": 81, "category": "writing", "turns": ["one two three", "four"]}`,
			FileOptions{}, "questions, the first turn of each", "--dataset-name spec_bench",
			"by words, without a chat template", "", "in map[3:1] out map[] unknown 1 hits 0 of 1"},
		{"chats", "a.jsonl", `{"messages": [{"role": "system", "content": "a b"}, {"role": "user", "content": [{"type": "text", "text": "c"}, {"type": "image_url", "image_url": {"url": "data:x y z"}}]}, {"role": "assistant", "content": "d e f g"}]}
{"messages": [{"role": "user", "content": "h"}]}
{"messages": []}`, FileOptions{}, "chats: columns messages", "", "by words, without a chat template", "1 rows without a prompt are left out", "in map[1:1 3:1] out map[4:1] unknown 1 hits 0 of 1"},
		{"prompts of CSV", "a.csv", "question,answer\n\"one, two\",x y z\n", FileOptions{},
			"prompts: columns question, answer", "", "by words, without a chat template", "",
			"in map[2:1] out map[3:1] hits 0 of 1"},
		{"a field that the first row lacks", "a.jsonl", "{\"id\": 1}\n{\"prompt\": \"x\"}", FileOptions{},
			"prompts: columns prompt", "--dataset-name custom", "by words, without a chat template",
			"1 rows without a prompt are left out", "in map[1:1] out map[] unknown 1 hits 0 of 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := c.options
			o.Path, o.Counter = written(t, c.file, c.text), byWords
			a := assert.Must(AnalyzeFile(context.Background(), o))(t)
			assert.Equal(t, summary(a), c.want, "summary")
			about := a.About
			c.tokens = cmp.Or(c.tokens, about.Tokens)
			if !strings.HasPrefix(about.Form, c.form) || !strings.HasPrefix(strings.Join(about.Dataset, " "),
				c.dataset) || about.Tokens != c.tokens || strings.Join(about.Notes, "; ") != c.notes {
				t.Errorf("%+v", about)
			}
		})
	}
}

func TestAnalyzeFileRefused(t *testing.T) {
	for _, c := range []struct {
		name, file, text string
		columns          trace.Columns
		want             string
	}{
		{"empty", "a.jsonl", "", trace.Columns{},
			`the file has no rows; expected prompts ("prompt", "conversations", "turns" or "messages"), or lengths ` +
				`in ` +
				`tokens`},
		{"a header alone", "a.csv", "input_length\n", trace.Columns{}, "the file has no rows"},
		{"unknown form", "a.jsonl", `{"a": 1, "b": 2}`, trace.Columns{}, `the columns are "a", "b"; expected prompts`},
		{"many columns", "a.csv", "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v\n1\n", trace.Columns{},
			`"s", "t" and 2 more; expected`},
		{"no such column", "a.jsonl", `{"input_length": 1}`, trace.Columns{Timestamp: "when"},
			`unknown column "when"; the columns are "input_length"`},
		{"broken JSON", "a.jsonl", "{\"prompt\": \"x\"}\n{\"prompt\": }\n", trace.Columns{}, "line 2: not JSON"},
		{"a broken time", "a.jsonl", "{\"timestamp\": 1, \"input_length\": 5}\n{\"timestamp\": \"soon\", " +
			"\"input_length\": 5}", trace.Columns{}, `line 2: column "timestamp": expected a number`},
		{"no time", "a.jsonl", "{\"timestamp\": 1, \"input_length\": 5}\n{\"input_length\": 5}", trace.Columns{},
			`line 2: column "timestamp": expected a number, as the first time stamp is: got nothing`},
		{"a negative length", "a.csv", "input_length,output_length\n5,1\n5,-1\n", trace.Columns{},
			`line 3: column "output_length": expected a whole number from 0 to`},
		{"no length", "a.csv", "time,input_length\n1,5\n2\n", trace.Columns{},
			`line 3: column "input_length": expected a whole number from 0 to 16777216: got nothing`},
		{"hash ids that are none", "a.jsonl", `{"input_length": 5, "hash_ids": 5}`, trace.Columns{},
			`line 1: column "hash_ids": expected an array of hash ids: got a number`},
		{"a hash id that is none", "a.jsonl", `{"input_length": 5, "hash_ids": [[]]}`, trace.Columns{},
			`expected hash ids to be numbers or strings: got an array`},
		{"a prompt that is none", "a.jsonl", `{"prompt": 5}`, trace.Columns{},
			`line 1: column "prompt": expected a string: got a number`},
		{"a list in lists", "a.jsonl", `{"prompt": [[[1]]]}`, trace.Columns{}, "lists in lists"},
		{"a mixed list", "a.jsonl", `{"prompt": ["a", 1]}`, trace.Columns{}, "got several kinds"},
		{"a list of others", "a.jsonl", `{"prompt": [true]}`, trace.Columns{}, "got true or false"},
		{"conversations that are none", "a.json", `[{"conversations": {}}]`, trace.Columns{},
			`column "conversations": expected an array of turns: got an object`},
		{"turns without a value", "a.json", `[{"conversations": [{"from": "x"}, {}]}]`, trace.Columns{},
			`turn 1, field "value" or "content": expected a string: got nothing`},
		{"turns that are none", "a.json", `[{"conversations": ["a", "b"]}]`, trace.Columns{},
			"expected turns to be objects: got a string"},
		{"questions that are none", "a.jsonl", `{"turns": [5]}`, trace.Columns{},
			`column "turns": expected a string: got a number`},
		{"questions without a list", "a.jsonl", `{"turns": "x"}`, trace.Columns{},
			`expected an array of turns: got a string`},
		{"chats that are none", "a.jsonl", `{"messages": "x"}`, trace.Columns{},
			`expected an array of messages: got a string`},
		{"messages that are none", "a.jsonl", `{"messages": ["x"]}`, trace.Columns{},
			`expected messages to be objects: got a string`},
		{"half a character", "a.jsonl", `{"prompt": "\ud800"}`, trace.Columns{}, "line 1"},
		{"no prompt anywhere", "a.jsonl", `{"prompt": null}`, trace.Columns{}, `no row has a prompt in "prompt"`},
	} {
		_, err := AnalyzeFile(context.Background(),
			FileOptions{Path: written(t, c.file, c.text), Columns: c.columns, Counter: byWords})
		assert.Fails(t, c.name, err, c.want)
	}
}

// An error of counting is none of the file, and a cancelled context ends the reading.
func TestAnalyzeFileStops(t *testing.T) {
	path := written(t, "a.jsonl", strings.Repeat("{\"prompt\": \"a b\"}\n", 3000))
	bad := errors.New("no such server")
	_, err := AnalyzeFile(context.Background(), FileOptions{Path: path,
		Counter: func(context.Context) (tokenizer.Counter, string, error) { return nil, "", bad }})
	if counting, ok := errors.AsType[CounterError](err); !ok || counting.Unwrap() != bad {
		t.Errorf("got %v", err)
	}
	if _, err := AnalyzeFile(context.Background(), FileOptions{Path: path}); !errors.As(err, new(CounterError)) {
		t.Errorf("without a counter: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	_, err = AnalyzeFile(ctx,
		FileOptions{Path: path, Counter: func(context.Context) (tokenizer.Counter, string, error) {
			cancel()
			return words{}, "", nil
		}})
	assert.Is(t, err, context.Canceled)
}

// Requests are analyzed in the order of the rows, though some are counted later than others.
func TestAnalyzeFileKeepsTheOrder(t *testing.T) {
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, "{\"timestamp\": %d, \"prompt\": \"%d %s\"}\n", i, i, strings.Repeat("x ", i%3))
	}
	told := ""
	a, err := AnalyzeFile(context.Background(), FileOptions{Path: written(t, "a.jsonl", b.String()), Counter: byWords,
		Progress: func(done, total int) { told += fmt.Sprintf("%d of %d\n", done, total) }})
	assert.Fine(t, err)
	assert.Equal(t, told, "4096 of 5000\n", "progress")
	if a.arrivals.back > 0 || a.arrivals.duration() != 4999*time.Second || a.input.sum != 5000+1666*0+1667*1+1666*2 {
		t.Errorf("%d go back in %v, %d tokens", a.arrivals.back, a.arrivals.duration(), a.input.sum)
	}
}

// Whatever a file holds is analyzed or refused, and what is analyzed can be shown.
func FuzzAnalyzeFile(f *testing.F) {
	for _, text := range []string{
		`{"timestamp": 0, "input_length": 40, "output_length": 5, "hash_ids": [0, 1, 2]}`,
		`{"prompt": ["a", [1, 2]], "prompt_len": 3, "expected_output_len": 0, "timestamp": "2023-11-16 18:17:03.98"}`,
		`[{"conversations": [{"value": "a"}, {"value": "b"}]}]`, `{"turns": ["a"]}`,
		`{"messages": [{"role": "assistant", "content": [{"text": "a"}]}]}`,
		"{\"prompt\": \"a\"}\n{\"prompt\": [7]}", fmt.Sprintf(twoSessions, ""),
		`{"input_length": 1e7, "hash_ids": ["a"], "timestamp": 1e11}`,
	} {
		f.Add([]byte(text))
	}
	path := filepath.Join(f.TempDir(), "a.jsonl")
	f.Fuzz(func(t *testing.T, data []byte) {
		assert.Fine(t, os.WriteFile(path, data, 0o600))
		a, err := AnalyzeFile(context.Background(), FileOptions{Path: path, Counter: byWords})
		if err != nil {
			return
		}
		for _, size := range a.prefixes.sizes {
			if size.hits < 0 || size.hits > a.prefixes.total {
				t.Errorf("%d hits of %d tokens with blocks of %d", size.hits, a.prefixes.total, size.tokens)
			}
		}
		assert.Fine(t, assert.Failure(a.MarshalJSON()))
		assert.Fine(t, a.Text(&strings.Builder{}, Options{Columns: 60, Clean: plain}))
	})
}
