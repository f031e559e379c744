package media

import "testing"

func TestAudioType(t *testing.T) {
	for name, want := range map[string]string{
		"half.wav": "audio/x-wav", "HALF.WAV": "audio/x-wav", "a.b.mp3": "audio/mpeg", "x.opus": "audio/opus",
		"x.flac": "audio/flac", "x.oga": "audio/ogg", "x.m4a": "audio/mp4", "x.xyz": "application/octet-stream", "wav": "application/octet-stream",
	} {
		if got := AudioType(name); got != want {
			t.Errorf("AudioType(%q) = %q, want %q", name, got, want)
		}
	}
}
