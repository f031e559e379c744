package textfile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"benchtop/internal/jsonscan"
)

// MaxObject bounds an object in bytes, and with it the memory of a reader. Objects that carry pictures need megabytes.
const MaxObject = 64 << 20

// JSONLines reads a file that has an object on every line, one line at a time.
type JSONLines struct {
	text   *Reader
	lines  *bufio.Reader // of the text
	buffer []byte
	offset int64 // behind the line last read
	Number int   // of the line last read, from 1
	limit  int   // bytes that a line may have
}

func NewJSONLines(r io.Reader) (*JSONLines, error) {
	text, err := NewReader(r)
	if err != nil {
		return nil, err
	}
	return &JSONLines{text: text, lines: bufio.NewReaderSize(text, 1<<16), limit: MaxObject}, nil
}

// EachObject calls do with every object of the file and the number of its line. The object is do's until it returns;
// its error gets the line. A file without any object is an error that says what form was expected.
func EachObject(r io.Reader, form string, do func(object []byte, line int) error) error {
	lines, err := NewJSONLines(r)
	if err != nil {
		return err
	}
	for found := false; ; found = true {
		object, err := lines.Next()
		if errors.Is(err, io.EOF) {
			if !found {
				return fmt.Errorf("the file is empty; expected %s on each line", form)
			}
			return nil
		}
		if err != nil {
			return err
		}
		if err := do(object, lines.Number); err != nil {
			return &LineError{lines.Number, err}
		}
	}
}

// Rows are what read makes of the objects of a file that EachObject takes.
func Rows[T any](r io.Reader, form string, read func(object []byte, line int) (T, error)) (rows []T, err error) {
	err = EachObject(r, form, func(object []byte, line int) error {
		row, err := read(object, line)
		rows = append(rows, row)
		return err
	})
	return rows, err
}

// Next returns the next line's object, which is valid until the next call, or io.EOF. Blank lines are passed over.
// Numbers of Python that JSON does not know are rewritten: NaN is null, and infinities are ±1e999.
func (l *JSONLines) Next() ([]byte, error) {
	for {
		line, complete, err := l.read()
		if err != nil {
			return nil, err
		}
		if line = bytes.Trim(line, " \t\r\n"); len(line) == 0 {
			if !complete {
				return nil, io.EOF
			}
			continue
		}
		object, err := CheckObject(line, complete)
		if err != nil {
			return nil, &LineError{l.Number, err}
		}
		return object, nil
	}
}

// read returns the bytes of the next line and whether a line end follows them. At the end of the file there are none.
func (l *JSONLines) read() (line []byte, complete bool, err error) {
	l.Number = l.text.Line(l.offset)
	l.buffer = l.buffer[:0]
	for {
		part, err := l.lines.ReadSlice('\n')
		if len(l.buffer)+len(part) > l.limit {
			return nil, false, &LineError{l.Number,
				fmt.Errorf("the line is longer than %d MiB; is this a file with an object on each line?", l.limit>>20)}
		}
		l.buffer = append(l.buffer, part...)
		l.offset += int64(len(part))
		switch {
		case err == nil, errors.Is(err, io.EOF):
			return l.buffer, err == nil, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, false, err
		}
	}
}

// CheckObject returns the line as JSON if it is one object. Only the last line of a file is not complete.
func CheckObject(line []byte, complete bool) ([]byte, error) {
	valid := json.Valid(line)
	if !valid {
		line = jsonscan.PlainNumbers(line)
		valid = json.Valid(line)
	}
	if line[0] != '{' && (valid || line[0] == '[') {
		return nil, fmt.Errorf("expected one object on each line: got %s", jsonscan.Kind(line))
	}
	if valid {
		return line, nil
	}
	var value json.RawMessage
	err := json.NewDecoder(bytes.NewReader(line)).Decode(&value)
	switch {
	case err == nil:
		return nil, errors.New("something follows the line's object; expected one object on each line")
	case !errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("not JSON: %w", err)
	case complete:
		return nil, errors.New("the object does not end on its line; expected one whole object on each line")
	}
	return nil, errors.New("the file ends before its last object does; is it complete?")
}

// NewJSONReader is NewReader for JSON that a decoder reads, with PlainNumbers in it. Offsets are those of the rewritten
// text.
func NewJSONReader(r io.Reader) (*Reader, error) {
	return NewReader(&plainReader{r: bufio.NewReaderSize(r, 1<<16)})
}

// plainReader passes JSON on with PlainNumbers in it.
type plainReader struct {
	r            *bufio.Reader
	text, escape bool   // within a string, behind a backslash
	rest         string // of a number that was rewritten
}

func (p *plainReader) Read(b []byte) (n int, err error) {
	if p.rest != "" {
		n = copy(b, p.rest)
		p.rest = p.rest[n:]
		return n, nil
	}
	word, err := p.r.Peek(len("-Infinity"))
	if found := jsonscan.FirstToken(word); !p.text && bytes.HasPrefix(word, found) && len(found) > 0 &&
		found[0] != '"' {
		p.rest = string(jsonscan.PlainNumbers(found))
		_, _ = p.r.Discard(len(found)) // it has just been seen
		return p.Read(b)
	}
	next, _ := p.r.Peek(min(p.r.Buffered(), len(b)))
	for n < len(next) && (n == 0 || p.text || next[n] != 'N' && next[n] != 'I') {
		switch c := next[n]; {
		case p.escape:
			p.escape = false
		case c == '"':
			p.text = !p.text
		case p.text && c == '\\':
			p.escape = true
		case p.text: // most of a file
			if more := bytes.IndexAny(next[n:], "\"\\"); more > 0 {
				n += more - 1
			} else {
				n = len(next) - 1
			}
		}
		n++
	}
	if n == 0 {
		return 0, err
	}
	copy(b, next[:n])
	_, _ = p.r.Discard(n) // as before
	return n, nil
}
