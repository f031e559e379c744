package parquet

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/molecule-man/go-brrr"
)

// Codecs of pages.
const (
	codecNone   = 0
	codecSnappy = 1
	codecGzip   = 2
	codecBrotli = 4
	codecZstd   = 6
)

// codecNames are those of the codecs of the format, by their number.
var codecNames = []string{"none", "snappy", "gzip", "LZO", "brotli", "LZ4", "zstd", "LZ4_RAW"}

// maxPage bounds a page in bytes, packed and unpacked. A hundred images of ten megabytes fit.
const maxPage = 1 << 30

// mostUnpacked bounds the bytes of a page, unpacked as a whole, for each of its packed ones where they are more than
// those of a row.
const mostUnpacked = 100

// unpacker unpacks pages.
type unpacker struct {
	zstd *zstd.Decoder
	gzip *gzip.Reader
}

func (u *unpacker) close() {
	if u.zstd != nil {
		u.zstd.Close()
	}
}

// checkCodec refuses pages that cannot be unpacked.
func checkCodec(codec int64) error {
	switch codec {
	case codecNone, codecSnappy, codecGzip, codecBrotli, codecZstd:
		return nil
	}
	name := fmt.Sprint("number ", codec)
	if codec >= 0 && codec < int64(len(codecNames)) {
		name = codecNames[codec]
	}
	return fmt.Errorf("it is packed with codec %s, which is not known here; write the file again with snappy or zstd, "+
		"with pyarrow.parquet.write_table", name)
}

// unpack appends the unpacked bytes, whose number is known. Memory grows with the bytes there are, whatever that number
// is.
func (u *unpacker) unpack(dst []byte, codec int64, packed []byte, size int) ([]byte, error) {
	before := len(dst)
	var err error
	if size > max(maxRow, mostUnpacked*len(packed)) {
		return nil, fmt.Errorf("its %d bytes claim to unpack to %d MiB", len(packed), size>>20)
	}
	switch codec {
	case codecNone:
		dst = append(dst, packed...)
	case codecSnappy:
		dst, err = unpackSnappy(dst, packed, size)
	case codecGzip:
		dst, err = u.unpackGzip(dst, packed, size)
	case codecBrotli:
		dst, err = readAll(dst, brrr.NewReader(bytes.NewReader(packed)), size)
	case codecZstd:
		dst, err = u.unpackZstd(dst, packed, size)
	default:
		return nil, checkCodec(codec)
	}
	if err != nil {
		return nil, fmt.Errorf("its %s data is broken: %w", codecNames[codec], err)
	}
	if len(dst)-before != size {
		return nil, fmt.Errorf("it has %d bytes, and its head says %d", len(dst)-before, size)
	}
	return dst, nil
}

func unpackSnappy(dst, packed []byte, size int) ([]byte, error) {
	n, err := snappy.DecodedLen(packed)
	if err != nil {
		return nil, err
	}
	if n != size || n > 64*len(packed) { // of which three bytes give at most 64
		return nil, fmt.Errorf("%d bytes cannot become %d", len(packed), n)
	}
	dst = grow(dst, size)
	_, err = snappy.Decode(dst[len(dst)-size:], packed)
	return dst, err
}

// grow appends bytes of any value.
func grow(dst []byte, n int) []byte {
	if cap(dst)-len(dst) < n {
		dst = append(make([]byte, 0, len(dst)+n), dst...)
	}
	return dst[:len(dst)+n]
}

var errMore = errors.New("more bytes than its head says")

func (u *unpacker) unpackGzip(dst, packed []byte, size int) ([]byte, error) {
	if u.gzip == nil {
		u.gzip = &gzip.Reader{}
	}
	if err := u.gzip.Reset(bytes.NewReader(packed)); err != nil {
		return nil, err
	}
	return readAll(dst, u.gzip, size)
}

// readAll appends all bytes, at most so many.
func readAll(dst []byte, r io.Reader, size int) ([]byte, error) {
	for want := len(dst) + size; ; {
		if len(dst) == cap(dst) {
			dst = append(dst, make([]byte, min(max(len(dst), 1<<16), size)+1)...)[:len(dst)]
		}
		n, err := r.Read(dst[len(dst):cap(dst)])
		if dst = dst[:len(dst)+n]; len(dst) > want {
			return nil, errMore
		}
		if errors.Is(err, io.EOF) {
			return dst, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (u *unpacker) unpackZstd(dst, packed []byte, size int) (_ []byte, err error) {
	if u.zstd == nil {
		u.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return nil, err
		}
	}
	if size > 1<<15*len(packed) { // of which four bytes give at most 128 KiB
		return nil, fmt.Errorf("%d bytes cannot become %d", len(packed), size)
	}
	if dst, err = u.zstd.DecodeAll(packed, slices.Grow(dst, size)); errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		err = errMore
	}
	return dst, err
}
