package chattemplate

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// normalizer writes a template anew so that gonja reads it as Jinja2 does: blanks around tags are settled (trim_blocks and
// lstrip_blocks), comments are gone, every tag is a row of words in a form that gonja parses right.
type normalizer struct {
	out  strings.Builder
	open []block    // the blocks around the current tag
	tags []position // in order
}

// position tells on which line of the source a tag was that is now at an offset in bytes.
type position struct{ offset, line int }

func normalize(source string) (string, []position, error) {
	source = strings.TrimSuffix(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(source), "\n")
	n := &normalizer{}
	lineStart := true
	for rest := source; rest != ""; {
		i := opener(rest)
		if i < 0 {
			n.data(rest)
			break
		}
		line := 1 + strings.Count(source[:len(source)-len(rest)+i], "\n")
		data, kind, sign := rest[:i], rest[i+1], byte(0)
		rest = rest[i+2:]
		if rest != "" && (rest[0] == '-' || rest[0] == '+') {
			sign, rest = rest[0], rest[1:]
		}
		n.data(trimBefore(data, kind, sign, lineStart))
		var tag []string
		var closing string
		var err error
		if kind == '#' {
			closing, rest, err = skipComment(rest)
		} else if tag, closing, rest, err = lex(rest, kind); err == nil {
			if kind == '%' && len(tag) == 1 && tag[0] == "raw" {
				closing, rest, err = n.raw(closing, rest)
			} else {
				err = n.tag(kind, tag, line)
			}
		}
		if err != nil {
			return "", nil, located{line, err}
		}
		trimmed := rest
		if closing == "-" {
			trimmed = strings.TrimLeftFunc(rest, isSpace)
		} else if closing == "" && kind != '{' {
			trimmed = strings.TrimPrefix(rest, "\n")
		}
		lineStart = strings.HasSuffix(rest[:len(rest)-len(trimmed)], "\n")
		rest = trimmed
	}
	if len(n.open) > 0 {
		return "", nil, fmt.Errorf("the tag %s lacks its end", n.open[len(n.open)-1].name)
	}
	return n.out.String(), n.tags, nil
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

// trimBefore takes off the blanks that the tag after data swallows.
func trimBefore(data string, kind, sign byte, lineStart bool) string {
	if sign == '-' {
		return strings.TrimRightFunc(data, isSpace)
	}
	last := strings.LastIndexByte(data, '\n') + 1
	if sign == 0 && kind != '{' && (last > 0 || lineStart) && strings.TrimFunc(data[last:], isSpace) == "" {
		return data[:last]
	}
	return data
}

func skipComment(s string) (closing, rest string, err error) {
	i := strings.Index(s, "#}")
	if i < 0 {
		return "", "", errors.New("a comment is not closed")
	}
	if i > 0 && (s[i-1] == '-' || s[i-1] == '+') {
		closing = s[i-1 : i]
	}
	return closing, s[i+2:], nil
}

var endRaw = regexp.MustCompile(`\{%([-+]?)\s*endraw\s*([-+]?)%\}`)

// raw writes what stands between raw and endraw as it is, and returns how endraw ends and what comes after it.
func (n *normalizer) raw(opening, s string) (closing, rest string, err error) {
	at := endRaw.FindStringSubmatchIndex(s)
	if at == nil {
		return "", "", errors.New("the tag raw lacks its end")
	}
	data, start := s[:at[0]], false
	switch opening {
	case "+":
		return "", "", errors.New("raw cannot end with +")
	case "-":
		data = strings.TrimLeftFunc(data, isSpace)
		start = strings.HasSuffix(s[:at[0]-len(data)], "\n")
	}
	var sign byte
	if at[3] > at[2] {
		sign = s[at[2]]
	}
	n.data(trimBefore(data, '%', sign, start))
	return s[at[4]:at[5]], s[at[1]:], nil
}

// data writes text between tags. A brace could open a tag together with what follows, so it goes as an expression.
func (n *normalizer) data(s string) {
	if strings.Contains(s, "{") {
		s = "{{ " + literal(s) + " }}"
	}
	n.out.WriteString(s)
}

// write writes a tag.
func (n *normalizer) write(kind byte, line int, tag []string) {
	n.tags = append(n.tags, position{n.out.Len(), line})
	end := map[byte]string{'{': "}}", '%': "%}"}[kind]
	n.out.WriteString("{" + string(kind) + " " + strings.Join(tag, " ") + " " + end)
}

// isSpace tells Python's blanks, which are Unicode's and four control characters.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

// maxBlocks bounds blocks within each other.
const maxBlocks = 60

// block is a tag whose end is due.
type block struct {
	name  string
	broke bool // there is a break or continue of this loop
}

// tag writes a tag for gonja, or refuses one that gonja or Jinja2 gets wrong.
func (n *normalizer) tag(kind byte, tag []string, line int) (err error) {
	if len(tag) == 0 {
		return errors.New("a tag is empty")
	}
	var head []string
	tail := tag
	if kind == '%' {
		if head, tail, err = n.statement(tag); err != nil {
			return err
		}
	}
	if i := index(tail, ",", ":", "="); i >= 0 {
		return fmt.Errorf("unexpected %q in a tag", tail[i])
	}
	if len(tail) > 0 {
		if tail, err = conditional(tail); err != nil {
			return err
		}
	}
	if tag[0] != "generation" && tag[0] != "endgeneration" || kind == '{' { // marks for training
		n.write(kind, line, slices.Concat(head, tail))
	}
	return nil
}

// statement cuts a tag into what stays as it is and an expression.
func (n *normalizer) statement(tag []string) (head, tail []string, err error) {
	head, tail = tag[:1], tag[1:]
	switch tag[0] {
	case "if", "elif":
		if len(tail) == 0 || index(tail, "if") >= 0 {
			return nil, nil, fmt.Errorf("%s lacks its condition, or has one too many", tag[0])
		}
	case "for":
		head, tail, err = n.loopHead(tag)
	case "set":
		head, tail, err = n.setHead(tag)
	case "macro":
		if len(tag) < 4 || tag[2] != "(" || index(tag[3:], ")") != len(tag)-4 {
			return nil, nil, errors.New("a macro has no parameters in brackets")
		}
		head, tail, err = tag[:2], tag[2:], n.target(tag[1])
		for i, w := range tag[3:] {
			if w == "=" {
				err = errors.Join(err, n.target(tag[3+i-1]))
			}
		}
	default:
		if len(tail) > 0 {
			return nil, nil, fmt.Errorf("the tag %s with %q is not supported", tag[0], tail[0])
		}
	}
	if err != nil {
		return nil, nil, err
	}
	return head, tail, n.nest(tag)
}

// nest keeps account of the blocks that are open.
func (n *normalizer) nest(tag []string) error {
	top := &block{}
	if len(n.open) > 0 {
		top = &n.open[len(n.open)-1]
	}
	switch name := tag[0]; name {
	case "if", "for", "macro", "generation":
		n.open = append(n.open, block{name: name})
	case "set":
		if len(tag) == 2 || len(tag) == 4 && tag[2] == "." {
			n.open = append(n.open, block{name: name})
		}
	case "elif", "else":
		if top.name != "if" && (top.name != "for" || name == "elif") {
			return fmt.Errorf("the tag %s stands outside if", name)
		}
		if top.broke {
			return errors.New("a loop with break or continue and else is not supported")
		}
	case "endif", "endfor", "endmacro", "endset", "endgeneration":
		if "end"+top.name != name {
			return fmt.Errorf("the tag %s lacks its beginning", name)
		}
		n.open = n.open[:len(n.open)-1]
	case "break", "continue":
		i := n.around("if", "set")
		if i < 0 || n.open[i].name != "for" {
			return fmt.Errorf("the tag %s stands outside a loop", name)
		}
		n.open[i].broke = true
	default:
		return fmt.Errorf("the tag '%s' is not supported", name)
	}
	if len(n.open) > maxBlocks {
		return fmt.Errorf("blocks nested deeper than %d", maxBlocks)
	}
	return nil
}

// around finds the innermost open block other than those named, or -1.
func (n *normalizer) around(except ...string) int {
	i := len(n.open) - 1
	for i >= 0 && slices.Contains(except, n.open[i].name) {
		i--
	}
	return i
}

// target refuses names that cannot be set.
func (n *normalizer) target(name string) error {
	switch name {
	case "true", "false", "none", "True", "False", "None", "not", "and", "or", "in", "is", "if", "else", "loop", "self", "caller",
		"varargs", "kwargs":
		return fmt.Errorf("a variable cannot be called %s", name)
	}
	if !nameLike(name) {
		return fmt.Errorf("%s is not a variable name", name)
	}
	return nil
}

func nameLike(w string) bool { return !strings.ContainsAny(w[:1], "\"0123456789+-*/%~<>=()[]{}.,:|!") }

func (n *normalizer) loopHead(tag []string) (head, tail []string, err error) {
	i := index(tag, "in")
	if i != 2 && (i != 4 || tag[2] != ",") {
		return nil, nil, errors.New("a loop with other than one or two variables is not supported")
	}
	for _, name := range tag[1:i] {
		if name != "," {
			err = errors.Join(err, n.target(name))
		}
	}
	head, tail = tag[:i+1], tag[i+1:]
	if slices.Contains(tail, "recursive") {
		return nil, nil, errors.New("recursive loops are not supported")
	}
	j := index(tail, "if")
	if j < 0 {
		return head, tail, err
	}
	if slices.Contains(tail[j:], "loop") || index(tail[j:], "else") >= 0 {
		return nil, nil, errors.New("a loop's condition with loop or else is not supported")
	}
	if endsInTest(tail[:j]) {
		return nil, nil, errors.New("a test before if needs parentheses")
	}
	source, err2 := conditional(tail[:j])
	return slices.Concat(head, source, []string{"if"}), tail[j+1:], errors.Join(err, err2)
}

func (n *normalizer) setHead(tag []string) (head, tail []string, err error) {
	name, i := 2, index(tag, "=")
	if len(tag) > 3 && tag[2] == "." {
		name = 4
	}
	if len(tag) < 2 || len(tag) != name && (i != name || i == len(tag)-1) {
		return nil, nil, errors.New("set of other than one name to a value is not supported")
	}
	if i := n.around("if"); name == 2 && i >= 0 && n.open[i].name == "generation" {
		return nil, nil, errors.New("set inside generation is not supported")
	}
	if i < 0 {
		return tag, nil, n.target(tag[1])
	}
	return tag[:i+1], tag[i+1:], n.target(tag[1])
}
