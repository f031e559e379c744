package datasets

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxJSONLine bounds a line in bytes, and with it what reading one takes. Lines that carry pictures need megabytes.
const maxJSONLine = 64 << 20

// jsonLines reads a file that has an object on every line, one line at a time.
type jsonLines struct {
	text   *textReader
	lines  *bufio.Reader // of the text
	buffer []byte
	offset int64 // behind the line last read
	number int   // of the line last read, from 1
	limit  int   // bytes that a line may have
}

func newJSONLines(r io.Reader) (*jsonLines, error) {
	text, err := newTextReader(r)
	if err != nil {
		return nil, err
	}
	return &jsonLines{text: text, lines: bufio.NewReaderSize(text, 1<<16), limit: maxJSONLine}, nil
}

// eachObject calls do with every object of the file and the number of its line. The object is do's until it returns;
// its error gets the line. A file without any object is an error that says what form was expected.
func eachObject(r io.Reader, form string, do func(object []byte, line int) error) error {
	lines, err := newJSONLines(r)
	if err != nil {
		return err
	}
	for found := false; ; found = true {
		object, err := lines.next()
		if errors.Is(err, io.EOF) {
			if !found {
				return fmt.Errorf("the file is empty; expected %s on each line", form)
			}
			return nil
		}
		if err != nil {
			return err
		}
		if err := do(object, lines.number); err != nil {
			return &lineError{lines.number, err}
		}
	}
}

// next returns the next line's object, which is valid until the next call, or io.EOF. Blank lines are passed over. What
// Python reads as a number though it is no JSON has been made some: NaN is null, and infinities are ±1e999.
func (l *jsonLines) next() ([]byte, error) {
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
		object, err := checkObject(line, complete)
		if err != nil {
			return nil, &lineError{l.number, err}
		}
		return object, nil
	}
}

// read returns the bytes of the next line and whether a line end follows them. At the end of the file there are none.
func (l *jsonLines) read() (line []byte, complete bool, err error) {
	l.number = l.text.line(l.offset)
	l.buffer = l.buffer[:0]
	for {
		part, err := l.lines.ReadSlice('\n')
		if len(l.buffer)+len(part) > l.limit {
			return nil, false, &lineError{l.number, fmt.Errorf("the line is longer than %d MiB; is this a file with an object on each line?", l.limit>>20)}
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

// checkObject returns the line as JSON if it is one object. Only the last line of a file is not complete.
func checkObject(line []byte, complete bool) ([]byte, error) {
	valid := json.Valid(line)
	if !valid {
		line = plainNumbers(line)
		valid = json.Valid(line)
	}
	if line[0] != '{' && (valid || line[0] == '[') {
		return nil, fmt.Errorf("expected one object on each line: got %s", jsonKind(line))
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

// plainNumbers writes what Python takes for numbers but JSON does not know as something that JSON does.
func plainNumbers(line []byte) []byte {
	if !bytes.Contains(line, []byte("NaN")) && !bytes.Contains(line, []byte("Infinity")) {
		return line
	}
	var plain []byte
	for i := 0; i < len(line); {
		rest := line[i:]
		switch {
		case line[i] == '"':
			end := stringEnd(line, i)
			plain = append(plain, line[i:end]...)
			i = end
		case bytes.HasPrefix(rest, []byte("NaN")):
			plain = append(plain, "null"...)
			i += len("NaN")
		case bytes.HasPrefix(rest, []byte("Infinity")):
			plain = append(plain, "1e999"...) // a minus before it stays where it is
			i += len("Infinity")
		default:
			plain = append(plain, line[i])
			i++
		}
	}
	return plain
}
