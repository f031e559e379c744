package metrics

import (
	"slices"
	"time"
)

// count adds the latencies of a request that are known at a moment, in the second of that and in the whole run; or, where by is -1, it
// takes them out again.
func (t *Timeline) count(w *Window, r *Request, at moment, warming bool, by int) {
	for _, l := range knownAt[at] {
		if v := rows[l].of(r); v != Never {
			t.countOne(w, l, v, warming, by)
		}
	}
}

// countGap adds those that are known at the i-th chunk of a request, i > 0. This is the hot path, so ITL does not go through the table:
// that would make a chunk a tenth dearer.
func (t *Timeline) countGap(w *Window, r *Request, i int, warming bool) {
	gap := r.Gap(i)
	w.Histograms[ITL].Add(gap)
	if !warming {
		t.Histograms[ITL].Add(gap)
	}
	for _, l := range otherGaps {
		t.countOne(w, l, rows[l].gap(r, i), warming, +1)
	}
}

// otherGaps are the latencies that are known at each chunk, but for ITL.
var otherGaps = slices.DeleteFunc(slices.Clone(knownAt[atChunk]), func(l Latency) bool { return l == ITL })

func (t *Timeline) countOne(w *Window, l Latency, v time.Duration, warming bool, by int) {
	if l < NumInWindow {
		w.Histograms[l].change(v, by)
	}
	if !warming {
		t.Histograms[l].change(v, by)
	}
}

// change adds a duration, or takes it back where by is -1.
func (h *Histogram) change(v time.Duration, by int) {
	if by < 0 {
		h.Remove(v)
		return
	}
	h.Add(v)
}
