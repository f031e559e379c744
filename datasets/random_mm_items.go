package datasets

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"math"

	"benchtop/datasets/numpy"
)

// mediaDraws says what media requests get, and draws it.
type mediaDraws struct {
	buckets Buckets     // with weights above 0 that add up to 1
	limits  MediaLimits // of the modalities that have a bucket
	lo, hi  int         // media in a request
}

// newMediaDraws derives it from options, as vLLM does, and notes what is wrong with them.
func newMediaDraws(o RandomMMOptions, p *problems) mediaDraws {
	m := mediaDraws{buckets: o.Buckets.normalized(), limits: MediaLimits{}}
	most := 0
	for _, b := range m.buckets {
		if _, counted := m.limits[b.modality()]; !counted {
			m.limits[b.modality()] = o.Limits[b.modality()]
			most += o.Limits[b.modality()]
		}
	}
	items := float64(o.BaseItems)
	m.lo = max(0, int(math.Floor(items*(1-o.ItemsRatio))))
	m.hi = min(most, int(math.Ceil(items*(1+o.ItemsRatio))))
	if m.lo > m.hi {
		p.add("at least %d items a request are asked for, but the limits allow only %d; ask for fewer or raise the limits", m.lo, m.hi)
	}
	return m
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
	var kept Buckets
	for _, bucket := range b {
		if bucket.modality() != modality {
			kept = append(kept, bucket)
		}
	}
	return kept.normalized()
}

// medium is a random image or video: rows of red, green and blue samples, frame by frame.
type medium struct {
	Bucket
	samples []byte
}

// request draws the media of one request: how many, and then of each its bucket and its samples. A bucket whose modality
// has reached its limit is drawn in vain, and no bucket of that modality can be drawn after it.
func (m mediaDraws) request(gen *numpy.Generator) []medium {
	n := int(gen.Integers(int64(m.lo), int64(m.hi)+1))
	media := make([]medium, 0, n)
	taken := map[string]int{}
	for left := m.buckets; len(media) < n && len(left) > 0; {
		weights := make([]float64, len(left))
		for i, b := range left {
			weights[i] = b.Weight
		}
		b := left[gen.ChoiceWeighted(weights)]
		if taken[b.modality()] == m.limits[b.modality()] {
			left = left.without(b.modality())
			continue
		}
		taken[b.modality()]++
		media = append(media, medium{b, gen.Bytes(b.samples())})
	}
	return media
}

// jpegQuality is that of the imaging library that vLLM's client uses, when nobody says otherwise.
const jpegQuality = 75

// part is the image as a content part of the chat API, with a JPEG in its address. The encoder halves the colours' resolution
// in both directions (4:2:0), as that library's does.
func (m medium) part() (json.RawMessage, error) {
	picture := image.NewRGBA(image.Rect(0, 0, m.Width, m.Height))
	for from, to := 0, 0; from < len(m.samples); from, to = from+3, to+4 {
		copy(picture.Pix[to:], m.samples[from:from+3])
		picture.Pix[to+3] = 0xff
	}
	var file bytes.Buffer
	if err := jpeg.Encode(&file, picture, &jpeg.Options{Quality: jpegQuality}); err != nil {
		return nil, fmt.Errorf("an image of %d by %d pixels: %w", m.Height, m.Width, err)
	}
	const before, after = `{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,`, `"}}`
	part := make([]byte, 0, len(before)+base64.StdEncoding.EncodedLen(file.Len())+len(after))
	part = base64.StdEncoding.AppendEncode(append(part, before...), file.Bytes())
	return append(part, after...), nil
}
