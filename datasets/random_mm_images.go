package datasets

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
)

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
