package chattemplate

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Bounds on a tag, for gonja reads it by recursion.
const (
	maxBrackets = 60   // within each other
	maxWords    = 4000 // of one tag
)

// word matches a string, a number, a name or a sign. Numbers are those that gonja and Jinja2 read alike.
var word = regexp.MustCompile(`^(?:'(?:[^'\\]|\\(?s:.))*'|"(?:[^"\\]|\\(?s:.))*"|(?:0|[1-9]\d*)(?:\.\d+)?\b|[\pL_][\pL\pN_]*|//|\*\*|==|!=|<=|>=|[-+*/%~<>=()\[\]{}.,:|])`)

// words cuts the inside of a tag into words, and returns how the tag ended ("-", "+" or "") and what comes after it.
func words(s string, kind byte) (tag []string, closing, rest string, err error) {
	end := map[byte]string{'{': "}}", '%': "%}"}[kind]
	var open []byte // the brackets that are due
	for {
		s = strings.TrimLeftFunc(s, isSpace)
		if len(open) == 0 {
			if strings.HasPrefix(s, end) {
				return tag, "", s[2:], nil
			}
			if s != "" && (s[0] == '-' || s[0] == '+' && kind == '%') && strings.HasPrefix(s[1:], end) {
				return tag, s[:1], s[3:], nil
			}
		}
		w := word.FindString(s)
		if w == "" {
			return nil, "", "", unreadable(s)
		}
		s = s[len(w):]
		switch w[0] {
		case '(', '[', '{':
			open = append(open, map[byte]byte{'(': ')', '[': ']', '{': '}'}[w[0]])
		case ')', ']', '}':
			if len(open) == 0 || open[len(open)-1] != w[0] {
				return nil, "", "", fmt.Errorf("unexpected %q", w)
			}
			open = open[:len(open)-1]
		case '\'', '"':
			text, err := unquote(w[1 : len(w)-1])
			if err != nil {
				return nil, "", "", err
			}
			w = literal(text)
		}
		switch n := len(tag); {
		case len(open) > maxBrackets:
			return nil, "", "", fmt.Errorf("brackets nested deeper than %d", maxBrackets)
		case n > maxWords:
			return nil, "", "", fmt.Errorf("a tag has more than %d words", maxWords)
		case strings.HasPrefix(w, "__"):
			return nil, "", "", fmt.Errorf("the name %s is not supported", w)
		case w == "**":
			return nil, "", "", errors.New("the operator ** is not supported")
		case n > 0 && w[0] == '"' && tag[n-1][0] == '"': // neighbours are one string
			tag[n-1] = tag[n-1][:len(tag[n-1])-1] + w[1:]
		default:
			tag = append(tag, w)
		}
	}
}

func unreadable(s string) error {
	switch {
	case s == "":
		return errors.New("a tag without its end")
	case s[0] == '\'' || s[0] == '"':
		return errors.New("a string without its end")
	}
	return fmt.Errorf("unexpected %q in a tag", string([]rune(s)[:1]))
}

// literal writes s as a string that gonja reads back as s: its lexer and parser disagree about backslashes and quotes, and
// it makes line feeds of carriage returns.
func literal(s string) string {
	return `"` + strings.NewReplacer(`\`, `\x5c`, `"`, `\x22`, `'`, `\x27`, "\n", `\n`, "\r", `\x0d`).Replace(s) + `"`
}
