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

// Of is a source of the prompts of another, which must end, each Count times and at most most in all; 0 for no limit. The class of a request
// is the occurrence of its prompt in the order of the list. idPrefix begins the request ids.
func (r Repeats) Of(s Source, most int, idPrefix string) (Source, error) {
	if s.Len() == 0 {
		return nil, errors.New("prompts without an end cannot be repeated; give --num-prompts")
	}
	var all []int // indices of prompts
	var prompts []Conversation
	for {
		c, err := s.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
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
		return nil, fmt.Errorf("%d prompts, each %d times: more than %d requests; repeat them less often", len(prompts), r.Count, mostRepeated)
	}
	for i := range want {
		if r.Order == repeatInterleave {
			all = append(all, i/r.Count)
		} else {
			all = append(all, i%len(prompts))
		}
	}
	if r.Order == repeatRandom {
		numpy.NewPython(r.Seed).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	list := &List{about: fmt.Sprintf("%s, each %d times (%s)", s.Description(), r.Count, r.Order)}
	seen := make([]int, len(prompts))
	for i, at := range all {
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
		list.all = append(list.all, c)
	}
	return repeated{list, s}, nil
}

// repeated is a list made of a source.
type repeated struct {
	*List
	of Source
}

// Unwrap is the source of the prompts.
func (r repeated) Unwrap() Source { return r.of }
