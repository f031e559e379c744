package chattemplate

import (
	"github.com/nikolalohinski/gonja/v2/builtins/control_structures"
	"github.com/nikolalohinski/gonja/v2/exec"
	"github.com/nikolalohinski/gonja/v2/nodes"
	"github.com/nikolalohinski/gonja/v2/parser"
)

// statements are gonja's parsers of tags, each followed by the lowering of what it parsed. Loops run as gonja has them.
func (l *lowering) statements() *exec.ControlStructureSet {
	set := map[string]parser.ControlStructureParser{"set": l.parseSet}
	for _, name := range []string{"if", "for", "macro", "break", "continue"} {
		parse, _ := controlStructures.All.Get(name)
		set[name] = func(p, args *parser.Parser) (nodes.ControlStructure, error) {
			parsed, err := parse(p, args)
			if err != nil {
				return nil, err
			}
			return l.statement(parsed), nil
		}
	}
	return exec.NewControlStructureSet(set)
}

func (l *lowering) statement(s nodes.ControlStructure) nodes.ControlStructure {
	switch s := s.(type) {
	case *controlStructures.IfControlStructure:
		for i, c := range s.Conditions {
			s.Conditions[i] = l.call("@truth", c.Position(), l.lower(c))
		}
		for _, w := range s.Wrappers {
			l.outputs(w.Nodes)
		}
		return &branch{s}
	case *controlStructures.ForControlStructure:
		each := "@each"
		if s.Value != "" {
			each = "@pairs"
		}
		s.ObjectEvaluator = l.call(each, s.ObjectEvaluator.Position(), l.lower(s.ObjectEvaluator))
		if s.IfCondition != nil {
			s.IfCondition = l.call("@truth", s.IfCondition.Position(), l.lower(s.IfCondition))
		}
		l.outputs(s.BodyWrapper.Nodes)
		if s.EmptyWrapper != nil {
			l.outputs(s.EmptyWrapper.Nodes)
		}
	case *controlStructures.MacroControlStructure:
		for _, parameter := range s.Kwargs {
			if _, none := parameter.Value.(*nodes.None); none { // gonja's mark of no default
				parameter.Value = nil
				continue
			}
			parameter.Value = l.lower(parameter.Value)
		}
		if s.VarArgsName != "" || s.KwArgsName != "" {
			l.refuse(s.Location, "a macro with any number of parameters")
		}
		l.outputs(s.Wrapper.Nodes)
		return &macro{s.Macro}
	}
	return s
}

// outputs lowers what a block prints.
func (l *lowering) outputs(list []nodes.Node) {
	for _, n := range list {
		out, ok := n.(*nodes.Output)
		if !ok {
			continue
		}
		if out.Condition != nil {
			l.refuse(out.Start, "a condition")
		}
		// Nothing is escaped, so what is only printed is always safe.
		if f, ok := out.Expression.(*nodes.FilteredExpression); ok {
			if last := len(f.Filters) - 1; f.Filters[last].Name == "safe" && len(f.Filters[last].Args)+len(f.Filters[last].Kwargs) == 0 {
				f.Filters = f.Filters[:last]
			}
		}
		out.Expression = l.call("@print", out.Start, l.lower(out.Expression))
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
