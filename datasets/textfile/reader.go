package textfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Reader passes UTF-8 text on and knows which line an offset in it is on. It remembers the line ends of text that has
// been read and not been asked about yet, so a file of any size costs it little.
type Reader struct {
	r      *bufio.Reader
	good   int     // bytes of r's buffer that are whole characters
	offset int64   // bytes passed on
	ends   []int64 // offsets of line ends at or behind the last offset asked about
	passed int     // line ends before that
}

// NewReader skips a byte order mark and refuses archives and UTF-16.
func NewReader(r io.Reader) (*Reader, error) {
	buffered := bufio.NewReaderSize(r, 1<<16)
	head, err := buffered.Peek(HeadLen)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	mark, err := CheckHead(head)
	if err != nil {
		return nil, err
	}
	_, _ = buffered.Discard(mark) // it has just been seen
	return &Reader{r: buffered}, nil
}

// HeadLen is how many bytes of a file CheckHead needs.
const HeadLen = 4

// CheckHead refuses files that begin like archives, Parquet and UTF-16. mark is the length of a byte order mark, 0 for
// none.
func CheckHead(head []byte) (mark int, err error) {
	const byteOrderMark = "\xef\xbb\xbf"
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return 0, errors.New("this is a gzip archive; unpack it first, with gzip -d")
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return 0, errors.New("this is a zip archive; unpack it first, with unzip")
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return 0, errors.New("this is a zstd archive; unpack it first, with zstd -d")
	case bytes.HasPrefix(head, []byte("PAR1")):
		return 0, errors.New("this is a Parquet file; write its rows as JSON Lines first, with to_json(PATH, " +
			"orient=\"records\", lines=True) of pandas")
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return 0, errors.New("the text is UTF-16; convert it to UTF-8 first, with iconv -f UTF-16 -t UTF-8")
	case bytes.HasPrefix(head, []byte(byteOrderMark)):
		return len(byteOrderMark), nil
	}
	return 0, nil
}

// Read passes on UTF-8, and fails with a LineError at other bytes.
func (t *Reader) Read(p []byte) (int, error) {
	if t.good == 0 {
		if err := t.check(); err != nil {
			return 0, err
		}
	}
	n, err := t.r.Read(p[:min(len(p), t.good)])
	t.good -= n
	for i := 0; ; i++ {
		end := bytes.IndexByte(p[i:n], '\n')
		if end < 0 {
			break
		}
		i += end
		t.ends = append(t.ends, t.offset+int64(i))
	}
	t.offset += int64(n)
	return n, err
}

// check counts the next bytes that are whole characters: at least one, unless there is an error.
func (t *Reader) check() error {
	_, err := t.r.Peek(utf8.UTFMax)
	next, _ := t.r.Peek(t.r.Buffered())
	switch t.good = validLen(next); {
	case t.good > 0:
		return nil
	case len(next) == 0, err != nil && !errors.Is(err, io.EOF):
		return err
	}
	return &LineError{t.passed + len(t.ends) + 1, ErrNotUTF8}
}

// ErrNotUTF8 is the error of other bytes than UTF-8.
var ErrNotUTF8 = errors.New("the text is not UTF-8; convert it first, with iconv -t UTF-8")

// validLen is how many bytes of p are whole characters of UTF-8, up to the first that are not.
func validLen(p []byte) int {
	whole := len(p)
	for i := range min(utf8.UTFMax, len(p)) {
		if last := p[len(p)-1-i:]; utf8.RuneStart(last[0]) && !utf8.FullRune(last) {
			whole = len(p) - len(last)
		}
	}
	if utf8.Valid(p[:whole]) {
		return whole
	}
	n := 0
	for r, size := utf8.DecodeRune(p); r != utf8.RuneError || size > 1; r, size = utf8.DecodeRune(p[n:]) {
		n += size
	}
	return n
}

// Line is the line that offset is on. Offsets must not go back.
func (t *Reader) Line(offset int64) int {
	n := 0
	for n < len(t.ends) && t.ends[n] < offset {
		n++
	}
	t.ends = t.ends[n:]
	t.passed += n
	return t.passed + 1
}

// ReadAll reads a text as Python reads one: however lines end, they end in \n afterwards. It refuses texts of more
// than limit MiB.
func ReadAll(r io.Reader, limit int) (string, error) {
	text, err := NewReader(r)
	if err != nil {
		return "", err
	}
	data, err := io.ReadAll(io.LimitReader(text, int64(limit)<<20+1))
	if err != nil {
		return "", Cause(err)
	}
	if len(data) > limit<<20 {
		return "", fmt.Errorf("the text is larger than %d MiB; cut it down, with head -c", limit)
	}
	return universalNewlines(data), nil
}

// universalNewlines turns \r\n and \r into \n.
func universalNewlines(data []byte) string {
	if bytes.IndexByte(data, '\r') < 0 {
		return string(data)
	}
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(data))
}

// Offset is how many bytes have been passed on.
func (t *Reader) Offset() int64 { return t.offset }
