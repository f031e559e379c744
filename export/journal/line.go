package journal

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/valyala/fastjson"

	"benchtop/metrics"
)

// line is a line of a journal, or an object within one. A method writes a value to the line or reads it from the line,
// so that a fact has one list of keys for both directions. Empty and invalid values are not written: they must not cost
// the rest of the line.
type line struct {
	b   []byte           // the written part
	o   *fastjson.Object // the object to read; nil while writing
	err error            // the first unexpected value
}

func (l *line) reads() bool { return l.o != nil }

func (l *line) fail(key, want string) {
	if l.err == nil {
		l.err = fmt.Errorf("%q: expected %s", key, want)
	}
}

// key writes the key of a value.
func (l *line) key(key string) {
	if l.b[len(l.b)-1] != '{' {
		l.b = append(l.b, ',')
	}
	l.b = append(l.b, '"')
	l.b = append(l.b, key...)
	l.b = append(l.b, `":`...)
}

// putWhole writes a whole number.
func (l *line) putWhole(key string, v int64) {
	l.key(key)
	l.b = strconv.AppendInt(l.b, v, 10)
}

// object opens an object within the line. It is nil if there is none to write or to read.
func (l *line) object(key string, there bool) (inner *line) {
	switch {
	case l.reads():
		if v := l.o.Get(key); v != nil {
			inner = l.inner(key, v, "an object")
		}
	case there:
		l.key(key)
		l.b = append(l.b, '{')
		inner = l
	}
	return inner
}

// optionalObject is an object behind a pointer, which values writes or reads.
func optionalObject[T any](l *line, key string, v **T, values func(*line, *T)) {
	inner := l.object(key, *v != nil)
	if inner == nil {
		return
	}
	if l.reads() {
		*v = new(T)
	}
	values(inner, *v)
	l.close(inner)
}

// inner reads an object.
func (l *line) inner(key string, v *fastjson.Value, want string) *line {
	o, err := v.Object()
	if err != nil {
		l.fail(key, want)
		return &line{o: &fastjson.Object{}, err: l.err}
	}
	return &line{o: o}
}

// close ends an object within the line. An error in the object is an error in the line.
func (l *line) close(inner *line) {
	switch {
	case !l.reads():
		l.b = append(l.b, '}')
	case l.err == nil:
		l.err = inner.err
	}
}

// list is a list of at most limit objects, which values writes or reads.
func list[T any](l *line, key string, all *[]T, limit int, many, one string, values func(*line, *T)) {
	if l.reads() {
		found := l.array(key)
		if len(found) > limit {
			l.fail(key, fmt.Sprintf("at most %d %s", limit, many))
			return
		}
		for _, v := range found {
			var x T
			inner := l.inner(key, v, "an object for each "+one)
			values(inner, &x)
			*all = append(*all, x)
			l.close(inner)
		}
		return
	}
	l.key(key)
	inner := &line{b: append(l.b, '[')} // keeps lines without a list off the heap
	for i, x := range (*all)[:min(len(*all), limit)] {
		if i > 0 {
			inner.b = append(inner.b, ',')
		}
		inner.b = append(inner.b, '{')
		values(inner, &x)
		inner.b = append(inner.b, '}')
	}
	l.b = append(inner.b, ']')
}

// array reads a list.
func (l *line) array(key string) []*fastjson.Value {
	v := l.o.Get(key)
	if v == nil {
		return nil
	}
	a, err := v.Array()
	if err != nil {
		l.fail(key, "an array")
	}
	return a
}

// wholes is a list of whole numbers of a unit. An empty list is not written.
func wholes[T ~int | ~int64](l *line, key string, list *[]T, unit T, read func(string, *fastjson.Value) T) {
	if l.reads() {
		for _, v := range l.array(key) {
			*list = append(*list, read(key, v))
		}
		return
	}
	for i, v := range *list {
		if i == 0 {
			l.key(key)
			l.b = append(l.b, '[')
		} else {
			l.b = append(l.b, ',')
		}
		l.b = strconv.AppendInt(l.b, int64(v/unit), 10)
	}
	if len(*list) > 0 {
		l.b = append(l.b, ']')
	}
}

func (l *line) count(key string, n *int) {
	switch {
	case l.reads():
		*n = 0
		if v := l.o.Get(key); v != nil {
			*n = l.whole(key, v)
		}
	case *n != 0:
		l.putWhole(key, int64(*n))
	}
}

func (l *line) whole(key string, v *fastjson.Value) int {
	n, err := v.Int64()
	if err != nil || n < -largestCount || n > largestCount {
		l.fail(key, "a whole number below 2^53")
		return 0
	}
	return int(n)
}

// natural is a count of at least 0.
func (l *line) natural(key string, n *int) {
	if l.reads() || *n > 0 {
		l.count(key, n)
	}
	if l.reads() && *n < 0 {
		l.fail(key, "a number of things")
		*n = 0
	}
}

func text[S ~string](l *line, key string, s *S) {
	switch {
	case l.reads():
		*s = S(l.text(key))
	case *s != "":
		l.key(key)
		l.b = appendString(l.b, string(*s))
	}
}

// texts is a list of at most limit names of places. An empty list is not written.
func texts(l *line, key string, all *[]string, limit int) {
	if l.reads() {
		found := l.array(key)
		for _, v := range found[:min(len(found), limit)] {
			b, err := v.StringBytes()
			if err != nil {
				l.fail(key, "an array of strings")
			}
			*all = append(*all, metrics.PlaceName(b))
		}
		return
	}
	for i, s := range *all {
		if i == 0 {
			l.key(key)
			l.b = append(l.b, '[')
		} else {
			l.b = append(l.b, ',')
		}
		l.b = appendString(l.b, s)
	}
	if len(*all) > 0 {
		l.b = append(l.b, ']')
	}
}

// text reads a text.
func (l *line) text(key string) string {
	v := l.o.Get(key)
	if v == nil {
		return ""
	}
	b, err := v.StringBytes()
	if err != nil {
		l.fail(key, "a string")
	}
	return strings.ToValidUTF8(string(b), string(utf8.RuneError))
}

// moment is a time of the run in whole microseconds. Never is not written.
func (l *line) moment(key string, at *time.Duration) {
	switch {
	case l.reads():
		*at = metrics.Never
		if v := l.o.Get(key); v != nil {
			*at = l.microseconds(key, v)
		}
	case *at != metrics.Never:
		l.putWhole(key, at.Microseconds())
	}
}

// span is a duration in microseconds. 0 is not written; Never is null.
func (l *line) span(key string, d *time.Duration) {
	switch {
	case l.reads():
		v := l.o.Get(key)
		switch {
		case v == nil:
			*d = 0
		case v.Type() == fastjson.TypeNull:
			*d = metrics.Never
		default:
			*d = l.microseconds(key, v)
		}
	case *d == metrics.Never:
		l.key(key)
		l.b = append(l.b, "null"...)
	case *d != 0:
		l.putWhole(key, d.Microseconds())
	}
}

func (l *line) microseconds(key string, v *fastjson.Value) time.Duration {
	us, err := v.Int64()
	if limit := longestRun.Microseconds(); err != nil || us < -limit || us > limit {
		l.fail(key, fmt.Sprintf("whole microseconds, at most %d days", longestRun/(24*time.Hour)))
		return 0
	}
	return time.Duration(us) * time.Microsecond
}

// length is a duration in nanoseconds. 0 is not written.
func (l *line) length(key string, d *time.Duration) {
	switch {
	case l.reads():
		l.delay(key, d)
		*d = max(0, *d)
	case *d > 0:
		l.delay(key, d)
	}
}

// delay is a duration in nanoseconds. Never is not written, 0 is.
func (l *line) delay(key string, d *time.Duration) {
	if !l.reads() {
		if *d >= 0 {
			l.putWhole(key, int64(min(*d, longestRun)))
		}
		return
	}
	*d = metrics.Never
	if v := l.o.Get(key); v != nil {
		ns, err := v.Int64()
		if err != nil || ns < 0 || ns > int64(longestRun) {
			l.fail(key, fmt.Sprintf("whole nanoseconds, at most %d days", longestRun/(24*time.Hour)))
			ns = 0
		}
		*d = time.Duration(ns)
	}
}

// number is above 0; 0 is not written.
func (l *line) number(key string, v *float64) {
	switch {
	case l.reads():
		*v = l.float(key, 0, 0, "a number from 0 to 2^53")
	case *v > 0 && !math.IsInf(*v, 1): // NaN is not above 0
		l.putFloat(key, *v)
	}
}

// unbounded is a number that may be infinite, as in the header.
func (l *line) unbounded(key string, v *float64) {
	switch {
	case l.reads() && string(l.o.Get(key).GetStringBytes()) == "inf":
		*v = math.Inf(1)
	case !l.reads() && math.IsInf(*v, 1):
		l.key(key)
		l.b = append(l.b, `"inf"`...)
	default:
		l.number(key, v)
	}
}

// optional is a number that may be unknown, which is not written. Temperatures may be below 0.
func (l *line) optional(key string, v *float64) {
	switch {
	case l.reads():
		*v = l.float(key, -largestCount, metrics.Unsaid(), "a number between -2^53 and 2^53")
	case !math.IsNaN(*v) && !math.IsInf(*v, 0):
		l.putFloat(key, *v)
	}
}

func (l *line) putFloat(key string, v float64) {
	l.key(key)
	l.b = strconv.AppendFloat(l.b, max(-largestCount, min(v, largestCount)), 'g', -1, 64)
}

// float reads a number of at least least; the default is none.
func (l *line) float(key string, least, none float64, want string) float64 {
	v := l.o.Get(key)
	if v == nil {
		return none
	}
	// The parser's own conversion of fractions is off by a bit in some cases.
	n, err := strconv.ParseFloat(string(v.MarshalTo(nil)), 64)
	if err != nil || !(n >= least && n <= largestCount) {
		l.fail(key, want)
		return none
	}
	return n
}

// flag is a bool; false is not written.
func (l *line) flag(key string, v *bool) {
	switch {
	case l.reads():
		*v = false
		if x := l.o.Get(key); x != nil {
			if *v = x.Type() == fastjson.TypeTrue; !*v && x.Type() != fastjson.TypeFalse {
				l.fail(key, "true or false")
			}
		}
	case *v:
		l.key(key)
		l.b = append(l.b, "true"...)
	}
}
