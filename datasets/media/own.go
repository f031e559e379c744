package media

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/jpeg"
	"math/rand/v2"
	"strings"
)

const (
	// ownSide is the side of a picture in pixels where the size of the other is not known.
	ownSide = 256
	// mostOwn is the most pixels of such a picture: 16 megapixels.
	mostOwn = 1 << 24
	// mostSide is the most columns or rows that a JPEG has.
	mostSide = 1<<16 - 1
)

// Another is content parts with pictures of noise in place of others, of the same size where that is inside the part; parts of another
// kind are left out. It is nil where none is left.
func Another(parts json.RawMessage, draws *rand.Rand) (another json.RawMessage) {
	var all []struct {
		Image *struct{ URL string } `json:"image_url"`
	}
	if json.Unmarshal(append(append([]byte{'['}, parts...), ']'), &all) != nil {
		return nil
	}
	for _, part := range all {
		if part.Image == nil {
			continue
		}
		w, h := ownSide, ownSide
		if _, data, ok := strings.Cut(part.Image.URL, ";base64,"); ok {
			config, _, err := image.DecodeConfig(base64.NewDecoder(base64.StdEncoding, strings.NewReader(data)))
			if err == nil && min(config.Width, config.Height) > 0 && max(config.Width, config.Height) <= mostSide && config.Width <= mostOwn/config.Height {
				w, h = config.Width, config.Height
			}
		}
		another = AppendPart(another, URLPart("image", noise(w, h, draws)))
	}
	return another
}

// noise is the address of a picture of so many pixels.
func noise(w, h int, draws *rand.Rand) string {
	p := image.NewGray(image.Rect(0, 0, w, h))
	for i := range p.Pix {
		p.Pix[i] = byte(draws.Uint32())
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, p, nil); err != nil {
		panic(err) // of a size that no caller asks for
	}
	return "data:image/jpeg;base64," + base64.StdEncoding.EncodeToString(b.Bytes())
}
