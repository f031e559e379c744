package chattemplate

import (
	"fmt"

	"github.com/nikolalohinski/gonja/v2/exec"
	"github.com/nikolalohinski/gonja/v2/nodes"
	"github.com/nikolalohinski/gonja/v2/parser"
	"github.com/nikolalohinski/gonja/v2/tokens"
)

// assignment is the tag set. gonja's own hides its expression from the lowering.
type assignment struct {
	at              *tokens.Token
	name, attribute string
	value           nodes.Expression // or else the body
	body            *nodes.Wrapper
}

func (l *lowering) parseSet(p, args *parser.Parser) (nodes.ControlStructure, error) {
	s := &assignment{at: p.Current(), name: args.Next().Val}
	if s.at == nil {
		s.at = &tokens.Token{}
	}
	if args.Match(tokens.Dot) != nil {
		s.attribute = args.Next().Val
	}
	var err error
	if args.Match(tokens.Assign) == nil {
		if s.body, _, err = p.WrapUntil("endset"); err == nil {
			l.outputs(s.body.Nodes)
		}
		return s, err
	}
	if s.value, err = args.ParseExpression(); err == nil && !args.End() {
		err = args.Error("set is followed by more than a value", args.Current())
	}
	if err == nil {
		s.value = l.lower(s.value)
	}
	return s, err
}

// Position is where the tag stands.
func (s *assignment) Position() *tokens.Token { return s.at }

// String names the tag in gonja's errors.
func (s *assignment) String() string { return "set " + s.name }

// Execute sets the variable, or the attribute of a namespace.
func (s *assignment) Execute(r *exec.Renderer, _ *nodes.ControlStructureBlock) error {
	value, err := s.evaluate(r)
	if err != nil {
		return err
	}
	if s.attribute == "" {
		r.Environment.Context.Set(s.name, value)
		return nil
	}
	v, _ := r.Environment.Context.Get(s.name)
	target := plain(exec.ToValue(v))
	space, ok := target.(*namespace)
	if !ok {
		return fmt.Errorf("cannot set an attribute of %s", typeName(target))
	}
	return space.set(s.attribute, value)
}

func (s *assignment) evaluate(r *exec.Renderer) (any, error) {
	if s.body != nil {
		return capture(r, r.Output.(*output).run, func(sub *exec.Renderer) error { return sub.ExecuteWrapper(s.body) })
	}
	v := r.Eval(s.value)
	if v.IsError() {
		return nil, v
	}
	return plain(v), nil
}
