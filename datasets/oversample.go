package datasets

import (
	"fmt"
	"strconv"

	"benchtop/datasets/numpy"
)

// oversample fills a file's n requests up to want by repeating randomly chosen ones under new ids. Python's generator
// is seeded afresh for that, but only if anything has to be repeated. Ids must come out distinct: servers use them to
// tell requests apart.
func oversample(requests []Conversation, want int, seed int64, idPrefix string, py *numpy.Python) ([]Conversation, error) {
	n := len(requests)
	if n == 0 && want > 0 {
		return nil, fmt.Errorf("there is nothing to repeat to make %d requests", want)
	}
	if n < want {
		py.Seed(seed)
	}
	for i := n; i < want; i++ {
		again := requests[py.Choice(n)]
		again.ID = idPrefix + strconv.Itoa(i)
		requests = append(requests, again)
	}
	seen := make(map[string]bool, len(requests))
	for _, r := range requests {
		if seen[r.ID] {
			return nil, fmt.Errorf("request id %q is used twice; repeat no requests, or ask for no more than %d", r.ID, n)
		}
		seen[r.ID] = true
	}
	return requests, nil
}

// sampling is how the turns picked from a file become a data set.
type sampling struct {
	want         int
	noOversample bool
	seed         int64
	idPrefix     string
}

// list numbers the turns and repeats some of them if more are wanted. kind says, for the description, what the turns were
// picked from.
func (s sampling) list(dataset string, turns []Turn, kind string, py *numpy.Python) (*List, error) {
	all := make([]Conversation, len(turns))
	for i, turn := range turns {
		all[i] = Conversation{ID: s.idPrefix + strconv.Itoa(i), Turns: []Turn{turn}}
	}
	if !s.noOversample {
		var err error
		if all, err = oversample(all, s.want, s.seed, s.idPrefix, py); err != nil {
			return nil, err
		}
	}
	about := fmt.Sprintf("%s: %d prompts of %s", dataset, len(turns), kind)
	if len(all) > len(turns) {
		about += fmt.Sprintf(", repeated to make %d", len(all))
	}
	return &List{all: all, about: about}, nil
}
