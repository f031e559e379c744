package chattemplate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nikolalohinski/gonja/v2/exec"
)

// What a rendering may cost. The longest chats stay far below.
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

// run is one rendering: what it has cost so far, and the first thing that went wrong.
type run struct {
	ctx   context.Context
	now   func() time.Time
	err   error
	steps int
	depth int
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
