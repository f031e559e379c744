package metrics

// Same reports whether two windows of snapshots of one run are the same, without looking at single counts: those of a
// histogram that did not change are shared. Windows that are equal but not shared may be reported as different.
func (w *Window) Same(o *Window) bool {
	for l := range w.Histograms {
		if !w.Histograms[l].same(&o.Histograms[l]) {
			return false
		}
	}
	return w.Start == o.Start && w.Met == o.Met && w.Waits == o.Waits && w.Told == o.Told && w.counts() == o.counts()
}

// same: both show the same counts, by their place in memory.
func (h *Histogram) same(o *Histogram) bool {
	if h.n != o.n || h.sum != o.sum || h.base != o.base || len(h.counts) != len(o.counts) {
		return false
	}
	return len(h.counts) == 0 || &h.counts[0] == &o.counts[0]
}

// counts are figures of a window that are plain numbers.
func (w *Window) counts() [13]int {
	return [...]int{
		w.Due, w.Sent, w.Done, w.Failed, w.Cancelled, w.Good,
		w.InputTokens, w.OutputTokens, w.PromptTokens, w.CachedTokens, w.Held, w.Waiting, w.Running,
	}
}
