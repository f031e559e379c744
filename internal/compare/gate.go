package compare

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"benchtop/internal/compare/evidence"
)

// Gate is a condition on the change of a figure, such as p99_ttft_ms>+5%.
type Gate struct {
	key   string
	above bool
	limit float64 // a part of 1
	words string
}

var gateParts = regexp.MustCompile(`^([a-z0-9_]+?)(_ms)?\s*([<>])\s*([+-]?[0-9]+(?:\.[0-9]+)?)%$`)

// ParseGate reads FIGURE>+PERCENT% or FIGURE<-PERCENT%. Of shares, the change is in percentage points.
func ParseGate(words string) (Gate, error) {
	keys := evidence.Keys()
	m := gateParts.FindStringSubmatch(strings.TrimSpace(words))
	if m == nil {
		return Gate{},
			fmt.Errorf("%q: expected a figure, < or >, and a change in percent, as 'p99_ttft_ms>+5%%'", words)
	}
	key := m[1]
	if !slices.Contains(keys, key) {
		key += "_ms"
	}
	if !slices.Contains(keys, key) {
		return Gate{}, fmt.Errorf("%q: unknown figure %q; use %s", words, m[1], strings.Join(keys, ", "))
	}
	limit, err := strconv.ParseFloat(m[4], 64)
	if err != nil {
		return Gate{}, fmt.Errorf("%q: %w", words, err)
	}
	return Gate{key: key, above: m[3] == ">", limit: limit / 100, words: words}, nil
}

// Check says that there is evidence of the change, all of whose interval is beyond the limit, or why that was not
// tested; both are "" where it was, and is not so.
func (g Gate) Check(p *Proof) (missed, untested string) {
	where := fmt.Sprintf("--fail-on %s: %s: ", g.words, p.Load)
	if p.Failed {
		return where + "no request of B succeeded", ""
	}
	for i := range p.Rows {
		r := &p.Rows[i]
		switch {
		case r.Key != g.key:
		case math.IsNaN(r.Change):
			return "", where + "not tested: " + string(r.Verdict)
		case g.above && r.Low > g.limit, !g.above && r.High < g.limit:
			return where + r.Name + " changed by " + percent(r.Low) + " to " + percent(r.High), ""
		default:
			return "", ""
		}
	}
	return "", where + "not tested: " + cmp.Or(p.Why, "a side has no such figure, or other objectives")
}
