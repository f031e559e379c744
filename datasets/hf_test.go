package datasets

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"iter"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"benchtop/internal/hf/media"
	"benchtop/internal/hf/numpy"
)

// hfTest is a data set of the hub in a file of a test.
type hfTest struct {
	id, rows string
	flags    hfFlags // beside the default ones
	options  Common
	text     Text
	notes    []string
}

// open draws from the data set as a user would.
func (h *hfTest) open(t *testing.T) (Flow, error) {
	t.Helper()
	k := defaults[hf]("hf")
	k.flags.name, k.flags.column, k.flags.outputLen = h.id, h.flags.column, h.flags.outputLen
	k.flags.minDistance, k.flags.maxDistance = h.flags.minDistance, max(k.flags.maxDistance, h.flags.maxDistance)
	k.flags.minSeconds, k.flags.subset = h.flags.minSeconds, h.flags.subset
	c := h.options
	c.Prompts = cmp.Or(c.Prompts, 2)
	c.DisableShuffle = true
	if c.Path == "" {
		c.Path = filepath.Join(t.TempDir(), "rows.jsonl")
		write(t, c.Path, h.rows)
	}
	c.Forms = cmp.Or(c.Forms, AsText|AsMedia|AsMessages)
	if h.text.Counter == nil {
		h.text.Counter, h.text.Template = byWords{}, roleTags{}
	}
	k.Common = c
	if err := k.check(); err != nil {
		return Flow{}, err
	}
	return k.open(t.Context(), testTools{toyTools{notes: &h.notes}, h.text, numpy.NewStreams(0)})
}

const (
	hfTalk  = `{"conversations": [{"value": "one two three four"}, {"value": "five six seven eight"}]}` + "\n"
	hfMute  = `{"conversations": [{"value": "one two three four"}, {"value": ""}]}` + "\n"
	hfAlone = `{"conversations": [{"value": "one two three four"}]}` + "\n"
	hfEdit  = `{"code": "x", "change_request": "y", "norm_distance": 0.5}` + "\n"
)

// Refusals name the file and the line.
func TestHFRefusals(t *testing.T) {
	for name, test := range map[string]struct {
		hfTest
		want string
	}{
		"no column": {hfTest{id: "philschmid/mt-bench", rows: `{"a": 1, "b": 2}`},
			`rows.jsonl: no such column "turns"; the columns are "a", "b"`},
		"no value": {hfTest{id: "philschmid/mt-bench", rows: `{"turns": []}`},
			`rows.jsonl, line 1: "turns[0]" is not in the row`},
		"no string": {hfTest{id: "openai/gsm8k", rows: "{\"question\": \"q\"}\n{\"question\": 7}"},
			`rows.jsonl, line 2: "question": expected a string: got a number`},
		"no array": {hfTest{id: "lmarena-ai/VisionArena-Chat", rows: `{"conversation": "x", "images": []}`},
			`line 1: expected "conversation" to be an array: got a string`},
		"no object": {hfTest{id: "lmarena-ai/VisionArena-Chat", rows: `{"conversation": [["x"]], "images": []}`},
			`line 1: expected "conversation[0][0]" to be an object: got a string`},
		"no picture": {hfTest{id: "Lin-Chen/MMStar", rows: `{"question": "q", "image": null}`},
			`line 1: "image" is null`},
		"broken picture": {hfTest{id: "Lin-Chen/MMStar", rows: `{"question": "q", "image": {"bytes": "AAAA"}}`},
			`line 1: "image": this is not`},
		"empty picture": {hfTest{id: "Lin-Chen/MMStar", rows: `{"question": "q", "image": {"bytes": ""}}`},
			`line 1: "image": the file is empty`},
		"picture of air": {hfTest{id: "Lin-Chen/MMStar", rows: `{"question": "q", "image": {}}`},
			`line 1: "image": expected "bytes" or a "path": got {}`},
		"number": {hfTest{id: "Lin-Chen/MMStar", rows: `{"question": "q", "image": 7}`},
			`line 1: "image": expected "image" to be a URL or a path: got a number`},
		"no recording": {hfTest{id: "facebook/voxpopuli", rows: `{"audio": 7}`, options: Common{Forms: AsAudio}},
			`line 1: "audio": expected a recording: got a number`},
		"lost recording": {hfTest{id: "facebook/voxpopuli", rows: `{"audio": "/no/such.wav"}`,
			options: Common{Forms: AsAudio}}, `line 1: "audio": file does not exist`},
		"no answer": {hfTest{id: "Aeala/ShareGPT_Vicuna_unfiltered", rows: hfTalk + hfMute},
			`line 2: "conversations[1].value" has no tokens, so there is no output length; give one with ` +
				`--hf-output-len`},
		"no region": {hfTest{id: "zed-industries/zeta", rows: `{"events": "e", "input": "i", "output": ""}`},
			`line 1: "output" has no tokens, so there is no output length; take the row out`},
		"no second turn": {hfTest{id: "Aeala/ShareGPT_Vicuna_unfiltered", rows: hfAlone},
			"none of the 1 rows is of a length to be taken (4 to 1024 prompt tokens, 4 or more output tokens, 2048 " +
				"together at most)"},
		"no conversations": {hfTest{id: "Aeala/ShareGPT_Vicuna_unfiltered", rows: `{"conversations": null}`},
			`line 1: expected "conversations" to be an array: got null`},
		"no rows": {hfTest{id: "openai/gsm8k", rows: ` `}, "no rows"},
		"no distance": {hfTest{id: "vdaita/edit_5k_char",
			rows: `{"code": "x", "change_request": "y", "norm_distance": "far"}`},
			`line 1: expected "norm_distance" to be a number: got "far"`},
		"too near": {hfTest{id: "vdaita/edit_5k_char", rows: hfEdit, flags: hfFlags{minDistance: 0.6}},
			"none of the 1 rows is between --blazedit-min-distance 0.6 and --blazedit-max-distance 1"},
		"number twice": {hfTest{id: "vdaita/edit_5k_char", rows: strings.Replace(hfEdit, "0.5", "0", 1) + hfEdit,
			flags: hfFlags{minDistance: 0.1}},
			`request id "1" is used twice; repeat no requests, or ask for no more than 1`},
		"too short": {hfTest{id: "facebook/voxpopuli", rows: `{"audio": {"array": [0, 0.5], "sampling_rate": 8}}`,
			flags: hfFlags{minSeconds: 9}, options: Common{Forms: AsAudio}},
			"none of the 1 recordings lasts 9 s or more; see --asr-min-audio-len-sec"},
		"no prompts": {hfTest{rows: `{"id": 1, "label": 0}`}, `none of its columns ("id", "label") is known to ` +
			`hold prompts; name one with --hf-text-column. Data sets whose layout is known are lmarena-ai/`},
		"no such prompt": {hfTest{rows: `{"id": 1, "label": 0}`, flags: hfFlags{column: "a.b"}},
			`--hf-text-column a.b: "a" is not in the row; the columns are: "id", "label"`},
		"short prompts": {hfTest{rows: `{"text": "too short"}`},
			"none of the 1 rows is of a length to be taken (4 or more prompt tokens)"},
		"numbers": {hfTest{rows: `{"text": 7}`}, `line 1: "text": expected a string: got a number`},
		"no file": {hfTest{options: Common{Path: "a/b"}},
			"the prompts of others are in a column that --hf-text-column names"},
		"no template": {hfTest{id: "openai/gsm8k", rows: `{"question": "q"}`, text: Text{Counter: byWords{}}},
			"or --skip-chat-template to send the prompts as they are"},
		"bad template": {hfTest{id: "openai/gsm8k", rows: `{"question": "q"}`,
			text: Text{Counter: byWords{}, Template: noTags{}}}, "line 1: rendering the chat template"},
	} {
		t.Run(name, func(t *testing.T) {
			list, err := test.open(t)
			if err == nil {
				t.Fatalf("drew %+v", drain(t, list))
			}
			complains(t, err, "dataset hf: ", test.want)
		})
	}
	// A row that is not reached does no harm.
	one := hfTest{id: "Aeala/ShareGPT_Vicuna_unfiltered", rows: hfTalk + hfMute, options: Common{Prompts: 1}}
	fine(t, failure(one.open(t)))
}

// The prompts of a data set without a known layout are found by its columns.
func TestHFColumns(t *testing.T) {
	const chat = `[{"role": "system", "content": "Be nice."}, {"role": "user", "content": "one two three four"}, ` +
		`{"role": "assistant", "content": "five six"}]`
	const talk = `[{"from": "human", "value": "one two three four"}, {"from": "gpt", "value": "five six"}]`
	for name, test := range map[string]struct {
		row, column string
		length      int
		prompt      string
		output      int
	}{
		"question and answer": {`{"id": 1, "question": "one two three four", "answer": "five"}`, "", 0,
			"one two three four", 1},
		"several answers": {`{"input": "one two three four", "answers": ["five six", "seven"]}`, "", 0,
			"one two three four", 2},
		"no answer":     {`{"text": "one two three four"}`, "", 0, "one two three four", 128},
		"empty answer":  {`{"text": "one two three four", "output": null}`, "", 0, "one two three four", 128},
		"length given":  {`{"text": "one two three four", "output": "five"}`, "", 9, "one two three four", 9},
		"messages":      {`{"messages": ` + chat + `}`, "", 0, "one two three four", 2},
		"conversations": {`{"conversations": ` + talk + `, "text": "no"}`, "", 0, "one two three four", 2},
		"turns": {`{"turns": ["one two three four", "five"], "answer": "six"}`, "", 0,
			"one two three four", 1},
		"context and input":  {`{"context": "one two three", "input": "four"}`, "", 0, "one two three\n\nfour", 128},
		"prompt of messages": {`{"prompt": "one two three four", "messages": []}`, "", 0, "one two three four", 128},
		"column": {`{"text": "no", "mine": "one two three four", "answer": "five"}`, "mine", 0,
			"one two three four", 1},
		"column of messages": {`{"text": "no", "mine": ` + chat + `}`, "mine", 0, "one two three four", 2},
		"path": {`{"text": "no", "mine": ` + chat + `}`, "mine[1].content", 0, "one two three four",
			128},
		"column with a dot": {`{"a.b": "one two three four", "a": {"b": "no"}}`, "a.b", 0, "one two three four", 128},
		"known data set": {`{"question": "no", "hint": "one two three four"}`, "hint", 0, "one two three four",
			128},
	} {
		t.Run(name, func(t *testing.T) {
			h := hfTest{rows: test.row, flags: hfFlags{column: test.column, outputLen: test.length},
				options: Common{Prompts: 1, IDPrefix: "p"}}
			if name == "known data set" {
				h.id = "openai/gsm8k"
			}
			list := must(h.open(t))(t)
			got := drain(t, list)[0]
			same(t, "id", got.ID, "p0")
			same(t, "prompt", got.Turns[0].Text, test.prompt)
			same(t, "output", got.Turns[0].MaxTokens, test.output)
			if len(h.notes) != 1 || !strings.HasPrefix(h.notes[0], "the prompts are in column ") {
				t.Errorf("told %q", h.notes)
			}
		})
	}
}

// hfPNG is a picture as a table has it.
func hfPNG(t *testing.T) string {
	t.Helper()
	var file bytes.Buffer
	fine(t, png.Encode(&file, image.NewRGBA(image.Rect(0, 0, 3, 2))))
	return base64.StdEncoding.EncodeToString(file.Bytes())
}

// Pictures in rows, and files that rows name, are sent as JPEG; addresses stay.
func TestHFPictures(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "rows.jsonl"),
		`{"question": "a", "image": {"bytes": "`+hfPNG(t)+`", "path": "x.png"}}`+"\n"+
			`{"question": "b", "image": {"bytes": null, "path": "b.png"}}`+"\n"+`{"question": "c Options: d", `+
			`"image": `+
			`"http://x/c.png"}`+"\n")
	data, _ := base64.StdEncoding.DecodeString(hfPNG(t))
	write(t, filepath.Join(dir, "b.png"), string(data))
	var notes []string
	source := must(opened(t, "hf", Common{Path: dir, Prompts: 3, DisableShuffle: true, Forms: AsMedia},
		given{"hf-name": "Lin-Chen/MMStar", "hf-split": "train", "hf-subset": "none"}, toyTools{notes: &notes}))(t)
	all := drain(t, source)
	const jpeg = `{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,/9j/`
	for i, want := range []string{jpeg, jpeg, `{"type":"image_url","image_url":{"url":"http://x/c.png"}}`} {
		if got := string(all[i].Turns[0].Media); !strings.HasPrefix(got, want) {
			t.Errorf("picture %d: %.100s", i, got)
		}
	}
	same(t, "question without options", all[2].Turns[0].Text, "c")
	if len(notes) != 1 || !strings.HasPrefix(notes[0], "--hf-subset has no effect with Lin-Chen/MMStar") {
		t.Errorf("told %q", notes)
	}
}

// Recordings in rows, samples, and files that rows name travel as files or in messages, with the prompt of the model.
func TestHFRecordings(t *testing.T) {
	dir := t.TempDir()
	sound := media.Silence(250 * time.Millisecond)
	write(t, filepath.Join(dir, "own.wav"), string(sound.Data))
	rows := fmt.Sprintf(`{"audio": {"bytes": %q, "path": "a.wav"}}
{"audio": {"array": [0, 0.5, 0, 0.5], "sampling_rate": 8}}
{"audio": %q}
{"audio": {"bytes": null, "path": "own.wav"}}
`, base64.StdEncoding.EncodeToString(sound.Data), filepath.Join(dir, "own.wav"))
	write(t, filepath.Join(dir, "rows.jsonl"), rows)
	for name, test := range map[string]struct {
		forms       Forms
		name, class string
		prompt      string
	}{
		"file":    {AsAudio, "openai/whisper-small", "", whisperPrompt},
		"message": {AsMessages | AsMedia, "", "CohereAsrTokenizer", coherePrompt},
		"other":   {AsAudio, "org/model", "Qwen2Tokenizer", ""},
		"cohere":  {AsAudio, "Cohere/asr", "", coherePrompt},
	} {
		t.Run(name, func(t *testing.T) {
			h := hfTest{id: "facebook/voxpopuli", options: Common{Path: dir, Prompts: 4, Forms: test.forms},
				text: Text{Counter: byBytes{}, TokenizerName: test.name, TokenizerClass: test.class}}
			list := must(h.open(t))(t)
			if !strings.HasPrefix(list.About, "hf: 4 prompts of ASR with recordings of 0.3 s on average in ") {
				t.Errorf("described as %q", list.About)
			}
			for i, c := range drain(t, list) {
				turn := c.Turns[0]
				same(t, "prompt", turn.Text, test.prompt)
				same(t, "input tokens", turn.InputTokens, len(test.prompt))
				same(t, "output tokens", turn.MaxTokens, 1024)
				if test.forms == AsAudio {
					want := []string{"audio.wav", "audio.wav", "own.wav", "own.wav"}[i]
					same(t, "name", turn.Audio.Name, want)
				} else if !strings.HasPrefix(string(turn.Media), `{"type":"input_audio","input_audio":{"data":"UklGR`) {
					t.Errorf("part %.60s", turn.Media)
				}
			}
		})
	}
}

// A video is sent by its address, or with its bytes where the row has them.
func TestHFVideos(t *testing.T) {
	h := hfTest{id: "yale-nlp/MMVU", options: Common{Prompts: 2, DisableShuffle: true, Forms: AsMedia},
		rows: `{"question": "q", "choices": {"A": "x"}, "video": "https://example.org/a.mp4"}` + "\n" +
			`{"question": ` +
			`"q", "choices": {"A": "x"}, "video": {"bytes": "QUJD", "path": null}}`}
	list := must(h.open(t))(t)
	got := drain(t, list)
	same(t, "address", string(got[0].Turns[0].Media),
		`{"type":"video_url","video_url":{"url":"https://example.org/a.mp4"}}`)
	same(t, "bytes", string(got[1].Turns[0].Media),
		`{"type":"video_url","video_url":{"url":"data:video/mp4;base64,QUJD"}}`)
}

// A data set whose videos the backend cannot send is sent without them, with a note.
func TestHFVideosAreLeftOut(t *testing.T) {
	h := hfTest{id: "yale-nlp/MMVU",
		rows:    `{"question": "q", "choices": {"A": "x", "B": null, "C": 7}, "video": "https://example.org/a.mp4"}`,
		options: Common{Prompts: 1, Forms: AsText}}
	list := must(h.open(t))(t)
	turn := drain(t, list)[0].Turns[0]
	same(t, "prompt", turn.Text, "q A.x B.None C.7")
	same(t, "video", string(turn.Media), `{"type":"video_url","video_url":{"url":"https://example.org/a.mp4"}}`)
	if len(h.notes) != 1 || !strings.Contains(h.notes[0], "the videos of yale-nlp/MMVU are left out") {
		t.Errorf("told %q", h.notes)
	}
}

// References of MLPerf are counted without the tokens that the tokenizer adds by itself.
func TestHFReferences(t *testing.T) {
	h := hfTest{id: "mgoin/mlperf-inference-llama2-data",
		rows:    `{"system_prompt": "s", "question": "1 2", "output": "1 2 3 4 5"}`,
		options: Common{Prompts: 1, SkipChatTemplate: true}}
	h.text = Text{Counter: byBytes{}, Tokenizer: newToy(t, "identity", 100, nil, 2), Template: roleTags{}}
	list := must(h.open(t))(t)
	turn := drain(t, list)[0].Turns[0]
	same(t, "prompt", turn.Text, "<|system|>\ns\n<|user|>\n1 2\n<|assistant|>\n")
	same(t, "output tokens", turn.MaxTokens, 5)
}

// A run that ends while its data set is read leaves at once, and no file stays open for long.
func TestHFEndsWithItsContext(t *testing.T) {
	dir := t.TempDir()
	for i := range 3 * mostOpen {
		write(t, filepath.Join(dir, fmt.Sprintf("train-%05d-of-%05d.jsonl", i, 3*mostOpen)),
			strings.Repeat(`{"question": "one"}`+"\n", 10))
	}
	k := defaults[hf]("hf")
	k.flags.name, k.flags.split, k.flags.noStream = "openai/gsm8k", "train", true
	k.flags.subset = "default"
	ctx, cancel := context.WithCancel(t.Context())
	k.Common = Common{Path: dir, Prompts: 30 * mostOpen, NoOversample: true}
	d := k.drawing(Text{Counter: byWords{}, Template: roleTags{}}, toyTools{}.Hub(), func(string) {})
	list := must(d.draw(ctx, numpy.NewPython(0), nil))(t)
	same(t, "prompts", list.Len, 30*mostOpen)
	if len(d.tables.open) > mostOpen {
		t.Errorf("%d files are open", len(d.tables.open))
	}
	cancel()
	if _, err := k.drawing(d.text, toyTools{}.Hub(), func(string) {}).draw(ctx, numpy.NewPython(0), nil); !errors.Is(
		err, context.Canceled) {
		t.Errorf("got error %v", err)
	}
}

// FuzzHFValue makes sure that any path in any row is found or not, without a panic.
func FuzzHFValue(f *testing.F) {
	for _, path := range []string{"a", "a[0]", "a[0].b", "a.b[1][2].c", "[", "a[", "a]", ".", "a..b",
		"a[99999999999999999999]", "a[-1]"} {
		f.Add(`{"a": [{"b": 1}], "a.b": 2}`, path)
	}
	f.Fuzz(func(t *testing.T, row, path string) {
		object := hfValues(row)
		if !strings.HasPrefix(row, "{") || !isJSON(row) {
			return
		}
		value, err := object.value(path)
		if err == nil && !isJSON(string(value)) {
			t.Errorf("%q in %q is %q", path, row, value)
		}
		_ = likelyPrompt(object)
		d := hfSampler{class: &hfClasses[2], flags: &hfFlags{}, pieces: hfPieces("{question} {choices}")}
		_ = new(hfPrompt).read(object, &d)
		for i := range hfClasses {
			if class := &hfClasses[i]; class.keep != nil {
				_, _ = class.keep(object, &hfFlags{})
			}
		}
	})
}

func isJSON(text string) bool { return json.Valid([]byte(text)) }

// JSON arrays are shuffled row by row, as the newest datasets library does it, other files by the hundred.
func TestHFOrderOfArrays(t *testing.T) {
	for _, array := range []bool{true, false} {
		dir := t.TempDir()
		c := hfOrderCase{Shards: []int{4, 4, 4}, Seed: "0"}
		n := 0
		for i := range c.Shards {
			var rows []string
			for range c.Shards[i] {
				rows = append(rows, fmt.Sprintf(`{"question": "%d"}`, n))
				n++
			}
			text := strings.Join(rows, "\n")
			if array {
				text = "\ufeff[" + strings.Join(rows, ",\r\n") + "]"
			}
			write(t, filepath.Join(dir, fmt.Sprintf("test-0000%d-of-00003.json", i)), text)
		}
		k := defaults[hf]("hf")
		k.flags.name, k.flags.subset = "openai/gsm8k", "default"
		k.Common = Common{Path: dir, Prompts: n, SkipChatTemplate: true}
		d := k.drawing(Text{Counter: byWords{}}, toyTools{}.Hub(), func(string) {})
		list := must(d.draw(t.Context(), numpy.NewPython(0), nil))(t)
		stream, _ := hfStreamOf(hfNewest)
		if array {
			stream.batch = 1
		}
		var got, want []string
		for _, c := range drain(t, list) {
			got = append(got, c.Turns[0].Text)
		}
		for _, row := range c.rows(t,
			func(o hfOrder, seed uint64) iter.Seq2[hfRow, error] { return o.streamed(seed, stream) }) {
			want = append(want, fmt.Sprint(row))
		}
		same(t, fmt.Sprintf("order, arrays %v", array), got, want)
	}
}
