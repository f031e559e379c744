package agents

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"time"

	"benchtop/datasets/textfile"
)

// Milliseconds reads a time of milliseconds, 0 where there is none. Nanoseconds are exact in plain decimals, which
// floating-point numbers of a year are not.
func Milliseconds(raw []byte) (time.Duration, error) {
	if none(raw) {
		return 0, nil
	}
	if d, ok := decimal(raw); ok {
		return d, nil
	}
	f, err := strconv.ParseFloat(string(raw[:min(len(raw), 400)]), 64)
	if err != nil || !(f >= 0 && f <= float64(Longest)/1e6) || len(raw) > 400 {
		return 0, fmt.Errorf("expected milliseconds from 0 to %d, a year: got %s", Longest.Milliseconds(),
			textfile.Value(raw))
	}
	return time.Duration(math.Round(f * 1e6)), nil
}

// decimal reads digits with at most six behind the point.
func decimal(raw []byte) (time.Duration, bool) {
	units, fraction, _ := bytes.Cut(raw, []byte{'.'})
	if len(units) > 12 || len(fraction) > 6 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(units), 10, 64)
	if err != nil {
		return 0, false
	}
	parts := uint64(0)
	if len(fraction) > 0 {
		if parts, err = strconv.ParseUint(string(fraction), 10, 64); err != nil {
			return 0, false
		}
	}
	for range 6 - len(fraction) {
		parts *= 10
	}
	d := time.Duration(n*1e6 + parts)
	return d, d <= Longest
}

// appendMilliseconds writes a time of milliseconds in as few digits as are exact.
func appendMilliseconds(dst []byte, d time.Duration) []byte {
	dst = strconv.AppendInt(dst, int64(d/1e6), 10)
	if parts := int64(d % 1e6); parts > 0 {
		digits := strconv.AppendInt(nil, 1e6+parts, 10)
		digits[0] = '.'
		dst = append(dst, bytes.TrimRight(digits, "0")...)
	}
	return dst
}
