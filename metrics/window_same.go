package metrics

// Same reports whether two windows of snapshots of one run are the same, without looking at single counts: those of a
// histogram that did not change are shared. Windows that are equal but not shared may be reported as different.
func (w *Window) Same(o *Window) bool {
	a, b := w, o
	for _, h := range [...][2]*Histogram{
		{&a.TTFT, &b.TTFT}, {&a.TPOT, &b.TPOT}, {&a.ITL, &b.ITL}, {&a.E2EL, &b.E2EL},
		{&a.FirstAnswer, &b.FirstAnswer}, {&a.HeldTime, &b.HeldTime}, {&a.Scheduled, &b.Scheduled},
	} {
		if !h[0].same(h[1]) {
			return false
		}
	}
	return a.Start == b.Start && a.Waits == b.Waits && a.Told == b.Told && a.counts() == b.counts()
}

// same: both show the same counts, by their place in memory.
func (h *Histogram) same(o *Histogram) bool {
	if h.n != o.n || h.sum != o.sum || h.base != o.base || len(h.counts) != len(o.counts) {
		return false
	}
	return len(h.counts) == 0 || &h.counts[0] == &o.counts[0]
}

// counts are figures of a window that are plain numbers.
func (w *Window) counts() [16]int {
	return [...]int{
		w.Due, w.Sent, w.Done, w.Failed, w.Cancelled, w.Good, w.MetTTFT, w.MetTPOT, w.MetE2EL,
		w.InputTokens, w.OutputTokens, w.PromptTokens, w.CachedTokens, w.Held, w.Waiting, w.Running,
	}
}
