// Package judge sorts the requests of a run into levels of load, and reads from these the answer of the run: the load
// at which the server saturates, and the highest that is within the objectives. The live view and the report judge by
// it alike.
package judge

import (
	"fmt"
	"math"
	"sort"
	"time"

	"benchtop/internal/text"
	"benchtop/metrics"
	"benchtop/metrics/outage"
)

const (
	mostLevels       = 20
	shortestLevel    = 2 * time.Second
	requestsPerLevel = 20
	longestGap       = 1e6 // seconds
)

// Levels sorts requests into levels of load by the time at which they were scheduled rather than served, because a
// queue belongs to the load that made it grow.
type Levels struct {
	plan *metrics.Plan
	SLO  metrics.SLO // in force, but for workloads with objectives of their own
	// tiers are judged beside one another: that of SLO first.
	tiers []metrics.Tier
	list  []level
	// steered: the load was set during the run. Live: the run is on, and requests are in flight.
	// Settled: live, but the request index is full and all its requests have ended.
	steered, Live, Settled bool
	client                 []metrics.ClientSecond
	Outages                outage.Past   // of requests in the warm-up as well
	why                    string        // the levels without an answer got none
	sampled                []Test        // of a Sample, in place of what the plan says
	running                float64       // likewise: the requests whose work is half done
	end, now               time.Duration // of the last level; of the run, or now
	Scratch
}

// Scratch is memory of earlier levels for reuse.
type Scratch struct {
	levels       []level
	work         work
	pair, merged figures
}

// Used returns the memory of levels that are not needed any more.
func (l *Levels) Used() Scratch {
	r := l.Scratch
	if copy(r.levels, l.list) < len(l.list) {
		r.levels = l.list
	}
	return r
}

// level returns an empty level.
func (r *Scratch) level(i int) level {
	if i >= len(r.levels) {
		return level{}
	}
	v := &r.levels[i]
	v.itl.Reset()
	out := level{ttft: v.ttft[:0], late: v.late[:0], itl: v.itl, tests: v.tests, arrivals: v.arrivals}
	for k := range thirds {
		out.wait[k], out.whole[k], out.service[k] = v.wait[k][:0], v.whole[k][:0], v.service[k][:0]
	}
	return out
}

// thirds are the parts of a level whose requests are compared.
const thirds = 3

// level holds the requests from which a LoadLevel is computed.
type level struct {
	metrics.LoadLevel
	index     int           // in order of time
	stage     int           // of the plan, -1 for none
	set       *stretch      // the setting of a load that was set during the run, else nil
	scheduled int           // requests, whatever their outcome
	over      int           // requests of those that ended, without those that were cut
	gaps      time.Duration // between requests, by the ramp's rates; integers, so that their order does not matter
	noSocket  int           // of Requests
	failed    int           // of Requests
	lost      int           // of Requests, in outages
	sent      int           // requests sent in the level, whenever they were scheduled; see Plan.SentTime
	reached   int           // requests scheduled in the level that were sent
	done      int           // successes that ended in the level, whenever they were scheduled
	ttft      figures
	// wait are the times from the load time to the first chunk, whole those to the last, and service those from the
	// first to the last, of the requests that arrived in each third of the level.
	wait, whole, service [thirds]figures
	itl                  metrics.Histogram // gaps are too many for exact counts
	late                 figures           // lateness of successes beyond LateMost
	delay                time.Duration     // p99 of the client's delay of reading
	width                time.Duration     // of the bins of tests
	arrivals             []int             // in each bin
	tests                []evidence        // by tier
	weights              []weight          // likewise
	behind               lag
	// unanswered: too many requests were lost in outages.
	unanswered bool
	// missing are the parts of the run of which it is not known what they sent, "" for none.
	missing string
}

// at finds the level of a moment, nil for none.
func (l *Levels) at(at time.Duration) *level {
	i := sort.Search(len(l.list), func(i int) bool { return at < l.list[i].To })
	if at == metrics.Never || i == len(l.list) || at < l.list[i].From {
		return nil
	}
	return &l.list[i]
}

// mostMissing bounds the parts that are named.
const mostMissing = 5

// SetClient tells what is known of this client in the seconds of the run. It comes before the requests.
func (l *Levels) SetClient(seconds []metrics.ClientSecond) {
	l.client = seconds
	for i := range l.list {
		v := &l.list[i]
		v.delay = 0
		from := sort.Search(len(seconds), func(k int) bool { return seconds[k].At > v.From })
		k := from
		for ; k < len(seconds) && seconds[k].At-seconds[k].Took < v.To; k++ {
			if s := &seconds[k]; s.DelayP99 != metrics.Never && s.Unstamped == 0 {
				v.delay = max(v.delay, s.DelayP99)
			} else {
				v.delay = max(v.delay, s.Sched)
			}
		}
		v.missing = text.List(l.plan.MissingParts(seconds[from:k]), mostMissing)
	}
}

// Add counts a request.
func (l *Levels) Add(q *metrics.Request) {
	f := Summarize(l.plan, q)
	l.Outages.Answered(f.Sent, f.Answered)
	l.Arrived(f.LoadTime, q.Index)
	l.Sent(l.plan.SentTime(q))
	if l.Ended(&f); f.OK {
		l.AddGaps(q)
	}
}

// AddGaps counts the gaps between the chunks of a success.
func (l *Levels) AddGaps(q *metrics.Request) {
	v := l.at(l.plan.LoadTime(q))
	for i := 1; v != nil && i < len(q.Chunks); i++ {
		v.itl.Add(q.Gap(i))
	}
}

// MergeGaps counts the gaps between the chunks of the successes whose load times lie between two. It is false, and they
// are not counted, where these are of different levels.
func (l *Levels) MergeGaps(first, last time.Duration, gaps *metrics.Histogram) bool {
	v, before := l.at(first), func(at time.Duration) int {
		return sort.Search(len(l.list), func(i int) bool { return at < l.list[i].To })
	}
	if v != l.at(last) || before(first) != before(last) {
		return false
	}
	if v != nil {
		v.itl.Merge(gaps)
	}
	return true
}

// Arrived counts an arrival, whatever its outcome.
func (l *Levels) Arrived(cause time.Duration, index int) {
	l.work.arrive(cause)
	v := l.at(cause)
	if v == nil {
		return
	}
	v.arrived(cause)
	if r := l.plan.Ramp; r != nil && r.Over == 0 && v.set == nil {
		gap := min(1/l.plan.RampRate(index), longestGap)
		v.gaps += time.Duration(gap * float64(time.Second))
	}
}

func (v *level) arrived(at time.Duration) {
	v.scheduled++
	v.arrivals[v.bin(at)]++
}

// bin is that of a request that arrived at a moment.
func (v *level) bin(at time.Duration) int {
	return min(max(0, int((at-v.From)/v.width)), len(v.arrivals)-1)
}

// Sent counts a request by the time of its sending, Never for none.
func (l *Levels) Sent(at time.Duration) {
	if v := l.at(at); v != nil {
		v.sent++
	}
}

// Ended counts the outcome of a request.
func (l *Levels) Ended(f *Summary) {
	if f.Reached {
		l.Outages.Reached(f.Done)
	}
	switch {
	case f.OK:
		l.work.answer(f.LoadTime, f.First, f.Last, f.Output)
		if at := l.at(f.Done); at != nil {
			at.done++
		}
	case f.Cancelled:
		if f.Answered == metrics.Never {
			l.work.count(l.work.waiting, f.LoadTime)
		}
	case f.Left: // the server did what came by then
		l.work.answer(f.LoadTime, f.First, f.Last, f.Output)
	default:
		l.Outages.Failed(f.LoadTime, f.Done, f.Unreached)
		l.work.count(l.work.failed, f.LoadTime)
	}
	v := l.at(f.LoadTime)
	if v == nil || f.Cancelled {
		return
	}
	v.over++
	if f.Sent != metrics.Never {
		v.reached++
	}
	if f.Left {
		for i := range v.tests {
			v.tests[i].without++
		}
		return
	}
	v.Requests++
	for i := range v.Others {
		v.Others[i].Requests++
	}
	if f.NoSocket {
		v.noSocket++
	}
	if f.OK {
		v.succeed(f)
	} else {
		v.failed++
	}
	bin := v.bin(f.LoadTime)
	for i := range v.tests {
		r := l.ratios(f, i, v.delay)
		v.tests[i].add(bin, r)
		if r.measured <= 1 {
			v.verdict(i).Good++
		}
	}
}

// sort puts the figures of the thirds in rising order.
func (v *level) sort() {
	for k := range thirds {
		v.wait[k].sorted()
		v.whole[k].sorted()
		v.service[k].sorted()
	}
}

func (v *level) verdict(tier int) *metrics.LevelVerdict {
	if tier == 0 {
		return &v.LevelVerdict
	}
	return &v.Others[tier-1]
}

// ratios of a request to the limits of a tier, with what the client's own delays may have done to them: its late
// sending, and the delay of reading the first and the last chunk.
func (l *Levels) ratios(f *Summary, tier int, delay time.Duration) ratios {
	if !f.OK {
		r := ratios{math.Inf(1), math.Inf(1), math.Inf(1)}
		if f.NoSocket {
			r.best = 0
		}
		return r
	}
	slo := l.tiers[tier].SLO
	if tier == 0 {
		slo = l.plan.ObjectivesFor(f.Class, slo)
	}
	of := func(first, last time.Duration) float64 { // chunks that came so much later
		o := metrics.OutcomeOf(max(0, f.Wait+first), max(0, f.Whole+last), f.Output, f.Rest)
		return slo.Ratio(&o)
	}
	measured := of(0, 0)
	r := ratios{measured, measured, measured}
	if measured > 1 && f.Late+delay > 0 {
		r.best = of(-f.Late-delay, -f.Late-2*delay)
	} else if measured <= 1 && delay > 0 {
		r.worst = of(delay, delay)
	}
	return r
}

func (v *level) succeed(f *Summary) {
	v.ttft.add(f.TTFT.Seconds())
	third := min(max(0, int(thirds*float64(f.LoadTime-v.From)/float64(v.To-v.From))), thirds-1)
	v.wait[third].add(f.Wait.Seconds())
	v.whole[third].add(f.Whole.Seconds())
	v.service[third].add((f.Whole - f.Wait).Seconds())
	if f.Late > metrics.LateMost {
		v.late.add(f.Late.Seconds())
	}
}

// Gaps takes the gaps between chunks from seconds long past, and from the windows of the others, where they are not
// known for single requests.
func (l *Levels) Gaps(past []metrics.PastSecond, windows []*metrics.Window) {
	joined := metrics.Joined(windows)
	past, windows = past[:joined*60], windows[joined:]
	for i := range l.list {
		v := &l.list[i]
		for k := metrics.SecondOf(v.From); k < len(past)+len(windows) && time.Duration(k)*time.Second < v.To; k++ {
			if k < len(past) {
				v.itl.Merge(&past[k].Gaps)
			} else {
				v.itl.Merge(&windows[k-len(past)].Histograms[metrics.ITL])
			}
		}
	}
}

// finish computes the figures of each level.
func (l *Levels) finish() {
	planned := l.planned()
	l.lose()
	l.work.sum()
	for i := range l.list {
		v := &l.list[i]
		seconds := (v.To - v.From).Seconds()
		v.Sent, v.Done = metrics.PerSecond(float64(v.sent), seconds), metrics.PerSecond(float64(v.done), seconds)
		users := l.users(v)
		switch {
		case users > 0:
			v.Offered, v.Unit = float64(users), metrics.Users
		case planned[i] > 0 && l.plan.Conversations == nil: // whose turns come on top of the arrivals
			v.Offered = planned[i]
		default:
			v.Offered = metrics.PerSecond(float64(v.scheduled), seconds)
		}
		ttft := v.ttft.statistic([]float64{50, 99})
		v.TTFTp50, v.TTFTp99 = ttft.Percentiles[0].Value, ttft.Percentiles[1].Value
		v.ITLp99 = metrics.Milliseconds(v.itl.Quantile(0.99))
		v.sort()
		l.pair = mergeSorted(l.pair[:0], v.wait[0], v.wait[1])
		l.merged = mergeSorted(l.merged[:0], l.pair, v.wait[2])
		v.WaitP99 = l.merged.statistic([]float64{99}).Percentiles[0].Value
	}
	for i := range l.list {
		v := &l.list[i]
		v.behind = l.lagOf(v, v.base())
		v.Completed = v.behind.completed
		if v.Unit == metrics.Users {
			v.Completed = 1 - metrics.Share(v.failed, v.Requests)
		}
	}
}

// mostLost is the share of a level's requests from which on those lost in outages make it no evidence.
const mostLost = 0.05

// lose marks the levels that lost so many requests in outages that they are no evidence.
func (l *Levels) lose() {
	for _, o := range l.Outages.Outages() {
		if l.why == "" && o.Since == metrics.Never {
			l.why = "server did not answer"
		} else if l.why == "" {
			l.why = fmt.Sprintf("server stopped answering after %s", o.Since.Round(time.Second))
		}
		for _, at := range o.Lost {
			if v := l.at(at); v != nil {
				v.lost++
			}
		}
	}
	for i := range l.list {
		v := &l.list[i]
		v.unanswered = metrics.Share(v.lost, v.Requests) > mostLost
	}
}

// limitedBy lists how this client limited a level, by the rules of its verdict on a run.
func (l *Levels) limitedBy(v *level) []string {
	e := metrics.EvidenceBetween(l.plan, l.client, v.From, v.To, &v.itl)
	e.Refused = uint64(v.noSocket)
	e.Over = uint64(len(v.late))
	// A hundredth of all lies beyond the 99th percentile.
	if late, rest := v.late.sorted(), (v.Requests-v.failed)/100; rest < len(late) {
		e.Late = time.Duration(late[len(late)-1-rest] * float64(time.Second))
	}
	if why := e.Verdict().Why; len(why) > 0 {
		return why
	}
	return []string{"its own delays may decide"}
}

// Achieved is the load that was sent, in the unit of Offered: what the level counts at where less was sent than asked
// for. Users without pause achieve their number.
func (v *level) achieved() float64 {
	if v.Unit == metrics.Users || v.over == 0 || float64(v.reached) >= (1-sentShort)*float64(v.over) {
		return v.Offered
	}
	return v.Offered * float64(v.reached) / float64(v.over)
}

// users is the number of users of a level, 0 where its load is a rate.
func (l *Levels) users(v *level) int {
	switch {
	case v.set != nil && v.set.load.Unit == metrics.Users:
		return int(math.Round(v.set.mean(v.From, v.To)))
	case v.set != nil && !(unnamed(&v.set.load) && l.plan.ClosedLoop()):
		return 0
	case v.stage >= 0:
		return l.plan.Stages[v.stage].Users()
	case l.plan.ClosedLoop():
		return l.plan.LoopUsers()
	}
	return 0
}
