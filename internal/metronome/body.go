package metronome

import (
	"bytes"
)

const (
	defaultChunks = 16
	mostChunks    = 1_000_000
)

// chunksAsked finds in the JSON of a request how many tokens, here chunks, it wants. It looks at structure alone: what
// stands in other members is passed over, valid or not.
func chunksAsked(body []byte) (int, error) {
	s := scanner{rest: body}
	if !s.take('{') {
		return 0, malformed("the body: expected a JSON object")
	}
	var plain, chat int // 0 for not there
	for first := true; !s.take('}'); first = false {
		if !first && !s.take(',') {
			return 0, malformed("the body: expected , or } between members of the JSON object")
		}
		name, ok := s.text()
		if !ok || !s.take(':') {
			return 0, malformed("the body: expected a name and a colon in the JSON object")
		}
		value, ok := s.value()
		if !ok {
			return 0, malformed("the body: the JSON object is cut off or has a member without value")
		}
		switch string(name) {
		case "max_tokens":
			plain, ok = count(value)
		case "max_completion_tokens":
			chat, ok = count(value)
		}
		if !ok {
			return 0, malformed("%s is %.40q: expected a whole number from 1", name, value)
		}
	}
	if s.space(); len(s.rest) > 0 {
		return 0, malformed("the body: something follows the JSON object")
	}
	switch {
	case chat > 0:
		return min(chat, mostChunks), nil
	case plain > 0:
		return min(plain, mostChunks), nil
	}
	return defaultChunks, nil
}

// count reads a number of chunks; null counts as not there.
func count(value []byte) (int, bool) {
	if string(value) == "null" {
		return 0, true
	}
	n, err := digits(value)
	return n, err == nil && n > 0
}

// scanner walks over JSON.
type scanner struct{ rest []byte }

func (s *scanner) space() {
	i := 0
	for i < len(s.rest) && (s.rest[i] == ' ' || s.rest[i] == '\n' || s.rest[i] == '\r' || s.rest[i] == '\t') {
		i++
	}
	s.rest = s.rest[i:]
}

// take passes over space and c; false if something else comes.
func (s *scanner) take(c byte) bool {
	s.space()
	if len(s.rest) == 0 || s.rest[0] != c {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

// text passes over a string and returns what is between its quotes, escapes and all.
func (s *scanner) text() ([]byte, bool) {
	if !s.take('"') {
		return nil, false
	}
	for i := 0; ; {
		n := bytes.IndexByte(s.rest[i:], '"')
		if n < 0 {
			return nil, false
		}
		i += n
		escapes := 0
		for escapes < i && s.rest[i-1-escapes] == '\\' {
			escapes++
		}
		if i++; escapes%2 == 0 {
			text := s.rest[:i-1]
			s.rest = s.rest[i:]
			return text, true
		}
	}
}

// value passes over a value and returns it.
func (s *scanner) value() ([]byte, bool) {
	s.space()
	from := s.rest
	if len(from) == 0 {
		return nil, false
	}
	ok := true
	switch from[0] {
	case '"':
		_, ok = s.text()
	case '{', '[':
		ok = s.nested()
	default:
		s.rest = from[len(from)-len(bytes.TrimLeft(from, "+-.0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")):]
	}
	value := from[:len(from)-len(s.rest)]
	return value, ok && len(value) > 0
}

// nested passes over an object or array and all that is in it.
func (s *scanner) nested() bool {
	depth := 0
	for i := 0; i < len(s.rest); i++ {
		switch s.rest[i] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				s.rest = s.rest[i+1:]
				return true
			}
		case '"':
			s.rest = s.rest[i:]
			if _, ok := s.text(); !ok {
				return false
			}
			i = -1
		}
	}
	return false
}
