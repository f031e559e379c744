package sweep

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"benchtop/internal/jsonscan"
	"benchtop/internal/pyjson"
	"benchtop/internal/text"
	"benchtop/internal/usage"
	"benchtop/metrics"
)

// Set is a set of conditions that a load has to meet together: an entry of an SLA file, or a tier.
type Set struct {
	// Name stands for the set in the names of files and on the screen: the tier's, or the conditions.
	Name string
	// Criteria are those of an SLA file; Tier are the objectives of a tier, nil for none.
	Criteria []Criterion
	Tier     metrics.SLO
}

// Criterion is a condition on a figure of a run's result, as "p99_ttft_ms": "<=200".
type Criterion struct {
	Key, Op string
	Limit   float64
	// A percentile of a latency is judged request by request: Latency is that, Percentile of 100; 0 for other figures.
	Latency    metrics.Latency
	Percentile float64
}

// String writes the criterion as vLLM does.
func (c Criterion) String() string { return c.Key + c.Op + strconv.FormatFloat(c.Limit, 'f', 2, 64) }

// met reports whether a figure meets the criterion; one that is no number does not.
func (c Criterion) met(v float64) bool {
	switch c.Op {
	case "<=":
		return v <= c.Limit
	case "<":
		return v < c.Limit
	case ">=":
		return v >= c.Limit
	}
	return v > c.Limit
}

// upper says that more load leads to a miss. A criterion that asks for at least a figure is met rather by more load.
func (c Criterion) upper() bool { return c.Op[0] == '<' }

// ratio of a figure to its limit, at most 1 where it is met.
func (c Criterion) ratio(v float64) float64 {
	r := v / c.Limit
	if c.Op == "<" && v == c.Limit {
		return math.Nextafter(1, 2)
	}
	return r
}

// Conditions lists what the set asks for.
func (s Set) Conditions() string {
	if s.Tier != nil {
		return s.Tier.String()
	}
	return strings.Join(metrics.Each(s.Criteria, Criterion.String), ", ")
}

// file is the name of the file for the records of the set's search.
func (s Set) file() string { return FileName("SLA--" + s.Name + ".json") }

// TierSets are the sets of tiers.
func TierSets(tiers []metrics.Tier) []Set {
	return metrics.Each(tiers, func(t metrics.Tier) Set { return Set{Name: t.Name, Tier: t.SLO} })
}

const slaExample = `; expected [{"p99_ttft_ms": "<=200", "p99_tpot_ms": "<=20"}, …]`

// ReadSets reads an SLA file: a list of objects, each a set. The error has every problem of the file, each with its
// entry and key.
func ReadSets(path string) ([]Set, error) {
	return readFile(path, parseSets)
}

func parseSets(raw []byte) (sets []Set, problems usage.Problems) {
	raw = bytes.TrimSpace(raw)
	var value json.RawMessage
	if err := json.Unmarshal(raw, &value); err != nil {
		problems.Bad("%s%s", jsonTrouble(raw, err), slaExample)
		return nil, problems
	}
	if raw[0] != '[' {
		problems.Bad("%s instead of a list of objects%s", jsonscan.Kind(raw), slaExample)
		return nil, problems
	}
	seen := map[string]bool{}
	i := 0
	for entry := range jsonscan.Elements(raw) {
		i++
		if entry[0] != '{' {
			problems.Bad("entry %d: %s instead of an object%s", i, jsonscan.Kind(entry), slaExample)
			continue
		}
		set := Set{}
		for _, m := range jsonscan.Dict(entry) {
			c, err := parseCriterion(m.Name, m.Value)
			if err != nil {
				problems.Bad("entry %d, key %s: %w", i, usage.Quote(m.Name), err)
				continue
			}
			set.Criteria = append(set.Criteria, c)
		}
		set.Name = strings.Join(metrics.Each(set.Criteria, Criterion.String), "-")
		problems.BadIf(len(set.Criteria) > 0 && !set.bounded(),
			"entry %d: no criterion with < or <=, which a higher load could miss; add one, such as \"p99_ttft_ms\": "+
				"\"<=200\"", i)
		problems.BadIf(len(set.Criteria) == 0 && len(problems) == 0, "entry %d: no criteria%s", i, slaExample)
		problems.BadIf(len(set.file()) > longestName,
			"entry %d: its criteria are too long for the name of a file; split the entry, or use --tier", i)
		problems.BadIf(seen[set.Name] && set.Name != "", "entry %d stands there twice", i)
		seen[set.Name] = true
		sets = append(sets, set)
	}
	problems.BadIf(i == 0, "no entries%s", slaExample)
	problems.BadIf(i > metrics.MostTiers, "%d entries; at most %d are searched at once", i, metrics.MostTiers)
	return sets, problems
}

func (s Set) bounded() bool { return slices.ContainsFunc(s.Criteria, Criterion.upper) }

// percentileKey is the key of a percentile of a latency.
var percentileKey = regexp.MustCompile(`^(median|p[0-9]+(?:\.[0-9]+)?)_([a-z0-9]+)_ms$`)

func parseCriterion(key string, value []byte) (Criterion, error) {
	c := Criterion{Key: key}
	if key == "" || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return c, errors.New("expected the key of a figure of the result, such as p99_ttft_ms")
	}
	if !jsonscan.IsString(value) {
		return c, fmt.Errorf("%s; expected an operator and a number in quotes, such as \"<=200\"", jsonscan.Kind(value))
	}
	condition := pyjson.Str(value)
	for _, op := range []string{"<=", ">=", "<", ">"} {
		if number, ok := strings.CutPrefix(condition, op); ok {
			v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
			if err != nil || !text.Finite(v) || v < 0 || v == 0 && op[0] == '<' {
				return c, fmt.Errorf("%s: expected a number above 0 behind %s", usage.Quote(condition), op)
			}
			c.Op, c.Limit = op, v
			break
		}
	}
	if c.Op == "" {
		return c, fmt.Errorf("%s: expected <=, >=, < or > and a number, such as \"<=200\"", usage.Quote(condition))
	}
	return c, c.findLatency()
}

// findLatency recognizes the percentile of a latency with an upper limit. Others of its statistics are figures of a
// run.
func (c *Criterion) findLatency() error {
	m := percentileKey.FindStringSubmatch(c.Key)
	if m == nil || !c.upper() {
		return nil
	}
	l, known := metrics.LatencyOf(m[2])
	if !known || l != metrics.ITL && l != metrics.TTFT && l != metrics.TPOT && l != metrics.E2EL {
		return nil
	}
	p := 50.0
	if m[1] != "median" {
		p, _ = strconv.ParseFloat(m[1][1:], 64)
	}
	if !(p > 0 && p <= 100) {
		return fmt.Errorf("percentile %g: must be above 0 and at most 100", p)
	}
	c.Latency, c.Percentile = l, p
	return nil
}
