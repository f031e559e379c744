// Package media is images, videos and recordings in prompts: their parts of a chat message, random ones as vLLM draws them, and those
// that files name, loaded. Videos are drawn and named, but not made.
package media

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"io"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"benchtop/datasets/jsonscan"
	"benchtop/datasets/numpy"
)

// Image and Video turn a file's "image" or "video" into a content part of the chat API.
func Image(raw []byte) (json.RawMessage, error) {
	source, err := Source("image", raw)
	return URLPart("image", ImageURL(source)), err
}

// Video is Image for a video.
func Video(raw []byte) (json.RawMessage, error) {
	source, err := Source("video", raw)
	return URLPart("video", address(source, "http://", "https://", "file://")), err
}

// Source is the address or path that the field of that name has as its value.
func Source(field string, value []byte) (string, error) {
	if !jsonscan.IsString(value) {
		return "", fmt.Errorf("expected %q to be a URL or a path: got %s", field, jsonscan.Kind(value))
	}
	return jsonscan.Text(value), nil
}

// ImageURL is the address of an image's source.
func ImageURL(source string) string {
	return address(source, "http://", "https://", "file://", "data:image/")
}

// address is that of a source. A string that is no address of a known scheme names a file on the server.
func address(source string, schemes ...string) string {
	for _, scheme := range schemes {
		if strings.HasPrefix(source, scheme) {
			return source
		}
	}
	return "file://" + source
}

// URLPart is a content part that gives the address of an image or a video.
func URLPart(kind, url string) json.RawMessage {
	return fmt.Appendf(nil, `{"type":"%s_url","%[1]s_url":{"url":%s}}`, kind, jsonscan.Quote(url))
}

// AppendPart appends a content part to others, with a comma between them.
func AppendPart(parts, part []byte) []byte {
	if len(parts) > 0 && len(part) > 0 {
		parts = append(parts, ',')
	}
	return append(parts, part...)
}

// Draws says what media requests get, and draws it.
type Draws struct {
	Buckets Buckets // with weights above 0 that add up to 1
	Limits  Limits  // of the modalities that have a bucket
	Lo, Hi  int     // media in a request
}

// NewDraws is for about so many items in a request, whose number strays by a ratio, as vLLM has it.
func NewDraws(items int, ratio float64, limits Limits, buckets Buckets) (Draws, error) {
	d := Draws{Buckets: buckets.normalized(), Limits: Limits{}}
	most := 0
	for _, b := range d.Buckets {
		if _, counted := d.Limits[b.Modality()]; !counted {
			d.Limits[b.Modality()] = limits[b.Modality()]
			most += limits[b.Modality()]
		}
	}
	d.Lo = max(0, int(math.Floor(float64(items)*(1-ratio))))
	d.Hi = min(most, int(math.Ceil(float64(items)*(1+ratio))))
	if d.Lo > d.Hi {
		return d, fmt.Errorf("at least %d items a request are asked for, but the limits allow only %d; ask for fewer or raise the limits", d.Lo, d.Hi)
	}
	return d, nil
}

// normalized is the buckets whose weight is not 0, with weights that add up to 1.
func (b Buckets) normalized() Buckets {
	sum := 0.0
	for _, bucket := range b {
		sum += bucket.Weight
	}
	var kept Buckets
	for _, bucket := range b {
		if bucket.Weight != 0 {
			bucket.Weight /= sum
			kept = append(kept, bucket)
		}
	}
	return kept
}

// without is the buckets of other modalities.
func (b Buckets) without(modality string) Buckets {
	return slices.DeleteFunc(slices.Clone(b), func(bucket Bucket) bool { return bucket.Modality() == modality }).normalized()
}

// Medium is a random image or video: rows of red, green and blue samples, frame by frame.
type Medium struct {
	Bucket
	Samples []byte
}

// Request draws the media of one request: how many, and then of each its bucket and its samples. A bucket whose modality
// has reached its limit is drawn in vain, and no bucket of that modality can be drawn after it.
func (d Draws) Request(gen *numpy.Generator) []Medium {
	media := make([]Medium, 0, gen.Integers(int64(d.Lo), int64(d.Hi)+1))
	taken := map[string]int{}
	for left := d.Buckets; len(media) < cap(media) && len(left) > 0; {
		weights := make([]float64, len(left))
		for i, b := range left {
			weights[i] = b.Weight
		}
		b := left[gen.ChoiceWeighted(weights)]
		if taken[b.Modality()] == d.Limits[b.Modality()] {
			left = left.without(b.Modality())
			continue
		}
		taken[b.Modality()]++
		media = append(media, Medium{b, gen.Bytes(b.Size())})
	}
	return media
}

// Part is the image as a content part of the chat API.
func (m Medium) Part() (json.RawMessage, error) {
	picture := image.NewRGBA(image.Rect(0, 0, m.Width, m.Height))
	for from, to := 0, 0; from < len(m.Samples); from, to = from+3, to+4 {
		copy(picture.Pix[to:], m.Samples[from:from+3])
		picture.Pix[to+3] = 0xff
	}
	return jpegPart(picture)
}

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
	return load(path, maxBytes)
}

func fetch(ctx context.Context, client *http.Client, address string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	var response *http.Response
	if err == nil {
		response, err = client.Do(request)
	}
	if outer, ok := errors.AsType[*url.Error](err); ok {
		return nil, outer.Err // without the method and the address, which the caller names
	}
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answered %s", response.Status)
	}
	return readBounded(response.Body, maxBytes)
}

// readBounded reads all there is, and fails if that is more than limit bytes.
func readBounded(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("it is larger than %d MiB", limit>>20)
	}
	return data, err
}
