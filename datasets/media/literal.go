package media

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A value written in Python is read as int64, float64, string, pyTuple or pyDict.
type (
	pyTuple []any
	pyDict  []pyItem // in the order written, keys that come twice included
	pyItem  struct{ key, value any }
)

// parseLiteral reads a Python literal as ast.literal_eval does, of the kinds above. Other kinds, escapes in strings and
// comments are refused.
func parseLiteral(text string) (any, error) {
	l := literal{text: text}
	value, err := l.list(0)
	if err == nil && l.at < len(text) {
		err = l.unexpected("the end")
	}
	if err != nil {
		return nil, err
	}
	return value, nil
}

// String writes the tuple as Python would.
func (t pyTuple) String() string {
	var s strings.Builder
	for i, value := range t {
		if i > 0 {
			s.WriteString(", ")
		}
		fmt.Fprint(&s, value)
	}
	if len(t) == 1 {
		s.WriteByte(',')
	}
	return "(" + s.String() + ")"
}

// literal is a text that is read from left to right.
type literal struct {
	text string
	at   int
}

// maxNesting bounds nesting, for the stack.
const maxNesting = 20

func (l *literal) blanks() {
	for l.at < len(l.text) && strings.IndexByte(" \t\n\r\f", l.text[l.at]) >= 0 {
		l.at++
	}
}

// take skips blanks and c, and reports whether c was there. Blanks behind it are skipped too.
func (l *literal) take(c byte) bool {
	l.blanks()
	if l.at == len(l.text) || l.text[l.at] != c {
		return false
	}
	l.at++
	l.blanks()
	return true
}

func (l *literal) unexpected(want string) error {
	got := "the end"
	if l.at < len(l.text) {
		rest := []rune(l.text[l.at:min(len(l.text), l.at+64)])
		got = strconv.Quote(string(rest[:min(len(rest), 12)]))
	}
	return fmt.Errorf("at character %d: expected %s, got %s", l.at+1, want, got)
}

// list is a value, or several with commas between them, which make a tuple with or without parentheses around it.
func (l *literal) list(depth int) (any, error) {
	first, err := l.value(depth)
	if err != nil || !l.take(',') {
		return first, err
	}
	tuple := pyTuple{first}
	for l.at < len(l.text) && l.text[l.at] != ')' {
		value, err := l.value(depth)
		if err != nil {
			return nil, err
		}
		tuple = append(tuple, value)
		if !l.take(',') {
			break
		}
	}
	return tuple, nil
}

func (l *literal) value(depth int) (any, error) {
	if depth > maxNesting {
		return nil, errors.New("it is nested too deeply")
	}
	l.blanks()
	defer l.blanks()
	if l.at == len(l.text) {
		return nil, l.unexpected("a value")
	}
	switch c := l.text[l.at]; {
	case l.take('('):
		return l.parenthesis(depth + 1)
	case l.take('{'):
		return l.dict(depth + 1)
	case c == '\'' || c == '"':
		return l.string(c)
	case l.take('-'):
		return l.number(-1)
	case l.take('+'):
		return l.number(1)
	}
	return l.number(1)
}

func (l *literal) parenthesis(depth int) (any, error) {
	if l.take(')') {
		return pyTuple{}, nil
	}
	value, err := l.list(depth)
	if err == nil && !l.take(')') {
		err = l.unexpected(`"," or ")"`)
	}
	return value, err
}

func (l *literal) dict(depth int) (any, error) {
	dict := pyDict{}
	for !l.take('}') {
		key, err := l.value(depth)
		if err != nil {
			return nil, err
		}
		if !l.take(':') {
			return nil, l.unexpected(`":"`)
		}
		value, err := l.value(depth)
		if err != nil {
			return nil, err
		}
		dict = append(dict, pyItem{key, value})
		if !l.take(',') {
			if l.take('}') {
				break
			}
			return nil, l.unexpected(`"," or "}"`)
		}
	}
	return dict, nil
}

func (l *literal) string(quote byte) (any, error) {
	length := strings.IndexByte(l.text[l.at+1:], quote)
	if length < 0 {
		return nil, fmt.Errorf("at character %d: the string does not end", l.at+1)
	}
	s := l.text[l.at+1 : l.at+1+length]
	if strings.ContainsAny(s, "\\\n\r") {
		return nil, fmt.Errorf("at character %d: the string holds a backslash or a new line", l.at+1)
	}
	l.at += length + 2
	return s, nil
}

var (
	// numberLike matches text that may be a number, for strconv to judge.
	numberLike = regexp.MustCompile(`^[0-9.](?:[eE][+-]|[\w.])*`)
	// octalByZero is a number such as 012, which is octal to Go and an error to Python.
	octalByZero = regexp.MustCompile(`^0[0_]*[1-9]`)
)

// number is an integer in any of Python's bases, or a float.
func (l *literal) number(sign int64) (any, error) {
	digits := numberLike.FindString(l.text[l.at:])
	n, err := strconv.ParseInt(digits, 0, 64)
	if err == nil && (n == 0 || !octalByZero.MatchString(digits)) {
		l.at += len(digits)
		return sign * n, nil
	}
	if strings.ContainsAny(digits, ".eE") {
		if f, ok := ParseFloat(digits); ok {
			l.at += len(digits)
			return float64(sign) * f, nil
		}
	}
	return nil, l.unexpected("a number, a string, a tuple or a dict")
}

// ParseFloat accepts what float() of Python accepts in ASCII: blanks around, underscores between digits, inf and nan, but no
// hexadecimal.
func ParseFloat(s string) (float64, bool) {
	s = strings.TrimSpace(s)
	if strings.ContainsAny(s, "xXpP") || misplaced.MatchString(s) {
		return 0, false
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
	return f, err == nil || errors.Is(err, strconv.ErrRange) // out of range is infinite, in Python too
}

// misplaced is an underscore that does not stand between digits.
var misplaced = regexp.MustCompile(`(?:^|[^0-9])_|_(?:[^0-9]|$)`)
