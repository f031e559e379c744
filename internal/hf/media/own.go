package media

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/jpeg"
	"math/rand/v2"
	"strings"
	"time"

	"benchtop/internal/jsonscan"
)

const (
	// ownSide is the side of a picture in pixels where the size of the other is not known.
	ownSide = 256
	// ownLength is the length of a recording where that of the other is not known, and shortest that of the shortest.
	ownLength, shortest = time.Second, 100 * time.Millisecond
	// mostOwn is the most pixels of such a picture: 16 megapixels.
	mostOwn = 1 << 24
	// mostSide is the most columns or rows that a JPEG has.
	mostSide = 1<<16 - 1
)

// Parts are the content parts of chat messages, with commas between them; nil for none.
func Parts(messages json.RawMessage) (parts json.RawMessage) {
	for message := range jsonscan.Elements(messages) {
		if content := jsonscan.Fields(message, "content")[0]; len(content) > 0 && content[0] == '[' {
			for part := range jsonscan.Elements(content) {
				parts = AppendPart(parts, part)
			}
		}
	}
	return parts
}

// Another is content parts with pictures of noise in place of others, of the same size where that is inside the part,
// and silence in place of recordings; parts of another kind are left out. It is nil where none is left.
func Another(parts json.RawMessage, draws *rand.Rand) (another json.RawMessage) {
	var all []struct {
		Image *struct{ URL string }          `json:"image_url"`
		Audio *struct{ Data, Format string } `json:"input_audio"`
	}
	if json.Unmarshal(append(append([]byte{'['}, parts...), ']'), &all) != nil {
		return nil
	}
	for _, part := range all {
		switch {
		case part.Image != nil:
			another = AppendPart(another, URLPart("image", noise(sizeOf(part.Image.URL), draws)))
		case part.Audio != nil:
			data, _ := base64.StdEncoding.DecodeString(part.Audio.Data)
			length := ownLength
			if a, err := ReadAudio("of."+part.Audio.Format, data); err == nil {
				length = a.Duration
			}
			another = AppendPart(another, Quiet(length, draws).Part())
		}
	}
	return another
}

// sizeOf is the size of a picture by its address.
func sizeOf(address string) image.Point {
	if _, data, ok := strings.Cut(address, ";base64,"); ok {
		config, _, err := image.DecodeConfig(base64.NewDecoder(base64.StdEncoding, strings.NewReader(data)))
		if err == nil && min(config.Width, config.Height) > 0 && max(config.Width, config.Height) <= mostSide &&
			config.Width <= mostOwn/config.Height {
			return image.Pt(config.Width, config.Height)
		}
	}
	return image.Pt(ownSide, ownSide)
}

// Quiet is a silent recording nearly as long as another, mostly of another length each time.
func Quiet(length time.Duration, draws *rand.Rand) *Audio {
	length = max(length, shortest)
	return Silence(length - time.Duration(draws.Int64N(int64(length/10))))
}

// noise is the address of a picture of so many pixels.
func noise(size image.Point, draws *rand.Rand) string {
	p := image.NewGray(image.Rectangle{Max: size})
	for i := range p.Pix {
		p.Pix[i] = byte(draws.Uint32())
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, p, nil); err != nil {
		panic(err) // of a size that no caller asks for
	}
	return "data:image/jpeg;base64," + base64.StdEncoding.EncodeToString(b.Bytes())
}
