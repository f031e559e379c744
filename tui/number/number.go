// Package number writes numbers, rates and durations for a screen in few columns. NaN is written as 0.
package number

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"benchtop/internal/text"
)

// Max is the largest value that is drawn or written. Larger ones are cut to it.
const Max = 1e15

// Sane cuts a number to the range from 0 to Max; NaN becomes 0.
func Sane(v float64) float64 {
	switch {
	case math.IsNaN(v) || v < 0:
		return 0
	case v > Max:
		return Max
	}
	return v
}

// Seconds converts seconds to a duration of at most eleven days; NaN becomes 0.
func Seconds(v float64) time.Duration {
	return time.Duration(min(Sane(v), 1e6) * float64(time.Second))
}

// Count writes a number of things in at most six columns.
func Count(n int) string {
	if n < 0 {
		return "-" + Count(max(-n, 0))
	}
	if n < 100_000 {
		return strconv.Itoa(n)
	}
	return Short(float64(n))
}

// TrimZero removes a single decimal that is 0.
func TrimZero(s string) string {
	if n := len(s); n > 2 && s[n-2:] == ".0" {
		return s[:n-2]
	}
	return s
}

// Short writes a number in at most five columns.
func Short(v float64) string { return text.Short(Sane(v)) }

// Rate writes a number per second.
func Rate(v float64) string {
	v = Sane(v)
	switch {
	case v < 9.95:
		return fmt.Sprintf("%.1f", v)
	case v < 99_999.5:
		return fmt.Sprintf("%.0f", v)
	}
	return Short(v)
}

// Latency writes a duration with three digits and its unit.
func Latency(d time.Duration) string {
	ms := Sane(float64(d) / 1e6)
	switch {
	case ms < 0.9995:
		return fmt.Sprintf("%.0fµs", ms*1000)
	case ms < 9.995:
		return fmt.Sprintf("%.2fms", ms)
	case ms < 99.95:
		return fmt.Sprintf("%.1fms", ms)
	case ms < 999.5:
		return fmt.Sprintf("%.0fms", ms)
	case ms < 9995:
		return fmt.Sprintf("%.2fs", ms/1e3)
	case ms < 99950:
		return fmt.Sprintf("%.1fs", ms/1e3)
	}
	return Coarse(d)
}

// Tick writes a round duration such as 200ms.
func Tick(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return strconv.Itoa(int(d/time.Microsecond)) + "µs"
	case d < time.Second:
		return strconv.FormatFloat(float64(d)/1e6, 'g', 4, 64) + "ms"
	case d < 100*time.Second:
		return strconv.FormatFloat(d.Seconds(), 'g', 4, 64) + "s"
	}
	return Coarse(d)
}

// Coarse writes a duration to the second, minute or hour: 12s, 5m, 1h30m.
func Coarse(d time.Duration) string {
	s := int(max(d, 0).Round(time.Second) / time.Second)
	switch {
	case s < 120:
		return fmt.Sprintf("%ds", s)
	case s < 2*3600 && s%60 == 0:
		return fmt.Sprintf("%dm", s/60)
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	case s%3600 == 0:
		return fmt.Sprintf("%dh", s/3600)
	}
	return fmt.Sprintf("%dh%02dm", s/3600, s/60%60)
}

// Clock writes a moment of the run: 01:02, 1:02:03.
func Clock(d time.Duration) string { return clock("%02d:%02d", d.Truncate(time.Second)) }

// RunTime writes a moment of the run on an axis: 0:36, 12:00, 1:02:03.
func RunTime(d time.Duration) string { return clock("%d:%02d", d.Round(time.Second)) }

func clock(minutes string, d time.Duration) string {
	s := int(max(d, 0) / time.Second)
	if s < 3600 {
		return fmt.Sprintf(minutes, s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// Share writes part of whole as a percentage.
func Share(part, whole int) string {
	if whole <= 0 {
		return "0%"
	}
	p := 100 * float64(part) / float64(whole)
	switch {
	case p > 0 && p < 0.01:
		return "<0.01%"
	case p < 9.995:
		return fmt.Sprintf("%.2f%%", p)
	}
	return fmt.Sprintf("%.1f%%", p)
}
