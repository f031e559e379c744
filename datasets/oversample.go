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
