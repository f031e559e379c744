package media

import (
	"bytes"
	"context"
	"encoding/base64"
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
	"net/url"
	"os"
	"strings"
)

// Bounds on an image that is loaded, far above what models take.
const (
	maxBytes  = 64 << 20 // of its file
	maxPixels = 1 << 26  // width times height
)

// Load reads the file or the address that a source names. The error does not name it.
func Load(ctx context.Context, client *http.Client, source string) ([]byte, error) {
	if strings.HasPrefix(source, "http://") || strings.HasPrefix(source, "https://") {
		return fetch(ctx, client, source)
	}
	path, isURL := strings.CutPrefix(source, "file://")
	if isURL {
		if unescaped, err := url.PathUnescape(path); err == nil {
			path = unescaped
		}
	}
	// Opening a pipe waits for a program that writes to it.
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, errors.New("this is no file")
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readBounded(file, maxBytes)
}

func fetch(ctx context.Context, client *http.Client, address string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, plainURLError(err)
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, plainURLError(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answered %s", response.Status)
	}
	return readBounded(response.Body, maxBytes)
}

// plainURLError leaves out the method and the address, which the caller names.
func plainURLError(err error) error {
	if outer, ok := errors.AsType[*url.Error](err); ok {
		return outer.Err
	}
	return err
}

// readBounded reads all there is, and fails if that is more than limit bytes.
func readBounded(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("it is larger than %d MiB", limit>>20)
	}
	return data, err
}

// PNG is the address of an image that holds the image itself, as a PNG without transparency.
func PNG(data []byte) (address string, err error) {
	picture, err := decode(data)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	err = png.Encode(&b, onWhite(picture))
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes()), err
}

// decode reads a JPEG, a PNG or the first picture of a GIF.
func decode(data []byte) (image.Image, error) {
	config, read := png.DecodeConfig, png.Decode
	switch kind := http.DetectContentType(data); kind {
	case "image/png":
	case "image/jpeg":
		config, read = jpeg.DecodeConfig, jpeg.Decode
	case "image/gif":
		config, read = gif.DecodeConfig, gif.Decode
	case "image/webp":
		return nil, errors.New("this is WebP, which cannot be read here; convert it to PNG, or let the server load it, without --custom-ensure-client-side-data")
	default:
		return nil, fmt.Errorf("this is no JPEG, PNG or GIF but %s", kind)
	}
	size, err := config(bytes.NewReader(data))
	if err == nil && int64(size.Width)*int64(size.Height) > maxPixels {
		err = fmt.Errorf("%d × %d pixels are more than %d million", size.Width, size.Height, maxPixels/1_000_000)
	}
	if err != nil {
		return nil, err
	}
	return read(bytes.NewReader(data))
}

// onWhite puts an image on a white ground, so that nothing of it is transparent.
func onWhite(picture image.Image) *image.RGBA {
	bounds := image.Rect(0, 0, picture.Bounds().Dx(), picture.Bounds().Dy())
	flat := image.NewRGBA(bounds)
	draw.Draw(flat, bounds, image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.Draw(flat, bounds, picture, picture.Bounds().Min, draw.Over)
	return flat
}
