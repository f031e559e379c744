package media

import (
	"bytes"
	"encoding/binary"
	"image"
)

// upright applies the EXIF orientation of a file to its picture. The numbers of TIFF's orientation say where the first
// row and the first column lie:
//
//	1 top left       2 top right     3 bottom right  4 bottom left
//	5 left top       6 right top     7 right bottom  8 left bottom
func upright(picture *image.RGBA, file []byte) *image.RGBA {
	turn := orientation(file)
	if turn < 2 || turn > 8 {
		return picture
	}
	width, height := picture.Rect.Dx(), picture.Rect.Dy()
	size := image.Rect(0, 0, width, height)
	if turn >= 5 {
		size = image.Rect(0, 0, height, width)
	}
	turned := image.NewRGBA(size)
	for y := range height {
		for x := range width {
			// From the right where columns run backwards, from below where rows do, and then columns for rows.
			right, below := x, y
			if turn == 2 || turn == 3 || turn == 7 || turn == 8 {
				right = width - 1 - x
			}
			if turn == 3 || turn == 4 || turn == 6 || turn == 7 {
				below = height - 1 - y
			}
			to := turned.PixOffset(right, below)
			if turn >= 5 {
				to = turned.PixOffset(below, right)
			}
			copy(turned.Pix[to:to+4], picture.Pix[picture.PixOffset(x, y):])
		}
	}
	return turned
}

// orientation is the number that a JPEG notes as its orientation, 0 for none.
func orientation(file []byte) int {
	const start, entropy, app1, mark = 0xd8, 0xda, 0xe1, "Exif\x00\x00"
	if len(file) < 2 || file[0] != 0xff || file[1] != start {
		return 0
	}
	for rest := file[2:]; len(rest) >= 4 && rest[0] == 0xff && rest[1] != entropy; {
		if rest[1] == 0xff { // fill
			rest = rest[1:]
			continue
		}
		end := 2 + int(binary.BigEndian.Uint16(rest[2:]))
		if end < 4 || end > len(rest) {
			return 0
		}
		if note, is := bytes.CutPrefix(rest[4:end], []byte(mark)); is && rest[1] == app1 {
			return tiffOrientation(note)
		}
		rest = rest[end:]
	}
	return 0
}

// tiffOrientation looks into the first directory of a TIFF's fields.
func tiffOrientation(note []byte) int {
	const head, field, tag, short = 8, 12, 0x0112, 3
	if len(note) < head {
		return 0
	}
	var order binary.ByteOrder = binary.LittleEndian
	if note[0] == 'M' {
		order = binary.BigEndian
	}
	at := uint64(order.Uint32(note[4:]))
	if at+2 > uint64(len(note)) {
		return 0
	}
	fields := note[at+2:]
	for range order.Uint16(note[at:]) {
		if len(fields) < field {
			return 0
		}
		if order.Uint16(fields) == tag && order.Uint16(fields[2:]) == short {
			return int(order.Uint16(fields[8:]))
		}
		fields = fields[field:]
	}
	return 0
}
