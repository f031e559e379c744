package text

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Finite reports whether a number is neither NaN nor an infinity.
func Finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Grouped is a number rounded to a whole one, with commas between thousands.
func Grouped[N int | float64](v N) string {
	s := strconv.FormatFloat(float64(v), 'f', 0, 64)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Short writes a number from 0 on in at most five columns: 7.5, 980, 12.5k, 1.2M.
func Short(v float64) string {
	for _, unit := range []string{"", "k", "M", "G", "T"} {
		switch {
		case v < 9.995 && v != math.Trunc(v), v < 99.95 && unit != "":
			return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0") + unit
		case v < 999.5:
			return fmt.Sprintf("%.0f", v) + unit
		}
		v /= 1000
	}
	return fmt.Sprintf("%.0fP", v)
}

// Digits writes a number with so many digits that count, and below a thousand millions all before the decimal point.
func Digits(v float64, n int) string {
	if s := strconv.FormatFloat(v, 'g', n, 64); !strings.Contains(s, "e+") || math.Abs(v) >= 1e9 {
		return s
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// Change is a relative change in percent: 0.12 is +12%. Below a tenth it has one decimal.
func Change(part float64) string {
	switch {
	case part == 0:
		return "0%"
	case math.Abs(part) < 0.0995:
		return fmt.Sprintf("%+.1f%%", 100*part)
	}
	return fmt.Sprintf("%+.0f%%", 100*part)
}

// Sparkline is a line of columns as high as their share of the most.
func Sparkline(values []float64, most float64, ascii bool) string {
	levels := []rune(" ▁▂▃▄▅▆▇█")
	if ascii {
		levels = []rune(" _.-:=+*#")
	}
	var b strings.Builder
	for _, v := range values {
		level := 0
		if v > 0 {
			level = max(1, int(math.Round(v/most*float64(len(levels)-1))))
		}
		b.WriteRune(levels[level])
	}
	return b.String()
}
