package chattemplate

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds on a tag, which is parsed by recursion.
const (
	maxBrackets = 60   // within each other
	maxTokens   = 4000 // of one tag
)

// lexer cuts a template into text and tags, by the rules of trim_blocks and lstrip_blocks.
type lexer struct {
	rest      string
	line      int  // on which rest begins
	lineStart bool // rest begins a line, or follows a line feed that a tag has swallowed
}

func newLexer(source string) lexer {
	source = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(source)
	return lexer{strings.TrimSuffix(source, "\n"), 1, true}
}

// token is a name, a number, a sign, or a quote with the text of a string behind it; "" at the end of a tag.
type token struct {
	text string
	line int
}

// isString tells strings from other tokens.
func (t token) isString() bool { return t.text != "" && t.text[0] == '"' }

// isName tells names, keywords among them, from other tokens.
func (t token) isName() bool {
	r, _ := utf8.DecodeRuneInString(t.text)
	return r == '_' || unicode.IsLetter(r)
}

func (t token) isNumber() bool { return t.text != "" && t.text[0] >= '0' && t.text[0] <= '9' }

// isSpace tells Python's blanks, which are Unicode's and four control characters.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

// advance takes n bytes off the rest.
func (l *lexer) advance(n int) string {
	s := l.rest[:n]
	l.rest = l.rest[n:]
	l.line += strings.Count(s, "\n")
	return s
}

// sign takes a sign off the rest, "" if none comes next.
func (l *lexer) sign() string {
	if l.rest != "" && (l.rest[0] == '-' || l.rest[0] == '+') {
		return l.advance(1)
	}
	return ""
}

// next returns the text before the next tag, and the tag's tokens and kind: '{' prints, '%' is a statement, '#' a
// comment or raw text, and 0 the end of the template.
func (l *lexer) next() (text string, kind byte, tag []token, err error) {
	i := opener(l.rest)
	if i < 0 {
		return l.advance(len(l.rest)), 0, nil, nil
	}
	text = l.advance(i)
	kind = l.advance(2)[1]
	text = trimBefore(text, kind, l.sign(), l.lineStart)
	closing := ""
	if kind == '#' {
		closing, err = l.comment()
	} else {
		tag, closing, err = l.tag(kind)
	}
	if err == nil && kind == '%' && tag[0].text == "raw" && len(tag) == 2 {
		var raw string
		raw, closing, err = l.raw(closing)
		text, kind, tag = text+raw, '#', nil
	}
	trimmed := l.rest
	if closing == "-" {
		trimmed = strings.TrimLeftFunc(l.rest, isSpace)
	} else if closing == "" && kind != '{' {
		trimmed = strings.TrimPrefix(l.rest, "\n")
	}
	l.lineStart = strings.HasSuffix(l.advance(len(l.rest)-len(trimmed)), "\n")
	return text, kind, tag, err
}

// opener returns where the next tag begins, or -1.
func opener(s string) int {
	for i := 0; i+1 < len(s); i++ {
		if s[i] == '{' && strings.IndexByte("{%#", s[i+1]) >= 0 {
			return i
		}
	}
	return -1
}

// trimBefore takes off the blanks that the tag after a text swallows.
func trimBefore(text string, kind byte, sign string, lineStart bool) string {
	if sign == "-" {
		return strings.TrimRightFunc(text, isSpace)
	}
	last := strings.LastIndexByte(text, '\n') + 1
	if sign == "" && kind != '{' && (last > 0 || lineStart) && strings.TrimFunc(text[last:], isSpace) == "" {
		return text[:last]
	}
	return text
}

var endComment, endRaw = regexp.MustCompile(`([-+]?)#\}`), regexp.MustCompile(`\{%([-+]?)\s*endraw\s*([-+]?)%\}`)

// until takes the text before what ends it, and the signs there.
func (l *lexer) until(end *regexp.Regexp, missing string) (text string, signs []string, err error) {
	at := end.FindStringSubmatchIndex(l.rest)
	if at == nil {
		return "", nil, errors.New(missing)
	}
	signs = end.FindStringSubmatch(l.rest[at[0]:at[1]])[1:]
	return l.advance(at[1])[:at[0]], signs, nil
}

// comment skips a comment, and returns the sign at its end.
func (l *lexer) comment() (closing string, err error) {
	_, signs, err := l.until(endComment, "unterminated comment")
	return strings.Join(signs, ""), err
}

// raw takes the text up to endraw, and the sign at the end of that.
func (l *lexer) raw(opening string) (text, closing string, err error) {
	text, signs, err := l.until(endRaw, "{% raw %} has no {% endraw %}")
	if err == nil && opening == "+" {
		err = errors.New("{% raw %} cannot end with +")
	}
	if err != nil {
		return "", "", err
	}
	start := false
	if opening == "-" {
		trimmed := strings.TrimLeftFunc(text, isSpace)
		start = strings.HasSuffix(text[:len(text)-len(trimmed)], "\n")
		text = trimmed
	}
	return trimBefore(text, '%', signs[0], start), signs[1], nil
}

// word matches a string, a number, a name or a sign. Numbers that Python and Go write differently do not match.
var word = regexp.MustCompile(`^(?:'(?:[^'\\]|\\(?s:.))*'|"(?:[^"\\]|\\(?s:.))*"|(?:0|[1-9]\d*)(?:\.\d+)?\b|` +
	`[\pL_][\pL\pN_]*|//|\*\*|==|!=|<=|>=|[-+*/%~<>=()\[\]{}.,:|])`)

// tag takes the tokens up to the end of a tag, and the sign there.
func (l *lexer) tag(kind byte) (tag []token, closing string, err error) {
	end, signs := "}}", []string{"", "-"}
	if kind == '%' {
		end, signs = "%}", append(signs, "+")
	}
	var open []byte // brackets that are due
	for {
		l.advance(len(l.rest) - len(strings.TrimLeftFunc(l.rest, isSpace)))
		for _, sign := range signs {
			if len(open) == 0 && strings.HasPrefix(l.rest, sign+end) {
				tag = append(tag, token{"", l.line})
				l.advance(len(sign + end))
				return tag, sign, nil
			}
		}
		t := token{word.FindString(l.rest), l.line}
		if t.text == "" {
			return nil, "", unreadable(l.rest)
		}
		l.advance(len(t.text))
		if c := t.text[0]; c == '\'' || c == '"' {
			t.text, err = unquote(t.text[1 : len(t.text)-1])
			t.text = `"` + t.text
		} else {
			open, err = nested(open, c)
		}
		if err != nil {
			return nil, "", err
		}
		switch tag = append(tag, t); {
		case len(open) > maxBrackets:
			return nil, "", fmt.Errorf("brackets nested deeper than %d", maxBrackets)
		case len(tag) > maxTokens:
			return nil, "", fmt.Errorf("a tag has more than %d tokens", maxTokens)
		}
	}
}

// nested returns the closing brackets that are due behind a token that begins with c.
func nested(due []byte, c byte) ([]byte, error) {
	switch c {
	case '(', '[', '{':
		return append(due, map[byte]byte{'(': ')', '[': ']', '{': '}'}[c]), nil
	case ')', ']', '}':
		if len(due) == 0 || due[len(due)-1] != c {
			return nil, fmt.Errorf("unexpected %q", string(c))
		}
		return due[:len(due)-1], nil
	}
	return due, nil
}

func unreadable(s string) error {
	switch {
	case s == "":
		return errors.New("unterminated tag")
	case s[0] == '\'' || s[0] == '"':
		return errors.New("unterminated string")
	}
	return fmt.Errorf("unexpected %q", string([]rune(s)[:1]))
}

// unquote decodes what stands between the quotes of a string, by Python's rules: escapes it does not know stay as they
// are.
func unquote(s string) (string, error) {
	var b strings.Builder
	for {
		before, escape, found := strings.Cut(s, `\`)
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		c, size := utf8.DecodeRuneInString(escape)
		switch {
		case c == '\n':
			s = escape[size:]
		case c == '\'' || c == '"':
			b.WriteRune(c)
			s = escape[size:]
		case c < utf8.RuneSelf && !strings.ContainsRune(`\abfnrtvxuUN01234567`, c):
			b.WriteByte('\\')
			s = escape
		default:
			r, _, rest, err := strconv.UnquoteChar(`\`+escape, 0)
			if err != nil {
				return "", fmt.Errorf("the escape \\%s in a string is not supported", escape[:size])
			}
			b.WriteRune(r)
			s = rest
		}
	}
}
