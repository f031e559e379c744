package live

import (
	"cmp"
	"container/heap"
	"slices"
)

// ring holds the newest of what was added.
type ring struct {
	list []*track
	next int // the oldest, once it is full
}

func (r *ring) add(k *track, most int) {
	if len(r.list) < most {
		r.list = append(r.list, k)
		return
	}
	r.list[r.next] = k
	r.next = (r.next + 1) % most
}

// slowest holds those that took longest, as a heap with the quickest of them first.
type slowest []*track

func (s *slowest) add(k *track) {
	switch {
	case len(*s) < slowKept:
		heap.Push(s, k)
	case k.q.E2EL() > (*s)[0].q.E2EL():
		(*s)[0] = k
		heap.Fix(s, 0)
	}
}

func (s slowest) Len() int           { return len(s) }
func (s slowest) Less(a, b int) bool { return s[a].q.E2EL() < s[b].q.E2EL() }
func (s slowest) Swap(a, b int)      { s[a], s[b] = s[b], s[a] }
func (s *slowest) Push(k any)        { *s = append(*s, k.(*track)) }
func (s *slowest) Pop() any {
	last := (*s)[len(*s)-1]
	*s = (*s)[:len(*s)-1]
	return last
}

// slowPart: of so many successes one counts as slow, so that early in a run not every other one does.
const slowPart = 20

// slow are those that count as among the slowest.
func (t *tracks) slow() []*track {
	all := slices.Clone(t.slowest)
	slices.SortFunc(all, func(a, b *track) int { return cmp.Compare(b.q.E2EL(), a.q.E2EL()) })
	return all[:min(len(all), t.succeeded/slowPart)]
}

// over are the requests that ended and can be shown.
func (t *tracks) over() []*track {
	return slices.Concat(t.last.list, t.slowest, t.failedFirst, t.failedLast.list)
}

// find looks for a request among those that can be shown, nil for none.
func (t *tracks) find(index int) *track {
	k := t.oldest
	for range rowsInFlight {
		if k == nil {
			break
		}
		if k.q.Index == index {
			return k
		}
		k = k.next
	}
	for _, k := range t.over() {
		if k.q.Index == index {
			return k
		}
	}
	return nil
}
