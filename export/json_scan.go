package export

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

const (
	// maxResultBytes bounds the time to read a file. Details of a million requests stay below it.
	maxResultBytes = 1 << 30
	// maxScalarBytes bounds a key and a value.
	maxScalarBytes = 64 << 10
	// maxWordBytes bounds a number or a name such as null.
	maxWordBytes = 400
)

var errResultTooLong = fmt.Errorf("more than %d MiB, which is too much for a result; save it without --save-detailed", maxResultBytes>>20)

// jsonScanner reads the top level of JSON objects. It skips nested objects and lists without keeping them, so that a result
// with millions of figures takes no memory.
type jsonScanner struct {
	r    *bufio.Reader
	left int64
	buf  []byte
	err  error // the first error; nothing is read after it
}

// next reads one byte, 0 after an error.
func (s *jsonScanner) next() (c byte) {
	switch {
	case s.err != nil:
	case s.left == 0:
		s.err = errResultTooLong
	default:
		s.left--
		c, s.err = s.r.ReadByte()
	}
	return c
}

func (s *jsonScanner) fail(expected string) {
	if s.err == nil {
		s.err = errors.New("expected " + expected)
	}
}

// skipSpace skips white space and returns the byte after it.
func (s *jsonScanner) skipSpace() byte {
	for {
		if c := s.next(); s.err != nil || c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return c
		}
	}
}

// expect skips white space and reads one of the wanted bytes.
func (s *jsonScanner) expect(wanted, words string) byte {
	c := s.skipSpace()
	if strings.IndexByte(wanted, c) < 0 {
		s.fail(words)
	}
	return c
}

// object reads one object. It calls scalar for each key whose value is neither an object nor a list: a text is decoded, any
// other value is passed as written. The error is io.EOF at the end of the file.
func (s *jsonScanner) object(scalar func(key, value string)) error {
	if s.expect("{", "a JSON object"); s.err != nil {
		return s.err
	}
	for c := s.expect(`"}`, "a key"); s.err == nil && c == '"'; {
		s.pair(scalar)
		if c = s.expect(",}", `"," or "}"`); c == ',' {
			c = s.expect(`"`, "a key")
		}
	}
	if s.err == io.EOF {
		return errors.New("the file ends in the middle: it was cut, or is still being written")
	}
	return s.err
}

// pair reads a key, after its opening quote, and its value.
func (s *jsonScanner) pair(scalar func(key, value string)) {
	key, value := s.text(), ""
	s.expect(":", `":"`)
	switch c := s.skipSpace(); c {
	case '{', '[':
		s.skip()
		return
	case '"':
		value = s.text()
	default:
		value = s.word(c)
	}
	if s.err == nil {
		scalar(key, value)
	}
}

// text reads a string after its opening quote. A string above maxScalarBytes becomes "".
func (s *jsonScanner) text() (text string) {
	s.buf = append(s.buf[:0], '"')
	for escaped := false; s.err == nil; {
		c := s.next()
		if len(s.buf) <= maxScalarBytes {
			s.buf = append(s.buf, c)
		}
		if c == '"' && !escaped {
			break
		}
		escaped = c == '\\' && !escaped
	}
	if s.err != nil || len(s.buf) > maxScalarBytes {
		return ""
	}
	if err := json.Unmarshal(s.buf, &text); err != nil {
		s.fail("a text: " + cut(Clean(err.Error()), 80))
	}
	return text
}

// word reads a number or a name such as null, NaN or Infinity.
func (s *jsonScanner) word(c byte) string {
	s.buf = s.buf[:0]
	for len(s.buf) <= maxWordBytes && (strings.IndexByte("+-.0123456789", c) >= 0 || c|0x20 >= 'a' && c|0x20 <= 'z') {
		s.buf = append(s.buf, c)
		c = s.next()
	}
	if n := len(s.buf); n == 0 || n > maxWordBytes {
		s.fail("a value")
	}
	if s.err == nil {
		s.left++
		s.err = s.r.UnreadByte()
	}
	return string(s.buf)
}

// skip skips an object or a list after its opening bracket.
func (s *jsonScanner) skip() {
	depth, inText, escaped := 1, false, false
	for depth > 0 && s.err == nil {
		c := s.next()
		switch {
		case escaped:
			escaped = false
		case inText:
			escaped, inText = c == '\\', c != '"'
		case c == '"':
			inText = true
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
	}
}
