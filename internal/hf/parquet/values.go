package parquet

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"benchtop/datasets/textfile"
	"benchtop/internal/jsonscan"
	"benchtop/internal/pyjson"
)

// form is how a value is written as JSON.
type form int

const (
	formBool form = iota
	formInt
	formUint
	formFloat
	formHalf
	formText
	formBinary
	formDecimal
	formDate
	formTime
	formTimestamp
	formInt96
	formUUID
	formNull
)

// datum is a value as it is stored: a number in bits, or bytes, which are good until the next value of the column.
type datum struct {
	bits  uint64
	bytes []byte
}

// newLeaf is the column of an entry of the schema.
func newLeaf(e element, path string, def, rep int) (*leaf, error) {
	if e.kind < boolean || e.kind > fixedBytes {
		return nil, fmt.Errorf("column %q is of no known type", path)
	}
	if e.kind == fixedBytes && (e.length < 1 || e.length > maxPage) {
		return nil, fmt.Errorf("column %q has values of %d bytes", path, e.length)
	}
	l := &leaf{path: path, kind: e.kind, length: int(e.length), def: def, rep: rep}
	l.form = l.plainForm()
	if e.logical.kind != 0 {
		e.converted = -1 // the newer annotation counts
	}
	integer, bytes := e.kind == int32s || e.kind == int64s, e.kind == byteArray || e.kind == fixedBytes
	switch {
	case e.logical.kind == logicalNull:
		l.form = formNull
	case (integer || bytes) && e.logical.kind == logicalDecimal:
		l.form, l.scale = formDecimal, e.logical.scale
	case (integer || bytes) && e.converted == convertedDecimal:
		l.form, l.scale = formDecimal, e.scale
	case integer:
		l.annotateInt(e)
	case bytes:
		l.annotateBytes(e)
	}
	return l, nil
}

// plainForm is the form of a value without an annotation.
func (l *leaf) plainForm() form {
	switch l.kind {
	case boolean:
		return formBool
	case int32s, int64s:
		return formInt
	case int96s:
		return formInt96
	case floats, doubles:
		return formFloat
	}
	return formBinary
}

// annotateInt heeds what an integer stands for.
func (l *leaf) annotateInt(e element) {
	units := map[int64]int64{1: 1e6, 2: 1e3, 3: 1}
	switch k, converted := e.logical.kind, e.converted; {
	case k == logicalInteger && !e.logical.sign, converted >= convertedUint8 && converted <= convertedUint64:
		l.form = formUint
	case k == logicalDate, converted == convertedDate:
		l.form = formDate
	case k == logicalTime && units[e.logical.unit] > 0:
		l.form, l.unit = formTime, units[e.logical.unit]
	case converted == convertedTimeMillis, converted == convertedTimeMicros:
		l.form, l.unit = formTime, units[converted-convertedTimeMillis+1]
	case k == logicalTimestamp && units[e.logical.unit] > 0:
		l.form, l.unit, l.utc = formTimestamp, units[e.logical.unit], e.logical.utc
	case converted == convertedMillis, converted == convertedMicros:
		l.form, l.unit, l.utc = formTimestamp, units[converted-convertedMillis+1], true
	}
}

// annotateBytes heeds what bytes stand for.
func (l *leaf) annotateBytes(e element) {
	switch k, converted := e.logical.kind, e.converted; {
	case k == logicalString, k == logicalEnum, k == logicalJSON, converted == convertedUTF8, converted == convertedEnum,
		converted == convertedJSON:
		l.form = formText
	case k == logicalUUID && l.length == 16 && l.kind == fixedBytes:
		l.form = formUUID
	case k == logicalFloat16 && l.length == 2 && l.kind == fixedBytes:
		l.form = formHalf
	}
}

// appendJSON writes a value. Times are as Python's isoformat has them, floating-point numbers as its json module; NaN
// is null and infinities are ±1e999.
func (l *leaf) appendJSON(dst []byte, d datum) ([]byte, error) {
	switch l.form {
	case formBool:
		return strconv.AppendBool(dst, d.bits != 0), nil
	case formInt:
		return strconv.AppendInt(dst, l.int(d), 10), nil
	case formUint:
		if l.kind == int32s {
			return strconv.AppendUint(dst, uint64(uint32(d.bits)), 10), nil
		}
		return strconv.AppendUint(dst, d.bits, 10), nil
	case formFloat, formHalf:
		return appendFloat(dst, l.float(d)), nil
	case formText:
		if !utf8.Valid(d.bytes) {
			return nil, textfile.ErrNotUTF8
		}
		return jsonscan.AppendQuoted(dst, d.bytes), nil
	case formBinary:
		dst = append(dst, '"')
		return append(base64.StdEncoding.AppendEncode(dst, d.bytes), '"'), nil
	case formDecimal:
		return l.appendDecimal(dst, d)
	case formDate:
		return time.Unix(l.int(d)*24*60*60, 0).UTC().AppendFormat(dst, `"2006-01-02"`), nil
	case formTime, formTimestamp, formInt96:
		return l.appendTime(dst, d), nil
	case formUUID:
		b := d.bytes
		return fmt.Appendf(dst, `"%x-%x-%x-%x-%x"`, b[:4], b[4:6], b[6:8], b[8:10], b[10:]), nil
	}
	return append(dst, "null"...), nil
}

func (l *leaf) int(d datum) int64 {
	if l.kind == int32s {
		return int64(int32(d.bits))
	}
	return int64(d.bits)
}

func (l *leaf) float(d datum) float64 {
	switch l.kind {
	case floats:
		return float64(math.Float32frombits(uint32(d.bits)))
	case doubles:
		return math.Float64frombits(d.bits)
	}
	half := binary.LittleEndian.Uint16(d.bytes)
	exponent, fraction := int(half>>10&0x1f), float64(half&0x3ff)
	v := 0.0
	switch exponent {
	case 0:
		v = math.Ldexp(fraction, -24)
	case 0x1f:
		if v = math.Inf(1); fraction != 0 {
			return math.NaN()
		}
	default:
		v = math.Ldexp(fraction+1024, exponent-25)
	}
	if half&0x8000 != 0 {
		return -v
	}
	return v
}

func appendFloat(dst []byte, v float64) []byte {
	switch {
	case math.IsNaN(v):
		return append(dst, "null"...)
	case math.IsInf(v, 1):
		return append(dst, "1e999"...)
	case math.IsInf(v, -1):
		return append(dst, "-1e999"...)
	}
	return pyjson.AppendFloat(dst, v)
}

// keyOf is the name of a member of a JSON object, with the colon.
func keyOf(name string) []byte {
	return append(jsonscan.AppendQuoted(nil, []byte(strings.ToValidUTF8(name, "\ufffd"))), ':')
}

// maxDecimal bounds the digits of a decimal: numbers of 256 bits have 77.
const maxDecimal = 100

// appendDecimal writes a decimal as a number with all of its digits.
func (l *leaf) appendDecimal(dst []byte, d datum) ([]byte, error) {
	unscaled := new(big.Int)
	switch l.kind {
	case int32s, int64s:
		unscaled.SetInt64(l.int(d))
	default:
		if len(d.bytes) > maxDecimal {
			return nil, fmt.Errorf("a decimal has %d bytes", len(d.bytes))
		}
		unscaled.SetBytes(d.bytes)
		if len(d.bytes) > 0 && d.bytes[0]&0x80 != 0 { // two's complement
			unscaled.Sub(unscaled, new(big.Int).Lsh(big.NewInt(1), uint(8*len(d.bytes))))
		}
	}
	if l.scale < 0 || l.scale > maxDecimal {
		return nil, fmt.Errorf("a decimal has %d digits behind its point", l.scale)
	}
	if unscaled.Sign() < 0 {
		dst = append(dst, '-')
		unscaled.Neg(unscaled)
	}
	digits := fmt.Sprintf("%0*d", l.scale+1, unscaled)
	point := len(digits) - int(l.scale)
	dst = append(dst, digits[:point]...)
	if l.scale > 0 {
		dst = append(append(dst, '.'), digits[point:]...)
	}
	return dst, nil
}

// appendTime writes a time of day or a date with it.
func (l *leaf) appendTime(dst []byte, d datum) []byte {
	const day = 24 * 60 * 60
	layout := "2006-01-02T15:04:05"
	var seconds, nanos int64
	switch {
	case l.form == formInt96: // nanoseconds of a Julian day
		julian := int64(binary.LittleEndian.Uint32(d.bytes[8:]))
		inDay := int64(binary.LittleEndian.Uint64(d.bytes))
		seconds, nanos = (julian-2440588)*day+inDay/1e9, inDay%1e9
	default:
		perSecond := 1e9 / l.unit
		v := l.int(d)
		if seconds, nanos = v/perSecond, v%perSecond*l.unit; l.form == formTime {
			layout = "15:04:05"
		}
	}
	t := time.Unix(seconds, nanos).UTC()
	switch ns := t.Nanosecond(); {
	case ns%1000 != 0:
		layout += ".000000000"
	case ns != 0:
		layout += ".000000"
	}
	dst = t.AppendFormat(append(dst, '"'), layout)
	if l.utc {
		dst = append(dst, "+00:00"...)
	}
	return append(dst, '"')
}
