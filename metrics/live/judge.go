package live

import (
	"math"
	"slices"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/judge"
)

// A judgement that took longer than judgeBriefly is repeated after judgeSeldom times that time, so that judging costs a
// small part of a core.
const (
	judgeBriefly = 50 * time.Millisecond
	judgeSeldom  = 20
)

// Judge computes the answer of the run so far by the rule of the report, for the snapshots from now on. It works
// outside the lock that chunks wait for and takes as long as a report does for its levels. A call too soon after a long
// one does nothing. The answer covers the first mostJudged requests. The answer of a report is final.
func (v *View) Judge() {
	v.judge(time.Since(v.start), func(time.Duration) []*metrics.Window { return v.within(gapsAge).Windows })
}

// gapsAge is the maximum age of the windows from which levels take the gaps between chunks, so that judging does not
// copy windows.
const gapsAge = time.Second

// JudgeAt is Judge at a moment of a past run.
func (v *View) JudgeAt(now time.Duration) { v.judge(now, v.windows) }

func (v *View) judge(now time.Duration, windows func(time.Duration) []*metrics.Window) {
	v.judging.Lock()
	defer v.judging.Unlock()
	began := time.Now()
	v.mu.Lock()
	rest := began.Before(v.restUntil) || v.shown.Answer != nil && v.settled // no further event can change the answer
	v.mu.Unlock()
	if rest {
		return
	}
	s := metrics.Snapshot{Plan: v.line.Plan, At: now, Windows: windows(now)}
	l := v.levels(now, s.Windows)
	levels, answer := l.Judge()
	v.scratch = l.Used()
	v.mu.Lock()
	first, told := v.line.TTFTParts, v.line.Reported
	s.Server, s.Before = slices.Clip(v.shown.Server), v.shown.Before
	s.Before.Seconds = slices.Clip(v.line.Past)
	v.mu.Unlock()
	answer.Complete(&s, levels, metrics.SplitOf(&first, &told, s.Server, s.Plan.Warmup, math.MaxInt64, now))
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
func (v *View) windows(now time.Duration) []*metrics.Window {
	v.sharing.Lock()
	defer v.sharing.Unlock()
	return v.at(now).Windows
}

// levels sorts the requests so far into levels of load.
func (v *View) levels(now time.Duration, windows []*metrics.Window) judge.Levels {
	v.mu.Lock()
	plan, slo, index := v.line.Plan, v.line.SLO, v.index.share()
	sets, client := slices.Clip(v.sets), slices.Clip(v.line.Client.Seconds)
	answering, sign, classes := v.tracks.answering(), v.outages.Quiet(), v.line.Groups.Classes().Clone()
	past := slices.Clip(v.line.Past)
	v.mu.Unlock()

	if index.full != metrics.Never {
		now = min(now, index.full) // later requests are not in the index
	}
	set := judge.Settings(sets)
	var scheduled judge.Arrivals
	for a := range index.arrived.all() {
		scheduled.Add(a.at, set)
	}
	l := judge.New(plan, slo, set, scheduled, now, v.scratch)
	l.Live, l.Settled = true, index.full != metrics.Never && index.open <= 0
	l.SetClient(plan.InOrder(client))
	for a := range index.arrived.all() {
		l.Arrived(a.at, int(a.index))
	}
	for at := range index.sentAt.all() {
		l.Sent(*at)
	}
	for e := range index.ended.all() {
		f := e.summary(classes.Name(int(e.groups[metrics.ByClass])))
		if l.Outages.Answered(f.Sent, f.Answered); e.outcome != warmedUp {
			l.Ended(&f)
		}
	}
	if answering != metrics.Never {
		l.Outages.Answered(answering, sign)
	}
	l.Gaps(past, windows)
	return l
}

// setObjectives changes the objectives. Finished requests are judged again: most of them outside the lock that chunks
// wait for, those that end meanwhile under it. Requests beyond mostJudged keep the judgement of their time. Objectives
// in force change nothing, and the figures of a report are final.
func (v *View) setObjectives(slo metrics.SLO) {
	v.setting.Lock()
	defer v.setting.Unlock()
	slo = slices.Clone(slo).Chosen()
	v.mu.Lock()
	if v.shown.Report != nil || slices.Equal(v.line.SLO, slo) {
		v.mu.Unlock()
		return
	}
	past, classes := v.index.ended.from(0), v.line.Groups.Classes().Clone()
	v.mu.Unlock()
	var j judgement
	j.add(v.line.Plan, slo, &classes, past)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.news.Store(true)
	j.add(v.line.Plan, slo, v.line.Groups.Classes(), v.index.ended.from(j.seen))
	j.join(&v.index.beyond)
	v.line.SetObjectives(slo, j.seconds, j.total)
	v.tracks.judged = -time.Second
	for i, kind := range judgedKinds {
		v.line.Groups.SetMet(kind, j.groups[i][:])
	}
	if v.shown.Report == nil {
		v.shown.Answer, v.shown.Levels = nil, nil // they follow the old objectives
		v.restUntil = time.Time{}
	}
}

// judgement counts the objectives that successes met, by the second of their end, and in total and by group without the
// warm-up.
type judgement struct {
	seen    int
	seconds []metrics.MetCount
	total   metrics.MetCount
	// groups are by judgedKinds and by their places.
	groups [len(judgedKinds)][max(metrics.MostClasses, metrics.MostTurnPlaces,
		metrics.MostEndpoints) + 1]metrics.MetCount
}

func (j *judgement) add(p *metrics.Plan, slo metrics.SLO, classes *metrics.Classes, list pages[requestSummary]) {
	for e := range list.all() {
		j.seen++
		if e.succeeded() {
			o := e.latencies()
			own := p.ObjectivesFor(classes.Name(int(e.groups[metrics.ByClass])), slo)
			j.met(own, &o, int(e.second), e.outcome == warmedUp, e.groups)
		}
	}
}

// met counts a success that ended in a second. slo holds for it.
func (j *judgement) met(slo metrics.SLO, o *metrics.Outcome, second int, warming bool, in groupPlaces) {
	v := slo.Judge(o)
	j.at(second).Add(v, o.Output)
	if warming {
		return
	}
	j.total.Add(v, o.Output)
	if len(slo) > 0 && in != (groupPlaces{}) {
		for kind, place := range in {
			j.groups[kind][place].Add(v, o.Output)
		}
	}
}

// judgedKinds are the kinds of groups that a screen judges while the run is on.
var judgedKinds = [...]int{metrics.ByClass, metrics.ByTurn, metrics.ByEndpoint}

// groupPlaces are the places of a request by judgedKinds, 0 for none.
type groupPlaces [len(judgedKinds)]uint8

func placesOf(q *metrics.Request) (in groupPlaces) {
	for i, kind := range judgedKinds {
		in[i] = uint8(q.Places()[kind])
	}
	return in
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
	for kind := range o.groups {
		for place, n := range o.groups[kind] {
			j.groups[kind][place].Join(n)
		}
	}
}

// mostJudged bounds the requests of an index: five and a half hours at 100 a second, in some 45 MB, and twice as much
// again to judge them. Requests beyond it are counted, but not judged again.
const mostJudged = 2_000_000

// requestIndex keeps a few numbers of every request, so that requests can be judged by other objectives and sorted into
// levels of load: 16 bytes when a request is due, 8 when it is sent and 48 when it ends, a third of that once they are
// packed.
type requestIndex struct {
	arrived pages[arrival]
	sentAt  pages[time.Duration]
	ended   pages[requestSummary]
	most    int
	kept    int // requests that have a place
	open    int // of those, requests that have not ended
	// full is the load time of the first request without a place, Never before. beyond counts the requests without a
	// place, by the objectives in force when they ended.
	full   time.Duration
	beyond judgement
}

func newRequestIndex(most int) requestIndex { return requestIndex{most: most, full: metrics.Never} }

// arrival is a request that arrived.
type arrival struct {
	at    time.Duration
	index int32
}

// requestSummary is the summary of a request that ended, in a few bytes. Times beyond 71 minutes count as 71 minutes.
type requestSummary struct {
	loadTime time.Duration
	// Since loadTime; latencies, of a failure until the last sign; the client's own; from there to the end.
	sent, ttft, e2el, late, after micros
	rest                          metrics.OtherObjectives
	output                        uint32
	second                        uint32 // window of its end
	outcome                       outcome
	groups                        groupPlaces
}

// outcome tells apart failures as levels do.
type outcome uint8

const (
	otherFailure outcome = iota
	succeeded
	warmedUp // succeeded as a request of the warm-up
	cancelled
	left // its user, while the answer came
	noSocket
	unreached
)

func outcomeOf(q *metrics.Request) outcome {
	switch {
	case q.Failure == "":
		return succeeded
	case q.Failure == metrics.Cancelled:
		return cancelled
	case q.Left():
		return left
	case q.Failure == metrics.FailedNoSocket:
		return noSocket
	case q.Unreached():
		return unreached
	}
	return otherFailure
}

// micros are whole microseconds.
type micros uint32

func microsOf(d time.Duration) micros {
	return micros(min(max(0, d)/time.Microsecond, math.MaxUint32))
}

func (m micros) duration() time.Duration { return time.Duration(m) * time.Microsecond }

// share is the index for a reader outside the lock.
func (x *requestIndex) share() requestIndex {
	out := *x
	out.arrived, out.sentAt, out.ended = x.arrived.from(0), x.sentAt.from(0), x.ended.from(0)
	return out
}

// due files a request. It reports whether it is the first without a place.
func (x *requestIndex) due(p *metrics.Plan, q *metrics.Request) (filled bool) {
	if x.kept >= x.most {
		if k := trackOf(q); k != nil {
			k.unjudged = true
		}
		if filled = x.full == metrics.Never; filled {
			x.full = p.LoadTime(q)
		}
		return filled
	}
	x.kept++
	x.open++
	if !p.ClosedLoop() {
		x.arrive(p, q)
	}
	return false
}

// sent files the sending of a request. One of a closed loop arrives when it gets its slot.
func (x *requestIndex) sent(p *metrics.Plan, q *metrics.Request) {
	if unjudged(q) {
		return
	}
	if p.ClosedLoop() {
		x.arrive(p, q)
	}
	if !p.Warming(q) {
		x.sentAt.add(p.SentTime(q))
	}
}

func unjudged(q *metrics.Request) bool {
	k := trackOf(q)
	return k != nil && k.unjudged
}

func (x *requestIndex) arrive(p *metrics.Plan, q *metrics.Request) {
	if !p.Warming(q) {
		x.arrived.add(arrival{p.LoadTime(q), int32(min(max(0, q.Index), math.MaxInt32))})
	}
}

// done files a request that ended. slo is in force.
func (x *requestIndex) done(p *metrics.Plan, slo metrics.SLO, q *metrics.Request) {
	in := placesOf(q)
	second, warming, ok := metrics.SecondOf(q.Done), p.Warming(q), q.Failure == ""
	if unjudged(q) {
		if ok {
			o := q.Outcome()
			x.beyond.met(p.ObjectivesFor(q.Class, slo), &o, second, warming, in)
		}
		return
	}
	x.open--
	if warming && !ok {
		return // no figure counts it
	}
	e := requestSummary{loadTime: p.LoadTime(q), outcome: outcomeOf(q), second: uint32(second), groups: in}
	if warming {
		e.outcome = warmedUp
	}
	if q.Sent != metrics.Never {
		e.sent = microsOf(q.Sent - e.loadTime)
	}
	switch sign := q.Answered(); {
	case ok, q.Left():
		e.ttft, e.e2el, e.late = microsOf(q.TTFT()), microsOf(q.E2EL()), microsOf(q.OwnLateness())
		e.after = microsOf(q.Done - q.LastChunk)
		e.rest = q.OtherObjectives()
		e.output = uint32(min(max(0, q.OutputTokens), math.MaxUint32))
	case sign == metrics.Never:
		e.after = microsOf(q.Done - e.loadTime - e.sent.duration())
	default:
		e.e2el, e.after = microsOf(sign-q.Sent), microsOf(q.Done-sign)
	}
	x.ended.add(e)
}

// summary is the request, of a class, as levels count it.
func (e *requestSummary) summary(class string) judge.Summary {
	wait, whole := e.sent.duration()+e.ttft.duration(), e.sent.duration()+e.e2el.duration()
	done := e.loadTime + whole + e.after.duration()
	answered := e.loadTime + whole
	switch {
	case e.succeeded():
		answered = done
	case e.e2el == 0:
		answered = metrics.Never // no sign of the server
	}
	return judge.Summary{
		LoadTime: e.loadTime, Class: class, OK: e.outcome == succeeded, Cancelled: e.outcome == cancelled,
		Left:     e.outcome == left,
		NoSocket: e.outcome == noSocket, Unreached: e.outcome == unreached,
		Sent: e.loadTime + e.sent.duration(), Answered: answered, Done: done,
		First: e.loadTime + wait, Last: e.loadTime + whole, TTFT: e.ttft.duration(), Wait: wait, Whole: whole,
		Late: e.late.duration(), Rest: e.rest, Output: int(e.output),
	}
}

func (e *requestSummary) succeeded() bool { return e.outcome == succeeded || e.outcome == warmedUp }

// latencies of a success, counted from sent.
func (e *requestSummary) latencies() metrics.Outcome {
	return metrics.OutcomeOf(e.ttft.duration(), e.e2el.duration(), int(e.output), e.rest)
}
