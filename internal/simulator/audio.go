package simulator

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// audioTokens and spokenTokens are the tokens that a second of sound has, as the encoder reads it and as it is written
// down.
const (
	audioTokens  = 50
	spokenTokens = 3
)

// maxAudio is the longest file that is read, in bytes.
const maxAudio = 25 << 20

// audioRequest is the form of a transcription or a translation. As in vLLM, sampling fields without a place in it, such
// as ignore_eos, are ignored.
type audioRequest struct {
	modelName
	file       []byte // nil for none
	format     string
	maxTokens  *int
	stream     bool
	options    streamOptions
	seed       int64
	beamSearch bool

	described []byte // its parts as JSON, with the size of the file in place of its bytes
}

func (s *Server) transcriptions(w http.ResponseWriter, r *http.Request, a *arrival) *apiError {
	return s.listen(w, r, a,
		audioAnswer{chunks: chunks{prefix: "transcribe-", chunk: "transcription.chunk"}, timed: true})
}

func (s *Server) translations(w http.ResponseWriter, r *http.Request, a *arrival) *apiError {
	return s.listen(w, r, a, audioAnswer{chunks: chunks{prefix: "translate-", chunk: "translation.chunk"}})
}

// listen has the engine read the sound, at a cost by its duration, and write it down.
func (s *Server) listen(w http.ResponseWriter, r *http.Request, a *arrival, d audioAnswer) *apiError {
	var request audioRequest
	if err := request.read(w, r); err != nil {
		return err
	}
	if a.received != nil {
		a.received = request.described
	}
	if err := s.checkModel(request.Model); err != nil {
		return err
	}
	length, err := request.check()
	if err != nil {
		return err
	}
	seconds := length.Seconds()
	d.seconds = int(math.Ceil(seconds))
	d.options, d.some = request.options, audioChoice
	p := sampling{modelName: request.modelName, Stream: request.stream, Seed: request.seed,
		natural: int(math.Ceil(seconds * spokenTokens))}
	// so many are refused
	ids := mediaIDs(string(request.file), min(int(math.Ceil(seconds*audioTokens)), s.profile.MaxModelLen))
	return s.respond(w, r, a, ids, request.maxTokens, p, &d)
}

// check returns the duration of the sound.
func (request *audioRequest) check() (time.Duration, *apiError) {
	switch {
	case request.file == nil:
		return 0, badRequest("file", "file is missing")
	case len(request.file) > maxAudio:
		return 0, badRequest("audio_filesize_mb", "Maximum file size exceeded")
	case request.beamSearch:
		return 0, badRequest("use_beam_search", "beam search is not simulated")
	case request.format != "" && request.format != "json" && request.format != "text":
		return 0, badRequest("response_format", "only response_format json and text are simulated, got %q",
			request.format)
	case !request.stream && (request.options.IncludeUsage || request.options.ContinuousUsageStats):
		return 0, badRequest("stream_include_usage", "Stream options can only be defined when `stream=True`.")
	}
	length, err := audioLength(request.file)
	if err != nil {
		return 0, badRequest("file", "Invalid or unsupported audio file: %v", err)
	}
	return length, nil
}

// read reads the form.
func (request *audioRequest) read(w http.ResponseWriter, r *http.Request) *apiError {
	body, problem := readBody(w, r)
	if problem != nil {
		return problem
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	form, err := r.MultipartReader()
	if err != nil {
		return unreadable(err)
	}
	for {
		part, err := form.NextPart()
		if err == io.EOF {
			request.described = append(append([]byte("{"), request.described...), '}')
			return nil
		}
		if err == nil {
			err = request.take(part)
		}
		if err != nil {
			return unreadable(err)
		}
	}
}

// take reads one part of the form. Unknown ones are ignored.
func (request *audioRequest) take(part *multipart.Part) (err error) {
	value, err := io.ReadAll(part)
	if err != nil {
		return err
	}
	name, text := part.FormName(), string(value)
	switch name {
	case "file":
		if part.FileName() == "" {
			err = errors.New("expected a file, got a field without a file name")
		}
		request.file = append([]byte{}, value...)
		text = fmt.Sprintf("%s, %s, %d bytes", part.FileName(), part.Header.Get("Content-Type"), len(value))
	case "model":
		request.Model = text
	case "response_format":
		request.format = text
	case "max_completion_tokens":
		n, wrong := strconv.Atoi(text)
		request.maxTokens, err = &n, wrong
	case "seed":
		request.seed, err = strconv.ParseInt(text, 10, 64)
	case "stream":
		request.stream, err = parseBool(text)
	case "stream_include_usage":
		request.options.IncludeUsage, err = parseBool(text)
	case "stream_continuous_usage_stats":
		request.options.ContinuousUsageStats, err = parseBool(text)
	case "use_beam_search":
		request.beamSearch, err = parseBool(text)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return request.describe(name, text)
}

// describe adds a part to the description. A form may give a name twice.
func (request *audioRequest) describe(name, text string) error {
	for i, v := range []string{name, text} {
		encoded, err := json.Marshal(v)
		if err != nil {
			return err
		}
		if i == 1 {
			request.described = append(request.described, ':')
		} else if len(request.described) > 0 {
			request.described = append(request.described, ',')
		}
		request.described = append(request.described, encoded...)
	}
	return nil
}

// parseBool reads what vLLM's framework takes for a boolean in a form.
func parseBool(text string) (bool, error) {
	switch strings.ToLower(text) {
	case "true", "1", "on", "t", "y", "yes":
		return true, nil
	case "false", "0", "off", "f", "n", "no":
		return false, nil
	}
	return false, errors.New("must be a boolean")
}

// audioAnswer is the dialect of transcriptions: chunks as those of a chat, without a role, and a text as the whole.
type audioAnswer struct {
	chunks
	timed   bool // the whole answer has the duration as its usage
	seconds int  // rounded up
}

func audioChoice(_ *generation, tokens []token) any {
	choice := map[string]any{"delta": map[string]string{"content": textOf(tokens)}}
	if finish := tokens[len(tokens)-1].finish; finish != nil {
		choice["finish_reason"], choice["stop_reason"] = finish, nil
	}
	return choice
}

func (d *audioAnswer) whole(_ *generation, tokens []token) any {
	type duration struct {
		Type    string `json:"type"`
		Seconds int    `json:"seconds"`
	}
	whole := struct {
		Text  string    `json:"text"`
		Usage *duration `json:"usage,omitempty"`
	}{Text: textOf(tokens)}
	if d.timed {
		whole.Usage = &duration{"duration", d.seconds}
	}
	return whole
}
