package media

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
)

// pngOf is a PNG of zeros of a depth and colour type, with other chunks behind its head.
func pngOf(width, height uint32, depth, colour byte, pixels int, chunks ...[]byte) []byte {
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, width), height)
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	_, _ = z.Write(make([]byte, pixels)) // into memory
	_ = z.Close()
	file := pngChunk([]byte("\x89PNG\r\n\x1a\n"), "IHDR", append(head, depth, colour, 0, 0, 0))
	for _, chunk := range chunks {
		file = append(file, chunk...)
	}
	return pngChunk(pngChunk(file, "IDAT", packed.Bytes()), "IEND", nil)
}

func pngChunk(file []byte, name string, data []byte) []byte {
	from := len(file) + 4
	file = append(append(binary.BigEndian.AppendUint32(file, uint32(len(data))), name...), data...)
	return binary.BigEndian.AppendUint32(file, crc32.ChecksumIEEE(file[from:]))
}

// Small files that claim much, unpack to much, or break off are an error that says so, or the picture that they have.
func TestPictureBombs(t *testing.T) {
	long := binary.BigEndian.AppendUint32(nil, 1<<31)
	tests := []struct {
		name string
		file []byte
		want string
	}{
		{"of 60000 pixels a side", pngOf(60000, 60000, 8, 2, 0),
			"the PNG file has 60000 × 60000 pixels, more than 67 million"},
		{"of sides beyond a number", pngOf(1<<31, 1<<31, 8, 2, 0), "the PNG file cannot be read"},
		{"of no pixels", pngOf(0, 5, 8, 2, 0), "the PNG file cannot be read"},
		{"with few of its pixels", pngOf(4000, 4000, 1, 0, 100), "the PNG file cannot be read"},
		{"with more than its pixels", pngOf(4, 4, 8, 0, 1<<20),
			"the PNG file cannot be read: png: invalid format: too much pixel data"},
		{"with frames", pngOf(4, 4, 8, 0, 20, pngChunk(nil, "acTL", []byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0})), ""},
		{"with a chunk of 2 GiB", pngOf(4, 4, 8, 0, 20, append(long, "tEXt"...)), "the PNG file cannot be read"},
		{"with a text that unpacks to much", pngOf(4, 4, 8, 0, 20,
			pngChunk(nil, "zTXt", append([]byte("a\x00\x00"), pngOf(1, 1, 8, 0, 1<<20)[41:]...))), ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := ImagePart(test.file)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// Of pictures that take a gigabyte in memory, one is decoded at a time.
func TestLargePicturesTakeTurns(t *testing.T) {
	file := pngOf(4097, 4096, 1, 0, 0) // its pixels are missing
	done := make(chan error)
	large.Lock()
	go func() {
		_, err := PNG(file)
		done <- err
	}()
	assert.Fails(t, "a small picture", assert.Failure(PNG(pngOf(4, 4, 8, 0, 20))), "")
	select {
	case err := <-done:
		t.Errorf("a large picture beside another: %v", err)
	case <-time.After(10 * time.Millisecond):
	}
	large.Unlock()
	assert.Complains(t, <-done, "the PNG file cannot be read")
	if !large.TryLock() {
		t.Fatal("a picture that cannot be read is still waited for")
	}
	large.Unlock()
}
