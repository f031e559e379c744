package live

import (
	"slices"
	"time"

	"benchtop/metrics"
)

// SetObjectives changes the objectives. Requests that are over are judged anew: most of them beside the lock that chunks wait
// for, those that end meanwhile under it. Those beyond mostJudged keep what they met by the objectives of their time. What is in
// force already changes nothing, and once there is a report, what it says stands.
func (r *View) SetObjectives(slo metrics.SLO) {
	r.setting.Lock()
	defer r.setting.Unlock()
	slo = slices.Clone(slo).Chosen()
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
	r.line.SetObjectives(slo, j.seconds, j.total)
	if r.report == nil {
		r.beside.answer, r.beside.levels = nil, nil // by the old ones
		r.restUntil = time.Time{}
	}
}

// changes reports whether objectives are others than those in force, and what ended so far.
func (r *View) changes(slo metrics.SLO) (past [][]ended, changes bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.report != nil || slices.Equal(r.line.SLO, slo) {
		return nil, false
	}
	return r.ledger.ended.from(0), true
}

// judgement counts what objectives successes met, by the second of their end and in all but the warm-up.
type judgement struct {
	seen    int
	seconds []metrics.MetCount
	total   metrics.MetCount
}

func (j *judgement) add(slo metrics.SLO, list [][]ended) {
	for _, page := range list {
		j.seen += len(page)
		for i := range page {
			e := &page[i]
			if !e.ok {
				continue
			}
			o := e.outcome()
			j.met(slo.Judge(&o), int(e.second), e.warming)
		}
	}
}

// met counts a success that ended in a second.
func (j *judgement) met(v metrics.ObjectivesMet, second int, warming bool) {
	j.cover(second)
	j.seconds[second].Add(v)
	if !warming {
		j.total.Add(v)
	}
}

func (j *judgement) cover(second int) {
	for len(j.seconds) <= second {
		j.seconds = append(j.seconds, metrics.MetCount{})
	}
}

// join adds what another one counted.
func (j *judgement) join(o *judgement) {
	if n := len(o.seconds); n > 0 {
		j.cover(n - 1)
	}
	for i := range o.seconds {
		j.seconds[i].Join(o.seconds[i])
	}
	j.total.Join(o.total)
}
