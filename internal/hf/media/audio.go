package media

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"benchtop/internal/jsonscan"
)

// Audio is a recording that a request carries as a file. It is shared between requests and must not be changed.
type Audio struct {
	Name     string // of the file, without its folders
	Type     string // MIME type
	Data     []byte // the whole file
	Duration time.Duration
}

// Bounds on a recording, far above what servers take.
const (
	maxAudioBytes = 256 << 20 // of its file
	maxAudio      = 24 * time.Hour
)

// audioTypes are the MIME types of extensions as Python's mimetypes gives them, with the entries of Debian's mime.types
// for those that Python's own table lacks.
var audioTypes = map[string]string{
	".wav":  "audio/x-wav",
	".flac": "audio/flac",
	".mp3":  "audio/mpeg",
	".mpga": "audio/mpeg",
	".ogg":  "audio/ogg",
	".oga":  "audio/ogg",
	".opus": "audio/opus",
	".m4a":  "audio/mp4",
	".mp4":  "video/mp4",
}

// AudioType is the MIME type of a file with that name, as vLLM's client sends it.
func AudioType(name string) string {
	if t, known := audioTypes[strings.ToLower(filepath.Ext(name))]; known {
		return t
	}
	return "application/octet-stream"
}

// Format is the format of the recording as chat messages name it.
func (a *Audio) Format() string {
	if a.Type == wavType {
		return "wav"
	}
	return strings.ToLower(strings.TrimPrefix(filepath.Ext(a.Name), "."))
}

// Part is the recording as a content part of the chat API.
func (a *Audio) Part() json.RawMessage {
	return fmt.Appendf(nil, `{"type":"input_audio","input_audio":{"data":"%s","format":%s}}`,
		base64.StdEncoding.EncodeToString(a.Data), jsonscan.Quote(a.Format()))
}

// LoadAudio reads the recording in a file. Uncompressed WAV becomes WAV of 16 bits, as vLLM's client sends it; other
// recordings stay as they are. The error does not name the file.
func LoadAudio(path string) (*Audio, error) {
	data, err := load(path, maxAudioBytes)
	if err != nil {
		return nil, err
	}
	return ReadAudio(filepath.Base(path), data)
}

// LoadAudioFile reads the recording in a file, and leaves it as it is.
func LoadAudioFile(path string) (*Audio, error) {
	data, err := load(path, maxAudioBytes)
	if err != nil {
		return nil, err
	}
	name := filepath.Base(path)
	a, err := ReadAudio(name, data)
	if err == nil {
		a = &Audio{name, AudioType(name), data, a.Duration}
	}
	return a, err
}

// ReadAudio is LoadAudio for the content of a file of that name; "" for a name by its format.
func ReadAudio(name string, data []byte) (*Audio, error) {
	if bytes.HasPrefix(data, []byte("RIFF")) {
		w, err := parseWAV(data)
		if err != nil {
			return nil, fmt.Errorf("the WAV file %w", err)
		}
		return w.audio()
	}
	length, extension, err := recordingLength(data)
	if err != nil {
		return nil, err
	}
	name = cmp.Or(name, "audio"+extension)
	return &Audio{name, AudioType(name), data, length}, nil
}

// recordingLength is the duration of a compressed recording, by its header, and the extension of such files.
func recordingLength(data []byte) (length time.Duration, extension string, err error) {
	bare := withoutID3(data)
	for _, f := range []struct {
		name      string
		extension string
		is        bool
		length    func([]byte) (time.Duration, error)
	}{
		{"FLAC", ".flac", bytes.HasPrefix(bare, []byte("fLaC")), flacLength},
		{"Ogg", ".ogg", bytes.HasPrefix(bare, []byte("OggS")), oggLength},
		{"MP4", ".m4a", len(bare) > 8 && string(bare[4:8]) == "ftyp", mp4Length},
		{"MP3", ".mp3", mp3Start(bare) >= 0, mp3Length},
	} {
		if f.is {
			length, err := f.length(bare)
			return length, f.extension, within(f.name, err)
		}
	}
	return 0, "",
		fmt.Errorf("this is %s; convert it to WAV, FLAC, MP3, Ogg or M4A, as ffmpeg -i FILE -ar 16000 -ac 1 FILE.wav "+
			"does", foreign(data))
}

func within(format string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("the %s file %w", format, err)
}

// foreign names the format of a file that cannot be measured here.
func foreign(data []byte) string {
	for _, f := range []struct{ start, name string }{
		{"FORM", "AIFF"}, {".snd", "AU"}, {"caff", "CAF"}, {"#!AMR", "AMR"}, {"\x1aE\xdf\xa3", "WebM or Matroska"},
		{"0&\xb2u", "WMA"},
		{"RIFX", "big-endian WAV"}, {"RF64", "RF64, a WAV of more than 4 GiB"},
		{"BW64", "BW64, a WAV of more than 4 GiB"}, {"wvpk", "WavPack"},
		{"\xff\xf1", "AAC"}, {"\xff\xf9", "AAC"},
	} {
		if bytes.HasPrefix(data, []byte(f.start)) {
			return f.name + ", which is not supported"
		}
	}
	if len(data) == 0 {
		return "an empty file"
	}
	return "no recording of a known format"
}

// lengthOf is the duration of so many samples of each channel at a rate per second.
func lengthOf(samples, rate uint64) (time.Duration, error) {
	switch {
	case rate == 0:
		return 0, errors.New("has a sampling rate of 0")
	case samples/rate >= uint64(maxAudio/time.Second):
		return 0, fmt.Errorf("claims to last %d hours; recordings are at most %d hours long", samples/rate/3600,
			maxAudio/time.Hour)
	}
	length := time.Duration(samples/rate)*time.Second + time.Duration(samples%rate*uint64(time.Second)/rate)
	if length == 0 {
		return 0, errors.New("has no sound in it, or does not give its length")
	}
	return length, nil
}

// load reads a file of a bounded size. Opening a pipe waits for a program that writes to it.
func load(path string, limit int64) ([]byte, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, errors.New("this is not a file")
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readBounded(file, limit)
}
