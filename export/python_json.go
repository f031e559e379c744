package export

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"iter"
	"math"
	"strconv"

	"benchtop/internal/pyjson"
	"benchtop/internal/text"
)

// Arg is a command-line option, or another named value: its name in Python, with "_" for "-", and its value: nil, a
// bool, an int or int64, a float64, a string, texts, floats, or Args as an object, or several of them. The value is
// written as is, so secrets must be hidden before.
type Arg struct {
	Name  string
	Value any
}

// object is a JSON object whose keys keep their order.
type object []Arg

// get returns nil for a missing key.
func (o object) get(key string) any {
	for _, f := range o {
		if f.Name == key {
			return f.Value
		}
	}
	return nil
}

// set assigns like a Python dict: an existing key keeps its place.
func (o *object) set(key string, value any) {
	for i := range *o {
		if (*o)[i].Name == key {
			(*o)[i].Value = value
			return
		}
	}
	*o = append(*o, Arg{key, value})
}

// dictOf is the object of arguments, of which the last of a name counts.
func dictOf(args []Arg) (o object) {
	for _, a := range args {
		o.set(a.Name, a.Value)
	}
	return o
}

// list is a JSON array that is generated while it is written, so that a long one is never held in memory.
type list iter.Seq[any]

// each is the list of f of every element.
func each[T, V any](s []T, f func(*T) V) list {
	return func(yield func(any) bool) {
		for i := range s {
			if !yield(f(&s[i])) {
				return
			}
		}
	}
}

func deref[T any](v *T) T { return *v }

// orNull writes a zero value as null.
func orNull[T comparable](v T) any {
	var zero T
	return when(v != zero, v)
}

// when writes an unknown value as null.
func when(known bool, v any) any {
	if known {
		return v
	}
	return nil
}

// ifPresent is f of the value behind a pointer, null for a nil pointer.
func ifPresent[T, V any](v *T, f func(*T) V) any {
	if v == nil {
		return nil
	}
	return f(v)
}

// pythonJSON writes JSON byte for byte as Python's json.dumps does. Infinities and NaN become strings, because they are
// not valid JSON.
type pythonJSON struct{ w *bufio.Writer }

// writePython writes one value. The error is the writer's.
func writePython(w io.Writer, v any) error {
	j := pythonJSON{bufio.NewWriterSize(w, 1<<16)}
	j.value(v)
	return j.w.Flush()
}

// Indented writes named values as an object, with the indent that vLLM's offline benchmarks have and a newline at the
// end.
func Indented(w io.Writer, values []Arg) error {
	var b bytes.Buffer
	if err := writePython(&b, values); err != nil {
		return err
	}
	_, err := w.Write(append(pyjson.AppendIndented(nil, b.Bytes(), 4, 0), '\n'))
	return err
}

func (j pythonJSON) value(v any) {
	b := j.w.AvailableBuffer()
	switch v := v.(type) {
	case nil:
		b = append(b, "null"...)
	case bool:
		b = strconv.AppendBool(b, v)
	case int:
		b = strconv.AppendInt(b, int64(v), 10)
	case int64:
		b = strconv.AppendInt(b, v, 10)
	case float64:
		b = appendFloat(b, v)
	case string:
		b = pyjson.AppendString(b, v)
	case object:
		j.object(v)
		return
	case []Arg:
		j.object(v)
		return
	case [][]Arg:
		j.list(each(v, deref))
		return
	case []string:
		j.list(each(v, deref))
		return
	case []float64:
		j.w.WriteByte('[')
		for i, f := range v {
			if b = j.w.AvailableBuffer(); i > 0 {
				b = append(b, ", "...)
			}
			j.w.Write(appendFloat(b, f))
		}
		b = append(j.w.AvailableBuffer(), ']')
	case list:
		j.list(v)
		return
	default:
		panic(fmt.Sprintf("export: no JSON form for %T", v))
	}
	j.w.Write(b) // the writer keeps its error for Flush
}

func appendFloat(b []byte, v float64) []byte {
	if text.Finite(v) {
		return pyjson.AppendFloat(b, v)
	}
	return pyjson.AppendString(b, pyjson.Float(v))
}

func (j pythonJSON) object(o object) {
	j.w.WriteByte('{')
	for i, f := range o {
		if i > 0 {
			j.w.WriteString(", ")
		}
		j.value(f.Name)
		j.w.WriteString(": ")
		j.value(f.Value)
	}
	j.w.WriteByte('}')
}

func (j pythonJSON) list(l list) {
	j.w.WriteByte('[')
	first := true
	for v := range l {
		if !first {
			j.w.WriteString(", ")
		}
		first = false
		j.value(v)
	}
	j.w.WriteByte(']')
}

// integral reports whether v is an integer without loss.
func integral(v float64) bool { return v == math.Trunc(v) && math.Abs(v) < 1e15 }

// number is an integer where possible: vLLM's ramps have whole rates only.
func number(v float64) any {
	if integral(v) {
		return int64(v)
	}
	return v
}

// pythonNumber writes an integral number without a point and any other as a float, as in keys and labels.
func pythonNumber(v float64) string {
	if integral(v) {
		return strconv.FormatInt(int64(v), 10)
	}
	return pyjson.Float(v)
}
