package pyjson

import (
	"bytes"
	"math"
	"strconv"
	"strings"
)

// Float is Python's repr of a float: the shortest text that reads back as the same number, with an exponent below 1e-4
// and from 1e16 on. What is not finite is nan, inf or -inf, for which JSON has no form.
func Float(v float64) string { return string(AppendFloat(nil, v)) }

// AppendFloat appends what Float returns.
func AppendFloat(dst []byte, v float64) []byte {
	switch a := math.Abs(v); {
	case math.IsNaN(v):
		return append(dst, "nan"...)
	case math.IsInf(v, 1):
		return append(dst, "inf"...)
	case math.IsInf(v, -1):
		return append(dst, "-inf"...)
	case a != 0 && (a < 1e-4 || a >= 1e16):
		return strconv.AppendFloat(dst, v, 'e', -1, 64)
	}
	from := len(dst)
	dst = strconv.AppendFloat(dst, v, 'f', -1, 64)
	if bytes.IndexByte(dst[from:], '.') < 0 {
		dst = append(dst, ".0"...)
	}
	return dst
}

// appendNumber writes a number as Python prints what it reads: whole ones to the last digit, others as floats. One too
// large for a float stays as it is.
func appendNumber(dst []byte, text string) []byte {
	if !strings.ContainsAny(text, ".eE") {
		if text == "-0" {
			text = "0"
		}
		return append(dst, text...)
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return append(dst, text...)
	}
	return AppendFloat(dst, v)
}
