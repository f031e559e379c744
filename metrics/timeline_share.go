package metrics

import (
	"slices"
	"time"
)

// Share returns the windows up to now that changed since the last call, with levels summed up, and the number of those
// before them that did not. before is what the last call made: all windows it knew of. Most windows of a long run never
// change again, and chunks wait while this works, so it looks at no others. The reader may keep what it gets.
func (t *Timeline) Share(now time.Duration, before []Window) (same int, changed []Window) {
	t.at(now)
	same = min(t.dirty, len(before))
	var held, waiting, runs int
	if same > 0 {
		held, waiting, runs = before[same-1].Held, before[same-1].Waiting, before[same-1].Running
	}
	changed = slices.Clone(t.windows[same:])
	for i := range changed {
		w := &t.windows[same+i]
		held, waiting, runs = held+w.Held, waiting+w.Waiting, runs+w.Running
		c := &changed[i]
		c.Held, c.Waiting, c.Running = held, waiting, runs
		for l := range c.Histograms {
			c.Histograms[l] = w.Histograms[l].Share()
		}
	}
	t.dirty = len(t.windows)
	return same, changed
}
