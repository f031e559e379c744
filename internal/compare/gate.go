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

// Checked is the outcome of a gate at a load: what was missed, or why it was not tested, both "" where it holds.
type Checked struct{ Gate, Load, Missed, Untested string }

// String is the outcome for a person.
func (c Checked) String() string {
	return fmt.Sprintf("--fail-on %s: %s: %s", c.Gate, c.Load, cmp.Or(c.Missed, c.Untested, "holds"))
}

// Untested is the outcome of a gate without runs to test.
func (g Gate) Untested(why string) Checked {
	return Checked{Gate: g.words, Load: "no load", Untested: "not tested: " + why}
}

// Check says whether there is evidence of the change, all of whose interval is beyond the limit.
func (g Gate) Check(p *Proof) Checked {
	out := Checked{Gate: g.words, Load: p.Load}
	if p.Failed {
		out.Missed = "no request of B succeeded"
		return out
	}
	out.Untested = "not tested: " + cmp.Or(p.Why, "a side has no such figure, or other objectives")
	for i := range p.Rows {
		if r := &p.Rows[i]; r.Key == g.key {
			switch out.Untested = ""; {
			case math.IsNaN(r.Change):
				out.Untested = "not tested: " + string(r.Verdict)
			case g.above && r.Low > g.limit, !g.above && r.High < g.limit:
				out.Missed = r.Name + " changed by " + percent(r.Low) + " to " + percent(r.High)
			}
			return out
		}
	}
	return out
}
