package datasets

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"benchtop/internal/jsonscan"
)

// picture is 3 × 2 pixels of one colour, encoded.
func picture(t *testing.T, kind string, c color.Color) string {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, 3, 2))
	for i := range 6 {
		img.Set(i%3, i/3, c)
	}
	var b bytes.Buffer
	var err error
	switch kind {
	case "png":
		err = png.Encode(&b, img)
	case "jpeg":
		err = jpeg.Encode(&b, img, nil)
	case "gif":
		err = gif.Encode(&b, img, nil)
	}
	fine(t, err)
	return b.String()
}

func clientSide(o *customImage) { o.ClientSideData = true }

// shown is the colour of a data URL's first pixel; it must be a PNG without transparency.
func shown(t *testing.T, address string) color.Color {
	t.Helper()
	data, ok := strings.CutPrefix(address, "data:image/png;base64,")
	raw, err := base64.StdEncoding.DecodeString(data)
	if !ok || err != nil {
		t.Fatalf("got address %q", address)
	}
	img := must(png.Decode(bytes.NewReader(raw)))(t)
	same(t, "size", img.Bounds().Size(), image.Pt(3, 2))
	if !img.(*image.RGBA).Opaque() {
		t.Error("the image is transparent in part")
	}
	return img.At(0, 0)
}

func TestImagesAreSentAsData(t *testing.T) {
	dir := t.TempDir()
	red := color.NRGBA{255, 0, 0, 255}
	write(t, filepath.Join(dir, "a b.png"), picture(t, "png", red))
	write(t, filepath.Join(dir, "b.gif"), picture(t, "gif", red))
	write(t, filepath.Join(dir, "c.png"), picture(t, "png", color.NRGBA{255, 0, 0, 0}))
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = w.Write([]byte(picture(t, "jpeg", color.White)))
	}))
	defer server.Close()
	white := color.RGBA{255, 255, 255, 255}
	tests := []struct {
		source string
		want   color.Color
	}{
		{filepath.Join(dir, "a b.png"), color.RGBA{255, 0, 0, 255}},
		{"file://" + dir + "/a%20b.png", color.RGBA{255, 0, 0, 255}},
		{filepath.Join(dir, "b.gif"), color.RGBA{255, 0, 0, 255}},
		{filepath.Join(dir, "c.png"), white},
		{server.URL + "/d.jpg", white},
		{server.URL + "/d.jpg", white},
	}
	var names []string
	for _, test := range tests {
		names = append(names, string(jsonscan.Quote(test.source)))
	}
	names = append(names, `"data:image/png;base64,QUJD"`)
	got := must(imagesIn(t, clientSide, `{"prompt": "x", "image_files": [`+strings.Join(names, ",")+`]}`))(t)
	var addresses []string
	for part := range jsonscan.Elements([]byte("[" + string(got[0].Turns[0].Media) + "]")) {
		addresses = append(addresses, jsonscan.Text(jsonscan.Fields(jsonscan.Fields(part, "image_url")[0], "url")[0]))
	}
	same(t, "parts", len(addresses), len(tests)+1)
	for i, test := range tests {
		same(t, test.source, shown(t, addresses[i]), test.want)
	}
	same(t, "data", addresses[len(tests)], "data:image/png;base64,QUJD")
	same(t, "requests", asked.Load(), int64(1))
}

func TestImagesThatCannotBeSentAsData(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.webp"), "RIFF\x00\x00\x00\x00WEBPVP8 rest")
	write(t, filepath.Join(dir, "a.txt"), "hello")
	write(t, filepath.Join(dir, "cut.png"), picture(t, "png", color.White)[:40])
	huge := []byte(picture(t, "gif", color.White))
	copy(huge[6:], "\xff\xff\xff\xff") // width and height
	write(t, filepath.Join(dir, "huge.gif"), string(huge))
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	tests := []struct{ source, want string }{
		{dir + "/none.png", "cannot be loaded: file does not exist"},
		{dir, "cannot be loaded: this is not a file"},
		{dir + "/a.webp", "the WebP file cannot be read"},
		{dir + "/a.txt", "this is not a JPEG, PNG, GIF, WebP, BMP or TIFF but text/plain"},
		{dir + "/cut.png", "unexpected EOF"},
		{dir + "/huge.gif", "the GIF file has 65535 × 65535 pixels, more than 67 million"},
		{server.URL + "/none", "cannot be loaded: the server answered 404 Not Found"},
		{"http://127.0.0.1:1/x", "cannot be loaded: dial tcp"},
		{"http://[", "cannot be loaded: missing ']' in host"},
		{strings.Repeat("x", 200), "image " + strings.Repeat("x", 120) + "… cannot be loaded"},
		{"a\x1b[31mb", "image a\ufffd[31mb cannot be loaded"},
	}
	for _, test := range tests {
		complains(t, failure(imagesIn(t, clientSide, "",
			`{"content": [{"type": "image", "image": `+string(jsonscan.Quote(test.source))+`}]}`)),
			"dataset custom_image: ", "f.jsonl, line 2: image ", test.want)
	}
}
