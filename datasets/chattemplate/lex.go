package chattemplate

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds on a tag, for gonja reads it by recursion.
const (
	maxBrackets = 60   // within each other
	maxWords    = 4000 // of one tag
)

// word matches a string, a number, a name or a sign. Numbers are those that gonja and Jinja2 read alike.
var word = regexp.MustCompile(`^(?:'(?:[^'\\]|\\(?s:.))*'|"(?:[^"\\]|\\(?s:.))*"|(?:0|[1-9]\d*)(?:\.\d+)?\b|[\pL_][\pL\pN_]*|//|\*\*|==|!=|<=|>=|[-+*/%~<>=()\[\]{}.,:|])`)

// lex cuts the inside of a tag into words, and returns how the tag ended ("-", "+" or "") and what comes after it.
func lex(s string, kind byte) (tag []string, closing, rest string, err error) {
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

// unquote decodes what stands between the quotes of a string, by Python's rules: escapes it does not know stay as they
// are.
func unquote(s string) (string, error) {
	if !strings.Contains(s, `\`) {
		return s, nil
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			i++
			continue
		}
		n, err := unescape(&b, s[i:])
		if err != nil {
			return "", err
		}
		i += n
	}
	return b.String(), nil
}

// unescape writes what the escape at the beginning of s stands for, and returns its length.
func unescape(b *strings.Builder, s string) (int, error) {
	const simple, meaning = `\'"abfnrtv`, "\\'\"\a\b\f\n\r\t\v"
	c := s[1]
	if i := strings.IndexByte(simple, c); i >= 0 {
		b.WriteByte(meaning[i])
		return 2, nil
	}
	switch {
	case c == '\n':
		return 2, nil
	case c == 'x':
		return unescapeHex(b, s, 2)
	case c == 'u':
		return unescapeHex(b, s, 4)
	case c == 'U':
		return unescapeHex(b, s, 8)
	case c == 'N' || c >= utf8.RuneSelf:
		return 0, fmt.Errorf("the escape %q in a string is not supported", s[:2])
	case c >= '0' && c <= '7':
		n := 1
		for n < 4 && n < len(s) && s[n] >= '0' && s[n] <= '7' {
			n++
		}
		code, _ := strconv.ParseUint(s[1:n], 8, 32) // three octal digits at most
		b.WriteRune(rune(code))
		return n, nil
	}
	b.WriteString(s[:2])
	return 2, nil
}

func unescapeHex(b *strings.Builder, s string, digits int) (int, error) {
	if len(s) < 2+digits {
		return 0, fmt.Errorf("the escape %q in a string is cut off", s)
	}
	code, err := strconv.ParseUint(s[2:2+digits], 16, 32)
	if err != nil || !utf8.ValidRune(rune(code)) || code > utf8.MaxRune {
		return 0, fmt.Errorf("the escape %q in a string is no character", s[:2+digits])
	}
	b.WriteRune(rune(code))
	return 2 + digits, nil
}

// nothing is the word for the value of "x if false", an undefined variable.
const nothing = "__nothing"

// index returns where w first stands outside brackets, or -1.
func index(tag []string, of ...string) int {
	depth := 0
	for i, w := range tag {
		if depth == 0 && slices.Contains(of, w) {
			return i
		}
		depth += nesting(w)
	}
	return -1
}

func nesting(w string) int {
	switch w {
	case "(", "[", "{":
		return 1
	case ")", "]", "}":
		return -1
	}
	return 0
}

// conditional writes "x if c else y", which gonja knows only as a whole tag, as ((c) and [x] or [y])[0]. Like the
// original it works out x or y, not both.
func conditional(e []string) ([]string, error) {
	i := index(e, "if")
	if i < 0 {
		return logical(e)
	}
	if endsInTest(e[:i]) { // whose argument Jinja2 takes the if for
		return nil, errors.New("a test before if needs parentheses")
	}
	rest, other := e[i+1:], []string{nothing}
	j := index(rest, "else")
	if j >= 0 {
		rest, other = rest[:j], rest[j+1:]
	}
	condition, err1 := logical(rest)
	then, err2 := logical(e[:i])
	other, err3 := conditional(other)
	return slices.Concat([]string{"(", "("}, condition, []string{")", "and", "["}, then, []string{"]", "or", "["}, other, []string{"]", ")", "[", "0", "]"}),
		errors.Join(err1, err2, err3)
}

// logical goes through the operands of and, or and not.
func logical(e []string) (out []string, err error) {
	for {
		i := boundary(e)
		if i > 0 && i < len(e) && e[i] == "not" {
			return nil, errors.New("unexpected \"not\" in a tag")
		}
		part, err := comparison(e[:i])
		if err != nil {
			return nil, err
		}
		out = append(out, part...)
		if i == len(e) {
			return out, nil
		}
		out, e = append(out, e[i]), e[i+1:]
	}
}

// boundary returns where the next and, or or not stands that is none of "is not" and "not in".
func boundary(e []string) int {
	depth := 0
	for i, w := range e {
		switch {
		case depth > 0:
		case w == "and", w == "or":
			return i
		case w == "not" && (i == 0 || e[i-1] != "is") && (i+1 == len(e) || e[i+1] != "in"):
			return i
		}
		depth += nesting(w)
	}
	return len(e)
}

// comparison puts brackets around the operands of "in", of which gonja takes too little.
func comparison(e []string) ([]string, error) {
	signs := []string{"==", "!=", "<", ">", "<=", ">=", "in"}
	i := index(e, signs...)
	if i < 0 {
		return test(e)
	}
	if index(e[i+1:], signs...) >= 0 {
		return nil, errors.New("a chain of comparisons is not supported")
	}
	left, op, right := e[:i], e[i:i+1], e[i+1:]
	if i > 0 && e[i-1] == "not" {
		left, op = e[:i-1], e[i-1:i+1]
	}
	if (op[0] == "in" || op[0] == "not") && endsInTest(left) {
		return nil, fmt.Errorf("a test before %s needs parentheses", op[0])
	}
	left, err1 := test(left)
	right, err2 := test(right)
	return slices.Concat([]string{"("}, left, []string{")"}, op, []string{"("}, right, []string{")"}), errors.Join(err1, err2)
}

// endsInTest tells whether the last words are a test without an argument.
func endsInTest(e []string) bool {
	i := index(e, "is")
	return i >= 0 && (i == len(e)-2 || i == len(e)-3 && e[i+1] == "not")
}

// test puts brackets around "x is y", which gonja lets run on into the next words. Arithmetic binds less than tests do.
func test(e []string) (out []string, err error) {
	if index(e, "is") < 0 {
		return brackets(e)
	}
	for from := 0; ; {
		to := from
		for to < len(e) && sign(e[to]) { // of the operand itself
			to++
		}
		n := index(e[to:], "+", "-", "*", "/", "//", "%", "~")
		end := to + n
		if n < 0 {
			end = len(e)
		}
		operand := e[from:end]
		i := index(operand, "is")
		if i >= 0 && index(operand[i+1:], "is", "|") >= 0 {
			return nil, errors.New("a test before a filter or another test is not supported")
		}
		part, err := brackets(operand)
		if err != nil {
			return nil, err
		}
		out = slices.Concat(out, []string{"("}, part, []string{")"})
		if end == len(e) {
			return out, nil
		}
		out, from = append(out, e[end]), end+1
	}
}

func sign(w string) bool { return w == "+" || w == "-" }

// brackets goes into each pair of brackets.
func brackets(e []string) (out []string, err error) {
	for i := 0; i < len(e); i++ {
		out = append(out, e[i])
		if nesting(e[i]) <= 0 {
			continue
		}
		depth, from := 1, i+1
		for depth > 0 {
			i++
			if i == len(e) {
				return nil, errors.New("brackets do not match")
			}
			depth += nesting(e[i])
			if depth == 0 || depth == 1 && slices.Contains([]string{",", ":", "="}, e[i]) {
				part, err := conditional(e[from:i])
				if err != nil {
					return nil, err
				}
				out, from = append(append(out, part...), e[i]), i+1
			}
		}
	}
	return out, nil
}
