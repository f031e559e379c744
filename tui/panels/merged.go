package panels

import (
	"slices"
	"time"

	"benchtop/metrics"
)

// merges are histograms of seconds that share a column of a chart. A chart of hours merges many thousands of them for every
// picture, and but for the last few they are the same as for the picture before. So they are kept from one snapshot to the
// next, and merged again only where a second changed.
type merges struct {
	sets  []*mergedSet // used last, first
	turns int          // selections that used them so far
	older map[olderKey]*olderSum
}

// Bounds of what is kept: sets of groups, and groups of a set.
const (
	mergedSets   = 4
	mergedGroups = 2048
)

// mergedSet are the histograms of one latency by groups of so many seconds.
type mergedSet struct {
	latency metrics.Latency
	group   int
	older   bool                     // of the run to compare with
	groups  map[int]*mergedHistogram // by the number of the group
}

type mergedHistogram struct {
	metrics.Histogram
	seen uint64 // see fingerprint
	turn int    // of the selection that looked at it last
}

// merged is a latency in windows that share a group of so many seconds. The histogram must not be changed.
func (v *View) merged(l metrics.Latency, ws []metrics.Window, group int, older bool) *metrics.Histogram {
	p := v.selected()
	set := p.merges.set(l, group, older)
	k := columnGroup(ws, group)
	h := set.groups[k]
	if h != nil && !older && h.turn == p.turn { // of the same windows
		return &h.Histogram
	}
	if seen := fingerprint(l, ws); h == nil || h.seen != seen {
		if len(set.groups) >= mergedGroups {
			clear(set.groups)
		}
		h = &mergedHistogram{seen: seen}
		for i := range ws {
			h.Merge(&ws[i].Histograms[l])
		}
		set.groups[k] = h
	}
	h.turn = p.turn
	return &h.Histogram
}

// inherit takes over what was merged for another selection.
func (p *selection) inherit(o *selection) {
	p.merges = o.merges
	p.merges.turns++
	p.turn = p.merges.turns
}

// set finds what is kept of a latency; the set that was not used for longest makes room for a new one.
func (c *merges) set(l metrics.Latency, group int, older bool) *mergedSet {
	i := slices.IndexFunc(c.sets, func(s *mergedSet) bool { return s.latency == l && s.group == group && s.older == older })
	if i == 0 {
		return c.sets[0]
	}
	set := &mergedSet{l, group, older, map[int]*mergedHistogram{}}
	if i > 0 {
		set = c.sets[i]
		c.sets = slices.Delete(c.sets, i, i+1)
	}
	c.sets = slices.Insert(c.sets[:min(len(c.sets), mergedSets-1)], 0, set)
	return set
}

// fingerprint tells groups of windows apart without looking at single counts: whatever is added to a histogram or taken out of
// it changes the number of its samples or their mean.
func fingerprint(l metrics.Latency, ws []metrics.Window) uint64 {
	seen := uint64(ws[0].Start / time.Millisecond)
	for i := range ws {
		h := &ws[i].Histograms[l]
		seen = (seen^h.Count())*0x9e3779b97f4a7c15 + uint64(h.Mean())
		seen ^= seen >> 29
	}
	return seen
}
