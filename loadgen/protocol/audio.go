package protocol

import (
	"crypto/rand"
	"fmt"
	"strings"

	"github.com/valyala/fastjson"

	"benchtop/datasets"
)

// Audio is OpenAI's protocol of transcriptions and translations. A request is a form with a file, an answer a stream of
// chat chunks. As with vLLM, every event with a choice is a chunk, that of the role and that of the finish reason
// included.
type Audio struct{}

// boundary is between the parts of a form. It is drawn once, so that no audio file can contain it but by chance.
var boundary = "benchtop-" + rand.Text()

// Traits are those of audio.
func (Audio) Traits() Traits {
	return Traits{Name: "openai-audio", Path: "/v1/audio/transcriptions",
		Suffixes:    []string{"transcriptions", "translations"},
		ContentType: "multipart/form-data; boundary=" + boundary,
		Streams:     true, Chunk: "an event with a choice", Ending: ending, Member: "text",
		LengthField: maxCompletionTokens,
		Forms:       datasets.AsAudio, Only: "recordings", DataSet: "custom_audio",
		RunningUsage: Field{"stream_continuous_usage_stats", "true"}}
}

// Body appends a form: the file, and then each field as Python writes it as text.
func (p Audio) Body(dst []byte, a Ask) ([]byte, error) {
	fields, err := a.complete(p.Traits(), []bodyField{a.model(), a.limit(maxCompletionTokens),
		{name: "stream", json: "true"}, {name: "language", json: `"en"`},
		{name: "stream_include_usage", json: "true"}, {name: "stream_continuous_usage_stats", json: "true"}})
	if err != nil {
		return dst, err
	}
	file := a.Turn.Audio
	dst = fmt.Appendf(dst, "--%s\r\nContent-Type: %s\r\nContent-Disposition: form-data; name=\"file\"; "+
		"filename=\"%s\"\r\n\r\n", boundary, file.Type, escaped(file.Name))
	dst = append(dst, file.Data...)
	for _, f := range fields {
		dst = fmt.Appendf(dst, "\r\n--%s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Disposition: "+
			"form-data; name=\"%s\"\r\n\r\n%s",
			boundary, escaped(f.name), pythonText(f.json))
	}
	return fmt.Appendf(dst, "\r\n--%s--\r\n", boundary), nil
}

// escaped is a name with all but letters, digits and -._~ as %XX, as aiohttp writes it.
func escaped(name string) string {
	var b strings.Builder
	for _, c := range []byte(name) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// pythonText is a JSON value as Python's str writes it. Objects and lists stay JSON.
func pythonText(value string) string {
	switch value {
	case "true":
		return "True"
	case "false":
		return "False"
	case "null":
		return "None"
	}
	if v, err := fastjson.Parse(value); err == nil && v.Type() == fastjson.TypeString {
		return string(v.GetStringBytes())
	}
	return value
}

// Event reads an event of a stream.
func (Audio) Event(r *Reader, data []byte) (m Message, err error) {
	if string(data) == done {
		return Message{End: true}, nil
	}
	choice, err := r.choice(&m, data)
	m.Usage.Input = -1 // a count of the model's own frames
	if choice == nil {
		return m, err
	}
	delta := choice.Get("delta")
	if delta == nil || delta.Type() != fastjson.TypeObject {
		return m, fmt.Errorf("a choice without delta: %s", Excerpt(data))
	}
	if m.Answer, err = textOf(delta.Get("content")); err != nil {
		return m, excerpted(err, data)
	}
	m.Counts, m.Output = true, len(m.Answer) > 0
	m.count(choice.GetArray("logprobs", "content"))
	return m, nil
}

// Whole reads an answer that is not a stream.
func (Audio) Whole(r *Reader, body []byte) (m Message, err error) {
	v, err := r.object(&m, body)
	if v == nil {
		return m, err
	}
	text := v.Get("text")
	if m.Answer, err = textOf(text); err != nil {
		return m, excerpted(err, body)
	}
	m.Usage.Input = -1
	m.Counts, m.Output = text != nil, len(m.Answer) > 0
	return m, nil
}
