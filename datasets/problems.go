package datasets

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// problems collects the faults of the options of a data set.
type problems []error

func (p *problems) add(format string, args ...any) { *p = append(*p, fmt.Errorf(format, args...)) }

func (p *problems) between(what string, value, lo, hi int) {
	if value < lo || value > hi {
		p.add("%s %d must be between %d and %d", what, value, lo, hi)
	}
}

func (p *problems) seed(seed, last int64) {
	switch {
	case seed < 0:
		p.add("seed %d must not be negative", seed)
	case seed > last:
		p.add("seed %d must be at most %d", seed, last)
	}
}

func (p *problems) ratio(r RangeRatio) {
	each := func(what string, value float64) {
		if !(value >= 0 && value < 1) {
			p.add("%s range ratio %v must be at least 0 and below 1", what, value)
		}
	}
	each("input", r.Input)
	each("output", r.Output)
}

func (p *problems) jsonLines(path string) {
	if !strings.HasSuffix(path, ".jsonl") {
		p.add("%s does not end in .jsonl; give a file with an object on each line, under that name", path)
	}
}

func (p *problems) templateArgs(args json.RawMessage) {
	var object map[string]json.RawMessage
	if args != nil && (json.Unmarshal(args, &object) != nil || object == nil) {
		p.add("chat template arguments %s must be a JSON object", args)
	}
}

func (p *problems) positive(what string, value int) {
	if value < 1 {
		p.add("%s %d must be at least 1", what, value)
	}
}

// of is all problems as those of a data set, nil for none.
func (p *problems) of(dataset string) error { return inDataset(dataset, errors.Join(*p...)) }
