package chattemplate

import (
	"fmt"

	"github.com/nikolalohinski/gonja/v2/exec"
	"github.com/nikolalohinski/gonja/v2/nodes"
)

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

// capture returns what do prints.
func capture(home *exec.Renderer, r *run, do func(sub *exec.Renderer) error) (string, error) {
	out := &output{run: r}
	sub := home.Inherit()
	sub.Output = out
	err := do(sub)
	return out.text.String(), err
}
