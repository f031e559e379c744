package chattemplate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nikolalohinski/gonja/v2/exec"
)

// Bounds on the cost of a rendering. The longest chats stay far below.
const (
	maxSteps  = 2 << 20
	maxOutput = 32 << 20 // bytes, of any one text
	maxCalls  = 100      // macros within macros
)

var (
	errTooLong = errors.New("it makes too long a text")
	errTooMuch = errors.New("it compares too much")
	errTooDeep = fmt.Errorf("values nested deeper than %d", maxNesting)
)

// run is one rendering: its cost so far and its first error.
type run struct {
	ctx     context.Context
	now     func() time.Time
	filters map[string]filter
	err     error
	steps   int
	depth   int
}

// spend accounts for n steps of work.
func (r *run) spend(n int) error {
	before := r.steps
	if r.steps += n + 1; r.steps > maxSteps {
		return errors.New("it runs too long")
	}
	if before>>12 != r.steps>>12 || before == 0 {
		return r.ctx.Err()
	}
	return nil
}

// long accounts for a text that was made.
func (r *run) long(bytes int) error {
	if bytes > maxOutput {
		return errTooLong
	}
	return r.spend(bytes >> 8)
}

// output takes what a template prints, within bounds.
type output struct {
	run  *run
	text strings.Builder
}

func (o *output) Write(p []byte) (int, error) {
	if err := o.run.long(o.text.Len() + len(p)); err != nil {
		return 0, err
	}
	return o.text.Write(p)
}

// operation is a piece of a template's work. Its arguments are worked out.
type operation func(r *run, e *exec.Evaluator, args []any, named map[string]any) (any, error)

// bind makes an operation callable by gonja. The first argument is the line of the template; the first error is kept, since
// gonja loses some on the way.
func (r *run) bind(do operation) func(*exec.Evaluator, *exec.VarArgs) *exec.Value {
	return func(e *exec.Evaluator, raw *exec.VarArgs) *exec.Value {
		if r.err != nil {
			return exec.AsValue(r.err)
		}
		args := make([]any, len(raw.Args))
		for i, v := range raw.Args {
			args[i] = plain(v)
		}
		var named map[string]any
		if len(raw.KwArgs) > 0 {
			named = map[string]any{}
		}
		for name, v := range raw.KwArgs {
			named[name] = plain(v)
		}
		err := r.spend(0)
		var v any
		if err == nil {
			v, err = do(r, e, args[1:], named)
		}
		if err != nil && r.err == nil {
			line, _ := args[0].(int)
			r.err = at(line, err)
		}
		if r.err != nil {
			return exec.AsValue(r.err)
		}
		return exec.AsValue(v)
	}
}

// plain takes a value out of gonja's wrapping.
func plain(v *exec.Value) any {
	for v != nil {
		inner, wrapped := v.Interface().(*exec.Value)
		if !wrapped {
			break
		}
		v = inner
	}
	if v == nil {
		return nil
	}
	if l, ok := v.Interface().(exec.ValuesList); ok {
		items := make([]any, len(l))
		for i, item := range l {
			items[i] = plain(item)
		}
		return newList(items)
	}
	return v.Interface()
}

// located tells errors that know their line from others.
type located struct {
	line int
	err  error
}

func (l located) Error() string { return fmt.Sprintf("line %d: %v", l.line, l.err) }
func (l located) Unwrap() error { return l.err }

func at(line int, err error) error {
	if _, known := errors.AsType[located](err); known {
		return err
	}
	return located{line, err}
}

// iterate lists the items of a Python loop over a value.
func (r *run) iterate(v any) ([]any, error) {
	var items []any
	switch v := v.(type) {
	case undefined:
	case string:
		for _, c := range v {
			items = append(items, string(c))
		}
	case *list:
		items = v.items
	case *stream:
		items, v.items = v.items, nil
	case *dict:
		items = v.keys
	default:
		return nil, fmt.Errorf("cannot loop over %s", typeName(v))
	}
	return items, r.spend(len(items))
}

// loopAttribute is an attribute of the variable loop, where gonja and Jinja2 agree about it.
func loopAttribute(l exec.AttributeGetter, name string) (any, error) {
	switch name {
	case "index", "index0", "revindex", "revindex0", "first", "last", "length":
		v, _ := l.GetAttribute(name)
		return plain(v), nil
	case "previtem", "nextitem":
		end := map[string]string{"previtem": "first", "nextitem": "last"}[name]
		if none, _ := l.GetAttribute(end); none.Bool() {
			return undefined{"item"}, nil
		}
		neighbour, _ := l.GetAttribute(name)
		v := plain(neighbour)
		if _, pair := v.([2]*exec.Value); !pair { // a pair does not tell whether it was a list
			return v, nil
		}
	}
	return nil, fmt.Errorf("loop.%s is not supported", name)
}

// operations are called by the compiled tree of a template, under names that no template can spell.
func operations() map[string]operation {
	ops := map[string]operation{
		"@name": func(_ *run, e *exec.Evaluator, args []any, _ map[string]any) (any, error) {
			return variable(e, args[0])
		},
		"@call": callFunction,
		"@filter": func(r *run, _ *exec.Evaluator, args []any, named map[string]any) (any, error) {
			return r.filter(args[0].(string), args[1:], named)
		},
		"@test": func(r *run, _ *exec.Evaluator, args []any, named map[string]any) (any, error) {
			if len(named) > 0 {
				return nil, errors.New("a test with arguments by name is not supported")
			}
			return r.test(args[0].(string), args[1], args[2:])
		},
	}
	for name, do := range map[string]func(r *run, args []any) (any, error){
		"@list":  func(_ *run, args []any) (any, error) { return newList(args), nil },
		"@tuple": func(_ *run, args []any) (any, error) { return &list{isTuple, args}, nil },
		"@dict":  func(_ *run, args []any) (any, error) { return dictOf(args) },
		"@each":  func(r *run, args []any) (any, error) { return r.each(args[0]) },
		"@pairs": func(r *run, args []any) (any, error) { return r.eachPair(args[0]) },
		// gonja asks a list whether it is empty, and so whether the right side of and and or is looked at.
		"@or":        func(_ *run, args []any) (any, error) { return box(args[0], truth(args[0])), nil },
		"@and":       func(_ *run, args []any) (any, error) { return box(args[0], !truth(args[0])), nil },
		"@of":        func(_ *run, args []any) (any, error) { return args[0].(*list).items[0], nil },
		"@print":     func(_ *run, args []any) (any, error) { return text(args[0]) },
		"@truth":     func(_ *run, args []any) (any, error) { return truth(args[0]), nil },
		"@not":       func(_ *run, args []any) (any, error) { return !truth(args[0]), nil },
		"@unary+":    func(_ *run, args []any) (any, error) { return signed(args[0], 1) },
		"@unary-":    func(_ *run, args []any) (any, error) { return signed(args[0], -1) },
		"@attribute": func(_ *run, args []any) (any, error) { return attribute(args[0], args[1].(string)) },
		"@[]":        func(_ *run, args []any) (any, error) { return item(args[0], args[1]) },
		"@[:]":       func(_ *run, args []any) (any, error) { return sliceOf(args[0], args[1:]) },
	} {
		ops[name] = func(r *run, _ *exec.Evaluator, args []any, _ map[string]any) (any, error) { return do(r, args) }
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

// each lists the items of a loop.
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
