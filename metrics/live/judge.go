package live

import (
	"slices"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/saturation"
)

// A judgement that took longer than judgeBriefly is repeated after judgeSeldom times that time, so that judging costs a small part of
// a core.
const (
	judgeBriefly = 50 * time.Millisecond
	judgeSeldom  = 20
)

// Judge computes the answer of the run so far by the rule of the report, for the snapshots from now on. It works outside the lock that
// chunks wait for and takes as long as a report does for its levels. A call too soon after a long one does nothing. The answer covers
// the first mostJudged requests. The answer of a report is final.
func (v *View) Judge() {
	v.judge(time.Since(v.start), func(time.Duration) []metrics.Window { return v.within(gapsAge).Windows })
}

// gapsAge is the maximum age of the windows from which levels take the gaps between chunks, so that judging does not copy windows.
const gapsAge = time.Second

// JudgeAt is Judge at a moment of a past run.
func (v *View) JudgeAt(now time.Duration) { v.judge(now, v.windows) }

func (v *View) judge(now time.Duration, windows func(time.Duration) []metrics.Window) {
	v.judging.Lock()
	defer v.judging.Unlock()
	began := time.Now()
	v.mu.Lock()
	rest := began.Before(v.restUntil) || v.shown.Answer != nil && v.settled // no further event can change the answer
	v.mu.Unlock()
	if rest {
		return
	}
	l := v.levels(now, windows(now))
	levels, answer := l.Judge()
	v.scratch = l.Used()
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.shown.Report != nil || !slices.Equal(l.SLO, v.line.SLO) {
		return // the objectives have changed meanwhile
	}
	v.shown.Answer, v.shown.Levels, v.settled = &answer, levels, l.Settled
	if took := time.Since(began); took > judgeBriefly {
		v.restUntil = began.Add(judgeSeldom * took)
	}
}

// windows are those of a snapshot.
func (v *View) windows(now time.Duration) []metrics.Window {
	v.sharing.Lock()
	defer v.sharing.Unlock()
	return v.at(now).Windows
}

// levels sorts the requests so far into levels of load.
func (v *View) levels(now time.Duration, windows []metrics.Window) saturation.Levels {
	v.mu.Lock()
	plan, slo, index := v.line.Plan, v.line.SLO, v.index.share()
	sets, client := slices.Clip(v.sets), slices.Clip(v.line.Client.Seconds)
	v.mu.Unlock()

	if index.full != metrics.Never {
		now = min(now, index.full) // later requests are not in the index
	}
	set := saturation.Settings(sets)
	var scheduled saturation.Arrivals
	for a := range index.arrived.all() {
		scheduled.Add(a.at, set)
	}
	l := saturation.New(plan, slo, set, scheduled, now, v.scratch)
	l.Live, l.Settled, l.Client = true, index.full != metrics.Never && index.open <= 0, client
	for a := range index.arrived.all() {
		l.Arrived(a.at, int(a.index))
	}
	for at := range index.sentAt.all() {
		l.Sent(*at)
	}
	for e := range index.ended.all() {
		if !e.warming {
			f := e.summary()
			l.Ended(&f)
		}
	}
	l.Gaps(windows)
	return l
}

// setObjectives changes the objectives. Finished requests are judged again: most of them outside the lock that chunks wait for, those
// that end meanwhile under it. Requests beyond mostJudged keep the judgement of their time. Objectives in force change nothing, and the
// figures of a report are final.
func (v *View) setObjectives(slo metrics.SLO) {
	v.setting.Lock()
	defer v.setting.Unlock()
	slo = slices.Clone(slo).Chosen()
	v.mu.Lock()
	if v.shown.Report != nil || slices.Equal(v.line.SLO, slo) {
		v.mu.Unlock()
		return
	}
	past := v.index.ended.from(0)
	v.mu.Unlock()
	var j judgement
	j.add(slo, past)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.news.Store(true)
	j.add(slo, v.index.ended.from(j.seen))
	j.join(&v.index.beyond)
	v.line.SetObjectives(slo, j.seconds, j.total)
	if v.shown.Report == nil {
		v.shown.Answer, v.shown.Levels = nil, nil // they follow the old objectives
		v.restUntil = time.Time{}
	}
}

// judgement counts the objectives that successes met, by the second of their end, and in total without the warm-up.
type judgement struct {
	seen    int
	seconds []metrics.MetCount
	total   metrics.MetCount
}

func (j *judgement) add(slo metrics.SLO, list pages[ended]) {
	for e := range list.all() {
		j.seen++
		if e.ok {
			o := e.outcome()
			j.met(slo.Judge(&o), int(e.second), e.warming)
		}
	}
}

// met counts a success that ended in a second.
func (j *judgement) met(v metrics.ObjectivesMet, second int, warming bool) {
	j.at(second).Add(v)
	if !warming {
		j.total.Add(v)
	}
}

func (j *judgement) at(second int) *metrics.MetCount {
	for len(j.seconds) <= second {
		j.seconds = append(j.seconds, metrics.MetCount{})
	}
	return &j.seconds[second]
}

// join adds what another one counted.
func (j *judgement) join(o *judgement) {
	for second, n := range o.seconds {
		j.at(second).Join(n)
	}
	j.total.Join(o.total)
}
