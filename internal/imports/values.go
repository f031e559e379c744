package imports

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"benchtop/datasets/jsonscan"
	"benchtop/datasets/textfile"
)

// values reads the objects of a file: one, one on each line, or those of an array.
type values struct {
	text    *textfile.Reader
	limited *limited
	decoder *json.Decoder
	raw     json.RawMessage // of the last
	line    int             // it begins on
	array   bool
	ended   bool
}

func newValues(r io.Reader) (*values, error) {
	text, err := textfile.NewReader(r)
	if err != nil {
		return nil, err
	}
	v := &values{text: text}
	buffered := bufio.NewReaderSize(text, 1<<12)
	for blanks := 0; ; blanks++ {
		c, err := buffered.ReadByte()
		if err != nil {
			if errors.Is(err, io.EOF) {
				v.ended = true
				return v, nil
			}
			return nil, err
		}
		if bytes.IndexByte([]byte(" \t\r\n"), c) >= 0 {
			continue
		}
		_ = buffered.UnreadByte() // it has just been read
		v.array = c == '['
		break
	}
	v.limited = &limited{r: buffered}
	v.decoder = json.NewDecoder(v.limited)
	if v.array {
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
		return nil, v.fail(fmt.Errorf("expected an object: got %s", jsonscan.Kind(v.raw)))
	}
	return v.raw, nil
}

// fail says on which line an error is.
func (v *values) fail(err error) error {
	if _, placed := errors.AsType[*textfile.LineError](err); placed {
		return err
	}
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("the file ends before its last object does; is it complete?")
	case errors.As(err, new(*json.SyntaxError)):
		err = fmt.Errorf("not JSON: %w", err)
	}
	return textfile.AtLine(v.number(), err)
}

// number is the line of the end of the last object.
func (v *values) number() int { return v.text.Line(v.decoder.InputOffset()) }

// limited bounds how much is read for one object, and with it memory.
type limited struct {
	r    io.Reader
	left int
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, fmt.Errorf("an object is larger than %d MiB; cut the file into smaller objects, one on each line", textfile.MaxObject>>20)
	}
	n, err := l.r.Read(p[:min(len(p), l.left)])
	l.left -= n
	return n, err
}
