package metrics

import (
	"slices"
	"time"
)

// SetObjectives changes the objectives. Requests that are over are judged anew: most of them beside the lock that chunks wait
// for, those that end meanwhile under it. Once there is a report, what it says stands.
func (r *Recorder) SetObjectives(slo SLO) {
	r.setting.Lock()
	defer r.setting.Unlock()
	slo = chosen(slices.Clone(slo))
	r.mu.Lock()
	same, past := r.report != nil || slices.Equal(r.line.slo, slo), r.ledger.ended.from(0)
	r.mu.Unlock()
	if same {
		return
	}
	var j judgement
	j.add(slo, past)
	r.mu.Lock()
	defer r.mu.Unlock()
	j.add(slo, r.ledger.ended.from(j.seen))
	r.line.slo = slo
	j.install(&r.line)
	if r.report == nil {
		r.beside.answer, r.beside.levels = nil, nil // by the old ones
		r.restUntil = time.Time{}
	}
}

// judgement counts what objectives successes met, by the second of their end and in all but the warm-up.
type judgement struct {
	seen    int
	seconds []met
	total   met
}

type met struct{ good, ttft, tpot, e2el int }

func (j *judgement) add(slo SLO, list [][]ended) {
	for _, page := range list {
		j.seen += len(page)
		for i := range page {
			e := &page[i]
			if !e.ok {
				continue
			}
			for len(j.seconds) <= int(e.second) {
				j.seconds = append(j.seconds, met{})
			}
			f := e.fact()
			o := f.outcome()
			v := slo.judge(&o)
			j.seconds[e.second].add(v)
			if !e.warming {
				j.total.add(v)
			}
		}
	}
}

func (m *met) add(v verdict) { v.count(&m.good, &m.ttft, &m.tpot, &m.e2el) }

// install puts the counts in place of those by other objectives.
func (j *judgement) install(t *timeline) {
	for i := range t.windows {
		w, m := &t.windows[i], met{}
		if i < len(j.seconds) {
			m = j.seconds[i]
		}
		w.Good, w.MetTTFT, w.MetTPOT, w.MetE2EL = m.good, m.ttft, m.tpot, m.e2el
	}
	t.dirty = 0
	c, m := &t.totals, j.total
	c.Good, c.MetTTFT, c.MetTPOT, c.MetE2EL = m.good, m.ttft, m.tpot, m.e2el
}
