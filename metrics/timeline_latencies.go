package metrics

import "time"

// count adds the latencies of a request that are known at a moment, in the second of that and in the whole run; or, where by is -1, it
// takes them out again.
func (t *timeline) count(w *Window, r *Request, at moment, warming bool, by int) {
	for _, l := range knownAt[at] {
		if v := rows[l].of(r); v != Never {
			t.countOne(w, l, v, warming, by)
		}
	}
}

// countChunk does so for those that are known at the i-th chunk, i > 0.
func (t *timeline) countChunk(w *Window, r *Request, i int, warming bool, by int) {
	for _, l := range knownAt[atChunk] {
		t.countOne(w, l, rows[l].gap(r, i), warming, by)
	}
}

func (t *timeline) countOne(w *Window, l Latency, v time.Duration, warming bool, by int) {
	if l < NumInWindow {
		w.Histograms[l].change(v, by)
	}
	if !warming {
		t.histograms[l].change(v, by)
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
