package datasets

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"benchtop/internal/hf/numpy"
)

// audioIn samples every row of a file in its order, for requests of a form.
func audioIn(t *testing.T, form Forms, change func(*customAudio), lines ...string) (Flow, error) {
	t.Helper()
	o := defaults[customAudio]("custom_audio")
	o.Prompts, o.Path, o.DisableShuffle, o.Forms = 0, filepath.Join(t.TempDir(), "f.jsonl"), true, form
	if change != nil {
		change(&o)
	}
	write(t, o.Path, strings.Join(lines, "\n"))
	list, err := o.draw(t.Context(), Text{Counter: byWords{}}, numpy.NewPython(0))
	return list, inFile("custom_audio", o.Path, err)
}

const recordings = "../internal/hf/media/testdata/"

func TestCustomAudioRows(t *testing.T) {
	for _, test := range []struct{ name, line, want string }{
		{"no audio", `{"prompt": "x"}`, `"audio" is missing; expected an object like {"audio":`},
		{"empty path", `{"audio": ""}`, `"audio" is empty; give the path`},
		{"no path", `{"audio": 7}`,
			`expected "audio" to be a path, {"array": [0.1, …], "sampling_rate": 16000} or [[0.1, …], 16000]: got 7`},
		{"a pair of one", `{"audio": [[0.5]]}`, `expected "audio" to be a path`},
		{"three", `{"audio": [[0.5], 1, 2]}`, `expected "audio" to be a path`},
		{"no array", `{"audio": {"sampling_rate": 8000}}`, `expected "array" to be an array of samples: got nothing`},
		{"no rate", `{"audio": {"array": [0.5]}}`,
			`expected "sampling_rate" to be a whole number from 1 to 2147483647: got nothing`},
		{"part of a rate", `{"audio": [[0.5], 0.5]}`,
			`expected "sampling_rate" to be a whole number from 1 to 2147483647: got 0.5`},
		{"no samples", `{"audio": [[], 8000]}`, "the recording has no sound in it"},
		{"no number", `{"audio": [[0.5, "x"], 8000]}`, `expected samples to be numbers: got "x"`},
		{"NaN", `{"audio": [[0.5, NaN], 8000]}`, "expected samples to be numbers: got null"},
		{"infinity", `{"audio": [[0.5, Infinity], 8000]}`, "expected samples to be numbers: got 1e999"},
		{"16 bits", `{"audio": [[0, 1, -32768], 8000]}`,
			"samples go from -1 to 1: got -32768; divide those of 16 bits by 32768"},
		{"uneven channels", `{"audio": [[[0.5, 0.5], [0.5]], 8000]}`, `as many in every element of "array": got [0.5]`},
		{"no channel", `{"audio": [[[]], 8000]}`, "a sample for each of 1 to 1024 channels"},
		{"prompt no string", `{"audio": [[0.5], 8000], "prompt": {}}`,
			`expected "prompt" to be a string: got an object`},
		{"missing file", `{"audio": "none.wav"}`,
			"recording none.wav: file does not exist; relative paths start from the working directory"},
		{"not a recording", `{"audio": "testdata/README.md"}`,
			"recording testdata/README.md: this is no recording of a known format; convert it to WAV"},
		{"a directory", `{"audio": "testdata"}`, "recording testdata: this is not a file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			complains(t, failure(audioIn(t, AsAudio, nil, `{"audio": "`+recordings+`a.flac"}`, "", test.line)),
				"dataset custom_audio: ", "f.jsonl, line 3: ", test.want)
		})
	}
	complains(t, failure(audioIn(t, AsAudio, func(o *customAudio) { o.customFlags = &customFlags{OutputFromFile} },
		`{"audio": "`+recordings+`a.flac"}`)), `line 1: "output_tokens" is missing`, "--custom-output-len")
}

// A transcription request holds the recording as a file; the same file is shared.
func TestCustomAudioAsFiles(t *testing.T) {
	list := must(audioIn(t, AsAudio,
		func(o *customAudio) { o.customFlags, o.Prompts = &customFlags{OutputFromFile}, 5 },
		`{"audio": "`+recordings+`vorbis.ogg", "prompt": "two words", "output_tokens": 7}`,
		`{"audio": {"array": [0, 0.5, -0.5, 1], "sampling_rate": 4}, "output_tokens": 8}`,
		`{"audio": [[[0, 0.5], [-0.5, 1.5]], 8.0], "output_tokens": "9"}`,
		`{"audio": "`+recordings+`vorbis.ogg", "output_tokens": 7}`))(t)
	if about := list.About; !strings.HasPrefix(about,
		"custom_audio: 4 prompts of 4 with recordings of 0.6 s on average in ") ||
		!strings.HasSuffix(about, "f.jsonl, repeated to make 5") {
		t.Errorf("described as %q", about)
	}
	got := drain(t, list)
	first, second, third, fourth := got[0].Turns[0], got[1].Turns[0], got[2].Turns[0], got[3].Turns[0]
	if first.Audio != fourth.Audio || first.Audio.Name != "vorbis.ogg" || first.Audio.Type != "audio/ogg" ||
		first.Audio.Duration != 500*time.Millisecond {
		t.Errorf("got %+v and %+v", first.Audio, fourth.Audio)
	}
	for _, turn := range []Turn{first, second, third, fourth} {
		if turn.Media != nil || turn.Messages != nil {
			t.Errorf("a file is also sent as %s%s", turn.Media, turn.Messages)
		}
	}
	same(t, "text", first.Text, "two words")
	same(t, "input tokens", first.InputTokens, 2)
	same(t, "output tokens", []int{first.MaxTokens, second.MaxTokens, third.MaxTokens}, []int{7, 8, 9})
	same(t, "lasts", []time.Duration{second.Audio.Duration, third.Audio.Duration},
		[]time.Duration{time.Second, 250 * time.Millisecond})
	same(t, "samples", second.Audio.Data[44:], []byte("\x00\x00\x00\x40\x00\xc0\xff\x7f"))
	same(t, "frames", third.Audio.Data[44:], []byte("\x00\x00\x00\x40\x00\xc0\xff\x7f"))
	same(t, "channels", third.Audio.Data[22], byte(2))
}

// A chat message holds the recording as a part beside the text.
func TestCustomAudioInMessages(t *testing.T) {
	list := must(audioIn(t, AsText|AsMessages, nil, `{"audio": "`+recordings+`a.flac", "prompt": "What is said?"}`,
		`{"audio": "`+recordings+`pcm_16.wav"}`))(t)
	got := drain(t, list)
	for i, want := range []struct{ file, format string }{{"a.flac", "flac"}, {"pcm_16.wav", "wav"}} {
		turn := got[i].Turns[0]
		var part struct {
			Type  string
			Audio struct{ Data, Format string } `json:"input_audio"`
		}
		fine(t, json.Unmarshal(turn.Media, &part))
		sent, err := base64.StdEncoding.DecodeString(part.Audio.Data)
		file, readErr := os.ReadFile(recordings + want.file)
		if err != nil || readErr != nil || !bytes.Equal(sent, file) || part.Type != "input_audio" ||
			part.Audio.Format != want.format || turn.Audio != nil {
			t.Errorf("%s: got %s, a file %v; errors %v, %v", want.file, turn.Media, turn.Audio, err, readErr)
		}
	}
	same(t, "text", got[0].Turns[0].Text, "What is said?")
	same(t, "output tokens", got[0].Turns[0].MaxTokens, 256)
}

func TestCustomAudioWithoutTokenizer(t *testing.T) {
	o := defaults[customAudio]("custom_audio")
	o.Prompts, o.Path, o.Forms = 0, filepath.Join(t.TempDir(), "f.jsonl"), AsAudio
	write(t, o.Path, `{"audio": [[0.5], 8], "prompt": "two words"}`)
	list := must(o.draw(t.Context(), Text{}, numpy.NewPython(0)))(t)
	turn := drain(t, list)[0].Turns[0]
	same(t, "tokens", []int{turn.InputTokens, turn.MaxTokens}, []int{1, 256})
}

// FuzzReadCustomAudio makes sure that any line is a recording, a path or an error.
func FuzzReadCustomAudio(f *testing.F) {
	for _, text := range []string{"", `{"audio":"a.wav","prompt":"b"}`,
		`{"audio":{"array":[0.5,-1e-3],"sampling_rate":8000.0},"output_tokens":1}`,
		`{"audio":[[[0.1,0.2],[0.3,2.5]],16000]}`, `{"audio":[[NaN],1]}`, `{"audio":[[],[]]}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		rows, err := customAudio{custom{customFlags: &customFlags{1}}}.read(bytes.NewReader(data))
		if err != nil {
			return
		}
		for _, row := range rows {
			named, given := row.path != "", row.audio != nil
			if row.bad == nil && named == given {
				t.Errorf("line %d: path %q and recording %v", row.line, row.path, row.audio)
			}
			if given && (row.audio.Duration <= 0 || len(row.audio.Data) > 44+2*len(data)) {
				t.Errorf("line %d: %d bytes of %v from %d", row.line, len(row.audio.Data), row.audio.Duration,
					len(data))
			}
		}
	})
}
