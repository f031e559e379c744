package imports

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"benchtop/datasets/textfile"
	"benchtop/internal/jsonscan"
)

// values reads the objects of a file: one, one on each line, or those of an array.
type values struct {
	text    *textfile.Reader
	limited *limitReader
	decoder *json.Decoder
	raw     json.RawMessage // of the last
	blanks  int64           // bytes before the first
	array   bool
	ended   bool
}

// maxBlanks bounds the blanks before the first object, of which a packed kilobyte has any number.
const maxBlanks = 1 << 20

// foreignError is the error for a file that is of no format at all, rather than a broken one.
type foreignError struct{ error }

func (e foreignError) Unwrap() error { return e.error }

func newValues(r io.Reader) (*values, error) {
	text, err := textfile.NewJSONReader(r)
	if err != nil {
		return nil, foreignError{err}
	}
	v := &values{text: text}
	buffered := bufio.NewReaderSize(text, 1<<12)
	c, err := buffered.ReadByte()
	for ; err == nil && v.blanks < maxBlanks && bytes.IndexByte([]byte(" \t\r\n"), c) >= 0; v.blanks++ {
		if c, err = buffered.ReadByte(); v.blanks%(1<<16) == 0 {
			text.Line(v.blanks) // so that it forgets the line ends
		}
	}
	switch {
	case errors.Is(err, io.EOF):
		return nil, foreignError{errors.New("the file is empty; " + expected)}
	case errors.Is(err, textfile.ErrNotUTF8):
		return nil, foreignError{err}
	case err != nil:
		return nil, err
	case c != '{' && c != '[':
		return nil, foreignError{errors.New("this is not JSON; " + expected)}
	}
	_ = buffered.UnreadByte() // it has just been read
	v.limited = &limitReader{r: buffered}
	v.decoder = json.NewDecoder(v.limited)
	if v.array = c == '['; v.array {
		v.limited.left = 1 << 16
		_, err = v.decoder.Token()
	}
	return v, err
}

// next is the next object, good until the next call, or io.EOF.
func (v *values) next() ([]byte, error) {
	if v.ended {
		return nil, io.EOF
	}
	v.limited.left = textfile.MaxObject + 1<<16
	if v.array && !v.decoder.More() {
		v.ended = true
		if _, err := v.decoder.Token(); err != nil {
			return nil, v.fail(err)
		}
		if v.decoder.More() {
			return nil, v.fail(errors.New("something follows the array; expected one array, or an object on each line"))
		}
		return nil, io.EOF
	}
	if err := v.decoder.Decode(&v.raw); err != nil {
		if errors.Is(err, io.EOF) && !v.array {
			v.ended = true
			return nil, io.EOF
		}
		return nil, v.fail(err)
	}
	if v.raw[0] != '{' {
		return nil, foreignError{v.fail(fmt.Errorf("expected an object: got %s", jsonscan.Kind(v.raw)))}
	}
	v.number() // so that the text forgets the line ends before it
	return v.raw, nil
}

// fail says on which line an error is.
func (v *values) fail(err error) error {
	if _, placed := errors.AsType[*textfile.LineError](err); placed {
		return err
	}
	place := v.blanks + v.decoder.InputOffset()
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		place = max(place, v.blanks+syntax.Offset)
		err = fmt.Errorf("not JSON: %w", err)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		place = v.text.Offset()
		err = errors.New("the file ends before its last object does; is it complete?")
	}
	return textfile.AtLine(v.text.Line(place), err)
}

// number is the line of the end of the last object.
func (v *values) number() int { return v.text.Line(v.blanks + v.decoder.InputOffset()) }

// limitReader bounds the bytes of one object, and with them memory.
type limitReader struct {
	r    io.Reader
	left int
}

func (l *limitReader) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, fmt.Errorf("an object is larger than %d MiB; cut the file into smaller objects, one on each line",
			textfile.MaxObject>>20)
	}
	n, err := l.r.Read(p[:min(len(p), l.left)])
	l.left -= n
	return n, err
}
