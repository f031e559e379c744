package media

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
)

// Another picture is as large, and each is another; what is no picture is left out.
func TestAnother(t *testing.T) {
	draws := rand.New(rand.NewPCG(1, 1))
	small := URLPart("image", noise(image.Pt(12, 7), draws))
	for _, c := range []struct {
		name  string
		parts string
		want  []string // sizes
	}{
		{"none", "", nil},
		{"inside", string(small), []string{"12x7"}},
		{"several", string(AppendPart(slices.Clone(small), URLPart("image", "http://x/y.png"))),
			[]string{"12x7", "256x256"}},
		{"no picture inside", string(URLPart("image", "data:image/jpeg;base64,AAAA")), []string{"256x256"}},
		{"too wide for a JPEG", string(URLPart("image", wide())), []string{"256x256"}},
		{"a video", string(URLPart("video", "file:///x.mp4")), nil},
		{"broken", `{"type"`, nil},
	} {
		got := Another(json.RawMessage(c.parts), draws)
		if c.want == nil {
			if got != nil {
				t.Errorf("%s: got %s", c.name, got)
			}
			continue
		}
		if strings.Contains(c.parts, string(got)) || string(got) == string(Another(json.RawMessage(c.parts), draws)) {
			t.Errorf("%s: the same again", c.name)
		}
		all := sentParts(t, got)
		assert.Need(t, len(all), len(c.want), "%s: %s", c.name, got)
		for i, part := range all {
			_, data, _ := strings.Cut(part.Image.URL, "data:image/jpeg;base64,")
			config, _, err := image.DecodeConfig(base64.NewDecoder(base64.StdEncoding, strings.NewReader(data)))
			if size := fmt.Sprintf("%dx%d", config.Width, config.Height); err != nil || part.Type != "image_url" ||
				size != c.want[i] {
				t.Errorf("%s: part %d of type %s is %s, %v; want %s", c.name, i, part.Type, size, err, c.want[i])
			}
		}
	}
}

// wide is the address of a PNG picture with more columns than a JPEG can have.
func wide() string {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 70000, 1))); err != nil {
		panic(err)
	}
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes())
}

func TestAnotherRecording(t *testing.T) {
	draws := rand.New(rand.NewPCG(1, 1))
	for name, c := range map[string]struct {
		part string
		want time.Duration
	}{
		"3 s":          {string(Silence(3 * time.Second).Part()), 3 * time.Second},
		"short":        {string(Silence(time.Millisecond).Part()), 100 * time.Millisecond},
		"no recording": {`{"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}}`, time.Second},
	} {
		got := sentParts(t, Another(json.RawMessage(c.part), draws))[0]
		if got.Type != "input_audio" || got.Audio.Format != "wav" {
			t.Fatalf("%s: %+v", name, got)
		}
		a, err := ReadAudio("a.wav", unbase64(t, got.Audio.Data))
		if err != nil || a.Duration > c.want || a.Duration < c.want*9/10 {
			t.Errorf("%s: %v, %v", name, a, err)
		}
	}
}

func TestPartsOfMessages(t *testing.T) {
	for messages, want := range map[string]string{
		`[]`:                               "",
		`[{"role":"user","content":"x"}]`:  "",
		`[{"role":"user"},{"content":[]}]`: "",
		`[{"content":[{"a":1}, {"b":2}]},{"content":"x"},{"content":[{"c":3}]}]`: `{"a":1},{"b":2},{"c":3}`,
	} {
		if got := Parts(json.RawMessage(messages)); string(got) != want {
			t.Errorf("%s: got %s, want %s", messages, got, want)
		}
	}
}
