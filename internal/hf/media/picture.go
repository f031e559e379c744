package media

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"net/http"
	"slices"
	"sync"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
	"golang.org/x/image/webp"
)

// Bounds on an image that is loaded, far above what models take.
const (
	maxBytes  = 64 << 20 // of its file
	maxPixels = 1 << 26  // width times height
)

// PNG is the address of an image that holds the image itself, as a PNG without transparency, turned as the camera notes
// in a JPEG.
func PNG(data []byte) (address string, err error) {
	picture, done, err := decode(data)
	if err != nil {
		return "", err
	}
	defer done()
	var b bytes.Buffer
	err = png.Encode(&b, upright(onWhite(picture), data))
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes()), err
}

// ImagePart is the content of an image file as a content part of the chat API. The picture is encoded anew as a JPEG,
// as vLLM's client does with the pictures of a table: transparent ones on a white ground, of several the first, turned
// as the camera notes in a JPEG.
func ImagePart(data []byte) (json.RawMessage, error) {
	picture, done, err := decode(data)
	if err != nil {
		return nil, err
	}
	defer done()
	flat := upright(onWhite(picture), data)
	if max(flat.Rect.Dx(), flat.Rect.Dy()) > mostSide {
		return nil, fmt.Errorf("the picture has %d × %d pixels, and the sides of a JPEG at most %d", flat.Rect.Dx(),
			flat.Rect.Dy(), mostSide)
	}
	samples := make([]byte, 0, 3*len(flat.Pix)/4)
	for pixel := range slices.Chunk(flat.Pix, 4) {
		samples = append(samples, pixel[:3]...)
	}
	return dataPart(imageModality, "image/jpeg",
		new(jpegEncoder).appendJPEG(nil, samples, flat.Rect.Dx(), flat.Rect.Dy())), nil
}

// format is a format of pictures, known by how a file begins, where ? is any byte.
type format struct {
	name, start string
	config      func(io.Reader) (image.Config, error)
	decode      func(io.Reader) (image.Image, error)
}

var formats = []format{
	{"JPEG", "\xff\xd8", jpeg.DecodeConfig, jpeg.Decode},
	{"PNG", "\x89PNG\r\n\x1a\n", png.DecodeConfig, png.Decode},
	{"GIF", "GIF8?a", gif.DecodeConfig, gif.Decode},
	{"WebP", "RIFF????WEBP", webp.DecodeConfig, webp.Decode},
	{"BMP", "BM????\x00\x00\x00\x00", bmp.DecodeConfig, bmp.Decode},
	{"TIFF", "II*\x00", tiff.DecodeConfig, tiff.Decode},
	{"TIFF", "MM\x00*", tiff.DecodeConfig, tiff.Decode},
}

func (f format) fits(data []byte) bool {
	if len(data) < len(f.start) {
		return false
	}
	for i := range f.start {
		if f.start[i] != '?' && f.start[i] != data[i] {
			return false
		}
	}
	return true
}

// large is held for a picture of more than largePicture pixels. One may take 20 bytes for each, however small its file
// is.
var large sync.Mutex

const largePicture = 1 << 24

// decode reads the first picture of a file. done follows on the last use of a picture.
func decode(data []byte) (picture image.Image, done func(), err error) {
	for _, f := range formats {
		if !f.fits(data) {
			continue
		}
		pixels, err := f.pixels(data)
		if done = func() {}; err == nil && pixels > largePicture {
			large.Lock()
			done = large.Unlock
		}
		if err == nil {
			picture, err = f.read(data)
		}
		if err != nil {
			done()
		}
		return picture, done, within(f.name, err)
	}
	return nil, nil, fmt.Errorf("this is not a JPEG, PNG, GIF, WebP, BMP or TIFF but %s", http.DetectContentType(data))
}

// pixels is the number of a picture's pixels, which is bounded.
func (f format) pixels(data []byte) (pixels int64, err error) {
	heads := [][]byte{data}
	if f.name == "WebP" {
		heads = webpHeads(data)
	}
	for _, head := range heads {
		size, err := f.config(bytes.NewReader(head))
		if err != nil {
			return 0, fmt.Errorf("cannot be read: %w", err)
		}
		if pixels = max(pixels, int64(size.Width)*int64(size.Height)); pixels > maxPixels {
			return 0, fmt.Errorf("has %d × %d pixels, more than %d million", size.Width, size.Height,
				maxPixels/1_000_000)
		}
	}
	return pixels, nil
}

// read reads a picture that has pixels.
func (f format) read(data []byte) (image.Image, error) {
	picture, err := f.decode(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	if picture.Bounds().Empty() {
		return nil, errors.New("has no pixels")
	}
	return picture, nil
}

// webpHeads are files with one chunk each of those that give the size of the picture, for the canvas and the frame may
// differ.
func webpHeads(data []byte) (heads [][]byte) {
	const container, header = 12, 8
	for rest := data[container:]; len(rest) >= header; {
		end := header + int64(binary.LittleEndian.Uint32(rest[4:]))
		chunk := rest[:min(end, int64(len(rest)))]
		switch string(chunk[:4]) {
		case "VP8X", "VP8 ", "VP8L":
			heads = append(heads, slices.Concat(data[:container], chunk))
		}
		rest = rest[min(end+end%2, int64(len(rest))):]
	}
	return heads
}

// onWhite puts an image on a white ground, so that nothing of it is transparent.
func onWhite(picture image.Image) *image.RGBA {
	bounds := image.Rect(0, 0, picture.Bounds().Dx(), picture.Bounds().Dy())
	flat := image.NewRGBA(bounds)
	draw.Draw(flat, bounds, image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.Draw(flat, bounds, picture, picture.Bounds().Min, draw.Over)
	return flat
}
