package chattemplate

import (
	"fmt"

	"github.com/nikolalohinski/gonja/v2/builtins/control_structures"
	"github.com/nikolalohinski/gonja/v2/nodes"
)

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

// expression notes the variables that a lowered expression reads.
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
