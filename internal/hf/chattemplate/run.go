package chattemplate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
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

// errBreak and errContinue travel from the statement to its loop.
var errBreak, errContinue = errors.New("break"), errors.New("continue")

// run is one rendering, with its cost so far.
type run struct {
	ctx     context.Context
	now     func() time.Time
	filters map[string]filter
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

// bulk is what it costs to look at a value once.
func bulk(v any) int {
	s, _ := v.(string)
	return len(s) >> 10
}

// long accounts for a text that was made.
func (r *run) long(bytes int) error {
	if bytes > maxOutput {
		return errTooLong
	}
	return r.spend(bytes >> 8)
}

// statement prints, or sets variables.
type statement func(f *frame) error

type block []statement

func (b block) run(f *frame) error {
	for _, s := range b {
		if err := s(f); err != nil {
			return err
		}
	}
	return nil
}

// frame is a block that runs: its variables, those around it, and where it prints.
type frame struct {
	*run
	outer *frame
	vars  map[string]any
	out   *strings.Builder
}

func (f *frame) inner() *frame { return &frame{f.run, f, map[string]any{}, f.out} }

// write prints within bounds.
func (f *frame) write(s string) error {
	if f.out.Len()+len(s) > maxOutput {
		return errTooLong
	}
	f.out.WriteString(s)
	return f.long(len(s))
}

// capture returns the text that a block prints in a frame.
func (f *frame) capture(b block) (any, error) {
	f.out = &strings.Builder{}
	err := b.run(f)
	return f.out.String(), err
}

// variable looks a variable up, then the functions that every template has.
func (f *frame) variable(name string) any {
	for g := f; g != nil; g = g.outer {
		if v, found := g.vars[name]; found {
			return v
		}
	}
	if function, found := functions[name]; found {
		return function
	}
	return undefined{name}
}

// lineError is an error with its line.
type lineError struct {
	line int
	err  error
}

func (l lineError) Error() string { return fmt.Sprintf("line %d: %v", l.line, l.err) }
func (l lineError) Unwrap() error { return l.err }

// at adds the line to an error that does not know its own.
func at(line int, err error) error {
	if err == nil {
		return nil
	}
	if _, known := errors.AsType[lineError](err); known {
		return err
	}
	return lineError{line, err}
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

func callFunction(r *run, args []any, named map[string]any) (any, error) {
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
