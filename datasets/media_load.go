package datasets

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
	"time"
)

// Bounds on an image that is loaded, far above what models take.
const (
	maxImageBytes   = 64 << 20 // of its file
	maxImagePixels  = 1 << 26  // width times height
	imageFetchLimit = time.Minute
)

// imageSource is an address or a path of an image, and the line of the file that names it.
type imageSource struct {
	name string
	line int
}

// loadImages returns, for the name of each source, an address that holds the image itself, as a PNG without transparency.
// A name that is such an address already stays as it is. Each is loaded once, several at the same time.
func loadImages(ctx context.Context, sources []imageSource) (map[string]string, error) {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: imageFetchLimit}
	loaded := map[string]string{}
	var distinct []imageSource
	for _, source := range sources {
		if _, seen := loaded[source.name]; !seen {
			loaded[source.name] = ""
			distinct = append(distinct, source)
		}
	}
	addresses := make([]string, len(distinct))
	err := eachAtOnce(ctx, len(distinct), func(i int) error {
		address, err := loadImage(ctx, client, distinct[i].name)
		if err != nil {
			return &lineError{distinct[i].line, err}
		}
		addresses[i] = address
		return nil
	})
	for i, source := range distinct {
		loaded[source.name] = addresses[i]
	}
	return loaded, err
}

func loadImage(ctx context.Context, client *http.Client, source string) (string, error) {
	if strings.HasPrefix(source, "data:image/") {
		return source, nil
	}
	data, err := readImage(ctx, client, source)
	if err != nil {
		return "", fmt.Errorf("image %s cannot be loaded: %w", shortened(source), cause(err))
	}
	picture, err := decodeImage(data)
	if err != nil {
		return "", fmt.Errorf("image %s: %w", shortened(source), err)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, onWhite(picture)); err != nil {
		return "", fmt.Errorf("image %s as PNG: %w", shortened(source), err)
	}
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes()), nil
}

// readImage reads a file or what an address gives.
func readImage(ctx context.Context, client *http.Client, source string) ([]byte, error) {
	if strings.HasPrefix(source, "http://") || strings.HasPrefix(source, "https://") {
		return fetchImage(ctx, client, source)
	}
	path, isURL := strings.CutPrefix(source, "file://")
	if isURL {
		if unescaped, err := url.PathUnescape(path); err == nil {
			path = unescaped
		}
	}
	// A pipe would be waited for, so it must be asked before it is opened.
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
	return readBounded(file, maxImageBytes)
}

func fetchImage(ctx context.Context, client *http.Client, address string) ([]byte, error) {
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
	return readBounded(response.Body, maxImageBytes)
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

// decodeImage reads a JPEG, a PNG or the first picture of a GIF.
func decodeImage(data []byte) (image.Image, error) {
	config, decode := png.DecodeConfig, png.Decode
	switch kind := http.DetectContentType(data); kind {
	case "image/png":
	case "image/jpeg":
		config, decode = jpeg.DecodeConfig, jpeg.Decode
	case "image/gif":
		config, decode = gif.DecodeConfig, gif.Decode
	case "image/webp":
		return nil, errors.New("this is WebP, which cannot be read here; convert it to PNG, or let the server load it, without --custom-ensure-client-side-data")
	default:
		return nil, fmt.Errorf("this is no JPEG, PNG or GIF but %s", kind)
	}
	size, err := config(bytes.NewReader(data))
	if err == nil && int64(size.Width)*int64(size.Height) > maxImagePixels {
		err = fmt.Errorf("%d × %d pixels are more than %d million", size.Width, size.Height, maxImagePixels/1_000_000)
	}
	if err != nil {
		return nil, err
	}
	return decode(bytes.NewReader(data))
}

// onWhite puts an image on a white ground, so that nothing of it is transparent.
func onWhite(picture image.Image) *image.RGBA {
	bounds := image.Rect(0, 0, picture.Bounds().Dx(), picture.Bounds().Dy())
	flat := image.NewRGBA(bounds)
	draw.Draw(flat, bounds, image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.Draw(flat, bounds, picture, picture.Bounds().Min, draw.Over)
	return flat
}
