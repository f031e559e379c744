package chattemplate

import (
	"fmt"
	"sort"
	"strconv"

	"github.com/nikolalohinski/gonja/v2/builtins/control_structures"
	"github.com/nikolalohinski/gonja/v2/nodes"
	"github.com/nikolalohinski/gonja/v2/tokens"
)

// compiler turns the expressions that gonja parsed into calls of operations. An expression without an operation is refused.
type compiler struct {
	known   map[string]operation
	filters map[string]filter
	tags    []position
	err     error
}

// line is the line of the source on which a token was.
func (c *compiler) line(at *tokens.Token) int {
	i := sort.Search(len(c.tags), func(i int) bool { return c.tags[i].offset > at.Pos })
	if i == 0 {
		return 1
	}
	return c.tags[i-1].line
}

func (c *compiler) refuse(at *tokens.Token, what string) nodes.Expression {
	if c.err == nil {
		c.err = located{c.line(at), fmt.Errorf("%s is not supported", what)}
	}
	return &nodes.None{Location: at}
}

// call makes a call of an operation. The arguments are compiled already.
func (c *compiler) call(name string, at *tokens.Token, args ...nodes.Expression) *nodes.Call {
	if _, known := c.known[name]; !known {
		c.refuse(at, name[1:])
	}
	line := &nodes.Integer{Location: at, Val: c.line(at)}
	return &nodes.Call{Location: at, Func: &nodes.Name{Name: &tokens.Token{Val: name}},
		Args: append([]nodes.Expression{line}, args...)}
}

func (c *compiler) compile(e nodes.Expression) nodes.Expression {
	switch n := e.(type) {
	case *nodes.None, *nodes.String, *nodes.Integer, *nodes.Float, *nodes.Bool:
		return e
	case *nodes.Name:
		return c.name(n)
	case *nodes.List:
		return c.call("@list", n.Location, c.all(n.Val)...)
	case *nodes.Tuple:
		return c.call("@tuple", n.Location, c.all(n.Val)...)
	case *nodes.Dict:
		var members []nodes.Expression
		for _, p := range n.Pairs {
			members = append(members, c.compile(p.Key), c.compile(p.Value))
		}
		return c.call("@dict", n.Token, members...)
	case *nodes.BinaryExpression:
		return c.binary(n)
	case *nodes.Negation:
		return c.call("@not", n.Operator, c.compile(n.Term))
	case *nodes.UnaryExpression:
		return c.call("@unary"+n.Operator.Val, n.Operator, c.compile(n.Term))
	case *nodes.GetItem:
		return c.call("@[]", n.Location, c.compile(n.Node), c.compile(n.Arg))
	case *nodes.GetSlice:
		return c.call("@[:]", n.Location, c.compile(n.Node), c.bound(n.Start), c.bound(n.End), c.bound(n.Step))
	case *nodes.GetAttribute:
		if n.Attribute == "" {
			return c.call("@[]", n.Location, c.compile(n.Node), &nodes.Integer{Location: n.Location, Val: n.Index})
		}
		return c.call("@attribute", n.Location, c.compile(n.Node), constant(n.Attribute))
	case *nodes.Call:
		return c.named(n.Kwargs, c.call("@call", n.Location, append([]nodes.Expression{c.compile(n.Func)}, c.all(n.Args)...)...))
	case *nodes.FilteredExpression:
		value := c.compile(n.Expression)
		for _, f := range n.Filters {
			if _, known := c.filters[f.Name]; !known && f.Name != "tojson" {
				c.refuse(f.Token, "filter "+f.Name)
			}
			args := append([]nodes.Expression{constant(f.Name), value}, c.all(f.Args)...)
			value = c.named(f.Kwargs, c.call("@filter", f.Token, args...))
		}
		return value
	case *nodes.TestExpression:
		args := append([]nodes.Expression{constant(n.Test.Name), c.compile(n.Expression)}, c.all(n.Test.Args)...)
		return c.named(n.Test.Kwargs, c.call("@test", n.Test.Token, args...))
	}
	return c.refuse(e.Position(), fmt.Sprintf("%T", e))
}

func (c *compiler) name(n *nodes.Name) nodes.Expression {
	switch name := n.Name.Val; name {
	case "none", "None":
		return &nodes.None{Location: n.Name}
	case "joiner", "cycler", "lipsum", "self", "super", "caller", "varargs", "kwargs", "additional_special_tokens":
		return c.refuse(n.Name, strconv.Quote(name))
	default:
		return c.call("@name", n.Name, constant(name))
	}
}

// binary compiles and and or so that the right side is worked out only where it is asked for.
func (c *compiler) binary(n *nodes.BinaryExpression) nodes.Expression {
	op := n.Operator.Token
	left, right := c.compile(n.Left), c.compile(n.Right)
	if op.Type != tokens.And && op.Type != tokens.Or {
		return c.call("@"+op.Val, op, left, right)
	}
	or := *op
	or.Type, or.Val = tokens.Or, "or"
	return c.call("@of", op, &nodes.BinaryExpression{Left: c.call("@"+op.Val, op, left), Right: c.call("@list", op, right),
		Operator: &nodes.BinOperator{Token: &or}})
}

func (c *compiler) all(list []nodes.Expression) []nodes.Expression {
	var out []nodes.Expression
	for _, e := range list {
		out = append(out, c.compile(e))
	}
	return out
}

// named gives a call its arguments by name.
func (c *compiler) named(kwargs map[string]nodes.Expression, call *nodes.Call) nodes.Expression {
	call.Kwargs = map[string]nodes.Expression{}
	for name, value := range kwargs {
		call.Kwargs[name] = c.compile(value)
	}
	return call
}

// bound compiles a bound of a slice, which may be missing.
func (c *compiler) bound(e nodes.Expression) nodes.Expression {
	if e == nil {
		return &nodes.None{Location: &tokens.Token{}}
	}
	return c.compile(e)
}

func constant(s string) nodes.Expression {
	return &nodes.String{Location: &tokens.Token{Val: s}, Val: s}
}

// scope is a block with variables of its own: the template, a loop's body, a macro, the body of a set.
type scope struct {
	outer  *scope
	seen   map[string]bool // read or set in this block itself
	early  map[string]bool // read in a block within it before that
	hidden []string
}

// hidden lists the variables that Jinja2 does not find although they are given: a template that sets a variable, and did
// nothing with it before but read it in loops and macros, reads there what it has not set yet. Within a loop or a macro the
// same is an error.
func hidden(list []nodes.Node) ([]string, error) {
	s := &scope{nil, map[string]bool{}, map[string]bool{}, nil}
	err := s.body(list, true)
	return s.hidden, err
}

func (s *scope) read(name string) {
	s.seen[name] = true
	for o := s.outer; o != nil; o = o.outer {
		if o.seen[name] {
			return
		}
		o.early[name] = true
	}
}

// set notes that a variable is set: for certain, or under a condition.
func (s *scope) set(name string, certain bool) error {
	if certain && s.early[name] && !s.seen[name] {
		if s.outer != nil {
			return fmt.Errorf("the variable %s, read in an inner block before it is set in an outer one, is not supported", name)
		}
		s.hidden = append(s.hidden, name)
	}
	s.seen[name] = true
	return nil
}

func (s *scope) inner(names ...string) *scope {
	in := &scope{s, map[string]bool{}, map[string]bool{}, nil}
	for _, name := range names {
		in.seen[name] = true
	}
	return in
}

func (s *scope) body(list []nodes.Node, certain bool) error {
	for _, n := range list {
		var err error
		switch n := n.(type) {
		case *nodes.Output:
			s.expression(n.Expression)
		case *nodes.ControlStructureBlock:
			err = s.statement(n.ControlStructure, certain)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *scope) statement(n nodes.ControlStructure, certain bool) error {
	switch n := n.(type) {
	case *branch:
		for i, w := range n.Wrappers {
			if i < len(n.Conditions) {
				s.expression(n.Conditions[i])
			}
			if err := s.body(w.Nodes, false); err != nil {
				return err
			}
		}
	case *controlStructures.ForControlStructure:
		s.expression(n.ObjectEvaluator)
		in := s.inner(n.Key, n.Value, "loop")
		if n.IfCondition != nil {
			in.expression(n.IfCondition)
		}
		if n.EmptyWrapper != nil {
			if err := s.inner().body(n.EmptyWrapper.Nodes, true); err != nil {
				return err
			}
		}
		return in.body(n.BodyWrapper.Nodes, true)
	case *macro:
		in := s.inner()
		for _, p := range n.Kwargs {
			in.seen[p.Key.(*nodes.String).Val] = true
		}
		for _, p := range n.Kwargs {
			in.expression(p.Value)
		}
		if err := in.body(n.Wrapper.Nodes, true); err != nil {
			return err
		}
		return s.set(n.Name, certain)
	case *assignment:
		if n.body != nil {
			if err := s.inner().body(n.body.Nodes, true); err != nil {
				return err
			}
		} else {
			s.expression(n.value)
		}
		if n.attribute != "" {
			s.read(n.name)
			return nil
		}
		return s.set(n.name, certain)
	}
	return nil
}

// expression notes the variables that a compiled expression reads.
func (s *scope) expression(e nodes.Expression) {
	switch n := e.(type) {
	case *nodes.BinaryExpression:
		s.expression(n.Left)
		s.expression(n.Right)
	case *nodes.Call:
		if name, ok := n.Func.(*nodes.Name); ok && name.Name.Val == "@name" {
			s.read(n.Args[1].(*nodes.String).Val)
		}
		for _, a := range n.Args {
			s.expression(a)
		}
		for _, a := range n.Kwargs {
			s.expression(a)
		}
	}
}
