package metrics

import (
	"slices"
	"time"
)

// SetObjectives changes the objectives. Requests that are over are judged anew: most of them beside the lock that chunks wait
// for, those that end meanwhile under it. Those beyond mostJudged keep what they met by the objectives of their time. What is in
// force already changes nothing, and once there is a report, what it says stands.
func (r *Recorder) SetObjectives(slo SLO) {
	r.setting.Lock()
	defer r.setting.Unlock()
	slo = chosen(slices.Clone(slo))
	past, changes := r.changes(slo)
	if !changes {
		return
	}
	var j judgement
	j.add(slo, past)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.news.Store(true)
	j.add(slo, r.ledger.ended.from(j.seen))
	j.join(&r.ledger.beyond)
	r.line.slo = slo
	j.install(&r.line)
	if r.report == nil {
		r.beside.answer, r.beside.levels = nil, nil // by the old ones
		r.restUntil = time.Time{}
	}
}

// changes reports whether objectives are others than those in force, and what ended so far.
func (r *Recorder) changes(slo SLO) (past [][]ended, changes bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.report != nil || slices.Equal(r.line.slo, slo) {
		return nil, false
	}
	return r.ledger.ended.from(0), true
}

// judgement counts what objectives successes met, by the second of their end and in all but the warm-up.
type judgement struct {
	seen    int
	seconds []met
	total   met
}

type met struct {
	good int
	met  MetObjectives
}

func (j *judgement) add(slo SLO, list [][]ended) {
	for _, page := range list {
		j.seen += len(page)
		for i := range page {
			e := &page[i]
			if !e.ok {
				continue
			}
			o := e.outcome()
			j.met(slo.judge(&o), int(e.second), e.warming)
		}
	}
}

// met counts a success that ended in a second.
func (j *judgement) met(v verdict, second int, warming bool) {
	j.cover(second)
	j.seconds[second].add(v)
	if !warming {
		j.total.add(v)
	}
}

func (j *judgement) cover(second int) {
	for len(j.seconds) <= second {
		j.seconds = append(j.seconds, met{})
	}
}

// join adds what another one counted.
func (j *judgement) join(o *judgement) {
	if n := len(o.seconds); n > 0 {
		j.cover(n - 1)
	}
	for i := range o.seconds {
		j.seconds[i].join(o.seconds[i])
	}
	j.total.join(o.total)
}

func (m *met) join(o met) {
	m.good += o.good
	for l := range m.met {
		m.met[l] += o.met[l]
	}
}

func (m *met) add(v verdict) { v.count(&m.good, &m.met) }

// install puts the counts in place of those by other objectives.
func (j *judgement) install(t *timeline) {
	for i := range t.windows {
		w, m := &t.windows[i], met{}
		if i < len(j.seconds) {
			m = j.seconds[i]
		}
		w.Good, w.Met = m.good, m.met
	}
	t.dirty = 0
	c, m := &t.totals, j.total
	c.Good, c.Met = m.good, m.met
}
