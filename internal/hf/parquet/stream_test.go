package parquet

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/snappy"

	"benchtop/internal/assert"
)

// A page that is read piece by piece has the values that it has when it is unpacked as a whole, in whichever order they
// are read.
func TestLargePages(t *testing.T) {
	for name, data := range files(t) {
		open := func(large int64) *File {
			f := assert.Must(Open(bytes.NewReader(data), int64(len(data))))(t)
			f.large = large
			return f
		}
		whole, pieces := open(largePage), open(0)
		draw := rand.New(rand.NewPCG(0, 0))
		for range min(whole.Len(), 60) {
			row, column := draw.IntN(whole.Len()), []int{draw.IntN(len(whole.columns))}
			want, wantErr := whole.Row(context.Background(), nil, row, column)
			got, err := pieces.Row(context.Background(), nil, row, column)
			if string(got) != string(want) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Fatalf("%s: row %d is %s, %v, want %s, %v", name, row, got, err, want, wantErr)
			}
		}
	}
}

func TestRowIsBounded(t *testing.T) {
	data := files(t)["hub.parquet"]
	f, err := Open(bytes.NewReader(data), int64(len(data)))
	assert.Fine(t, err)
	f.most = 100
	for _, large := range []int64{largePage, 0} { // values read with their page, and piece by piece
		f.large = large
		_, err = f.Row(context.Background(), nil, 4, []int{0, 1, 2, 3, 4})
		assert.Complains(t, err, "the row is larger than")
	}
	// A value is measured before it is read.
	s := valueStream{r: bufio.NewReader(strings.NewReader("\xff\xff\x00\x00")), left: 1 << 20, most: 100}
	assert.Complains(t, assert.Failure(s.next()), "the row is larger than")
}

// FuzzSnappy holds the reader to the one that unpacks a block as a whole.
func FuzzSnappy(f *testing.F) {
	text := []byte(strings.Repeat("to be or not to be ", 30_000) + strings.Repeat("x", 200_000))
	noise := make([]byte, 300_000)
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	for _, data := range [][]byte{nil, text[:10], text, noise, append(noise, text...)} {
		f.Add(snappy.Encode(nil, data))
		f.Add(s2.EncodeSnappyBest(nil, data))
	}
	f.Fuzz(func(t *testing.T, packed []byte) {
		if n, err := snappy.DecodedLen(packed); err != nil || n > 1<<22 {
			return
		}
		want, wantErr := snappy.Decode(nil, packed)
		packedReader := bufio.NewReaderSize(iotest.HalfReader(bytes.NewReader(packed)), 16)
		got, err := io.ReadAll(&snappyReader{packed: packedReader})
		if wantErr == nil && err == nil && !bytes.Equal(got, want) {
			t.Fatalf("%d bytes, want %d", len(got), len(want))
		}
		if err == nil && wantErr != nil && packedReader.Buffered() == 0 ||
			err != nil && wantErr == nil && !strings.Contains(err.Error(), "bytes back") {
			t.Fatalf("error %v, want %v", err, wantErr)
		}
	})
}
