package media

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
)

func TestAudioType(t *testing.T) {
	for name, want := range map[string]string{
		"half.wav": "audio/x-wav", "HALF.WAV": "audio/x-wav", "a.b.mp3": "audio/mpeg", "x.opus": "audio/opus",
		"x.flac": "audio/flac", "x.oga": "audio/ogg", "x.m4a": "audio/mp4", "x.xyz": "application/octet-stream",
		"wav": "application/octet-stream",
	} {
		assert.Equal(t, AudioType(name), want, "AudioType(%q)", name)
	}
}

// soundfile holds recordings as the library of vLLM's client measures and writes them.
type soundfile struct {
	Files []struct {
		File     string
		Duration float64
		WAV      []byte
	}
	Arrays []struct {
		Array json.RawMessage
		Rate  uint32 `json:"sampling_rate"`
		WAV   []byte
	}
}

func readSoundfile(t testing.TB) soundfile {
	return assert.Golden[soundfile](t, "testdata/soundfile.json")[0]
}

// Each recording lasts as long as for vLLM's client, and WAV is sent with the same bytes.
func TestAudioIsThatOfVLLM(t *testing.T) {
	for _, f := range readSoundfile(t).Files {
		path := filepath.Join("testdata", f.File)
		a, err := LoadAudio(path)
		if err != nil {
			t.Errorf("%s: %v", f.File, err)
			continue
		}
		if off := a.Duration.Seconds() - f.Duration; off > 1e-9 || off < -1e-9 {
			t.Errorf("%s: lasts %v, want %v s", f.File, a.Duration, f.Duration)
		}
		want, name, kind := f.WAV, "audio.wav", "audio/wav"
		if want == nil {
			name, kind = f.File, AudioType(f.File)
			if want, err = os.ReadFile(path); err != nil {
				t.Fatal(err)
			}
		}
		if a.Name != name || a.Type != kind || !bytes.Equal(a.Data, want) {
			t.Errorf("%s: sent as %q of type %q; bytes the same: %v", f.File, a.Name, a.Type, bytes.Equal(a.Data, want))
		}
	}
}

func TestPCMIsThatOfVLLM(t *testing.T) {
	for i, c := range readSoundfile(t).Arrays {
		var samples []float64
		channels := 1
		if json.Unmarshal(c.Array, &samples) != nil {
			var frames [][]float64
			assert.Fine(t, json.Unmarshal(c.Array, &frames))
			samples, channels = nil, len(frames[0])
			for _, frame := range frames {
				samples = append(samples, frame...)
			}
		}
		a, err := PCM(samples, channels, c.Rate)
		if err != nil || !bytes.Equal(a.Data, c.WAV) {
			t.Errorf("array %d: error %v, got %x, want %x", i, err, a.Data, c.WAV)
		}
	}
}

func mp4(moov ...byte) []byte {
	b := append([]byte("\x00\x00\x00\x10ftypM4A \x00\x00\x00\x00"), 0, 0, 0, 1, 'm', 'd', 'a', 't', 0, 0, 0, 0, 0, 0, 0,
		20, 1, 2, 3, 4)
	b = binary.BigEndian.AppendUint32(b, uint32(16+len(moov)))
	b = append(b, "moov"...)
	b = binary.BigEndian.AppendUint32(b, uint32(8+len(moov)))
	return append(append(b, "mvhd"...), moov...)
}

func TestMP4Length(t *testing.T) {
	// 2500 of 1000
	short := mp4(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 0, 0, 3, 0xe8, 0, 0, 0x09, 0xc4)
	// 48000 of 48000
	long := mp4(1, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 0, 0, 0xbb, 0x80, 0, 0, 0, 0, 0, 0, 0xbb,
		0x80)
	for want, data := range map[time.Duration][]byte{2500 * time.Millisecond: short, time.Second: long} {
		a, err := ReadAudio("a.m4a", data)
		if err != nil || a.Duration != want || a.Type != "audio/mp4" || a.Format() != "m4a" {
			t.Errorf("got %+v, %v; want %v", a, err, want)
		}
	}
}

// tagged is a recording behind an ID3 tag with a footer.
func tagged(data []byte) []byte {
	return append(append([]byte("ID3\x04\x00\x10\x00\x00\x00\x03abc"), make([]byte, 10)...), data...)
}

// Tags before and behind a recording, damage in it and a missing end change nothing else.
func TestAudioThatIsNotClean(t *testing.T) {
	file := func(name string) []byte { return assert.File(t, filepath.Join("testdata", name)) }
	cbr, flac, pcm, ogg := file("cbr.mp3"), file("a.flac"), file("pcm_16.wav"), file("vorbis.ogg")
	const frame = 36 * time.Millisecond
	unsized := bytes.Clone(pcm)
	copy(unsized[40:], "\xff\xff\xff\xff")
	for _, c := range []struct {
		name string
		data []byte
		want time.Duration
	}{
		{"tag before MP3", tagged(cbr), 22 * frame},
		{"tag before FLAC", tagged(flac), 50125 * time.Microsecond},
		{"tag behind MP3", append(bytes.Clone(cbr), "TAG"+strings.Repeat("\xff", 125)...), 22 * frame},
		{"MP3 cut off", cbr[:len(cbr)-10], 21 * frame},
		{"a damaged frame", append(append(bytes.Clone(cbr[:72]), make([]byte, 36)...), cbr[108:]...), 21 * frame},
		{"WAV cut off", pcm[:44+321], 20 * time.Millisecond},
		{"WAV of a stream", unsized, 50125 * time.Microsecond},
		{"Ogg without its end", ogg[:len(ogg)-40], 500 * time.Millisecond},
		{"Ogg twice", append(bytes.Clone(ogg), ogg...), time.Second},
	} {
		assert.Equal(t, assert.Must(ReadAudio("a", c.data))(t).Duration, c.want, "%s", c.name)
	}
}

func TestAudioThatIsRefused(t *testing.T) {
	wavOf := func(format, channels, rate, block, bits int, rest string) []byte {
		le := binary.LittleEndian
		b := le.AppendUint16(le.AppendUint16([]byte("RIFF....WAVEfmt \x10\x00\x00\x00"), uint16(format)),
			uint16(channels))
		b = le.AppendUint16(le.AppendUint16(append(le.AppendUint32(b, uint32(rate)), 0, 0, 0, 0), uint16(block)),
			uint16(bits))
		return append(b, rest...)
	}
	sound := "data\x02\x00\x00\x00\x01\x02"
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "this is an empty file; convert it to WAV"},
		{"text", []byte(strings.Repeat("no sound ", 100)),
			"this is no recording of a known format; convert it to WAV, FLAC, MP3, Ogg or M4A, as ffmpeg -i FILE"},
		{"AIFF", []byte("FORM\x00\x00\x00\x40AIFF"), "this is AIFF, which is not supported; convert it"},
		{"WebM", []byte("\x1aE\xdf\xa3\x01"), "this is WebM or Matroska"},
		{"ADPCM", wavOf(0x11, 1, 8000, 256, 4, sound),
			"the WAV file has samples of format 17 with 4 bits, which are not supported; convert it with ffmpeg"},
		{"no format", []byte("RIFF....WAVE" + sound), "the WAV file gives no format before its samples"},
		{"no samples", wavOf(1, 1, 8000, 2, 16, ""), "the WAV file has no samples"},
		{"nothing in it", wavOf(1, 1, 8000, 2, 16, "data\x00\x00\x00\x00"), "the WAV file has no sound in it"},
		{"no rate", wavOf(1, 1, 0, 2, 16, sound), "the WAV file has a sampling rate of 0"},
		{"no channels", wavOf(1, 0, 8000, 2, 16, sound), "the WAV file has 0 channels"},
		{"odd channels", wavOf(1, 3, 8000, 4, 16, sound), "the WAV file has 3 channels in 4 bytes"},
		{"other RIFF", []byte("RIFF....AVI LIST"), "the WAV file is cut off, or holds something else"},
		{"not a number", wavOf(3, 1, 8000, 4, 32, "data\x04\x00\x00\x00\x00\x00\xc0\x7f"),
			"the WAV file holds a sample that is not a number (sample 1)"},
		{"FLAC", []byte("fLaC\x00"), "the FLAC file is cut off"},
		{"FLAC for years", append([]byte("fLaC\x00\x00\x00\x22..........\x00\x00\x1f\xff\xff\xff\xff\xff"),
			make([]byte, 40)...), "the FLAC file claims to last"},
		{"video in Ogg", []byte("OggS\x00\x02........ser.seq.crc.\x01\x07\x80theora"),
			"the Ogg file holds neither Vorbis nor Opus nor FLAC"},
		{"MP4 in pieces", mp4(make([]byte, 20)...), "the MP4 file has a sampling rate of 0"},
		{"MP4 without a header", []byte("\x00\x00\x00\x10ftypM4A \x00\x00\x00\x00"),
			"the MP4 file has no header with its length"},
	} {
		a, err := ReadAudio("a", c.data)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: got %v, error %v; want %q", c.name, a, err, c.want)
		}
	}
	for name, want := range map[string]string{"testdata": "this is not a file",
		"none.wav": "stat none.wav: no such file"} {
		if _, err := LoadAudio(name); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", name, err, want)
		}
	}
}

// FuzzAudio makes sure that any file is a recording of a length that can be, or is refused.
func FuzzAudio(f *testing.F) {
	paths, err := filepath.Glob("testdata/*.*")
	if err != nil || len(paths) < 15 {
		f.Fatal(paths, err)
	}
	for _, path := range paths {
		data := assert.Must(os.ReadFile(path))(f)
		if !strings.HasSuffix(path, ".json") {
			f.Add(data)
		}
	}
	f.Add(mp4(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 0, 0, 3, 0xe8, 0, 0, 0x09, 0xc4))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := ReadAudio("a.wav", data)
		if err != nil {
			return
		}
		if a.Duration <= 0 || a.Duration > maxAudio || len(a.Data) > 2*len(data) && len(a.Data) > 44+2*len(data) {
			t.Errorf("got %d bytes of %v from %d", len(a.Data), a.Duration, len(data))
		}
		if a.Type == wavType {
			again := assert.Must(ReadAudio("again.wav", a.Data))(t)
			assert.Equal(t, again.Duration, a.Duration, "written and read again")
		}
	})
}
