package media

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"slices"
	"testing"

	"benchtop/internal/assert"
)

// turnedJPEG is a picture with a red corner at the top left, a green one beside it and black below, and a note of its
// orientation.
func turnedJPEG(t testing.TB, note []byte) []byte {
	picture := image.NewRGBA(image.Rect(0, 0, 32, 16))
	for y := range 8 {
		for x := range 32 {
			picture.Set(x, y, color.RGBA{R: 255 * uint8(1-x/16), G: 255 * uint8(x/16), A: 255})
		}
	}
	var b bytes.Buffer
	assert.Fine(t, jpeg.Encode(&b, picture, nil))
	segment := append([]byte{0xff, 0xe1, 0, byte(2 + len(note))}, note...)
	return slices.Insert(b.Bytes(), 2, segment...)
}

func noteOf(order string, turn byte) []byte {
	if order == "II" {
		return []byte("Exif\x00\x00II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00" + string(turn) +
			"\x00\x00\x00\x00\x00\x00\x00")
	}
	return []byte("Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00" + string(turn) +
		"\x00\x00\x00\x00\x00\x00")
}

// A picture of a camera that was turned stands as Pillow's exif_transpose puts it.
func TestUpright(t *testing.T) {
	// The corners that are red and green: top left, top right, bottom left, bottom right.
	for turn, want := range []string{"rg..", "rg..", "gr..", "..gr", "..rg", "r.g.", ".r.g", ".g.r", "g.r.", "rg.."} {
		for _, order := range []string{"II", "MM"} {
			part := assert.Must(ImagePart(turnedJPEG(t, noteOf(order, byte(turn)))))(t)
			picture := sentJPEG(t, part)
			got := ""
			to := picture.Bounds().Max
			for _, at := range []image.Point{{1, 1}, {to.X - 2, 1}, {1, to.Y - 2}, {to.X - 2, to.Y - 2}} {
				r, g, _, _ := picture.At(at.X, at.Y).RGBA()
				switch {
				case r > 0x8000:
					got += "r"
				case g > 0x8000:
					got += "g"
				default:
					got += "."
				}
			}
			if upright := turn < 5 || turn > 8; got != want || (to.X > to.Y) != upright {
				t.Errorf("orientation %d, %s: corners %q of %v, want %q", turn, order, got, to, want)
			}
		}
	}
}

func FuzzOrientation(f *testing.F) {
	f.Add(turnedJPEG(f, noteOf("II", 6)))
	f.Add(turnedJPEG(f, noteOf("MM", 3)))
	f.Add([]byte("\xff\xd8\xff\xff\xe1\x00\x04\x00\x00\xff\xda"))
	f.Fuzz(func(t *testing.T, file []byte) { orientation(file) })
}
