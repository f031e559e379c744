package export

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"benchtop/internal/pyjson"
	"benchtop/metrics"
)

// count is a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

func loadText(v float64, isUsers bool) string {
	if isUsers {
		return count(int(math.Round(min(max(v, 0), metrics.LargestCount))), "user")
	}
	return rateText(v) + " req/s"
}

// aboutText is an approximate load.
func aboutText(v float64, isUsers bool) string {
	if v >= 10 {
		v = math.Round(v)
	}
	return loadText(v, isUsers)
}

// rateText rounds a rate to a tenth, half up, as the dashboard does: 8.45 becomes 8.5.
func rateText(v float64) string {
	switch {
	case !finite(v):
		return pyjson.Float(v)
	case v >= 10:
		return strings.TrimSuffix(strconv.FormatFloat(math.Round(v*10)/10, 'f', 1, 64), ".0")
	case v >= 1:
		return strconv.FormatFloat(math.Round(v*10)/10, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}

// change is a latency before and after, in a common unit.
func change(before, after float64) string {
	switch {
	case after <= 0:
		return latency(before) + " -> none succeeded"
	case before <= 0:
		return latency(after)
	case max(before, after) < 1000:
		return fmt.Sprintf("%s -> %s ms", digits(before), digits(after))
	}
	return fmt.Sprintf("%s -> %s s", digits(before/1000), digits(after/1000))
}

// minSecondsMS is the shortest latency, in milliseconds, that is written in seconds.
const minSecondsMS = 100

func latency(ms float64) string {
	if ms < minSecondsMS {
		return digits(ms) + " ms"
	}
	return digits(ms/1000) + " s"
}

// digits writes about three significant digits.
func digits(v float64) string {
	decimals := 0
	switch {
	case !finite(v):
		return pyjson.Float(v)
	case v < 0.1:
		decimals = 3
	case v < 10:
		decimals = 2
	case v < 20:
		decimals = 1
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

func finite(v float64) bool { return !math.IsInf(v, 0) && !math.IsNaN(v) }

// percent writes a share, rounded down: 100 % means all.
func percent(share float64) string {
	return fmt.Sprintf("%.1f %%", math.Floor(min(share, 1)*1000+1e-9)/10)
}
