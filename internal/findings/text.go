package findings

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"benchtop/internal/text"
	"benchtop/metrics"
)

// Number writes a load: to a tenth, below 1 with two digits.
func Number(load float64) string {
	switch load = sane(load); {
	case load >= 10_000:
		return text.Short(load)
	case load < 1:
		text := strconv.FormatFloat(load, 'g', 2, 64)
		load, _ = strconv.ParseFloat(text, 64)
		return strconv.FormatFloat(max(load, min(load*1e9, 0.001)), 'f', -1, 64)
	}
	return strconv.FormatFloat(math.Round(load*10)/10, 'f', -1, 64)
}

// Load writes a load with its unit.
func Load(load metrics.Load) string { return load.Unit.Words(Number(load.Value)) }

// Bounds writes a range of loads, rounded outwards: to whole numbers from 10 on, to tenths from 1 on.
func Bounds(low, high float64) string {
	lower, upper := bound(low, math.Floor), bound(high, math.Ceil)
	if lower == upper {
		return lower
	}
	return lower + "–" + upper
}

func bound(v float64, round func(float64) float64) string {
	switch v = sane(v); {
	case v >= 10:
		v = round(v)
	case v >= 1:
		v = round(v*10) / 10
	}
	return Number(v)
}

// Confidence writes a probability as a whole per cent, rounded down and at most 99 %; "" for none.
func Confidence(p float64) string {
	whole := math.Floor(min(sane(p), metrics.MostConfidence)*100 + 1e-9)
	if whole == 0 {
		return ""
	}
	return fmt.Sprintf("%.0f %%", whole)
}

// sure is a confidence in brackets behind a load.
func sure(p float64) string {
	if text := Confidence(p); text != "" {
		return " (" + text + ")"
	}
	return ""
}

// Missing says for how long a load must still be held, by what is known so far.
func Missing(d time.Duration) string { return "hold " + wait(d) + " more" }

// wait rounds up, since a look comes no sooner, and so far that it does not change with every request.
func wait(d time.Duration) string {
	s := math.Ceil(max(d, 0).Seconds())
	if s > 10 {
		s = 5 * math.Ceil(s/5)
	}
	if s <= 120 {
		return fmt.Sprintf("%.0f s", s)
	}
	if s <= 120*60 {
		return fmt.Sprintf("%.0f min", math.Ceil(s/60))
	}
	return fmt.Sprintf("%.0f h", math.Ceil(s/3600))
}

// Share writes a part of a whole.
func Share(v float64) string {
	p := 100 * min(sane(v), 1)
	switch {
	case p > 0 && p < 0.01:
		return "<0.01 %"
	case p < 9.995:
		return fmt.Sprintf("%.2f %%", p)
	}
	return fmt.Sprintf("%.1f %%", p)
}

// Milliseconds writes a latency with at most three digits and its unit.
func Milliseconds(ms float64) string {
	unit := "ms"
	if ms = sane(ms); ms >= 999.5 {
		ms, unit = ms/1000, "s"
	}
	decimals := 0
	switch {
	case ms < 9.995:
		decimals = 2
	case ms < 99.95:
		decimals = 1
	}
	return strings.TrimSuffix(strconv.FormatFloat(ms, 'f', decimals, 64), ".0") + " " + unit
}

// mostWords is the length of foreign text in a finding, in characters.
const mostWords = 60
