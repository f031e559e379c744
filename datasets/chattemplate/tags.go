package chattemplate

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

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
		return fmt.Errorf("%s is no name of a variable", name)
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
