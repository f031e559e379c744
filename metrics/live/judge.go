package live

import (
	"slices"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/saturation"
)

// A Judge that took longer than judgeBriefly is not repeated before judgeSeldom times as long has passed, so that it never
// costs more than a small part of a core.
const (
	judgeBriefly = 50 * time.Millisecond
	judgeSeldom  = 20
)

// Judge computes the answer of the run so far, for snapshots from now on, by the rule of the report. It works beside the
// lock that chunks wait for, and takes as long as a report does for its levels; a call that comes too soon after a long one
// does nothing. Of a run with more than mostJudged requests the answer is that of so many. Once there is a report, its answer
// stands.
func (r *View) Judge() {
	r.judge(time.Since(r.start), func(time.Duration) []metrics.Window { return r.within(gapsAge).Windows })
}

// gapsAge is how old the gaps between chunks may be that levels show, so that judging does not copy windows.
const gapsAge = time.Second

// JudgeAt is Judge as if it were that moment of the run, for a recorder that is fed with a run of the past.
func (r *View) JudgeAt(now time.Duration) { r.judge(now, r.windows) }

func (r *View) judge(now time.Duration, windows func(time.Duration) []metrics.Window) {
	r.judging.Lock()
	defer r.judging.Unlock()
	began := time.Now()
	if r.resting(began) {
		return
	}
	l := r.levels(now, windows(now))
	levels, answer := l.Judge()
	r.room = l.Used()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.report != nil || !slices.Equal(l.SLO, r.line.SLO) {
		return // it is out of date
	}
	r.beside.answer, r.beside.levels, r.beside.settled = &answer, levels, l.Settled
	if took := time.Since(began); took > judgeBriefly {
		r.restUntil = began.Add(judgeSeldom * took)
	}
}

// resting reports whether not to judge: it is too soon, or nothing can change the answer any more.
func (r *View) resting(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return now.Before(r.restUntil) || r.beside.answer != nil && r.beside.settled
}

// windows are those of a snapshot.
func (r *View) windows(now time.Duration) []metrics.Window {
	r.sharing.Lock()
	defer r.sharing.Unlock()
	_, same, changed, _ := r.look(now)
	r.share(same, changed)
	return r.shared
}

// levels sorts the requests so far into levels of load.
func (r *View) levels(now time.Duration, windows []metrics.Window) saturation.Levels {
	r.mu.Lock()
	plan, slo := r.line.Plan, r.line.SLO
	sets := r.beside.sets[:len(r.beside.sets):len(r.beside.sets)]
	client := r.line.Client.Seconds[:len(r.line.Client.Seconds):len(r.line.Client.Seconds)]
	came, went, done := r.ledger.came.from(0), r.ledger.went.from(0), r.ledger.ended.from(0)
	settled := r.ledger.full != metrics.Never && r.ledger.open <= 0
	if r.ledger.full != metrics.Never {
		now = min(now, r.ledger.full) // of what came later nothing is known
	}
	r.mu.Unlock()

	set := saturation.Settings(sets)
	var scheduled saturation.Arrivals
	for _, page := range came {
		for i := range page {
			scheduled.Add(page[i].cause, set)
		}
	}
	l := saturation.New(plan, slo, set, scheduled, now, r.room)
	l.Live, l.Settled, l.Client = true, settled, client
	for _, page := range came {
		for i := range page {
			l.Arrived(page[i].cause, int(page[i].index))
		}
	}
	for _, page := range went {
		for _, at := range page {
			l.Sent(at)
		}
	}
	for _, page := range done {
		for i := range page {
			if !page[i].warming {
				f := page[i].fact()
				l.Ended(&f)
			}
		}
	}
	l.Gaps(windows)
	return l
}

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
