package simulator

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
)

// wav is a WAV file of silence at 8000 samples of two bytes a second.
func wav(length time.Duration) []byte {
	const rate = 8000
	data := make([]byte, int(length.Seconds()*rate)*2)
	file := []byte("RIFF\x00\x00\x00\x00WAVEfmt ")
	file = binary.LittleEndian.AppendUint32(file, 16)
	file = append(file, 1, 0, 1, 0)
	file = binary.LittleEndian.AppendUint32(file, rate)
	file = binary.LittleEndian.AppendUint32(file, rate*2)
	file = append(file, 2, 0, 16, 0)
	file = append(file, "data"...)
	return append(binary.LittleEndian.AppendUint32(file, uint32(len(data))), data...)
}

// flac is the beginning of a FLAC file with so many samples.
func flac(rate, samples uint64) []byte {
	file := append([]byte("fLaC"), 0, 0, 0, 34)
	file = append(file, make([]byte, 10)...)
	return binary.BigEndian.AppendUint64(file, rate<<44|1<<41|15<<36|samples)
}

// form is a multipart body of names and values; "file" is a file.
func form(pairs ...string) (kind, body string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i] != "file" {
			_ = w.WriteField(pairs[i], pairs[i+1])
		} else if part, err := w.CreateFormFile("file", "audio.wav"); err == nil {
			_, _ = part.Write([]byte(pairs[i+1]))
		}
	}
	_ = w.Close()
	return w.FormDataContentType(), b.String()
}

// postForm sends a form and returns the answer.
func (c *client) postForm(path string, pairs ...string) *http.Response {
	c.t.Helper()
	kind, body := form(pairs...)
	r := c.request(context.Background(), "POST", path, body)
	r.Header.Set("Content-Type", kind)
	response := assert.Must(c.http.Do(r))(c.t)
	return response
}

func TestTranscriptionStream(t *testing.T) {
	var log lines
	bubble(t, round(), func(c *client) {
		c.server.LogTo(&log)
		headers, events := c.events(c.postForm("/v1/audio/transcriptions", "file", string(wav(2*time.Second)), "model",
			"sim-8b", "max_completion_tokens", "4",
			"stream", "True", "language", "en", "stream_include_usage", "True", "stream_continuous_usage_stats", "True",
			"ignore_eos", "True"))
		if headers != 0 || len(events) != 6 {
			t.Fatalf("headers at %v, %d events, want 4 tokens, usage and the end: %v", headers, len(events), events)
		}
		// A step of 10 ms, and 100 tokens for two seconds of sound.
		assert.Equal(t, events[0].at, 20*time.Millisecond, "first token after")
		for i, e := range events[:4] {
			v := c.parse(e.data)
			finish := []string{"absent", "absent", "absent", `"length"`}[i]
			c.wants("token", e.data, [][2]string{
				{at(v, "object"), `"transcription.chunk"`}, {at(v, "model"), `"sim-8b"`},
				{at(v, "choices", 0, "finish_reason"), finish},
				{at(v, "choices", 0, "index"), "absent"}, {at(v, "choices", 0, "delta", "role"), "absent"},
				{at(v, "usage", "completion_tokens"), fmt.Sprint(i + 1)}, {at(v, "usage", "prompt_tokens"), "100"},
			})
		}
		if v := c.parse(events[4].data); at(v, "choices") != "[]" || at(v, "usage", "total_tokens") != "104" ||
			events[5].data != "[DONE]" {
			t.Errorf("the end is %v", events[4:])
		}
	})
	want := `"body":"{\"file\":\"audio.wav, application/octet-stream, 32044 ` +
		`bytes\",\"model\":\"sim-8b\",\"max_completion_tokens\":\"4\",`
	if len(log.calls) != 1 || !strings.Contains(log.calls[0], want) ||
		!strings.Contains(log.calls[0], `"prompt_tokens":100,"cached_tokens":0,"output_tokens":4,`) {
		t.Errorf("the log is %q, want %s", log.calls, want)
	}
}

func TestTranscriptionWhole(t *testing.T) {
	bubble(t, round(), func(c *client) {
		whole := func(path string, pairs ...string) (int, string) {
			response := c.postForm(path, pairs...)
			defer response.Body.Close()
			var text bytes.Buffer
			_, _ = text.ReadFrom(response.Body)
			return response.StatusCode, text.String()
		}
		sound := string(wav(2500 * time.Millisecond))
		status, text := whole("/v1/audio/transcriptions", "file", sound)
		v := c.parse(text)
		if status != 200 || at(v, "usage") != `{"seconds":3,"type":"duration"}` {
			t.Errorf("transcription: %d %s", status, text)
		}
		if n := len(encode(v["text"].(string))); n != 8 {
			t.Errorf("%d tokens for 2.5 s of sound, want 3 for each second", n)
		}
		if status, text := whole("/v1/audio/translations", "file", sound); status != 200 ||
			at(c.parse(text), "usage") != "absent" {
			t.Errorf("translation: %d %s", status, text)
		}
		for _, tt := range []struct {
			words string
			pairs []string
		}{
			{"file is missing", []string{"model", "sim-8b"}},
			{"does not exist", []string{"model", "x", "file", sound}},
			{"no audio samples", []string{"file", ""}},
			{"no data", []string{"file", "RIFF....WAVE"}},
			{"stream: must be a boolean", []string{"file", sound, "stream", "perhaps"}},
			{"max_completion_tokens", []string{"file", sound, "max_completion_tokens", "many"}},
			{"Stream options can only be defined", []string{"file", sound, "stream_include_usage", "True"}},
			{"response_format", []string{"file", sound, "response_format", "srt"}},
			{"maximum context length", []string{"file", string(wav(21 * time.Second))}},
			{"Maximum file size exceeded", []string{"file", strings.Repeat("a", maxAudio+1)}},
		} {
			if status, text := whole("/v1/audio/transcriptions", tt.pairs...); status != 400 && status != 404 ||
				!strings.Contains(text, tt.words) {
				t.Errorf("%.60q: %d %.300s, want %q", tt.pairs, status, text, tt.words)
			}
		}
		noFile := c.request(context.Background(), "POST", "/v1/audio/transcriptions",
			"--a\r\nContent-Disposition: form-data; name=file\r\n\r\nx\r\n--a--")
		noFile.Header.Set("Content-Type", "multipart/form-data; boundary=a")
		if response, err := c.http.Do(noFile); err != nil || response.StatusCode != 400 {
			t.Errorf("a file without a name: %v, %v", response, err)
		} else {
			response.Body.Close()
		}
		if status, text := c.do("POST", "/v1/audio/transcriptions", `{"file":"a"}`); status != 400 {
			t.Errorf("JSON in place of a form: %d %s", status, text)
		}
	})
}

func TestAudioLength(t *testing.T) {
	odd := wav(time.Second)
	odd = slices.Insert(odd, 12, append([]byte("LIST\x03\x00\x00\x00abc"), 0)...)
	for _, tt := range []struct {
		name string
		file []byte
		want time.Duration // 0 for an error
	}{
		{"wav", wav(1500 * time.Millisecond), 1500 * time.Millisecond},
		{"wav with another chunk of odd size", odd, time.Second},
		{"wav that is cut", wav(2 * time.Second)[:44+16000], time.Second},
		{"wav without a rate", []byte("RIFF....WAVEdata\x02\x00\x00\x00ab"), 0},
		{"wav without samples", wav(0), 0},
		{"flac", flac(16000, 40000), 2500 * time.Millisecond},
		{"flac without a rate", flac(0, 40000), 0},
		{"flac that is cut", []byte("fLaC\x00\x00"), 0},
		{"flac of many years", flac(1, 1<<36-1), longestAudio},
		{"compressed", make([]byte, 32000), 2 * time.Second},
		{"nothing", nil, 0},
	} {
		if got, err := audioLength(tt.file); got != tt.want && err == nil || (err != nil) != (tt.want == 0) {
			t.Errorf("%s: %v, %v, want %v", tt.name, got, err, tt.want)
		}
	}
}

func FuzzAudio(f *testing.F) {
	kind, body := form("file", string(wav(10*time.Millisecond)), "model", "sim-8b", "stream", "true",
		"stream_include_usage", "1")
	f.Add(kind, body)
	kind, body = form("file", string(flac(16000, 1600)), "max_completion_tokens", "2", "model", "")
	f.Add(kind, body)
	f.Add("multipart/form-data; boundary=a",
		"--a\r\nContent-Disposition: form-data; name=file; filename=a\r\n\r\nRIFF....WAVE\r\n--a--")
	f.Add("multipart/form-data", "")
	s := New(quick())
	f.Cleanup(func() { s.Close() })
	f.Fuzz(func(t *testing.T, kind, body string) {
		r := httptest.NewRequest("POST", "/v1/audio/transcriptions", strings.NewReader(body))
		r.Header.Set("Content-Type", kind)
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		checkAnswer(t, "/v1/audio/transcriptions", body, w)
	})
}
