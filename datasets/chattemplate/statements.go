package chattemplate

import (
	"fmt"

	"github.com/nikolalohinski/gonja/v2/builtins/control_structures"
	"github.com/nikolalohinski/gonja/v2/exec"
	"github.com/nikolalohinski/gonja/v2/nodes"
	"github.com/nikolalohinski/gonja/v2/parser"
	"github.com/nikolalohinski/gonja/v2/tokens"
)

// statements are gonja's parsers of tags, each followed by the compiler of what it parsed. Loops run as gonja has them.
func (c *compiler) statements() *exec.ControlStructureSet {
	set := map[string]parser.ControlStructureParser{"set": c.parseSet}
	for _, name := range []string{"if", "for", "macro", "break", "continue"} {
		parse, _ := controlStructures.All.Get(name)
		set[name] = func(p, args *parser.Parser) (nodes.ControlStructure, error) {
			parsed, err := parse(p, args)
			if err != nil {
				return nil, err
			}
			return c.statement(parsed), nil
		}
	}
	return exec.NewControlStructureSet(set)
}

func (c *compiler) statement(s nodes.ControlStructure) nodes.ControlStructure {
	switch s := s.(type) {
	case *controlStructures.IfControlStructure:
		for i, condition := range s.Conditions {
			s.Conditions[i] = c.call("@truth", condition.Position(), c.compile(condition))
		}
		for _, w := range s.Wrappers {
			c.outputs(w.Nodes)
		}
		return &branch{s}
	case *controlStructures.ForControlStructure:
		each := "@each"
		if s.Value != "" {
			each = "@pairs"
		}
		s.ObjectEvaluator = c.call(each, s.ObjectEvaluator.Position(), c.compile(s.ObjectEvaluator))
		if s.IfCondition != nil {
			s.IfCondition = c.call("@truth", s.IfCondition.Position(), c.compile(s.IfCondition))
		}
		c.outputs(s.BodyWrapper.Nodes)
		if s.EmptyWrapper != nil {
			c.outputs(s.EmptyWrapper.Nodes)
		}
	case *controlStructures.MacroControlStructure:
		for _, parameter := range s.Kwargs {
			if _, none := parameter.Value.(*nodes.None); none { // gonja's mark of no default
				parameter.Value = nil
				continue
			}
			parameter.Value = c.compile(parameter.Value)
		}
		if s.VarArgsName != "" || s.KwArgsName != "" {
			c.refuse(s.Location, "a macro with any number of parameters")
		}
		c.outputs(s.Wrapper.Nodes)
		return &macro{s.Macro}
	}
	return s
}

// outputs compiles the expressions that a block prints.
func (c *compiler) outputs(list []nodes.Node) {
	for _, n := range list {
		out, ok := n.(*nodes.Output)
		if !ok {
			continue
		}
		if out.Condition != nil {
			c.refuse(out.Start, "a condition")
		}
		// Nothing is escaped, so a printed value is always safe.
		if f, ok := out.Expression.(*nodes.FilteredExpression); ok {
			if last := len(f.Filters) - 1; f.Filters[last].Name == "safe" && len(f.Filters[last].Args)+len(f.Filters[last].Kwargs) == 0 {
				f.Filters = f.Filters[:last]
			}
		}
		out.Expression = c.call("@print", out.Start, c.compile(out.Expression))
	}
}

// branch is the tag if. gonja's own sets variables only when it has ended, which macros would notice.
type branch struct {
	*controlStructures.IfControlStructure
}

// Execute runs the block of the first condition that holds.
func (b *branch) Execute(r *exec.Renderer, _ *nodes.ControlStructureBlock) error {
	i := 0
	for ; i < len(b.Conditions); i++ {
		holds := r.Eval(b.Conditions[i])
		if holds.IsError() {
			return holds
		}
		if holds.IsTrue() {
			break
		}
	}
	if i == len(b.Wrappers) {
		return nil
	}
	return nodes.Walk(r, b.Wrappers[i])
}

// assignment is the tag set. gonja's own hides its expression from the compiler.
type assignment struct {
	at              *tokens.Token
	name, attribute string
	value           nodes.Expression // or else the body
	body            *nodes.Wrapper
}

func (c *compiler) parseSet(p, args *parser.Parser) (nodes.ControlStructure, error) {
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
			c.outputs(s.body.Nodes)
		}
		return s, err
	}
	if s.value, err = args.ParseExpression(); err == nil && !args.End() {
		err = args.Error("set is followed by more than a value", args.Current())
	}
	if err == nil {
		s.value = c.compile(s.value)
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

// macro is the tag of the name. gonja's own works out defaults where the other parameters are not yet known.
type macro struct{ *nodes.Macro }

// Execute makes a function of the macro. It sees the variables of the place where it stands.
func (m *macro) Execute(home *exec.Renderer, _ *nodes.ControlStructureBlock) error {
	home.Environment.Context.Set(m.Name, &function{m.Name, func(r *run, args []any, named map[string]any) (any, error) {
		if len(args) > len(m.Kwargs) {
			return nil, fmt.Errorf("macro %s: %d arguments for %d parameters", m.Name, len(args), len(m.Kwargs))
		}
		given := map[string]any{}
		for i, parameter := range m.Kwargs {
			name := parameter.Key.(*nodes.String).Val
			v, found := named[name]
			switch {
			case found && i < len(args):
				return nil, fmt.Errorf("macro %s: parameter %q given twice", m.Name, name)
			case found:
				given[name] = v
			case i < len(args):
				given[name] = args[i]
			}
			delete(named, name)
		}
		for name := range named {
			return nil, fmt.Errorf("macro %s: unknown parameter %q", m.Name, name)
		}
		return m.render(home, r, given)
	}})
	return nil
}

func (m *macro) render(home *exec.Renderer, r *run, given map[string]any) (any, error) {
	return capture(home, r, func(sub *exec.Renderer) error {
		for _, p := range m.Kwargs {
			name := p.Key.(*nodes.String).Val
			sub.Environment.Context.Set(name, undefined{name})
			if v, found := given[name]; found {
				sub.Environment.Context.Set(name, v)
			}
		}
		for _, p := range m.Kwargs {
			name := p.Key.(*nodes.String).Val
			if _, found := given[name]; found || p.Value == nil {
				continue
			}
			v := sub.Eval(p.Value)
			if v.IsError() {
				return v
			}
			sub.Environment.Context.Set(name, plain(v))
		}
		return sub.ExecuteWrapper(m.Wrapper)
	})
}

// capture returns the text that do prints.
func capture(home *exec.Renderer, r *run, do func(sub *exec.Renderer) error) (string, error) {
	out := &output{run: r}
	sub := home.Inherit()
	sub.Output = out
	err := do(sub)
	return out.text.String(), err
}
