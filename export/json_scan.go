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
	// longestResult in bytes bounds the time a file can take. Details of a million requests stay below.
	longestResult = 1 << 30
	// longestScalar in bytes bounds a key, or a value that is kept.
	longestScalar = 64 << 10
	// longestWord is more than any number takes.
	longestWord = 400
)

var errResultTooLong = fmt.Errorf("more than %d MiB, which is too much for a result; save it without --save-detailed", longestResult>>20)

// resultScanner reads the top level of JSON objects. What it is not asked for it passes over unread, so that a result with
// millions of figures takes no memory.
type resultScanner struct {
	r    *bufio.Reader
	left int64
	buf  []byte
}

// next reads one byte.
func (s *resultScanner) next() (byte, error) {
	if s.left == 0 {
		return 0, errResultTooLong
	}
	s.left--
	return s.r.ReadByte()
}

// blank skips white space and returns what follows it.
func (s *resultScanner) blank() (byte, error) {
	for {
		c, err := s.next()
		if err != nil || c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return c, err
		}
	}
}

// expect reads white space and one of the bytes wanted, and returns which.
func (s *resultScanner) expect(wanted, words string) (byte, error) {
	c, err := s.blank()
	if err != nil {
		return 0, unexpected(err)
	}
	if strings.IndexByte(wanted, c) < 0 {
		return 0, errors.New("expected " + words)
	}
	return c, nil
}

// object reads one object. For each key whose value is no object and no list it calls scalar, with a text as it is meant
// and anything else as it stands there. The error is io.EOF where nothing more comes.
func (s *resultScanner) object(scalar func(key, value string)) error {
	switch c, err := s.blank(); {
	case err != nil:
		return err
	case c != '{':
		return errors.New("expected a JSON object")
	}
	c, err := s.expect(`"}`, "a key")
	for err == nil && c == '"' {
		if err = s.pair(scalar); err != nil {
			break
		}
		if c, err = s.expect(",}", `"," or "}"`); err == nil && c == ',' {
			c, err = s.expect(`"`, "a key")
		}
	}
	return err
}

// pair reads a key, whose quote was read, and its value.
func (s *resultScanner) pair(scalar func(key, value string)) error {
	key, err := s.text()
	if err != nil {
		return err
	}
	if _, err := s.expect(":", `":"`); err != nil {
		return err
	}
	c, err := s.blank()
	if err != nil {
		return unexpected(err)
	}
	value := ""
	switch c {
	case '{', '[':
		return s.skip()
	case '"':
		value, err = s.text()
	default:
		value, err = s.word(c)
	}
	if err == nil {
		scalar(key, value)
	}
	return err
}

// text reads a string whose quote was read. One that is longer than it may be comes back as "".
func (s *resultScanner) text() (string, error) {
	s.buf = append(s.buf[:0], '"')
	for escaped := false; ; {
		c, err := s.next()
		if err != nil {
			return "", unexpected(err)
		}
		if len(s.buf) <= longestScalar {
			s.buf = append(s.buf, c)
		}
		if c == '"' && !escaped {
			break
		}
		escaped = c == '\\' && !escaped
	}
	if len(s.buf) > longestScalar {
		return "", nil
	}
	var text string
	if err := json.Unmarshal(s.buf, &text); err != nil {
		return "", errors.New("expected a text: " + cut(Clean(err.Error()), 80))
	}
	return text, nil
}

// word reads a number or a name such as null, NaN or Infinity.
func (s *resultScanner) word(c byte) (string, error) {
	s.buf = s.buf[:0]
	for strings.IndexByte("+-.0123456789", c) >= 0 || c|0x20 >= 'a' && c|0x20 <= 'z' {
		if s.buf = append(s.buf, c); len(s.buf) > longestWord {
			break
		}
		var err error
		if c, err = s.next(); err != nil {
			return "", unexpected(err)
		}
	}
	if n := len(s.buf); n == 0 || n > longestWord {
		return "", errors.New("expected a value")
	}
	s.left++
	return string(s.buf), s.r.UnreadByte()
}

// skip passes over an object or a list whose first bracket was read.
func (s *resultScanner) skip() error {
	depth, inText, escaped := 1, false, false
	for depth > 0 {
		c, err := s.next()
		if err != nil {
			return unexpected(err)
		}
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
	return nil
}

// unexpected is what the end of the file is in the middle of an object.
func unexpected(err error) error {
	if err == io.EOF {
		return errors.New("the file ends in the middle: it was cut, or is still being written")
	}
	return err
}
