package media

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"math"
	"slices"

	"benchtop/datasets/numpy"
)

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

// jpegQuality is that of the imaging library that vLLM's client uses, where no quality is given.
const jpegQuality = 75

// Part is the image as a content part of the chat API, with a JPEG in its address. The encoder halves the colours' resolution
// in both directions (4:2:0), as that library's does.
func (m Medium) Part() (json.RawMessage, error) {
	picture := image.NewRGBA(image.Rect(0, 0, m.Width, m.Height))
	for from, to := 0, 0; from < len(m.Samples); from, to = from+3, to+4 {
		copy(picture.Pix[to:], m.Samples[from:from+3])
		picture.Pix[to+3] = 0xff
	}
	var file bytes.Buffer
	if err := jpeg.Encode(&file, picture, &jpeg.Options{Quality: jpegQuality}); err != nil {
		return nil, fmt.Errorf("an image of %d by %d pixels: %w", m.Height, m.Width, err)
	}
	return fmt.Appendf(nil, `{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,%s"}}`, base64.StdEncoding.EncodeToString(file.Bytes())), nil
}
