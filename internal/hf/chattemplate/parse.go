package chattemplate

import (
	"fmt"
	"slices"
	"strings"
)

// parser compiles a template while it reads it. Grammar and scopes are Jinja2's; a tag, filter or form that is missing
// here is refused. After the first error it reads nothing more.
type parser struct {
	lexer
	filters map[string]filter
	left    []token // of the current tag; the last is its end
	scope   *scope
	depth   int  // blocks within each other
	loops   bool // a break or continue has its loop
	safe    bool // the filter safe was the last operation
	err     error
}

// maxBlocks bounds blocks within each other.
const maxBlocks = 60

// parse compiles a template. hidden are the variables that it does not find although they are given.
func parse(source string, filters map[string]filter) (all block, hidden []string, err error) {
	p := &parser{lexer: newLexer(source), filters: filters}
	p.enter(false)
	all, _ = p.block()
	return all, p.scope.hidden, p.err
}

// fail notes the first error, and leaves nothing of the tag.
func (p *parser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = at(p.left[0].line, fmt.Errorf(format, args...))
	}
	p.left = p.left[len(p.left)-1:]
}

// peek is the next token of the tag.
func (p *parser) peek() token { return p.left[0] }

// take takes the next token of the tag; its end stays.
func (p *parser) take() token {
	t := p.left[0]
	if len(p.left) > 1 {
		p.left = p.left[1:]
	}
	return t
}

// skip takes the next token if it is the one of that text.
func (p *parser) skip(text string) bool {
	found := p.peek().text == text
	if found {
		p.take()
	}
	return found
}

// follows tells whether the token after the next is the one of that text.
func (p *parser) follows(text string) bool { return len(p.left) > 1 && p.left[1].text == text }

func (p *parser) expect(text string) {
	if !p.skip(text) {
		p.unexpected()
	}
}

func (p *parser) unexpected() {
	switch t := p.peek(); {
	case t.text == "":
		p.fail("unexpected end of tag")
	case t.isString():
		p.fail("unexpected string %q", t.text[1:])
	default:
		p.fail("unexpected %q", t.text)
	}
}

func (p *parser) name() string {
	if !p.peek().isName() {
		p.unexpected()
	}
	return p.take().text
}

// keywords cannot be variables.
var keywords = []string{"true", "false", "none", "True", "False", "None", "not", "and", "or", "in", "is", "if", "else"}

// target is the name of a variable to set.
func (p *parser) target() string {
	name := p.peek().text
	if slices.Contains(keywords, name) || slices.Contains([]string{"loop", "self", "caller", "varargs", "kwargs"},
		name) {
		p.fail("cannot assign to %s", name)
	}
	return p.name()
}

// end checks that a tag holds nothing more.
func (p *parser) end() {
	if p.peek().text != "" {
		p.unexpected()
	}
	if p.safe {
		p.fail("filter safe is not supported here")
	}
}

// block compiles the statements up to one of the tags named, and returns its name. Without names it compiles the rest
// of the template.
func (p *parser) block(ends ...string) (all block, end string) {
	opening := p.left
	if p.depth++; p.depth > maxBlocks {
		p.fail("blocks nested deeper than %d", maxBlocks)
	}
	defer func() { p.depth-- }()
	for p.err == nil {
		text, kind, tag, err := p.next()
		if p.left = tag; tag == nil {
			p.left = []token{{"", p.line}}
		}
		if text != "" {
			all = append(all, func(f *frame) error { return f.write(text) })
		}
		switch {
		case err != nil:
			p.fail("%w", err)
		case kind == '{':
			all = append(all, p.print(p.peek().line, p.expression()))
			p.safe = false // nothing is escaped, so a printed value is always safe
		case kind == '%':
			name := p.name()
			if slices.Contains(ends, name) {
				return all, name
			}
			all = append(all, p.statement(name))
		case kind == 0 && len(ends) > 0:
			p.left = opening
			p.fail("{%% %s %%} is missing", ends[len(ends)-1])
		case kind == 0:
			return all, ""
		}
		p.end()
	}
	return nil, ""
}

// statement compiles a tag, with its block if it has one.
func (p *parser) statement(name string) statement {
	switch name {
	case "if":
		return p.branch()
	case "for":
		return p.loop()
	case "set":
		return p.assignment()
	case "macro":
		return p.macro()
	case "filter":
		line := p.peek().line
		value := p.captured("endfilter", func(text expression) expression { return p.filtered(p.filter(text)) })
		return p.print(line, p.apply(line, func(_ *run, args []any) (any, error) {
			_, err := strung(args, 1, 1) // Jinja2 prints no other values here
			return args[0], err
		}, value))
	case "generation": // marks what a model is trained on
		p.end()
		body := p.inner(false, "endgeneration")
		return func(f *frame) error { return body.run(f.inner()) }
	case "break", "continue":
		if !p.loops {
			p.fail("{%% %s %%} outside a loop", name)
		}
		return func(*frame) error { return map[string]error{"break": errBreak, "continue": errContinue}[name] }
	}
	if strings.HasPrefix(name, "el") || strings.HasPrefix(name, "end") {
		p.fail("unexpected {%% %s %%}", name)
	}
	p.fail("the tag %s is not supported", name)
	return nil
}

// inner compiles a block with variables of its own, some of which it has from the start.
func (p *parser) inner(loops bool, end string, names ...string) block {
	defer p.enter(loops, names...)()
	all, _ := p.block(end)
	return all
}

// print compiles the printing of a value.
func (p *parser) print(line int, value expression) statement {
	return func(f *frame) error {
		v, err := value(f)
		if err != nil {
			return err
		}
		s, err := text(v)
		if err == nil {
			err = f.write(s)
		}
		return at(line, err)
	}
}

func (p *parser) branch() statement {
	var conditions []expression
	var bodies []block
	p.scope.branches++
	for end := "if"; end != "endif" && p.err == nil; {
		condition, ends := constant(true), []string{"endif"}
		if end != "else" {
			condition, ends = p.binary(disjunction), []string{"elif", "else", "endif"}
		}
		p.end()
		conditions = append(conditions, condition)
		var body block
		body, end = p.block(ends...)
		bodies = append(bodies, body)
	}
	p.scope.branches--
	return func(f *frame) error {
		for i, condition := range conditions {
			if yes, err := condition.holds(f); err != nil {
				return err
			} else if yes {
				return bodies[i].run(f)
			}
		}
		return nil
	}
}

func (p *parser) loop() statement {
	l := &loopTag{line: p.peek().line, names: []string{p.target()}}
	for p.skip(",") {
		l.names = append(l.names, p.target())
	}
	p.expect("in")
	l.source = p.binary(disjunction)
	if p.skip("if") {
		leave := p.enter(false, l.names...)
		l.condition = p.expression()
		leave()
	}
	p.end()
	leave := p.enter(true, append(l.names, "loop")...)
	var end string
	l.body, end = p.block("else", "endfor")
	leave()
	if end == "else" {
		p.end()
		l.otherwise = p.inner(p.loops, "endfor")
	}
	return l.run
}

// assignment compiles the setting of a variable, or of a namespace's attribute, to a value or to the text of a block.
func (p *parser) assignment() statement {
	line, name, attribute := p.peek().line, p.target(), ""
	if p.skip(".") {
		attribute = p.name()
	}
	var value expression
	if p.skip("=") {
		value = p.expression()
	} else {
		value = p.captured("endset", p.filtered)
	}
	if attribute == "" {
		p.store(name)
	} else {
		p.scope.read(name)
	}
	return func(f *frame) error {
		v, err := value(f)
		if err != nil {
			return err
		}
		if attribute == "" {
			f.vars[name] = v
			return nil
		}
		target := f.variable(name)
		space, ok := target.(*namespace)
		if !ok {
			return at(line, fmt.Errorf("cannot set an attribute of %s", typeName(target)))
		}
		return at(line, space.set(attribute, v))
	}
}

// captured compiles a block whose text is a value, after the filters that the rest of the tag names.
func (p *parser) captured(end string, filters func(text expression) expression) expression {
	var body block
	value := filters(func(f *frame) (any, error) { return f.inner().capture(body) })
	p.end()
	body = p.inner(p.loops, end)
	return value
}

func (p *parser) macro() statement {
	m := &macro{name: p.target()}
	p.store(m.name)
	leave := p.enter(false)
	p.expect("(")
	for p.err == nil && !p.skip(")") {
		n := len(m.parameters)
		if n > 0 {
			p.expect(",")
		}
		name, value := p.target(), expression(nil)
		if p.scope.seen[name] {
			p.fail("parameter %s is declared twice, or used before its declaration", name)
		}
		p.scope.seen[name] = true
		if p.skip("=") {
			value = p.expression()
		} else if n > 0 && m.defaults[n-1] != nil {
			p.fail("parameter %s without a default follows one that has one", name)
		}
		m.parameters, m.defaults = append(m.parameters, name), append(m.defaults, value)
	}
	p.end()
	m.body, _ = p.block("endmacro")
	leave()
	return m.define
}

// scope is a block with variables of its own: the template, a loop's body, a macro, the body of a set.
type scope struct {
	outer    *scope
	seen     map[string]bool // read or set in this block itself
	early    map[string]bool // read in a block within it before that
	branches int             // ifs of this block that are open
	hidden   []string        // variables that are not found although they are given
}

// enter begins a scope that has the variables named, and returns what ends it. break and continue are allowed in loops.
func (p *parser) enter(loops bool, names ...string) (leave func()) {
	outer, before := p.scope, p.loops
	p.scope, p.loops = &scope{outer: outer, seen: map[string]bool{}, early: map[string]bool{}}, loops
	for _, name := range names {
		p.scope.seen[name] = true
	}
	return func() { p.scope, p.loops = outer, before }
}

func (s *scope) read(name string) {
	s.seen[name] = true
	for o := s.outer; o != nil && !o.seen[name]; o = o.outer {
		o.early[name] = true
	}
}

// store notes that a variable is set. Jinja2 does not find a variable that is given if the template sets it, and before
// did nothing with it but read it in loops and macros: it reads there what it has not set yet. Within a loop or a macro
// the same is an error.
func (p *parser) store(name string) {
	s := p.scope
	if s.branches == 0 && s.early[name] && !s.seen[name] {
		if s.outer != nil {
			p.fail("the variable %s, read in an inner block before it is set in an outer one, is not supported", name)
		}
		s.hidden = append(s.hidden, name)
	}
	s.seen[name] = true
}
