package parquet

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// snappyReader unpacks a block of snappy piece by piece. A block may refer to any earlier byte of itself, but encoders
// work on pieces of 64 KiB, and no reference goes back further.
type snappyReader struct {
	packed  *bufio.Reader
	left    uint64 // bytes that are to come
	literal int    // bytes of the literal that are left
	copied  int    // bytes of the copy that are left
	offset  int    // of the copy
	begun   bool
	out     []byte // the last bytes, to refer to and to read
	read    int    // bytes of out that have been read
}

const (
	snappyReach = 1 << 16
	snappyOut   = 4 * snappyReach
	snappyStep  = 1 << 13 // bytes that are unpacked at once, as often only the first ones are wanted
)

var errSnappy = errors.New("it breaks off")

// Read passes on the unpacked bytes.
func (s *snappyReader) Read(p []byte) (int, error) {
	for s.read == len(s.out) {
		if err := s.unpack(); err != nil {
			return 0, err
		}
	}
	n := copy(p, s.out[s.read:])
	s.read += n
	return n, nil
}

// unpack fills the buffer with the next bytes. All of it has been read.
func (s *snappyReader) unpack() (err error) {
	if !s.begun {
		if s.left, err = binary.ReadUvarint(s.packed); err != nil {
			return errSnappy
		}
		s.begun, s.out = true, make([]byte, 0, snappyOut)
	}
	if s.left == 0 {
		return io.EOF
	}
	if len(s.out) > snappyOut-snappyStep {
		s.out = append(s.out[:0], s.out[len(s.out)-snappyReach:]...)
	}
	s.read = len(s.out)
	for most := s.read + snappyStep; s.left > 0 && len(s.out) < most; {
		if s.literal == 0 && s.copied == 0 {
			if err := s.element(); err != nil {
				return err
			}
		}
		n := min(max(s.literal, s.copied), most-len(s.out))
		if uint64(n) > s.left {
			return errMore
		}
		if s.literal > 0 {
			err = s.copyLiteral(n)
		} else {
			s.repeat(n)
		}
		if err != nil {
			return err
		}
		s.left -= uint64(n)
	}
	return nil
}

// copyLiteral writes the next n bytes of a literal.
func (s *snappyReader) copyLiteral(n int) error {
	s.literal -= n
	from := len(s.out)
	s.out = s.out[:from+n]
	if _, err := io.ReadFull(s.packed, s.out[from:]); err != nil {
		return errSnappy
	}
	return nil
}

// repeat writes the next n bytes of a copy, which may refer to bytes that it has just written.
func (s *snappyReader) repeat(n int) {
	s.copied -= n
	for n > 0 {
		from := len(s.out) - s.offset
		some := min(n, s.offset)
		s.out = append(s.out, s.out[from:from+some]...)
		n -= some
	}
}

// element reads the head of a literal or a copy.
func (s *snappyReader) element() error {
	tag, err := s.packed.ReadByte()
	if err != nil {
		return errSnappy
	}
	high := int(tag >> 2)
	extra := []int{max(0, high-59), 1, 2, 4}[tag&3] // bytes
	number := 0
	for i := range extra {
		b, err := s.packed.ReadByte()
		if err != nil {
			return errSnappy
		}
		number |= int(b) << (8 * i)
	}
	switch tag & 3 {
	case 0:
		if s.literal = high + 1; extra > 0 {
			s.literal = number + 1
		}
		return nil
	case 1:
		s.copied, s.offset = high&7+4, high>>3<<8|number
	default:
		s.copied, s.offset = high+1, number
	}
	if s.offset == 0 || s.offset > len(s.out) {
		return fmt.Errorf("it refers %d bytes back", s.offset)
	}
	return nil
}
