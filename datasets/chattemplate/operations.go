package chattemplate

import (
	"errors"
	"fmt"

	"github.com/nikolalohinski/gonja/v2/exec"
)

// operations are what the lowered tree of a template calls, under names that no template can spell.
func operations() map[string]operation {
	ops := map[string]operation{
		"@name": func(_ *run, e *exec.Evaluator, args []any, _ map[string]any) (any, error) {
			return variable(e, args[0])
		},
		"@list": func(_ *run, _ *exec.Evaluator, args []any, _ map[string]any) (any, error) { return newList(args), nil },
		"@tuple": func(_ *run, _ *exec.Evaluator, args []any, _ map[string]any) (any, error) {
			return &list{isTuple, args}, nil
		},
		"@dict":  func(_ *run, _ *exec.Evaluator, args []any, _ map[string]any) (any, error) { return dictOf(args) },
		"@each":  func(r *run, _ *exec.Evaluator, args []any, _ map[string]any) (any, error) { return r.each(args[0]) },
		"@pairs": func(r *run, _ *exec.Evaluator, args []any, _ map[string]any) (any, error) { return r.eachPair(args[0]) },
		"@call":  callFunction,
		"@filter": func(r *run, _ *exec.Evaluator, args []any, named map[string]any) (any, error) {
			return r.filter(args[0].(string), args[1:], named)
		},
		"@test": func(r *run, _ *exec.Evaluator, args []any, named map[string]any) (any, error) {
			if len(named) > 0 {
				return nil, errors.New("a test with arguments by name is not supported")
			}
			return r.test(args[0].(string), args[1], args[2:])
		},
		"@[:]": func(_ *run, _ *exec.Evaluator, args []any, _ map[string]any) (any, error) {
			return sliceOf(args[0], args[1:])
		},
		// gonja asks a list whether it is empty, and so whether the right side of and and or is looked at.
		"@or": func(_ *run, _ *exec.Evaluator, args []any, _ map[string]any) (any, error) {
			return box(args[0], truth(args[0])), nil
		},
		"@and": func(_ *run, _ *exec.Evaluator, args []any, _ map[string]any) (any, error) {
			return box(args[0], !truth(args[0])), nil
		},
		"@of": func(_ *run, _ *exec.Evaluator, args []any, _ map[string]any) (any, error) {
			return args[0].(*list).items[0], nil
		},
	}
	for name, f := range map[string]func(v any) (any, error){
		"@print":  func(v any) (any, error) { return text(v) },
		"@truth":  func(v any) (any, error) { return truth(v), nil },
		"@not":    func(v any) (any, error) { return !truth(v), nil },
		"@unary+": func(v any) (any, error) { return signed(v, 1) },
		"@unary-": func(v any) (any, error) { return signed(v, -1) },
	} {
		ops[name] = func(_ *run, _ *exec.Evaluator, args []any, _ map[string]any) (any, error) { return f(args[0]) }
	}
	for name, f := range map[string]func(a, b any) (any, error){
		"@attribute": func(a, b any) (any, error) { return attribute(a, b.(string)) },
		"@[]":        item,
	} {
		ops[name] = func(_ *run, _ *exec.Evaluator, args []any, _ map[string]any) (any, error) { return f(args[0], args[1]) }
	}
	for _, sign := range []string{"==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "//", "%", "~", "in"} {
		ops["@"+sign] = func(r *run, _ *exec.Evaluator, args []any, _ map[string]any) (any, error) {
			return r.binary(sign, args[0], args[1])
		}
	}
	return ops
}

func box(v any, full bool) any {
	if full {
		return newList([]any{v})
	}
	return []any{}
}

// variable looks a variable up, then the functions that every template has.
func variable(e *exec.Evaluator, name any) (any, error) {
	if v, found := e.Environment.Context.Get(name.(string)); found {
		return plain(exec.ToValue(v)), nil
	}
	f := map[string]func(*run, []any, map[string]any) (any, error){"range": callRange, "namespace": callNamespace, "dict": callDict,
		"raise_exception": raise, "strftime_now": strftimeNow}[name.(string)]
	if f != nil {
		return &function{name.(string), f}, nil
	}
	if name == nothing {
		return undefined{}, nil
	}
	return undefined{name.(string)}, nil
}

func callFunction(r *run, _ *exec.Evaluator, args []any, named map[string]any) (any, error) {
	f, ok := args[0].(*function)
	if !ok {
		return nil, fmt.Errorf("%s cannot be called", typeName(args[0]))
	}
	if r.depth++; r.depth > maxCalls {
		return nil, fmt.Errorf("it nests deeper than %d calls", maxCalls)
	}
	defer func() { r.depth-- }()
	return f.call(r, args[1:], named)
}

func dictOf(args []any) (any, error) {
	out := newDict()
	for i := 0; i < len(args); i += 2 {
		if err := out.set(args[i], args[i+1]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// each is what gonja's loop goes through.
func (r *run) each(v any) ([]any, error) {
	items, err := r.iterate(v)
	if err != nil {
		return nil, err
	}
	return append([]any{}, items...), r.spend(24 * len(items)) // for what gonja does in each turn
}

// eachPair is the same for loops with two variables.
func (r *run) eachPair(v any) ([]any, error) {
	items, err := r.each(v)
	for i, item := range items {
		pair, err := r.iterate(item)
		if err != nil {
			return nil, err
		}
		if len(pair) != 2 {
			return nil, fmt.Errorf("%d values for 2 names", len(pair))
		}
		items[i] = pair
	}
	return items, err
}
