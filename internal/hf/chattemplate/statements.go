package chattemplate

import (
	"fmt"
)

// loopTag is the tag for.
type loopTag struct {
	line              int
	names             []string // of the variables that it sets
	source, condition expression
	body, otherwise   block
}

// loop is the variable of the name.
type loop struct {
	items []any
	index int // from 0
}

// run runs the body for each item, and the block after else if no turn came to its end.
func (t *loopTag) run(f *frame) error {
	v, err := t.source(f)
	if err != nil {
		return err
	}
	items, err := f.iterate(v)
	if err == nil && t.condition != nil {
		items, err = t.chosen(f.inner(), items)
	}
	if err != nil {
		return at(t.line, err)
	}
	in, turns, ended := f.inner(), &loop{items: items}, false
	for turns.index, v = range items {
		if err := t.begin(in, v); err != nil {
			return at(t.line, err)
		}
		in.vars["loop"] = turns
		if err = t.body.run(in); err == errBreak {
			break
		} else if err == nil {
			ended = true
		} else if err != errContinue {
			return err
		}
	}
	if ended {
		return nil
	}
	return t.otherwise.run(f.inner())
}

// begin sets the variables of a turn.
func (t *loopTag) begin(f *frame, item any) error {
	clear(f.vars)
	if len(t.names) == 1 {
		f.vars[t.names[0]] = item
		return f.spend(0)
	}
	parts, err := f.iterate(item)
	if err == nil && len(parts) != len(t.names) {
		err = fmt.Errorf("%d values for %d names", len(parts), len(t.names))
	}
	for i := 0; err == nil && i < len(parts); i++ {
		f.vars[t.names[i]] = parts[i]
	}
	return err
}

// chosen lists the items for which the condition holds.
func (t *loopTag) chosen(f *frame, items []any) (chosen []any, err error) {
	for _, item := range items {
		yes := false
		if err = t.begin(f, item); err == nil {
			yes, err = t.condition.holds(f)
		}
		if err != nil {
			return nil, err
		}
		if yes && len(t.names) > 1 { // the item may be a generator, which is used up
			parts := make([]any, len(t.names))
			for i, name := range t.names {
				parts[i] = f.vars[name]
			}
			item = &list{isTuple, parts}
		}
		if yes {
			chosen = append(chosen, item)
		}
	}
	return chosen, nil
}

func (l *loop) attribute(name string) (any, error) {
	neighbour := func(i int) any {
		if i < 0 || i >= len(l.items) {
			return undefined{"item"}
		}
		return l.items[i]
	}
	switch n := len(l.items); name {
	case "index":
		return l.index + 1, nil
	case "index0":
		return l.index, nil
	case "revindex":
		return n - l.index, nil
	case "revindex0":
		return n - l.index - 1, nil
	case "first":
		return l.index == 0, nil
	case "last":
		return l.index == n-1, nil
	case "length":
		return n, nil
	case "previtem":
		return neighbour(l.index - 1), nil
	case "nextitem":
		return neighbour(l.index + 1), nil
	}
	return nil, fmt.Errorf("loop.%s is not supported", name)
}

// macro is the tag of the name.
type macro struct {
	name       string
	parameters []string
	defaults   []expression // nil for parameters without
	body       block
}

// define makes a function of the macro. It sees the variables of the place where it stands.
func (m *macro) define(home *frame) error {
	home.vars[m.name] = &function{m.name, func(_ *run, args []any, named map[string]any) (any, error) {
		values, err := place(m.parameters, args, named)
		if err != nil {
			return nil, fmt.Errorf("macro %s: %w", m.name, err)
		}
		return m.render(home.inner(), values)
	}}
	return nil
}

func (m *macro) render(f *frame, values []any) (any, error) {
	for i, name := range m.parameters {
		f.vars[name] = or(values[i], undefined{name})
	}
	for i, value := range m.defaults {
		if given(values[i]) || value == nil {
			continue
		}
		v, err := value(f)
		if err != nil {
			return nil, err
		}
		f.vars[m.parameters[i]] = v
	}
	return f.capture(m.body)
}
