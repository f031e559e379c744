package media

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"slices"
	"strings"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"

	"benchtop/internal/assert"
)

// WebP pictures of 3 by 2 pixels: red without loss, red with loss, and red that is transparent throughout.
const (
	webpLossless = "UklGRhwAAABXRUJQVlA4TA8AAAAvAUAAAAcQ9Y/+ByKi/wEA"
	webpLossy    = "UklGRjwAAABXRUJQVlA4IDAAAADQAQCdASoCAAIAAgA0JaACdLoB+AADsAD+8Oj3/yC5YXXI1/8gP+QH/ID/+PIAAAA="
	webpClear    = "UklGRl4AAABXRUJQVlA4WAoAAAAQAAAAAgAAAQAAQUxQSAcAAAAAAAAAAAAAAFZQOCAwAAAA0AEAnQEqAwACAAIANCWgAn" +
		"S6AfgAA7AA/vDEC/8guWF1yNf/ID/kB/yA//jyAAAA"
)

func unbase64(t testing.TB, s string) []byte {
	t.Helper()
	b := assert.Must(base64.StdEncoding.DecodeString(s))(t)
	return b
}

// plain is 16 by 16 pixels of one colour, so that a JPEG of it has that colour.
func plain(c color.Color) image.Image {
	p := image.NewNRGBA(image.Rect(0, 0, 16, 16))
	for i := range 256 {
		p.Set(i%16, i/16, c)
	}
	return p
}

// sent are the parts of chat messages that a test made, and unpack one's file.
type sent struct {
	Type  string
	Image struct{ URL string }          `json:"image_url"`
	Video struct{ URL string }          `json:"video_url"`
	Audio struct{ Data, Format string } `json:"input_audio"`
}

func sentParts(t testing.TB, parts json.RawMessage) (all []sent) {
	t.Helper()
	if err := json.Unmarshal(slices.Concat([]byte("["), parts, []byte("]")), &all); err != nil {
		t.Fatalf("%.80s: %v", parts, err)
	}
	return all
}

// sentJPEG is the picture in a part.
func sentJPEG(t testing.TB, part json.RawMessage) image.Image {
	t.Helper()
	s := sentParts(t, part)[0]
	text, ok := strings.CutPrefix(s.Image.URL, "data:image/jpeg;base64,")
	picture, err := jpeg.Decode(bytes.NewReader(unbase64(t, text)))
	if !ok || err != nil || s.Type != "image_url" {
		t.Fatalf("%.80s, %v", part, err)
	}
	return picture
}

func encoded(t testing.TB, encode func(*bytes.Buffer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	assert.Fine(t, encode(&b))
	return b.Bytes()
}

// pictures are files of pictures by names that begin with their colour.
func pictures(t testing.TB) map[string][]byte {
	red, clear := plain(color.NRGBA{255, 0, 0, 255}), plain(color.NRGBA{255, 0, 0, 0})
	half := image.NewPaletted(image.Rect(0, 0, 16, 16),
		color.Palette{color.NRGBA{0, 0, 0, 0}, color.NRGBA{255, 0, 0, 255}})
	two := &gif.GIF{Delay: []int{1, 1}, Image: []*image.Paletted{
		image.NewPaletted(half.Rect, color.Palette{color.NRGBA{255, 0, 0, 255}}),
		image.NewPaletted(half.Rect, color.Palette{color.NRGBA{0, 255, 0, 255}})}}
	grey := image.NewGray16(image.Rect(0, 0, 16, 16))
	return map[string][]byte{
		"red.jpg":   encoded(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, red, nil) }),
		"red.png":   encoded(t, func(b *bytes.Buffer) error { return png.Encode(b, red) }),
		"white.png": encoded(t, func(b *bytes.Buffer) error { return png.Encode(b, clear) }),
		"black.png": encoded(t, func(b *bytes.Buffer) error { return png.Encode(b, grey) }),
		"white.gif": encoded(t, func(b *bytes.Buffer) error { return gif.Encode(b, half, nil) }),
		"red.gif":   encoded(t, func(b *bytes.Buffer) error { return gif.EncodeAll(b, two) }),
		"red.bmp":   encoded(t, func(b *bytes.Buffer) error { return bmp.Encode(b, red) }),
		"red.tiff": encoded(t,
			func(b *bytes.Buffer) error { return tiff.Encode(b, red, &tiff.Options{Compression: tiff.Deflate}) }),
		"red.webp": unbase64(t, webpLossless), "red lossy.webp": unbase64(t, webpLossy),
		"white.webp": unbase64(t, webpClear),
	}
}

func TestImagePart(t *testing.T) {
	colours := map[string]color.RGBA{"red": {255, 0, 0, 255}, "white": {255, 255, 255, 255}, "black": {0, 0, 0, 255}}
	for name, data := range pictures(t) {
		part, err := ImagePart(data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		picture := sentJPEG(t, part)
		want := colours[name[:strings.IndexAny(name, " .")]]
		r, g, b, _ := picture.At(1, 1).RGBA()
		if off := func(got uint32, want uint8) bool { return abs(int(got>>8)-int(want)) > 20 }; off(r, want.R) ||
			off(g, want.G) || off(b, want.B) {
			t.Errorf("%s: colour %d %d %d, want %v", name, r>>8, g>>8, b>>8, want)
		}
		assert.Equal(t, picture.(*image.YCbCr).SubsampleRatio, image.YCbCrSubsampleRatio420, "%s: chroma", name)
	}
}

func abs(n int) int { return max(n, -n) }

// huge is a file with the size of its picture replaced.
func huge(data []byte, at int, size string) []byte {
	data = bytes.Clone(data)
	copy(data[at:], size)
	return data
}

// A file of a few bytes that claims a picture of gigabytes is refused before it takes them.
func TestImagePartErrors(t *testing.T) {
	all := pictures(t)
	bare := unbase64(t, webpLossless)
	lossless := append(bytes.Clone(unbase64(t, webpClear)[:30]), huge(bare[12:], 9, "\xff\xff\xff\x0f")...)
	lossless[20] = 0 // no transparency
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"nothing", nil, "this is not a JPEG, PNG, GIF, WebP, BMP or TIFF but text/plain"},
		{"text", []byte("hello"), "this is not a JPEG, PNG, GIF, WebP, BMP or TIFF but text/plain"},
		{"cut JPEG", all["red.jpg"][:300], "the JPEG file cannot be read: unexpected EOF"},
		{"cut PNG", all["red.png"][:40], "the PNG file cannot be read: unexpected EOF"},
		{"cut GIF", all["red.gif"][:10], "the GIF file cannot be read"},
		{"cut BMP", all["red.bmp"][:100], "the BMP file cannot be read"},
		{"cut TIFF", all["red.tiff"][:20], "the TIFF file cannot be read"},
		{"cut WebP", all["red.webp"][:20], "the WebP file cannot be read"},
		{"WebP without a picture", all["red.webp"][:12], "the WebP file cannot be read"},
		{"huge GIF", huge(all["red.gif"], 6, "\xff\xff\xff\xff"),
			"the GIF file has 65535 × 65535 pixels, more than 67 million"},
		{"huge BMP", huge(all["red.bmp"], 18, "\x00\x00\x00\x10"),
			"the BMP file has 268435456 × 16 pixels, more than 67 million"},
		{"huge WebP canvas", huge(all["white.webp"], 24, "\xff\xff\xff\xff"),
			"the WebP file has 16777216 × 256 pixels, more than 67 million"},
		{"huge WebP frame on a small canvas", lossless, "the WebP file has 16384 × 16384 pixels, more than 67 million"},
	} {
		if part, err := ImagePart(c.data); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %.80s, %v, want %q", c.name, part, err, c.want)
		}
	}
}

func FuzzImagePart(f *testing.F) {
	for _, data := range pictures(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, format := range formats { // large pictures take their time and find nothing more
			if format.fits(data) {
				if size, err := format.config(bytes.NewReader(data)); err == nil && size.Width*size.Height > 1<<16 {
					return
				}
			}
		}
		part, err := ImagePart(data)
		if err == nil && !json.Valid(part) {
			t.Errorf("%q", part)
		}
	})
}
