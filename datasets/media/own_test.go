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
)

// Another picture is as large, and each is another; what is no picture is left out.
func TestAnother(t *testing.T) {
	draws := rand.New(rand.NewPCG(1, 1))
	small := URLPart("image", noise(12, 7, draws))
	for _, c := range []struct {
		name  string
		parts string
		want  []string // sizes
	}{
		{"none", "", nil},
		{"inside", string(small), []string{"12x7"}},
		{"several", string(AppendPart(slices.Clone(small), URLPart("image", "http://x/y.png"))), []string{"12x7", "256x256"}},
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
		var all []struct {
			Type  string
			Image struct{ URL string } `json:"image_url"`
		}
		if err := json.Unmarshal([]byte("["+string(got)+"]"), &all); err != nil || len(all) != len(c.want) {
			t.Fatalf("%s: %s, %v", c.name, got, err)
		}
		for i, part := range all {
			_, data, _ := strings.Cut(part.Image.URL, "data:image/jpeg;base64,")
			config, _, err := image.DecodeConfig(base64.NewDecoder(base64.StdEncoding, strings.NewReader(data)))
			if size := fmt.Sprintf("%dx%d", config.Width, config.Height); err != nil || part.Type != "image_url" || size != c.want[i] {
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
