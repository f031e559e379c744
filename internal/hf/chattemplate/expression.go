package chattemplate

import (
	"fmt"
	"slices"
	"strconv"
)

// expression works out a value.
type expression func(f *frame) (any, error)

// holds tells whether the value is true.
func (e expression) holds(f *frame) (bool, error) {
	v, err := e(f)
	return truth(v), err
}

func constant(v any) expression { return func(*frame) (any, error) { return v, nil } }

// apply compiles an operation on the values of operands.
func (p *parser) apply(line int, do func(r *run, args []any) (any, error), operands ...expression) expression {
	if p.safe {
		p.fail("filter safe is not supported here")
	}
	return func(f *frame) (any, error) {
		cost, values := 0, make([]any, len(operands))
		for i, operand := range operands {
			v, err := operand(f)
			if err != nil {
				return nil, err
			}
			values[i] = v
			cost += bulk(v)
		}
		if err := f.spend(cost); err != nil {
			return nil, at(line, err)
		}
		v, err := do(f.run, values)
		if err == nil {
			err = f.spend(bulk(v))
		}
		return v, at(line, err)
	}
}

// expression compiles an expression, "x if c else y" among them.
func (p *parser) expression() expression {
	value := p.binary(disjunction)
	for p.skip("if") {
		then, condition, otherwise := value, p.binary(disjunction), constant(undefined{})
		if p.skip("else") {
			otherwise = p.expression()
		}
		value = func(f *frame) (any, error) {
			yes, err := condition.holds(f)
			switch {
			case err != nil:
				return nil, err
			case yes:
				return then(f)
			}
			return otherwise(f)
		}
	}
	return value
}

// Operators by how tightly they bind.
const (
	disjunction = iota + 1
	conjunction
	negation
	comparison
	sum
	concatenation
	product
)

var bindings = map[string]int{
	"or": disjunction, "and": conjunction,
	"==": comparison, "!=": comparison, "<": comparison, "<=": comparison, ">": comparison, ">=": comparison,
	"in": comparison, "not": comparison,
	"+": sum, "-": sum, "~": concatenation, "*": product, "/": product, "//": product, "%": product,
}

// binary compiles operands with the operators between them that bind at least so tightly.
func (p *parser) binary(least int) expression {
	var left expression
	if line := p.peek().line; least <= negation && p.skip("not") {
		left = p.not(line, p.binary(negation))
	} else {
		left = p.unary(true)
	}
	for compared := false; ; {
		op := p.peek()
		level := bindings[op.text]
		if level < least || op.text == "not" && !p.follows("in") {
			return left
		}
		p.take()
		if op.text == "not" {
			p.take()
		}
		if level == comparison && compared {
			p.fail("a chain of comparisons is not supported")
		}
		compared = level == comparison
		left = p.combine(op, left, p.binary(level+1))
	}
}

func (p *parser) combine(op token, left, right expression) expression {
	switch op.text {
	case "and", "or":
		return func(f *frame) (any, error) {
			v, err := left(f)
			if err != nil || truth(v) == (op.text == "or") {
				return v, err
			}
			return right(f)
		}
	case "not":
		op.text = "in"
		return p.not(op.line, p.combine(op, left, right))
	}
	do := func(r *run, args []any) (any, error) { return r.binary(op.text, args[0], args[1]) }
	return p.apply(op.line, do, left, right)
}

func (p *parser) not(line int, e expression) expression {
	return p.apply(line, func(_ *run, args []any) (any, error) { return !truth(args[0]), nil }, e)
}

// unary compiles an operand: a value with what follows it, or with a sign before it. Filters and tests are of the
// signed value.
func (p *parser) unary(filters bool) expression {
	var e expression
	switch sign := p.peek(); sign.text {
	case "+", "-":
		p.take()
		factor := map[string]int{"+": 1, "-": -1}[sign.text]
		e = p.apply(sign.line, func(_ *run, args []any) (any, error) { return signed(args[0], factor) }, p.unary(false))
	default:
		e = p.primary()
	}
	for inner := true; ; {
		switch next := p.peek(); {
		case next.text == "(":
			e = p.call(next.line, callFunction, e)
		case next.text == "." && inner:
			e = p.attribute(e)
		case next.text == "[" && inner:
			e = p.subscript(e)
		case next.text == "|" && filters:
			inner, e = false, p.filtered(e)
		case next.text == "is" && filters:
			inner, e = false, p.test(e)
		default:
			return e
		}
	}
}

// primary compiles a name, a literal, or what stands in parentheses.
func (p *parser) primary() expression {
	switch t := p.peek(); {
	case t.isString():
		text := ""
		for p.peek().isString() { // neighbours are one string
			text += p.take().text[1:]
		}
		return constant(text)
	case t.text == "(":
		items, comma := p.items(")")
		if len(items) == 1 && !comma {
			return items[0]
		}
		return p.apply(t.line, func(_ *run, args []any) (any, error) { return &list{isTuple, args}, nil }, items...)
	case t.text == "[":
		items, _ := p.items("]")
		return p.apply(t.line, func(_ *run, args []any) (any, error) { return newList(args), nil }, items...)
	case t.text == "{":
		return p.dict()
	case t.isName():
		return p.variable()
	case t.isNumber():
		n, err := readNumber(p.take().text)
		if err != nil {
			p.fail("%w", err)
		}
		return constant(n)
	}
	p.unexpected()
	return nil
}

func (p *parser) variable() expression {
	switch t := p.take(); t.text {
	case "true", "True", "false", "False":
		return constant(t.text == "true" || t.text == "True")
	case "none", "None":
		return constant(nil)
	case "joiner", "cycler", "lipsum", "self", "super", "caller", "varargs", "kwargs", "additional_special_tokens":
		p.fail("%q is not supported", t.text)
		return nil
	default:
		if slices.Contains(keywords, t.text) {
			p.fail("unexpected %q", t.text)
		}
		p.scope.read(t.text)
		return func(f *frame) (any, error) { return f.variable(t.text), at(t.line, f.spend(0)) }
	}
}

// items compiles expressions with commas between them, up to a closing bracket. comma tells whether a comma is last.
func (p *parser) items(end string) (items []expression, comma bool) {
	for p.take(); p.err == nil && !p.skip(end); {
		items = append(items, p.expression())
		comma = p.comma(end)
	}
	return items, comma
}

// comma skips a comma, which may be missing before a closing bracket.
func (p *parser) comma(end string) bool {
	found := p.skip(",")
	if !found && p.peek().text != end {
		p.unexpected()
	}
	return found
}

func (p *parser) dict() expression {
	line := p.peek().line
	var members []expression
	for p.take(); p.err == nil && !p.skip("}"); p.comma("}") {
		members = append(members, p.expression())
		p.expect(":")
		members = append(members, p.expression())
	}
	return p.apply(line, func(_ *run, args []any) (any, error) { return dictOf(args) }, members...)
}

// attribute compiles a.b and a.0.
func (p *parser) attribute(e expression) expression {
	line := p.take().line
	if name := p.peek().text; p.peek().isNumber() {
		i, err := strconv.Atoi(name)
		if err != nil {
			p.unexpected()
		}
		p.take()
		return p.apply(line, func(_ *run, args []any) (any, error) { return item(args[0], i) }, e)
	}
	name := p.name()
	return p.apply(line, func(_ *run, args []any) (any, error) { return attribute(args[0], name) }, e)
}

// subscript compiles a[b] and a[b:c:d].
func (p *parser) subscript(e expression) expression {
	line, operands := p.take().line, []expression{e}
	bound := func() expression {
		if next := p.peek().text; next == ":" || next == "]" && len(operands) > 1 {
			return constant(nil)
		}
		return p.expression()
	}
	operands = append(operands, bound())
	if p.skip("]") {
		return p.apply(line, func(_ *run, args []any) (any, error) { return item(args[0], args[1]) }, operands...)
	}
	p.expect(":")
	operands = append(operands, bound(), constant(nil))
	if p.skip(":") {
		operands[3] = bound()
	}
	p.expect("]")
	return p.apply(line, func(_ *run, args []any) (any, error) { return sliceOf(args[0], args[1:]) }, operands...)
}

// operation takes values, some of them by name.
type operation func(r *run, args []any, named map[string]any) (any, error)

// call compiles the arguments in parentheses, if there are any, of an operation that has some operands already.
func (p *parser) call(line int, do operation, operands ...expression) expression {
	var names []string
	if p.peek().text == "(" {
		for p.take(); p.err == nil && !p.skip(")"); p.comma(")") {
			if p.peek().isName() && p.follows("=") {
				name := p.take().text
				p.take()
				if slices.Contains(names, name) {
					p.fail("argument %s given twice", name)
				}
				names = append(names, name)
			} else if len(names) > 0 {
				p.fail("positional argument after the keyword argument %s", names[len(names)-1])
			}
			operands = append(operands, p.expression())
		}
	}
	n := len(operands) - len(names)
	return p.apply(line, func(r *run, args []any) (any, error) {
		var named map[string]any
		for i, name := range names {
			if named == nil {
				named = map[string]any{}
			}
			named[name] = args[n+i]
		}
		return do(r, args[:n:n], named)
	}, operands...)
}

// filtered compiles the filters that follow a value.
func (p *parser) filtered(value expression) expression {
	for p.skip("|") {
		value = p.filter(value)
	}
	return value
}

func (p *parser) filter(value expression) expression {
	line, name := p.peek().line, p.name()
	if name == "safe" && p.peek().text != "(" {
		p.safe = true
		return value
	}
	if _, known := p.filters[name]; !known {
		p.fail("filter %s is not supported", name)
	}
	return p.call(line, func(r *run, args []any, named map[string]any) (any, error) {
		return r.filter(name, args, named)
	}, value)
}

// test compiles "is name", with an argument in parentheses or without.
func (p *parser) test(value expression) expression {
	line, negated, name := p.take().line, p.skip("not"), p.name()
	var result expression
	switch next := p.peek(); {
	case slices.Contains([]string{"is", "if", "in", "not"}, next.text): // which Jinja2 takes for an argument
		p.fail("a test before %s needs parentheses", next.text)
	case next.isString(), next.isNumber(), next.text == "[", next.text == "{",
		next.isName() && !slices.Contains([]string{"else", "or", "and"}, next.text):
		result = p.apply(line, func(r *run, args []any) (any, error) { return r.test(name, args[0], args[1:]) },
			value, p.unary(false))
	default:
		result = p.call(line, func(r *run, args []any, named map[string]any) (any, error) {
			if len(named) > 0 {
				return nil, fmt.Errorf("test %s: arguments by name are not supported", name)
			}
			return r.test(name, args[0], args[1:])
		}, value)
	}
	if negated {
		result = p.not(line, result)
	}
	return result
}
