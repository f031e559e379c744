package datasets

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"benchtop/internal/hf/numpy"
)

// Repeats send each prompt of a data set several times. The orders are those of vLLM's benchmark of long documents.
type Repeats struct {
	Count int    // how often each prompt is sent; 1 leaves a data set as it is
	Order string // one of RepeatOrders
	Seed  int64  // of the random order
}

// The orders of repeated prompts.
const (
	repeatRandom     = "random"     // all in random order
	repeatTile       = "tile"       // the whole list, again and again
	repeatInterleave = "interleave" // each prompt in a row
)

// RepeatOrders are the values of Repeats.Order.
func RepeatOrders() []string { return []string{repeatRandom, repeatTile, repeatInterleave} }

// mostRepeated bounds the requests.
const mostRepeated = 1 << 26

// mostOccurrences have a class of their own; later ones share one.
const mostOccurrences = 9

// Of is the prompts of a flow, which must end, each Count times and at most most in all; 0 for no limit. The class of a
// request is the occurrence of its prompt in the order of the list. idPrefix begins the request ids.
func (r Repeats) Of(f Flow, most int, idPrefix string) (Flow, error) {
	if f.Len == 0 {
		return Flow{}, errors.New("prompts without an end cannot be repeated; give --num-prompts")
	}
	var prompts []Conversation
	for c, err := f.Next(); err != io.EOF; c, err = f.Next() {
		if err != nil {
			return Flow{}, err
		}
		prompts = append(prompts, c)
	}
	want := mostRepeated
	if most > 0 {
		want = min(want, most)
	}
	if r.Count <= want/max(1, len(prompts)) {
		want = len(prompts) * r.Count
	} else if most == 0 {
		return Flow{}, fmt.Errorf("%d prompts, each %d times: more than %d requests; repeat them less often",
			len(prompts), r.Count, mostRepeated)
	}
	order := make([]int, want) // of prompts
	for i := range order {
		if order[i] = i % len(prompts); r.Order == repeatInterleave {
			order[i] = i / r.Count
		}
	}
	if r.Order == repeatRandom {
		numpy.NewPython(r.Seed).Shuffle(want, func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	all, seen := make([]Conversation, want), make([]int, len(prompts))
	for i, at := range order {
		c := prompts[at]
		seen[at]++
		name := fmt.Sprintf("occurrence %d", seen[at])
		if seen[at] > mostOccurrences {
			name = fmt.Sprintf("occurrence %d and later", mostOccurrences+1)
		}
		c.ID, c.Turns = idPrefix+strconv.Itoa(i), slices.Clone(c.Turns)
		for k := range c.Turns {
			c.Turns[k].AddClass(name)
		}
		all[i] = c
	}
	again := ListOf(all, fmt.Sprintf("%s, each %d times (%s)", f.About, r.Count, r.Order))
	again.Turns, again.Miss, again.Close = TurnsIn(all), f.Miss, f.Close
	return again, nil
}
