package media

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/hf/numpy"
)

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestReadBounded(t *testing.T) {
	if _, err := readBounded(endless{}, 1<<20); err == nil || err.Error() != "it is larger than 1 MiB" {
		t.Errorf("got error %v", err)
	}
	assert.Equal(t, string(assert.Must(readBounded(strings.NewReader("1234"), 4))(t)), "1234", "readBounded")
}

func TestLoadAndPNG(t *testing.T) {
	red := image.NewNRGBA(image.Rect(0, 0, 3, 2))
	for i := range 6 {
		red.Set(i%3, i/3, color.NRGBA{255, 0, 0, 255})
	}
	var asGIF, asJPEG bytes.Buffer
	if gif.Encode(&asGIF, red, nil) != nil || jpeg.Encode(&asJPEG, red, nil) != nil {
		t.Fatal("the test's own images")
	}
	dir := t.TempDir()
	for name, data := range map[string]string{
		"a b.gif": asGIF.String(), "a.webp": "RIFF\x00\x00\x00\x00WEBPVP8 rest", "a.txt": "hello",
		"huge.gif": asGIF.String()[:6] + "\xff\xff\xff\xff" + asGIF.String()[10:],
	} {
		assert.Fine(t, os.WriteFile(filepath.Join(dir, name), []byte(data), 0o644))
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/a.jpg" {
			http.NotFound(w, r)
		}
		_, _ = w.Write(asJPEG.Bytes())
	}))
	defer server.Close()
	for source, want := range map[string]string{
		dir + "/a b.gif": "", "file://" + dir + "/a%20b.gif": "", server.URL + "/a.jpg": "",
		dir: "this is not a file", dir + "/none": "no such file",
		dir + "/a.webp":      "the WebP file cannot be read",
		dir + "/a.txt":       "not a JPEG, PNG, GIF, WebP, BMP or TIFF but text/plain",
		dir + "/huge.gif":    "65535 × 65535 pixels",
		server.URL + "/none": "the server answered 404", "http://[": "missing ']' in host",
		"http://127.0.0.1:1/x": "dial tcp",
	} {
		address := ""
		data, err := Load(t.Context(), server.Client(), source)
		if err == nil {
			address, err = PNG(data)
		}
		switch {
		case want == "" && (err != nil || !strings.HasPrefix(address, "data:image/png;base64,")):
			t.Errorf("%s: %.40q, %v", source, address, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: error %v, want %q", source, err, want)
		}
	}
}

func TestParts(t *testing.T) {
	for value, want := range map[string]string{
		`"a<b"`:                        `{"type":"image_url","image_url":{"url":"file://a<b"}}`,
		`"data:image/png;base64,QUJD"`: `{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}}`,
	} {
		assert.Equal(t, string(assert.Must(Image([]byte(value)))(t)), want, "%s", value)
	}
	if got, err := Video([]byte(`"http://h/v.mp4"`)); string(got) !=
		`{"type":"video_url","video_url":{"url":"http://h/v.mp4"}}` || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := Image(nil); err == nil || err.Error() != `expected "image" to be a URL or a path: got nothing` {
		t.Errorf("got %v", err)
	}
	if got := AppendPart(AppendPart(nil, []byte("a")), []byte("b")); string(got) != "a,b" {
		t.Errorf("got %s", got)
	}
}

// A modality that has reached its limit is not drawn again, and requests that cannot be are refused.
func TestDraws(t *testing.T) {
	buckets := Buckets{{8, 8, 1, 1}, {4, 4, 1, 0}, {2, 2, 3, 3}}
	d, err := NewDraws(4, 0, Limits{"image": 4, "video": 1}, buckets)
	if err != nil || d.Lo != 4 || d.Hi != 4 || len(d.Buckets) != 2 || d.Buckets[1].Weight != 0.75 {
		t.Fatalf("%+v, %v", d, err)
	}
	count := map[string]int{}
	var e Encoder
	defer e.Close()
	gen := numpy.NewGenerator(1)
	d.Request(gen, func(b Bucket) {
		count[b.Modality()]++
		if b.Modality() == videoModality {
			return
		}
		if part, err := e.Begin(b, gen.Fill).Part(); err != nil ||
			!strings.HasPrefix(string(part), `{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,`) {
			t.Errorf("%.80s, %v", part, err)
		}
	})
	if count["image"] != 3 || count["video"] != 1 {
		t.Errorf("drawn: %v", count)
	}
	if _, err := NewDraws(4, 0, Limits{"image": 1, "video": 1}, buckets); err == nil ||
		!strings.Contains(err.Error(), "the limits allow only 2") {
		t.Errorf("got %v", err)
	}
}
