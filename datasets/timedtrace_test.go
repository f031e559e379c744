package datasets

import (
	"bytes"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/internal/ci"
	"benchtop/internal/hf/numpy"
)

func TestTimedTraceGolden(t *testing.T) {
	var file struct {
		Cases []struct {
			Name     string   `json:"name"`
			File     string   `json:"file"`
			Vocab    int      `json:"vocab_size"`
			Special  []int    `json:"special_ids"`
			Prompts  int      `json:"num_prompts"`
			Flags    []string `json:"flags"`
			Requests []struct {
				ID     string  `json:"request_id"`
				IDs    []int   `json:"token_ids"`
				Input  int     `json:"prompt_len"`
				Output int     `json:"expected_output_len"`
				At     float64 `json:"timestamp_s"`
			} `json:"requests"`
		}
	}
	goldenCases(t, "timed_trace.json", &file)
	for _, c := range file.Cases {
		t.Run(c.Name, func(t *testing.T) {
			common := Common{Path: filepath.Join("testdata", filepath.Base(c.File)), Prompts: c.Prompts,
				IDPrefix: "tt-"}
			flags, streams := common.flagsOf(c.Flags), numpy.NewStreams(7)
			tools := testTools{toyTools{newToy(t, "identity", c.Vocab, c.Special, 0), new([]string)}, Text{}, streams}
			d := must(opened(t, "timed_trace", common, flags, tools))(t)
			same(t, "length", d.Len, len(c.Requests))
			got := drain(t, d)
			for i, want := range c.Requests {
				at := time.Duration(math.Round(want.At * 1e9))
				same(t, want.ID, got[i], Conversation{ID: want.ID, At: at,
					Turns: []Turn{{TokenIDs: want.IDs, InputTokens: want.Input, MaxTokens: want.Output}}})
				same(t, want.ID+" time", d.Times()[i], at)
			}
			same(t, "next double of Python", streams.Python.Random(), numpy.NewPython(0).Random())
			same(t, "next word of numpy", streams.Legacy.Uint32(), numpy.NewLegacy(0).Uint32())
		})
	}
}

// timed writes a trace and reads it with blocks of 4 tokens.
func timed(t *testing.T, content string, change func(*timedTrace)) (*tracePrompts, error) {
	t.Helper()
	o := defaults[timedTrace]("timed_trace")
	o.Path, o.ChunkSize = poemFile(t, content), 4
	if change != nil {
		change(&o)
	}
	return newTracePrompts(o, newToy(t, "identity", 1000, nil, 0), numpy.NewStreams(5))
}

func TestTimedTraceOddButGoodFiles(t *testing.T) {
	line := `{"timestamp": 0, "input_length": 8, "output_length": 5, "hash_ids": [7, 8]}`
	tests := []struct {
		name, content string
		want          []string // hash ids
	}{
		{"plain", line + "\n", []string{"7", "8"}},
		{"no line end", line, []string{"7", "8"}},
		{"Windows", "\ufeff" + line + "\r\n\r\n", []string{"7", "8"}},
		{"blank lines", "\n \t\n" + line + "\n\n", []string{"7", "8"}},
		{"a long line", strings.Repeat(" ", 200_000) + `{"x": "` + strings.Repeat("x", 200_000) + `", ` + line[1:],
			[]string{"7", "8"}},
		{"a repeated field", `{"hash_ids": [1], "input_length": "x", ` + line[1:], []string{"7", "8"}},
		{"any integers", strings.Replace(line, "7, 8", "-0, 123456789012345678901234567890, -1", 1),
			[]string{"0", "123456789012345678901234567890"}},
		{"strings", strings.Replace(line, "7, 8", `"a,\u00e9x", ""`, 1), []string{"a,éx", ""}},
		{"floats for lengths", strings.Replace(line, ": 8,", ": 8.0,", 1), []string{"7", "8"}},
		{"no more than are needed", strings.Replace(line, "7, 8", "7, 8, null", 1), []string{"7", "8"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := must(timed(t, test.content, nil))(t)
			var want []int
			for _, hash := range test.want {
				want = append(want, newTraceBlocks(Vocabulary{Size: 1000}.IDs()).block([]byte(hash), 4)...)
			}
			same(t, "requests", drain(t, d.flow()),
				[]Conversation{{ID: "0", Turns: []Turn{{TokenIDs: want, InputTokens: 8, MaxTokens: 5}}}})
		})
	}
}

func TestTimedTraceBadFiles(t *testing.T) {
	ci.SkipUnderRace(t)
	good := `{"timestamp": 0, "input_length": 8, "output_length": 5, "hash_ids": [7, 8]}`
	with := func(from, to string) string { return good + "\n\n" + strings.Replace(good, from, to, 1) + "\n" }
	tests := []struct {
		name, content string
		want          []string
	}{
		{"not JSON", with(":", ""), []string{"f.txt, line 3: not JSON: invalid character"}},
		{"NaN", with(": 0", ": NaN"), []string{`line 3: field "timestamp": expected a number: got null`}},
		{"CSV", "timestamp,input_length\n0,1\n", []string{"line 1: not JSON"}},
		{"no time stamp", with(`"timestamp"`, `"ts"`),
			[]string{`line 3: there is no field "timestamp"; the fields are "ts", "input_length", "output_length", ` +
				`"hash_ids"; name the right one with --timed-trace-label-`}},
		{"no output", with(`"output_length": 5,`, ``), []string{`line 3: there is no field "output_length"`}},
		{"no fields", "{}", []string{`there is no field "timestamp"; the fields are none`}},
		{"very many fields", "{" + strings.Repeat(`"a":1,`, 5000) + `"b":1}`, []string{`"a", "a" and 4981 more; name`}},
		{"no hash ids anywhere", strings.Replace(good, "hash_ids", "blocks", 1),
			[]string{`no line has hash ids in a field "hash_ids"`,
				`the fields of the first are "timestamp", "input_length", "output_length", "blocks"`,
				"--timed-trace-label-hash-ids"}},
		{"a string", with(": 0", `: "0"`), []string{`line 3: field "timestamp": expected a number: got a string`}},
		{"null", with(": 0", `: null`), []string{`field "timestamp": expected a number: got null`}},
		{"a boolean length", with(": 8", ": true"),
			[]string{`field "input_length": expected a number: got true or false`}},
		{"beyond doubles", with(": 0", ": 1e999"), []string{`field "timestamp": the number is too large: got 1e999`}},
		{"from 1970", with(": 0", ": 1700156224"), []string{"line 3",
			"1700156224 is 1.7e+09 s from the start of the run", "--timed-trace-sec-multiplier 0.001"}},
		{"negative length", with(": 8", ": -8"),
			[]string{`field "input_length": expected a whole number from 0 to 16777216: got -8`}},
		{"huge length", with(": 8", ": 1000000000000000000"), []string{"got 1000000000000000000"}},
		{"a fraction", with(": 5", ": 5.5"),
			[]string{`field "output_length": expected a whole number from 1 to 16777216: got 5.5`}},
		{"no output wanted", with(": 5", ": 0"), []string{`field "output_length"`, "got 0"}},
		{"hash ids no array", with("[7, 8]", "7"),
			[]string{`line 3: field "hash_ids": expected an array: got a number`}},
		{"a float", with("[7, 8]", "[7.0]"),
			[]string{`field "hash_ids": expected hash ids to be integers or strings: got 7.0`}},
		{"a nested one", with("[7, 8]", "[[7]]"), []string{"got [7]"}},
		{"none", with("[7, 8]", "[null]"), []string{"got null"}},
		{"a very long one", with("[7, 8]", "["+strings.Repeat("7", 5000)+"]"), []string{"got 7777777", "7 …"}},
		{"half a character", with("[7, 8]", `["\ud800"]`), []string{"unpaired surrogate"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := timed(t, test.content, nil)
			complains(t, err, append(test.want, "dataset timed_trace: ")...)
			if len(err.Error()) > 600 {
				t.Errorf("got an error of %d bytes", len(err.Error()))
			}
		})
	}
	complains(t, failure(readTrace(io.MultiReader(strings.NewReader(good+"\n"), sameByte('x')),
		defaults[timedTrace]("timed_trace"))), "line 2: the line is longer than 64 MiB")
	_, err := timed(t, with(":", ""), func(o *timedTrace) { o.Prompts = 1 })
	if err != nil {
		t.Errorf("a line behind the last one wanted: %v", err)
	}
}

func TestTimedtraceLabels(t *testing.T) {
	d := must(timed(t, `{"t": 2, "in": 5, "out": 5, "h": [7, 8]}`, func(o *timedTrace) {
		o.Labels = traceLabels{"t", "in", "out", "h"}
	}))(t)
	same(t, "tokens", drain(t, d.flow())[0].Turns[0].InputTokens, 5)
	complains(t, failure(timed(t, `{"timestamp": 2}`, func(o *timedTrace) { o.Labels.Timestamp = "nope" })),
		`there is no field "nope"; the fields are "timestamp"`)
}

// Requests keep the order of the trace, and those that come too late for their time stamps start at once.
func TestTimedTraceTimes(t *testing.T) {
	var content strings.Builder
	for _, at := range []string{"-3", "1", "0.5", "2", "1e-9", "2"} {
		content.WriteString(
			`{"timestamp": ` + at + `, "input_length": 12, "output_length": 1, "hash_ids": [1, 2]}` + "\n")
	}
	d := must(timed(t, content.String(), nil))(t)
	const s = time.Second
	same(t, "times", d.times(), []time.Duration{0, 1 * s, 1 * s, 2 * s, 2 * s, 2 * s})
	var own []time.Duration
	for _, c := range drain(t, d.flow()) {
		own = append(own, c.At)
	}
	same(t, "time stamps", own, []time.Duration{-3 * s, 1 * s, s / 2, 2 * s, 1, 2 * s})
	same(t, "description", strings.ReplaceAll(d.description(), d.o.Path, "FILE"),
		"timed_trace: 6 prompts in FILE, in blocks of 4 token ids; "+
			"6 shorter than the trace says, for want of hash ids; 3 start at once, their time stamps going back")
}

func TestTimedTraceOfSpecialTokens(t *testing.T) {
	complains(t, failure(newTracePrompts(defaults[timedTrace]("timed_trace"), newToy(t, "identity", 2, []int{0, 1}, 0),
		numpy.NewStreams(0))), "nothing but special tokens")
}

func TestTimedTraceWithoutVocabulary(t *testing.T) {
	o := defaults[timedTrace]("timed_trace")
	o.Path = "testdata/trace_small.jsonl"
	o.Multiplier = 0.001
	d := must(newTracePrompts(o, nil, numpy.NewStreams(0)))(t)
	about := "timed_trace: 7 prompts in testdata/trace_small.jsonl, in blocks of 16 token ids "
	rest := "; 2 shorter than the trace says, for want of hash ids"
	same(t, "description", d.description(), about+"1000 to 31999 (assumed: the model's vocabulary is not known)"+rest)
	for _, c := range drain(t, d.flow()) {
		for _, id := range c.Turns[0].TokenIDs {
			if id < 1000 || id > 31999 {
				t.Fatalf("got id %d", id)
			}
		}
	}
	o.Vocabulary = Vocabulary{First: 7, Size: 2, Special: []int{8}}
	d = must(newTracePrompts(o, newToy(t, "identity", 0, nil, 0), numpy.NewStreams(0)))(t)
	same(t, "description", d.description(), about+"7 to 8"+rest)
	same(t, "ids", drain(t, d.flow())[5].Turns[0].TokenIDs, []int{7, 7, 7, 7, 7})
}

// Blocks that are no longer kept are made again, the same.
func TestTraceBlocksAreBounded(t *testing.T) {
	ci.SkipUnderRace(t)
	b := newTraceBlocks(Vocabulary{Size: 1000}.IDs())
	first := b.block([]byte("0"), 1<<19)
	if again := b.block([]byte("0"), 1<<19); &again[0] != &first[0] {
		t.Error("a block was not kept")
	}
	for i := range 6 {
		b.block([]byte(strconv.Itoa(i)), 1<<19)
		if len(b.made) > 4 || b.held > maxHeldBlocks {
			t.Fatalf("%d blocks of %d tokens are kept", len(b.made), b.held)
		}
	}
	again := b.block([]byte("0"), 1<<19)
	if &again[0] == &first[0] || !slices.Equal(first, again) {
		t.Error("a block was not made again as it was")
	}
}

func BenchmarkTraceBlock(b *testing.B) {
	blocks := newTraceBlocks(Vocabulary{Size: 150_000}.IDs())
	i := 0
	for b.Loop() {
		i++
		blocks.block(strconv.AppendInt(nil, int64(i), 10), 512)
	}
}

// A trace in blocks of another size is not sent cut down without a word: the flags that fit it are named.
func TestTimedTraceNamesTheFlagsThatFit(t *testing.T) {
	for _, c := range []struct{ lines, want string }{
		{`{"timestamp":0,"input_length":6758,"output_length":5,"hash_ids":[0,1,2,3,4,5,6,7,8,9,10,11,12,13]}` + "\n" +
			`{"timestamp":3000,"input_length":500,"output_length":5,"hash_ids":[0]}`,
			"2 of 2 prompts come out shorter than the trace says: " +
				"16 tokens for each hash id are too few, 512 would do (--timed-trace-chunk-hash-size 512); if its " +
				"time stamps are milliseconds, give --timed-trace-sec-multiplier 0.001 as well"},
		{`{"timestamp":0,"input_length":16,"output_length":5,"hash_ids":[0]}` + "\n" +
			`{"timestamp":1,"input_length":900,"output_length":5,"hash_ids":[0]}`, ""},
	} {
		o := defaults[timedTrace]("timed_trace")
		o.Path = filepath.Join(t.TempDir(), "trace.jsonl")
		fine(t, os.WriteFile(o.Path, []byte(c.lines), 0o600))
		d := must(newTracePrompts(o, nil, numpy.NewStreams(0)))(t)
		same(t, "doubt", d.doubt(), c.want)
	}
}

// FuzzReadTrace makes sure that any file is read, or refused, alike however it is cut up.
func FuzzReadTrace(f *testing.F) {
	good := `{"timestamp": 0.5, "input_length": 8, "output_length": 5, "hash_ids": [7, 8]}`
	for _, text := range []string{"", "\n", "{}", "[]", good, good + "\r\n\n" + good, good + good, "\ufeff" + good,
		"\xff",
		good[:30], strings.Replace(good, "7", `"\ud800"`, 1), strings.Replace(good, "0.5", "1e999", 1)} {
		f.Add([]byte(text))
	}
	o := timedTrace{ChunkSize: 4, Labels: traceLabels{"timestamp", "input_length", "output_length", "hash_ids"}}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := readTrace(bytes.NewReader(data), o)
		slow, slowErr := readTrace(iotest.OneByteReader(bytes.NewReader(data)), o)
		if (err == nil) != (slowErr == nil) ||
			err == nil && !cmp.Equal(got, slow, cmp.AllowUnexported(hashTrace{}, traceLine{})) {
			t.Fatalf("at once %v, %v; byte by byte %v, %v", got, err, slow, slowErr)
		}
	})
}
