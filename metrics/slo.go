package metrics

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Objective is one latency a request must not exceed.
type Objective struct {
	// Metric is one of the latencies before NumObjectives.
	Metric Latency `json:"metric"`
	// LimitMS in milliseconds, inclusive.
	LimitMS float64 `json:"limit_ms"`
}

// SLO is a set of objectives that all have to hold for a request to be good. At most one per metric.
type SLO []Objective

// With returns the SLO with one more objective; a metric that is there already gets the new limit.
func (s SLO) With(o Objective) SLO {
	for i := range s {
		if s[i].Metric == o.Metric {
			s[i].LimitMS = o.LimitMS
			return s
		}
	}
	return append(s, o)
}

// String writes the objectives as ParseObjective reads each.
func (s SLO) String() string {
	var all []string
	for _, o := range s {
		all = append(all, fmt.Sprintf("%s:%g", o.Metric.Key(), o.LimitMS))
	}
	return strings.Join(all, " ")
}

// ParseObjective reads NAME:MS, such as "ttft:500".
func ParseObjective(text string) (Objective, error) {
	name, value, ok := strings.Cut(text, ":")
	if !ok {
		return Objective{}, fmt.Errorf("%q: expected NAME:MILLISECONDS, such as ttft:500", text)
	}
	metric, ok := LatencyOf(name)
	if !ok || metric >= NumObjectives {
		return Objective{}, fmt.Errorf("%q: unknown metric %q; use %s", text, name, objectiveWords())
	}
	ms, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || math.IsNaN(ms) || ms < 0 {
		return Objective{}, fmt.Errorf("%q: %q is not a number of milliseconds of 0 or more", text, value)
	}
	return Objective{metric, ms}, nil
}

// objectiveWords are the latencies that an objective may limit.
func objectiveWords() string {
	var keys []string
	for l := range NumObjectives {
		keys = append(keys, l.Key())
	}
	last := len(keys) - 1
	return strings.Join(keys[:last], ", ") + " or " + keys[last]
}

// MetObjectives counts, of some successes, those that met the objective on each latency; all of them where there is none.
type MetObjectives [NumObjectives]int

// ObjectivesMet says which objectives a request met; true where there is no such objective.
type ObjectivesMet [NumObjectives]bool

// Good reports whether all of them were met.
func (v ObjectivesMet) Good() bool { return !slices.Contains(v[:], false) }

// MetCount counts, of some successes, those that were good, and those that met each objective.
type MetCount struct {
	Good int
	Met  MetObjectives
}

// Add counts one more success.
func (c *MetCount) Add(v ObjectivesMet) {
	if v.Good() {
		c.Good++
	}
	for l, ok := range v {
		if ok {
			c.Met[l]++
		}
	}
}

// Join adds what another one counted.
func (c *MetCount) Join(o MetCount) {
	c.Good += o.Good
	for l := range c.Met {
		c.Met[l] += o.Met[l]
	}
}

// Chosen is an SLO that was set: no objectives at all are not the same as none set.
func (s SLO) Chosen() SLO {
	if s == nil {
		return SLO{}
	}
	return s
}

// Judge holds an outcome against every objective.
func (s SLO) Judge(o *Outcome) (v ObjectivesMet) {
	for l := range v {
		v[l] = true
	}
	for _, g := range s {
		if l := g.Metric; l < NumObjectives {
			v[l] = v[l] && o.objective(l) <= g.LimitMS/1000
		}
	}
	return v
}

func marshalFloat(v float64) ([]byte, error) {
	switch {
	case math.IsInf(v, 1):
		return []byte(`"inf"`), nil
	case math.IsInf(v, -1):
		return []byte(`"-inf"`), nil
	case math.IsNaN(v):
		return []byte(`"nan"`), nil
	}
	return json.Marshal(v)
}

func unmarshalFloat(b []byte, v *float64) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		f, err := strconv.ParseFloat(text, 64)
		*v = f
		return err
	}
	return json.Unmarshal(b, v)
}
