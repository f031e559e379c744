package metrics

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Objective is one latency a request must not exceed.
type Objective struct {
	// Metric is "ttft", "tpot" or "e2el".
	Metric string `json:"metric"`
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

// ParseObjective reads NAME:MS, such as "ttft:500".
func ParseObjective(text string) (Objective, error) {
	name, value, ok := strings.Cut(text, ":")
	if !ok {
		return Objective{}, fmt.Errorf("%q: expected NAME:MILLISECONDS, such as ttft:500", text)
	}
	switch name {
	case "ttft", "tpot", "e2el":
	default:
		return Objective{}, fmt.Errorf("%q: unknown metric %q; use ttft, tpot or e2el", text, name)
	}
	ms, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || math.IsNaN(ms) || ms < 0 {
		return Objective{}, fmt.Errorf("%q: %q is not a number of milliseconds of 0 or more", text, value)
	}
	return Objective{name, ms}, nil
}

// verdict says which objectives a request met; true where there is no such objective.
type verdict struct{ ttft, tpot, e2el bool }

func (v verdict) good() bool { return v.ttft && v.tpot && v.e2el }

// count adds one to what was met.
func (v verdict) count(good, ttft, tpot, e2el *int) {
	for _, x := range []struct {
		met  bool
		into *int
	}{{v.good(), good}, {v.ttft, ttft}, {v.tpot, tpot}, {v.e2el, e2el}} {
		if x.met {
			*x.into++
		}
	}
}

// judge holds an outcome against every objective. A request with fewer than two output tokens counts as having a TPOT
// of 0.
func (s SLO) judge(o *outcome) verdict {
	v := verdict{true, true, true}
	for _, g := range s {
		switch limit := g.LimitMS / 1000; g.Metric {
		case TPOT:
			v.tpot = v.tpot && max(0, o.tpot()) <= limit
		case E2EL:
			v.e2el = v.e2el && o.latency <= limit
		default:
			v.ttft = v.ttft && o.ttft <= limit
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
