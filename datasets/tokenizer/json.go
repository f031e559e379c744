package tokenizer

import (
	"errors"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// walker steps through JSON that json.Valid has accepted. A vocabulary is megabytes of it, of which encoding/json would
// read every byte four times on its way down.
type walker struct {
	data []byte
	at   int
	text []byte // the last string that had escapes
}

// peek returns the next byte that is not white space, without taking it; 0 at the end.
func (w *walker) peek() byte {
	for w.at < len(w.data) {
		switch c := w.data[w.at]; c {
		case ' ', '\t', '\r', '\n':
			w.at++
		default:
			return c
		}
	}
	return 0
}

// take reports whether c comes next, and steps over it.
func (w *walker) take(c byte) bool {
	if w.peek() != c {
		return false
	}
	w.at++
	return true
}

// value steps over the next value and returns it as it stands.
func (w *walker) value() []byte {
	first := w.peek()
	start := w.at
	switch first {
	case '"':
		w.skipString()
	case '{', '[':
		w.skipNested()
	default:
		w.skipScalar()
	}
	return w.data[start:w.at]
}

func (w *walker) skipString() {
	for w.at++; w.at < len(w.data); w.at++ {
		switch w.data[w.at] {
		case '\\':
			w.at++
		case '"':
			w.at++
			return
		}
	}
}

func (w *walker) skipNested() {
	for depth := 0; w.at < len(w.data); {
		switch w.data[w.at] {
		case '"':
			w.skipString()
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		w.at++
		if depth == 0 {
			return
		}
	}
}

func (w *walker) skipScalar() {
	for ; w.at < len(w.data); w.at++ {
		switch w.data[w.at] {
		case ',', ']', '}', ' ', '\t', '\r', '\n':
			return
		}
	}
}

// object calls each for every key of an object. each takes the value; key is good until the next string is read.
func (w *walker) object(each func(key []byte) error) error {
	if !w.take('{') {
		return errors.New("is not an object")
	}
	for !w.take('}') {
		key, err := w.string()
		if err != nil {
			return err
		}
		w.take(':')
		if err := each(key); err != nil {
			return err
		}
		w.take(',')
	}
	return nil
}

// array calls each for every element of an array. each takes the element.
func (w *walker) array(each func() error) error {
	if !w.take('[') {
		return errors.New("is not a list")
	}
	for !w.take(']') {
		if err := each(); err != nil {
			return err
		}
		w.take(',')
	}
	return nil
}

// string takes a string and returns its text, good until the next string is read.
func (w *walker) string() ([]byte, error) {
	if w.peek() != '"' {
		return nil, fmt.Errorf("%.40q stands where a string should", w.value())
	}
	start := w.at + 1
	w.skipString()
	quoted := w.data[start : w.at-1]
	for i, c := range quoted {
		if c == '\\' {
			var err error
			w.text, err = unescape(append(w.text[:0], quoted[:i]...), quoted[i:])
			return w.text, err
		}
	}
	return quoted, nil
}

// unescape appends the text of the inside of a JSON string. Half a surrogate pair is no text: it is refused, where
// encoding/json would put U+FFFD.
func unescape(text, quoted []byte) ([]byte, error) {
	for i := 0; i < len(quoted); i++ {
		if quoted[i] != '\\' {
			text = append(text, quoted[i])
			continue
		}
		i++
		switch c := quoted[i]; c {
		case 'b':
			text = append(text, '\b')
		case 'f':
			text = append(text, '\f')
		case 'n':
			text = append(text, '\n')
		case 'r':
			text = append(text, '\r')
		case 't':
			text = append(text, '\t')
		case 'u':
			r := codeUnit(quoted[i+1:])
			i += 4
			if utf16.IsSurrogate(r) {
				low := rune(-1)
				if rest := quoted[i+1:]; len(rest) >= 6 && rest[0] == '\\' && rest[1] == 'u' {
					low = codeUnit(rest[2:])
				}
				if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
					return nil, fmt.Errorf("the string %.40q holds half a surrogate pair", quoted)
				}
				i += 6
			}
			text = utf8.AppendRune(text, r)
		default:
			text = append(text, c)
		}
	}
	return text, nil
}

// codeUnit reads four hexadecimal digits.
func codeUnit(digits []byte) rune {
	var r rune
	for _, c := range digits[:4] {
		r <<= 4
		switch {
		case c >= 'a':
			r += rune(c-'a') + 10
		case c >= 'A':
			r += rune(c-'A') + 10
		default:
			r += rune(c - '0')
		}
	}
	return r
}

// whole takes a number that must be an integer from 0 to limit.
func (w *walker) whole(limit int) (int, error) {
	digits := w.value()
	n := 0
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, fmt.Errorf("%.40q stands where a number from 0 to %d should", digits, limit)
		}
		if n = n*10 + int(c-'0'); n > limit {
			return 0, fmt.Errorf("%.40s is above %d, the most that is taken", digits, limit)
		}
	}
	return n, nil
}
