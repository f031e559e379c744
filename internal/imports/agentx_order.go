package imports

import (
	"cmp"
	"slices"
	"time"

	"benchtop/datasets/agents"
)

// requests puts those of all agents in the order of their starts, and gives each its delay.
//
// A request never starts before those that it waits for. Of those that start at the same time, a sub-agent's stands
// before its parent's, as the parent may wait for it; and a sub-agent starts later than the request behind which it
// starts.
func (t *agentTrace) requests() []agents.Request {
	order := make([]int, len(t.all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		p, q := &t.all[a], &t.all[b]
		return cmp.Or(cmp.Compare(p.At, q.At), cmp.Compare(q.depth, p.depth))
	})
	if len(order) == 0 {
		return nil
	}
	begin := t.all[order[0]].At
	places := make([]int, len(t.all))
	var list []agents.Request
	for _, i := range order {
		q := &t.all[i]
		q.after = t.present(q.after)
		if !q.missing {
			places[i] = len(list)
			list = append(list, t.made(q, places, begin))
		}
	}
	return list
}

// made is a request as its session has it: it waits for places in the session, from the last of whose ends its delay
// counts.
func (t *agentTrace) made(q *timedRequest, places []int, begin time.Duration) agents.Request {
	r := q.Request
	from := begin
	for _, i := range q.after {
		r.After = append(r.After, places[i])
		from = max(from, t.all[i].end)
	}
	slices.Sort(r.After)
	r.After = slices.Compact(r.After)
	r.Delay = max(0, q.At-from)
	if r.At = q.At - begin; q.tool {
		if r.Tools = r.Delay; q.think >= 0 {
			r.Tools = min(q.think, r.Delay)
		}
	}
	return r
}

// mostPassed bounds how many requests one waits for in place of those without a prompt.
const mostPassed = 64

// present is a list of requests with those that have no prompt replaced by the ones that these wait for, which have
// one.
func (t *agentTrace) present(list []int) (present []int) {
	if !slices.ContainsFunc(list, func(i int) bool { return t.all[i].missing }) {
		return list
	}
	for _, i := range list {
		if t.all[i].missing {
			present = append(present, t.all[i].after...)
		} else {
			present = append(present, i)
		}
	}
	slices.Sort(present)
	present = slices.Compact(present)
	return present[max(0, len(present)-mostPassed):]
}
